// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tt-metalium/buffer_distribution_spec.hpp>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <utility>

namespace tt::tt_metal {

class Allocator;
class IDevice;
namespace dryrun {
class MemoryBanks;
}  // namespace dryrun

// How a 2D tensor is divided into shards: the shape of a shard in elements, and the cores, each of
// which holds one shard.
struct ShardSpec {
  CoreRangeSet grid;
  std::array<std::uint32_t, 2> shape;
  ShardOrientation orientation = ShardOrientation::ROW_MAJOR;

  ShardSpec(const CoreRangeSet& grid_, const std::array<std::uint32_t, 2>& shape_,
            const ShardOrientation& orientation_ = ShardOrientation::ROW_MAJOR)
      : grid(grid_), shape(shape_), orientation(orientation_) {}

  std::uint32_t num_cores() const { return grid.num_cores(); }
  std::uint32_t numel() const { return shape[0] * shape[1]; }

  bool operator==(const ShardSpec& other) const = default;
};

// A shard specification, the shape of a page in elements, and the shape of the tensor in pages.
struct ShardSpecBuffer {
  ShardSpec tensor_shard_spec;
  std::array<std::uint32_t, 2> page_shape{};
  std::array<std::uint32_t, 2> tensor2d_shape_in_pages{};

  ShardSpecBuffer(const CoreRangeSet& grid_, const std::array<std::uint32_t, 2>& shard_shape,
                  const ShardOrientation& orientation_,
                  const std::array<std::uint32_t, 2>& page_shape_,
                  const std::array<std::uint32_t, 2>& tensor2d_shape_in_pages_)
      : tensor_shard_spec(grid_, shard_shape, orientation_),
        page_shape(page_shape_),
        tensor2d_shape_in_pages(tensor2d_shape_in_pages_) {}
  ShardSpecBuffer(const ShardSpec& shard_spec, const std::array<std::uint32_t, 2>& page_shape_,
                  const std::array<std::uint32_t, 2>& tensor2d_shape_in_pages_)
      : tensor_shard_spec(shard_spec),
        page_shape(page_shape_),
        tensor2d_shape_in_pages(tensor2d_shape_in_pages_) {}

  CoreRangeSet grid() const { return tensor_shard_spec.grid; }
  std::array<std::uint32_t, 2> shape() const { return tensor_shard_spec.shape; }
  ShardOrientation orientation() const { return tensor_shard_spec.orientation; }
  void set_shard_spec(const ShardSpec& shard_spec) { tensor_shard_spec = shard_spec; }

  // Return the shape of one shard in pages, and its number of pages.
  std::array<std::uint32_t, 2> shape_in_pages() const;
  DeviceAddr num_pages() const;
};

struct BufferConfig {
  IDevice* device;
  DeviceAddr size;
  DeviceAddr page_size;
  BufferType buffer_type;
};
using InterleavedBufferConfig = BufferConfig;

struct ShardedBufferConfig {
  IDevice* device{};
  DeviceAddr size{};
  DeviceAddr page_size{};
  BufferType buffer_type = BufferType::L1;
  TensorMemoryLayout buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED;
  ShardSpecBuffer shard_parameters;
};

// The layout of a buffer on its device: interleaved over all banks, or sharded if a shard
// specification or a distribution is given.
class BufferShardingArgs {
 public:
  BufferShardingArgs() = default;
  BufferShardingArgs(std::nullopt_t) {}
  BufferShardingArgs(BufferDistributionSpec spec)
      : distribution_(std::move(spec)), layout_(TensorMemoryLayout::BLOCK_SHARDED) {}
  BufferShardingArgs(std::optional<BufferDistributionSpec> spec)
      : distribution_(std::move(spec)),
        layout_(distribution_ ? TensorMemoryLayout::BLOCK_SHARDED
                              : TensorMemoryLayout::INTERLEAVED) {}
  BufferShardingArgs(ShardSpecBuffer spec, TensorMemoryLayout layout)
      : shard_spec_(std::move(spec)), layout_(layout) {}
  BufferShardingArgs(std::optional<ShardSpecBuffer> spec, TensorMemoryLayout layout)
      : shard_spec_(std::move(spec)), layout_(layout) {}
  BufferShardingArgs(std::optional<BufferDistributionSpec> distribution,
                     std::optional<ShardSpecBuffer> spec, TensorMemoryLayout layout)
      : distribution_(std::move(distribution)), shard_spec_(std::move(spec)), layout_(layout) {}

  const std::optional<BufferDistributionSpec>& buffer_distribution_spec() const {
    return distribution_;
  }
  const std::optional<ShardSpecBuffer>& shard_spec() const { return shard_spec_; }
  TensorMemoryLayout buffer_layout() const { return layout_; }

 private:
  std::optional<BufferDistributionSpec> distribution_;
  std::optional<ShardSpecBuffer> shard_spec_;
  TensorMemoryLayout layout_ = TensorMemoryLayout::INTERLEAVED;
};

bool is_sharded(const TensorMemoryLayout& layout);

struct BufferRegion {
  DeviceAddr offset = 0;
  DeviceAddr size = 0;

  BufferRegion() = delete;
  BufferRegion(DeviceAddr offset_, DeviceAddr size_) : offset(offset_), size(size_) {}
};

// Memory on a device, held until the object is destroyed or DeallocateBuffer is called. On a
// MeshDevice the memory is the same address range on every chip of the mesh, and size() is the size
// on one chip.
//
// A buffer takes [address(), address() + aligned_size_per_bank()) in each of its banks. An
// interleaved buffer has all banks of its type. A sharded buffer has the cores of its shard grid.
// Banks are allocated in lockstep, so no other buffer of this type gets this address range in any
// bank.
//
// Buffers may be created and destroyed on any thread; one buffer belongs to one thread at a time.
class Buffer final : public std::enable_shared_from_this<Buffer> {
  struct Private {
    explicit Private() = default;
  };

 public:
  // Allocates a buffer. DRAM and TRACE buffers are placed from the bottom, and L1 and L1_SMALL
  // buffers from the top, unless `bottom_up` is set. With a sub-device, the buffer must be sharded
  // over cores of the sub-device, and is placed in the sub-device's own L1. If there is no room,
  // throws an error that names the largest holders. Also throws if size, page size, layout and
  // cores contradict each other. A call that throws changes nothing.
  static std::shared_ptr<Buffer> create(IDevice* device, DeviceAddr size, DeviceAddr page_size,
                                        BufferType buffer_type,
                                        const BufferShardingArgs& sharding_args = std::nullopt,
                                        std::optional<bool> bottom_up = std::nullopt,
                                        std::optional<SubDeviceId> sub_device_id = std::nullopt);

  // Makes an alias of memory that another buffer holds. Nothing is allocated, freed or reported.
  static std::shared_ptr<Buffer> create(IDevice* device, DeviceAddr address, DeviceAddr size,
                                        DeviceAddr page_size, BufferType buffer_type,
                                        const BufferShardingArgs& sharding_args = std::nullopt,
                                        std::optional<bool> bottom_up = std::nullopt,
                                        std::optional<SubDeviceId> sub_device_id = std::nullopt);

  // Makes a view, which is an alias of a part of this buffer. A view has the address and the layout
  // of its buffer, and a size of its own. A view of the whole buffer is the buffer itself. Nothing
  // is allocated, freed or reported. The view keeps this buffer alive. Throws if the region does
  // not consist of whole pages of the buffer.
  std::shared_ptr<Buffer> view(const BufferRegion& region);

  Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
         const BufferShardingArgs& sharding_args, std::optional<bool> bottom_up,
         std::optional<SubDeviceId> sub_device_id, bool owns_data, Private);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  IDevice* device() const { return device_; }
  Allocator* allocator() const;
  DeviceAddr size() const { return size_; }
  bool is_allocated() const { return status_ == Status::kAllocated; }
  // Throws if the buffer has no address yet.
  std::uint32_t address() const;

  DeviceAddr page_size() const { return page_size_; }
  std::uint32_t num_pages() const;
  // Returns the number of pages, including pages that only pad the last shards.
  std::uint32_t num_dev_pages() const;

  BufferType buffer_type() const { return buffer_type_; }
  bool is_l1() const;
  bool is_dram() const;
  bool is_trace() const { return buffer_type_ == BufferType::TRACE; }
  bool is_valid_region(const BufferRegion& region) const {
    return region.offset + region.size <= size_;
  }
  bool is_valid_partial_region(const BufferRegion& region) const {
    return is_valid_region(region) && (region.offset > 0 || region.size != size_);
  }
  TensorMemoryLayout buffer_layout() const { return layout_; }
  bool bottom_up() const { return bottom_up_; }

  std::uint32_t alignment() const;
  DeviceAddr aligned_page_size() const;
  DeviceAddr aligned_size() const;
  DeviceAddr aligned_size_per_bank() const;

  const std::optional<BufferDistributionSpec>& buffer_distribution_spec() const {
    return distribution_;
  }
  bool has_shard_spec() const { return shard_spec_.has_value(); }
  // Throws if the buffer has no shard specification.
  ShardSpecBuffer shard_spec() const;
  // Returns nullopt for an interleaved buffer.
  std::optional<std::uint32_t> num_cores() const;

  // root_buffer returns the buffer that holds the memory. root_buffer_region returns the region of
  // this buffer in that memory. If this buffer is not a view, it holds its own memory.
  std::shared_ptr<Buffer> root_buffer();
  BufferRegion root_buffer_region() const { return {root_offset_, size_}; }

  // Returns the sub-device whose L1 holds the buffer, or nullopt if no sub-device's L1 holds it.
  std::optional<SubDeviceId> sub_device_id() const { return sub_device_id_; }

  // Returns a number that is unique in the process; the first number is 0.
  std::size_t unique_id() const { return unique_id_; }

  // Marks the buffer as deallocated without freeing its memory. Only for a buffer whose device is
  // gone.
  void mark_as_deallocated() { status_ = Status::kDeallocated; }

 private:
  enum class Status : std::uint8_t { kRequested, kAllocated, kDeallocated };

  void allocate_impl();
  void deallocate();
  void deallocate_impl();
  friend void DeallocateBuffer(Buffer& buffer);

  IDevice* const device_;
  const DeviceAddr size_;
  const DeviceAddr page_size_;
  const BufferType buffer_type_;
  const TensorMemoryLayout layout_;
  const bool bottom_up_;
  const std::optional<SubDeviceId> sub_device_id_;
  const bool owns_data_;
  const std::optional<ShardSpecBuffer> shard_spec_;
  const std::optional<BufferDistributionSpec> distribution_;
  const std::shared_ptr<dryrun::MemoryBanks> banks_;

  Status status_ = Status::kRequested;
  DeviceAddr address_ = 0;
  std::size_t unique_id_ = 0;
  std::shared_ptr<Buffer> root_;  // the buffer that holds the memory, if this buffer is a view
  DeviceAddr root_offset_ = 0;
};

}  // namespace tt::tt_metal
