// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/shape.hpp>
#include <tt-metalium/shape2d.hpp>
#include <vector>

namespace tt::tt_metal {

// The distribution of the shards of an n-dimensional tensor over cores. The shapes of the tensor
// and of a shard are in pages. The constructors throw if the shard is empty, if the shard has more
// dimensions than the tensor, or if there is no core.
class BufferDistributionSpec {
 public:
  // Makes a distribution from shapes in elements, which are rounded up to whole pages.
  static BufferDistributionSpec from_shard_spec(
      Shape tensor_shape, Shape shard_shape, Shape2D page_shape, const CoreRangeSet& core_range_set,
      ShardOrientation shard_orientation,
      ShardDistributionStrategy strategy = ShardDistributionStrategy::ROUND_ROBIN_1D);

  BufferDistributionSpec(
      const Shape& tensor_shape_in_pages, const Shape& shard_shape_in_pages,
      const CoreRangeSet& core_range_set, ShardOrientation shard_orientation,
      ShardDistributionStrategy strategy = ShardDistributionStrategy::ROUND_ROBIN_1D);
  BufferDistributionSpec(const Shape& tensor_shape_in_pages, const Shape& shard_shape_in_pages,
                         std::vector<CoreCoord> cores);

  const Shape& tensor_shape_in_pages() const { return tensor_; }
  const Shape& shard_shape_in_pages() const { return shard_; }
  std::size_t num_shards() const { return num_shards_; }
  std::size_t max_num_shards_per_core() const;
  std::size_t max_num_dev_pages_per_core() const;
  std::size_t num_cores() const { return cores_.size(); }
  std::size_t num_cores_with_data() const;
  const std::vector<CoreCoord>& cores() const { return cores_; }
  std::vector<CoreCoord> cores_with_data() const;

 private:
  void count_shards();

  Shape tensor_;
  Shape shard_;
  std::vector<CoreCoord> cores_;
  std::size_t num_shards_ = 0;
};

}  // namespace tt::tt_metal
