// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>

namespace tt::tt_metal::distributed {

// Host memory for the shard of one chip.
class ShardDataTransfer {
 public:
  explicit ShardDataTransfer(const MeshCoordinate& shard_coord) : shard_coord_(shard_coord) {}

  MeshCoordinate shard_coord() const { return shard_coord_; }
  void* host_data() const { return host_data_; }
  std::optional<BufferRegion> region() const { return region_; }

  ShardDataTransfer& shard_coord(const MeshCoordinate& shard_coord) {
    shard_coord_ = shard_coord;
    return *this;
  }
  ShardDataTransfer& host_data(void* host_data) {
    host_data_ = host_data;
    return *this;
  }
  ShardDataTransfer& region(std::optional<BufferRegion> region) {
    region_ = region;
    return *this;
  }

 private:
  MeshCoordinate shard_coord_;
  void* host_data_ = nullptr;
  std::optional<BufferRegion> region_;
};

}  // namespace tt::tt_metal::distributed
