// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/global_circular_buffer.hpp>

#include "core_spec.hpp"
#include "error.hpp"
#include "impl/program/program_impl.hpp"
#include "read/placement/align.hpp"

namespace tt::tt_metal::experimental {

using dryrun::require;

namespace {

// Returns the size of a core's configuration. It begins with eight words and two words per
// receiver, rounded up to the alignment of L1. Two counters per receiver follow, each as large as
// the alignment.
DeviceAddr config_bytes(DeviceAddr receivers, DeviceAddr l1_alignment) {
  constexpr DeviceAddr kWord = sizeof(std::uint32_t);
  return ttmem::placement::align_up((8 + 2 * receivers) * kWord, l1_alignment) +
         2 * receivers * l1_alignment;
}

}  // namespace

GlobalCircularBuffer::GlobalCircularBuffer(
    distributed::MeshDevice& device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type)
    : GlobalCircularBuffer(static_cast<IDevice*>(&device), sender_receiver_core_mapping, size,
                           buffer_type) {}

GlobalCircularBuffer::GlobalCircularBuffer(
    IDevice* device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type)
    : device_(device), mapping_(sender_receiver_core_mapping), size_(size) {
  require(device != nullptr, "Device cannot be null");
  name_cores();
  require(buffer_type == BufferType::L1 || buffer_type == BufferType::L1_SMALL,
          "Global circular buffer can only be created for L1 buffer types");
  allocate(buffer_type);
}

void GlobalCircularBuffer::name_cores() {
  require(!mapping_.empty(), "At least one sender required");
  std::vector<CoreRange> senders;
  std::uint32_t receivers = 0;
  for (const auto& [sender, cores] : mapping_) {
    senders.emplace_back(sender);
    receivers += cores.num_cores();
    receiver_cores_ = receiver_cores_.merge(cores);
  }
  sender_cores_ = CoreRangeSet(senders);
  require(receivers == receiver_cores_.num_cores(), "Duplicate receiver cores found");
  all_cores_ = sender_cores_.merge(receiver_cores_);
  require(all_cores_.num_cores() == mapping_.size() + receivers, "Duplicate cores found");
}

void GlobalCircularBuffer::allocate(BufferType buffer_type) {
  const std::uint32_t cores = all_cores_.num_cores();
  const auto on_every_core = [&](DeviceAddr bytes) {
    return distributed::AnyBuffer::create(tt::tt_metal::ShardedBufferConfig{
        .device = device_,
        .size = bytes * cores,
        .page_size = bytes,
        .buffer_type = buffer_type,
        .buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED,
        .shard_parameters =
            ShardSpecBuffer(all_cores_, {1, 1}, ShardOrientation::ROW_MAJOR, {1, 1}, {cores, 1})});
  };
  std::uint32_t most_receivers = 0;
  for (const auto& [sender, receivers] : mapping_) {
    most_receivers = std::max(most_receivers, receivers.num_cores());
  }
  cb_buffer_ = on_every_core(size_);
  config_buffer_ = on_every_core(
      config_bytes(most_receivers, device_->allocator()->get_alignment(BufferType::L1)));
}

GlobalCircularBuffer CreateGlobalCircularBuffer(
    distributed::MeshDevice& device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type) {
  return {device, sender_receiver_core_mapping, size, buffer_type};
}

GlobalCircularBuffer CreateGlobalCircularBuffer(
    IDevice* device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type) {
  return {device, sender_receiver_core_mapping, size, buffer_type};
}

CBHandle CreateCircularBuffer(Program& program,
                              const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                              const CircularBufferConfig& config,
                              const GlobalCircularBuffer& global_circular_buffer) {
  return program.impl().add_circular_buffer(dryrun::cores_of(core_spec), config,
                                            &global_circular_buffer);
}

void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle,
                                        const GlobalCircularBuffer& global_circular_buffer) {
  const auto buffer = program.impl().get_circular_buffer(cb_handle);
  require(buffer->is_global_circular_buffer(),
          "CircularBuffer must be linked to a GlobalCircularBuffer!");
  buffer->set_global_circular_buffer(global_circular_buffer);
}

}  // namespace tt::tt_metal::experimental

std::size_t std::hash<tt::tt_metal::experimental::GlobalCircularBuffer>::operator()(
    const tt::tt_metal::experimental::GlobalCircularBuffer& global_circular_buffer) const {
  std::size_t seed = global_circular_buffer.size();
  for (const auto& [sender, receivers] : global_circular_buffer.sender_receiver_core_mapping()) {
    seed = seed * 31 + std::hash<tt_xy_pair>{}(sender);
    seed = seed * 31 + std::hash<tt::tt_metal::CoreRangeSet>{}(receivers);
  }
  return seed * 31 + static_cast<std::size_t>(global_circular_buffer.cb_buffer().buffer_type());
}
