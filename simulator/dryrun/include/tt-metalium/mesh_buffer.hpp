// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/shape2d.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tt::tt_metal::distributed {

// The layout of the buffer on each chip.
struct DeviceLocalBufferConfig {
  DeviceAddr page_size = 0;
  BufferType buffer_type = BufferType::DRAM;
  BufferShardingArgs sharding_args = {};
  std::optional<bool> bottom_up = {};
  std::optional<SubDeviceId> sub_device_id = std::nullopt;
};

// A buffer with a full copy of the data on every chip.
struct ReplicatedBufferConfig {
  DeviceAddr size = 0;
};

// A buffer with one shard on every chip. If a dimension of the shard is 0, the buffer is not cut in
// this dimension.
struct ShardedBufferConfig {
  DeviceAddr global_size = 0;
  Shape2D global_buffer_shape = {0, 0};
  Shape2D shard_shape = {0, 0};
  ShardOrientation shard_orientation = ShardOrientation::ROW_MAJOR;

  std::uint32_t compute_datum_size_bytes() const;
  std::pair<bool, bool> replicated_dims() const;
  Shape2D physical_shard_shape() const;
};

enum class MeshBufferLayout : std::uint8_t { REPLICATED, SHARDED };
using MeshBufferConfig = std::variant<ReplicatedBufferConfig, ShardedBufferConfig>;

// A buffer on every chip of a mesh, at the same address on each chip. One "backing" buffer on the
// mesh holds the memory and is reported to processors. The buffers of the single chips are aliases
// of its memory.
class MeshBuffer {
 public:
  // With an address, makes an alias of memory that another buffer holds. Throws if a sharded buffer
  // has more shards than the mesh has chips. Also throws if Buffer::create throws.
  static std::shared_ptr<MeshBuffer> create(const MeshBufferConfig& mesh_buffer_config,
                                            const DeviceLocalBufferConfig& device_local_config,
                                            MeshDevice* mesh_device,
                                            std::optional<DeviceAddr> address = std::nullopt);
  ~MeshBuffer();
  MeshBuffer(const MeshBuffer&) = delete;
  MeshBuffer& operator=(const MeshBuffer&) = delete;

  bool is_allocated() const;
  // Does nothing if the buffer is already deallocated.
  void deallocate();

  // Throws if the mesh is gone.
  MeshDevice* device() const;
  // Returns the size on all chips together if the buffer is sharded, or the size on each chip if
  // the buffer is replicated.
  DeviceAddr size() const;
  DeviceAddr device_local_size() const { return device_local_size_; }
  DeviceAddr address() const { return address_; }
  MeshBufferLayout global_layout() const;
  const MeshBufferConfig& global_config() const { return config_; }
  // Throws if the buffer is replicated.
  const ShardedBufferConfig& global_shard_spec() const;
  const DeviceLocalBufferConfig& device_local_config() const { return device_local_config_; }

  Buffer* get_device_buffer(const MeshCoordinate& device_coord) const;
  // Returns the buffer of the first chip.
  Buffer* get_reference_buffer() const;
  // Returns null if the buffer was created with an address, or is deallocated.
  Buffer* get_backing_buffer() const { return backing_buffer_.get(); }

  std::uint32_t page_size() const;
  std::uint32_t num_pages() const;

 private:
  MeshBuffer(const MeshBufferConfig& config, const DeviceLocalBufferConfig& device_local_config,
             DeviceAddr device_local_size, MeshDevice* mesh_device,
             std::shared_ptr<Buffer> backing_buffer, DeviceAddr address);

  const MeshBufferConfig config_;
  const DeviceLocalBufferConfig device_local_config_;
  const std::weak_ptr<MeshDevice> mesh_device_;
  const MeshShape shape_;
  const DeviceAddr address_;
  const DeviceAddr device_local_size_;
  std::shared_ptr<Buffer> backing_buffer_;
  std::vector<std::shared_ptr<Buffer>> device_buffers_;
  bool deallocated_ = false;
};

// A buffer on a chip or on a mesh, depending on the configuration. Copies share the buffer.
class AnyBuffer {
 public:
  AnyBuffer() = default;
  // With an address, makes an alias of memory that another buffer holds.
  static AnyBuffer create(const tt::tt_metal::ShardedBufferConfig& config,
                          std::optional<std::uint64_t> address = std::nullopt);
  static AnyBuffer create(const tt::tt_metal::InterleavedBufferConfig& config,
                          std::optional<std::uint64_t> address = std::nullopt);

  // Returns the buffer on the chip, or the buffer of the first chip of a mesh.
  Buffer* get_buffer() const { return buffer_; }
  bool is_mesh_buffer() const { return get_mesh_buffer() != nullptr; }
  // Returns null if the buffer is on a chip, or if the mesh buffer is deallocated.
  std::shared_ptr<MeshBuffer> get_mesh_buffer() const;

 private:
  AnyBuffer(std::shared_ptr<Buffer> buffer) : buffer_(buffer.get()), holder_(std::move(buffer)) {}
  AnyBuffer(std::shared_ptr<MeshBuffer> buffer)
      : buffer_(buffer->get_reference_buffer()), holder_(std::move(buffer)) {}
  static AnyBuffer create(const BufferConfig& config, const BufferShardingArgs& sharding,
                          std::optional<std::uint64_t> address);

  Buffer* buffer_ = nullptr;
  std::variant<std::shared_ptr<Buffer>, std::shared_ptr<MeshBuffer>> holder_;
};

}  // namespace tt::tt_metal::distributed
