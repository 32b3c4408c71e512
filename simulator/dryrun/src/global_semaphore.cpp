// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/global_semaphore.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>

#include "error.hpp"

namespace tt::tt_metal {

using dryrun::require;

GlobalSemaphore::GlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores,
                                 std::uint32_t initial_value, BufferType buffer_type)
    : GlobalSemaphore(static_cast<IDevice*>(&device), std::move(cores), initial_value,
                      buffer_type) {}

GlobalSemaphore::GlobalSemaphore(IDevice* device, CoreRangeSet cores, std::uint32_t initial_value,
                                 BufferType buffer_type)
    : device_(device), cores_(std::move(cores)) {
  require(buffer_type == BufferType::L1 || buffer_type == BufferType::L1_SMALL,
          "Global semaphore can only be created for L1 buffer types");
  require(device != nullptr, "Device cannot be null");
  require(cores_.num_cores() > 0, "CoreRangeSet must have at least one core");
  constexpr DeviceAddr kWord = sizeof(std::uint32_t);
  buffer_ = distributed::AnyBuffer::create(tt::tt_metal::ShardedBufferConfig{
      .device = device,
      .size = cores_.num_cores() * kWord,
      .page_size = kWord,
      .buffer_type = buffer_type,
      .buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED,
      .shard_parameters = ShardSpecBuffer(cores_, {1, 1}, ShardOrientation::ROW_MAJOR, {1, 1},
                                          {cores_.num_cores(), 1})});
  reset_semaphore_value(initial_value);
}

DeviceAddr GlobalSemaphore::address() const { return buffer_.get_buffer()->address(); }

std::tuple<CoreRangeSet, BufferType> GlobalSemaphore::attribute_values() const {
  return {cores_, buffer_.get_buffer()->buffer_type()};
}

GlobalSemaphore CreateGlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores,
                                      std::uint32_t initial_value, BufferType buffer_type) {
  return {device, std::move(cores), initial_value, buffer_type};
}

GlobalSemaphore CreateGlobalSemaphore(IDevice* device, const CoreRangeSet& cores,
                                      std::uint32_t initial_value, BufferType buffer_type) {
  return {device, cores, initial_value, buffer_type};
}

}  // namespace tt::tt_metal

std::size_t std::hash<tt::tt_metal::GlobalSemaphore>::operator()(
    const tt::tt_metal::GlobalSemaphore& global_semaphore) const {
  const auto [cores, type] = global_semaphore.attribute_values();
  return std::hash<tt::tt_metal::CoreRangeSet>{}(cores)*31 + static_cast<std::size_t>(type);
}
