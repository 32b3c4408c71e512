// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/buffer_distribution_spec.hpp>
#include <utility>

#include "error.hpp"
#include "read/placement/align.hpp"

namespace tt::tt_metal {

using dryrun::require;
using ttmem::placement::divide_up;

std::uint64_t Shape::volume() const {
  std::uint64_t volume = 1;
  for (const std::uint32_t size : sizes_) volume *= size;
  return volume;
}

namespace {

Shape in_pages(Shape shape, const Shape2D& page) {
  if (shape.rank() >= 1) shape[-1] = static_cast<std::uint32_t>(divide_up(shape[-1], page.width()));
  if (shape.rank() >= 2) {
    shape[-2] = static_cast<std::uint32_t>(divide_up(shape[-2], page.height()));
  }
  return shape;
}

// Returns the cores for GRID_2D, in which shard (row, column) is on core (column, row) of one
// rectangle. Leaves out cores that have no shard.
std::vector<CoreCoord> cores_of_grid(const Shape& tensor, const Shape& shard,
                                     const CoreRangeSet& cores, ShardOrientation orientation) {
  require(shard.rank() <= 2, "2D grid distribution is only supported for 2D sharding!");
  require(cores.ranges().size() == 1,
          "2D grid distribution is only supported for one contiguous core grid!");
  const CoreRange grid = cores.ranges().front();
  const std::uint64_t tensor_height = tensor[-1] == 0 ? 0 : tensor.volume() / tensor[-1];
  const std::uint64_t shard_height = shard.rank() == 2 ? shard[-2] : 1;
  std::uint64_t columns = std::max<std::uint64_t>(divide_up(tensor[-1], shard[-1]), 1);
  std::uint64_t rows = std::max<std::uint64_t>(divide_up(tensor_height, shard_height), 1);
  if (orientation != ShardOrientation::ROW_MAJOR) std::swap(columns, rows);
  require(columns <= grid.grid_size().x,
          "Number of shards along width must not exceed core grid width!");
  require(rows <= grid.grid_size().y,
          "Number of shards along height must not exceed core grid height!");
  const CoreRange used(grid.start_coord,
                       {grid.start_coord.x + columns - 1, grid.start_coord.y + rows - 1});
  return corerange_to_cores(used, std::nullopt, orientation == ShardOrientation::ROW_MAJOR);
}

}  // namespace

BufferDistributionSpec BufferDistributionSpec::from_shard_spec(
    Shape tensor_shape, Shape shard_shape, Shape2D page_shape, const CoreRangeSet& core_range_set,
    ShardOrientation shard_orientation, ShardDistributionStrategy strategy) {
  return {in_pages(std::move(tensor_shape), page_shape),
          in_pages(std::move(shard_shape), page_shape), core_range_set, shard_orientation,
          strategy};
}

BufferDistributionSpec::BufferDistributionSpec(const Shape& tensor_shape_in_pages,
                                               const Shape& shard_shape_in_pages,
                                               const CoreRangeSet& core_range_set,
                                               ShardOrientation shard_orientation,
                                               ShardDistributionStrategy strategy)
    : tensor_(tensor_shape_in_pages), shard_(shard_shape_in_pages) {
  count_shards();
  cores_ = strategy == ShardDistributionStrategy::GRID_2D
               ? cores_of_grid(tensor_, shard_, core_range_set, shard_orientation)
               : corerange_to_cores(core_range_set, std::nullopt,
                                    shard_orientation == ShardOrientation::ROW_MAJOR);
  require(num_shards_ == 0 || !cores_.empty(),
          "Can't distribute non zero volume tensor over an empty set of cores");
}

BufferDistributionSpec::BufferDistributionSpec(const Shape& tensor_shape_in_pages,
                                               const Shape& shard_shape_in_pages,
                                               std::vector<CoreCoord> cores)
    : tensor_(tensor_shape_in_pages), shard_(shard_shape_in_pages), cores_(std::move(cores)) {
  count_shards();
  require(num_shards_ == 0 || !cores_.empty(),
          "Can't distribute non zero volume tensor over an empty set of cores");
}

void BufferDistributionSpec::count_shards() {
  require(tensor_.rank() >= 1, "Tensor rank must be at least 1!");
  require(shard_.rank() >= 1, "Shard rank must be at least 1!");
  require(shard_.volume() != 0, "Shard shape must have non zero volume!");
  require(tensor_.rank() >= shard_.rank(), "Tensor shape rank (", tensor_.rank(),
          ") can't be less than shard shape rank (", shard_.rank(), ")!");
  if (tensor_.volume() == 0) return;
  // If the tensor has more dimensions than the shard, the extra dimensions are the outermost
  // dimensions of the tensor. They are multiplied into the dimension that corresponds to the
  // outermost dimension of the shard.
  std::uint64_t outer = tensor_.volume();
  num_shards_ = 1;
  for (int dim = -1; dim > -static_cast<int>(shard_.rank()); --dim) {
    num_shards_ *= divide_up(tensor_[dim], shard_[dim]);
    outer /= tensor_[dim];
  }
  num_shards_ *= divide_up(outer, shard_[0]);
}

std::size_t BufferDistributionSpec::max_num_shards_per_core() const {
  return cores_.empty() ? 0 : divide_up(num_shards_, cores_.size());
}

std::size_t BufferDistributionSpec::max_num_dev_pages_per_core() const {
  return max_num_shards_per_core() * shard_.volume();
}

std::size_t BufferDistributionSpec::num_cores_with_data() const {
  return std::min(cores_.size(), num_shards_);
}

std::vector<CoreCoord> BufferDistributionSpec::cores_with_data() const {
  return {cores_.begin(), cores_.begin() + static_cast<std::ptrdiff_t>(num_cores_with_data())};
}

}  // namespace tt::tt_metal
