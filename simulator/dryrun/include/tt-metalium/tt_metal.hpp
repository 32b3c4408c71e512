// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

namespace tt::tt_metal::detail {

// Opens all of the chips. If a chip cannot be opened, closes the chips that this call has opened,
// and throws.
std::map<ChipId, IDevice*> CreateDevices(
    const std::vector<ChipId>& device_ids, std::uint8_t num_hw_cqs = 1,
    std::size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
    std::size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE,
    const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
    const std::vector<std::uint32_t>& l1_bank_remap = {},
    std::size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
void CloseDevices(const std::map<ChipId, IDevice*>& devices);

// Returns null if the chip is not open.
IDevice* GetActiveDevice(ChipId device_id);

// Place the program on the device. Circular buffers without an address get an address, and the
// device holds all circular buffers of the program from then on. Like
// EnqueueMeshWorkload, the functions also place a program that does not fit, and then throw.
void CompileProgram(IDevice* device, Program& program, bool force_slow_dispatch = false);
void LaunchProgram(IDevice* device, Program& program, bool wait_until_cores_done = true,
                   bool force_slow_dispatch = false);

// Data does not move: a write has no effect, and a read returns zeros of the right size.
template <typename DType>
void WriteToBuffer(Buffer& /*buffer*/, const std::vector<DType>& /*host_buffer*/) {}
template <typename DType>
void WriteToBuffer(const std::shared_ptr<Buffer>& /*buffer*/,
                   const std::vector<DType>& /*host_buffer*/) {}
template <typename DType>
void ReadFromBuffer(Buffer& buffer, std::vector<DType>& host_buffer) {
  host_buffer.assign(buffer.size() / sizeof(DType), DType{});
}
template <typename DType>
void ReadFromBuffer(const std::shared_ptr<Buffer>& buffer, std::vector<DType>& host_buffer) {
  ReadFromBuffer(*buffer, host_buffer);
}

}  // namespace tt::tt_metal::detail
