// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/mesh_buffer.hpp>

#include "error.hpp"

namespace tt::tt_metal::distributed {

using dryrun::fail;
using dryrun::require;

std::uint32_t ShardedBufferConfig::compute_datum_size_bytes() const {
  return static_cast<std::uint32_t>(global_size /
                                    (global_buffer_shape.height() * global_buffer_shape.width()));
}

std::pair<bool, bool> ShardedBufferConfig::replicated_dims() const {
  return {shard_shape.height() == 0, shard_shape.width() == 0};
}

Shape2D ShardedBufferConfig::physical_shard_shape() const {
  const auto [height_replicated, width_replicated] = replicated_dims();
  return {height_replicated ? global_buffer_shape.height() : shard_shape.height(),
          width_replicated ? global_buffer_shape.width() : shard_shape.width()};
}

namespace {

void validate(const ShardedBufferConfig& config, const MeshDevice& mesh) {
  const auto [height, width] = config.global_buffer_shape;
  const auto [shard_height, shard_width] = config.physical_shard_shape();
  require(
      shard_height > 0 && shard_width > 0 && height % shard_height == 0 && width % shard_width == 0,
      "Global buffer shape must be aligned with the shard shape: requested buffer shape: (", height,
      ", ", width, "), shard shape: (", shard_height, ", ", shard_width, ")");
  std::size_t shards = height / shard_height * (width / shard_width);
  const auto [height_replicated, width_replicated] = config.replicated_dims();
  if (height_replicated && width_replicated) {
    shards *= mesh.num_rows() * mesh.num_cols();
  } else if (height_replicated || width_replicated) {
    shards *=
        config.shard_orientation == ShardOrientation::ROW_MAJOR ? mesh.num_rows() : mesh.num_cols();
  }
  require(shards <= mesh.num_devices(),
          "The sharded tensor does not fit on the Mesh. Num shards in buffer ", shards,
          ", Num Devices ", mesh.num_devices());
}

DeviceAddr size_on_each_chip(const MeshBufferConfig& config, const MeshDevice& mesh) {
  if (const auto* replicated = std::get_if<ReplicatedBufferConfig>(&config)) {
    return replicated->size;
  }
  const auto& sharded = std::get<ShardedBufferConfig>(config);
  validate(sharded, mesh);
  const auto [height, width] = sharded.physical_shard_shape();
  return sharded.compute_datum_size_bytes() * height * width;
}

}  // namespace

std::shared_ptr<MeshBuffer> MeshBuffer::create(const MeshBufferConfig& mesh_buffer_config,
                                               const DeviceLocalBufferConfig& device_local_config,
                                               MeshDevice* mesh_device,
                                               std::optional<DeviceAddr> address) {
  const DeviceAddr size = size_on_each_chip(mesh_buffer_config, *mesh_device);
  std::shared_ptr<Buffer> backing;
  if (!address) {
    backing = Buffer::create(mesh_device, size, device_local_config.page_size,
                             device_local_config.buffer_type, device_local_config.sharding_args,
                             device_local_config.bottom_up, device_local_config.sub_device_id);
    address = backing->address();
  }
  return std::shared_ptr<MeshBuffer>(new MeshBuffer(mesh_buffer_config, device_local_config, size,
                                                    mesh_device, std::move(backing), *address));
}

MeshBuffer::MeshBuffer(const MeshBufferConfig& config,
                       const DeviceLocalBufferConfig& device_local_config,
                       DeviceAddr device_local_size, MeshDevice* mesh_device,
                       std::shared_ptr<Buffer> backing_buffer, DeviceAddr address)
    : config_(config),
      device_local_config_(device_local_config),
      mesh_device_(mesh_device->shared_from_this()),
      shape_(mesh_device->shape()),
      address_(address),
      device_local_size_(device_local_size),
      backing_buffer_(std::move(backing_buffer)) {
  for (IDevice* device : mesh_device->get_devices()) {
    device_buffers_.push_back(
        Buffer::create(device, address_, device_local_size_, device_local_config_.page_size,
                       device_local_config_.buffer_type, device_local_config_.sharding_args,
                       device_local_config_.bottom_up));
  }
}

MeshBuffer::~MeshBuffer() { deallocate(); }

bool MeshBuffer::is_allocated() const { return !deallocated_ && !mesh_device_.expired(); }

void MeshBuffer::deallocate() {
  if (deallocated_) return;
  deallocated_ = true;
  // Keeps the mesh alive while processors read the buffer's device.
  const auto mesh_device = mesh_device_.lock();
  if (!mesh_device && backing_buffer_) backing_buffer_->mark_as_deallocated();
  backing_buffer_.reset();
}

MeshDevice* MeshBuffer::device() const {
  const auto mesh_device = mesh_device_.lock();
  require(mesh_device != nullptr, "Can't get device from mesh buffer, already deallocated");
  return mesh_device.get();
}

DeviceAddr MeshBuffer::size() const {
  const auto* sharded = std::get_if<ShardedBufferConfig>(&config_);
  return sharded == nullptr ? device_local_size_ : sharded->global_size;
}

MeshBufferLayout MeshBuffer::global_layout() const {
  return std::holds_alternative<ReplicatedBufferConfig>(config_) ? MeshBufferLayout::REPLICATED
                                                                 : MeshBufferLayout::SHARDED;
}

const ShardedBufferConfig& MeshBuffer::global_shard_spec() const {
  const auto* sharded = std::get_if<ShardedBufferConfig>(&config_);
  if (sharded == nullptr) fail("Can only query the global shard spec for a sharded buffer");
  return *sharded;
}

Buffer* MeshBuffer::get_device_buffer(const MeshCoordinate& device_coord) const {
  return device_buffers_[device_coord.to_linear_index(shape_)].get();
}

Buffer* MeshBuffer::get_reference_buffer() const { return device_buffers_.front().get(); }

std::uint32_t MeshBuffer::page_size() const {
  return static_cast<std::uint32_t>(device_local_config_.page_size);
}

std::uint32_t MeshBuffer::num_pages() const {
  return page_size() == 0 ? 0 : static_cast<std::uint32_t>(device_local_size_ / page_size());
}

AnyBuffer AnyBuffer::create(const BufferConfig& config, const BufferShardingArgs& sharding,
                            std::optional<std::uint64_t> address) {
  if (auto* const mesh = dynamic_cast<MeshDevice*>(config.device)) {
    return MeshBuffer::create(ReplicatedBufferConfig{.size = config.size},
                              {.page_size = config.page_size,
                               .buffer_type = config.buffer_type,
                               .sharding_args = sharding},
                              mesh, address);
  }
  return address ? Buffer::create(config.device, *address, config.size, config.page_size,
                                  config.buffer_type, sharding)
                 : Buffer::create(config.device, config.size, config.page_size, config.buffer_type,
                                  sharding);
}

AnyBuffer AnyBuffer::create(const tt::tt_metal::ShardedBufferConfig& config,
                            std::optional<std::uint64_t> address) {
  return create({config.device, config.size, config.page_size, config.buffer_type},
                BufferShardingArgs(config.shard_parameters, config.buffer_layout), address);
}

AnyBuffer AnyBuffer::create(const tt::tt_metal::InterleavedBufferConfig& config,
                            std::optional<std::uint64_t> address) {
  return create(config, BufferShardingArgs(), address);
}

std::shared_ptr<MeshBuffer> AnyBuffer::get_mesh_buffer() const {
  const auto* const held = std::get_if<std::shared_ptr<MeshBuffer>>(&holder_);
  return held != nullptr && *held != nullptr && (*held)->is_allocated() ? *held : nullptr;
}

}  // namespace tt::tt_metal::distributed
