// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tuple>

namespace tt::tt_metal {

// A word at the same address in the L1 of each of its cores. The words are a sharded L1 buffer with
// one page per core, which is allocated and freed like any other buffer. Copies share this buffer,
// and the last copy frees it.
class GlobalSemaphore {
 public:
  // Throws if `buffer_type` is not L1 or L1_SMALL, or if there is no core. Also throws if
  // Buffer::create throws.
  GlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores, std::uint32_t initial_value,
                  BufferType buffer_type = BufferType::L1);
  GlobalSemaphore(IDevice* device, CoreRangeSet cores, std::uint32_t initial_value,
                  BufferType buffer_type = BufferType::L1);

  IDevice* device() const { return device_; }
  DeviceAddr address() const;
  // Does nothing, because the dry run has no data.
  void reset_semaphore_value(std::uint32_t /*reset_value*/) const {}

  static constexpr auto attribute_names = std::forward_as_tuple("cores", "buffer_type");
  std::tuple<CoreRangeSet, BufferType> attribute_values() const;

 private:
  IDevice* device_;
  CoreRangeSet cores_;
  distributed::AnyBuffer buffer_;
};

}  // namespace tt::tt_metal

template <>
struct std::hash<tt::tt_metal::GlobalSemaphore> {
  std::size_t operator()(const tt::tt_metal::GlobalSemaphore& global_semaphore) const;
};
