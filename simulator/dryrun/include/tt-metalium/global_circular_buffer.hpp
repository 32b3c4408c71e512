// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/program.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tt::tt_metal::experimental {

// A circular buffer between sender cores and their receiver cores. It outlives programs. It
// consists of two L1 buffers that are sharded over all of these cores. The first L1 buffer is the
// memory, with `size` bytes on each core. The second L1 buffer is the configuration. Its size on
// each core is enough for the sender with the most receivers. Circular buffers of programs are
// views on the first L1 buffer. Copies share both L1 buffers, which are freed with the last copy.
class GlobalCircularBuffer {
 public:
  // Throws if `buffer_type` is not L1 or L1_SMALL, if there is no sender, or if a core appears
  // twice. Also throws if Buffer::create throws.
  GlobalCircularBuffer(
      distributed::MeshDevice& device,
      const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
      std::uint32_t size, BufferType buffer_type = BufferType::L1);
  GlobalCircularBuffer(
      IDevice* device,
      const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
      std::uint32_t size, BufferType buffer_type = BufferType::L1);

  const Buffer& cb_buffer() const { return *cb_buffer_.get_buffer(); }
  const CoreRangeSet& sender_cores() const { return sender_cores_; }
  const CoreRangeSet& receiver_cores() const { return receiver_cores_; }
  const CoreRangeSet& all_cores() const { return all_cores_; }
  DeviceAddr buffer_address() const { return cb_buffer().address(); }
  DeviceAddr config_address() const { return config_buffer_.get_buffer()->address(); }
  // Returns the size on each core.
  std::uint32_t size() const { return size_; }
  const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping() const {
    return mapping_;
  }
  IDevice* get_device() const { return device_; }

 private:
  void name_cores();
  void allocate(BufferType buffer_type);

  IDevice* device_;
  std::vector<std::pair<CoreCoord, CoreRangeSet>> mapping_;
  CoreRangeSet sender_cores_;
  CoreRangeSet receiver_cores_;
  CoreRangeSet all_cores_;
  std::uint32_t size_;
  distributed::AnyBuffer cb_buffer_;
  distributed::AnyBuffer config_buffer_;
};

GlobalCircularBuffer CreateGlobalCircularBuffer(
    distributed::MeshDevice& device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type = BufferType::L1);
GlobalCircularBuffer CreateGlobalCircularBuffer(
    IDevice* device,
    const std::vector<std::pair<CoreCoord, CoreRangeSet>>& sender_receiver_core_mapping,
    std::uint32_t size, BufferType buffer_type = BufferType::L1);

// Declares a circular buffer in the memory of a global circular buffer, which must live as long as
// the program uses it. Throws if `config` has no remote index or is already bound to an L1 buffer.
// Throws if the circular buffer is larger than the global circular buffer or lies on other cores.
// Also throws in the cases of CreateCircularBuffer() in host_api.hpp.
CBHandle CreateCircularBuffer(Program& program,
                              const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                              const CircularBufferConfig& config,
                              const GlobalCircularBuffer& global_circular_buffer);

// Moves a circular buffer from one global circular buffer into another. No processor is told.
void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle,
                                        const GlobalCircularBuffer& global_circular_buffer);

}  // namespace tt::tt_metal::experimental

template <>
struct std::hash<tt::tt_metal::experimental::GlobalCircularBuffer> {
  std::size_t operator()(
      const tt::tt_metal::experimental::GlobalCircularBuffer& global_circular_buffer) const;
};
