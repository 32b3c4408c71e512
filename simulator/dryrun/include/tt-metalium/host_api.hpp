// SPDX-License-Identifier: Apache-2.0
// TT-Metal's host interface without a device: devices, buffers, programs and circular buffers take
// memory as on hardware. Kernels are not compiled, and data is not moved.
//
// The environment variable TTMEM_DRYRUN_SYSTEM selects the machine: n150 (default), n300, t3000,
// galaxy, p100, p150, bh_galaxy, n300_2x2, p300, p150_x4, p150_x8; a compute grid may follow, as in
// "p150:13x10". The variable is read whenever the first device is opened, that is, while no other
// device is open.
//
// Errors are exceptions (std::runtime_error) with TT-Metal's own texts. After an out-of-memory
// error, and after a clash of circular buffers with L1 buffers, the text also names the holders of
// the space. A call that throws changes nothing. As in TT-Metal, there is one exception: a program
// whose circular buffers do not fit stays placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/circular_buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/device_impl.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <tt-metalium/runtime_args_data.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <variant>
#include <vector>

namespace tt::tt_metal {

class GlobalSemaphore;

// ---- devices ----

std::size_t GetNumAvailableDevices();
std::size_t GetNumPCIeDevices();
// Returns false, because no simulated system is a first-generation Galaxy, whose chips are behind
// gateway chips.
bool IsGalaxyCluster();

// Opens a chip. If the chip is already open with the same sizes, the chip gets one more owner, and
// stays open until the last owner closes it. The pointer stays valid for the whole process, even
// after CloseDevice. Throws if the chip is unknown, if the sizes do not fit, or if the chip is open
// with other sizes. `l1_bank_remap` is ignored, because it concerns only data.
IDevice* CreateDevice(ChipId device_id, std::uint8_t num_hw_cqs = 1,
                      std::size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
                      std::size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE,
                      const DispatchCoreConfig& dispatch_core_config = DispatchCoreConfig{},
                      const std::vector<std::uint32_t>& l1_bank_remap = {},
                      std::size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);

// Removes one owner of the chip. Returns false if the chip is not open.
bool CloseDevice(IDevice* device);

// ---- programs ----

Program CreateProgram();

// Declares a kernel. The source is neither read nor compiled. Throws for an empty set of cores.
KernelHandle CreateKernel(Program& program, const std::string& file_name,
                          const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                          const std::variant<DataMovementConfig, ComputeConfig>& config);
KernelHandle CreateKernelFromString(
    Program& program, const std::string& kernel_src_code,
    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
    const std::variant<DataMovementConfig, ComputeConfig>& config);

// Declares a circular buffer. Throws if a slot is already used on one of the cores, if a slot has
// no data format or no page size, or if the program has run.
CBHandle CreateCircularBuffer(Program& program,
                              const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                              const CircularBufferConfig& config);
const CircularBufferConfig& GetCircularBufferConfig(Program& program, CBHandle cb_handle);

// Changes a size. All circular buffers of the program then get new addresses at the next run,
// unless the changed circular buffer is globally allocated.
void UpdateCircularBufferTotalSize(Program& program, CBHandle cb_handle, std::uint32_t total_size);
void UpdateCircularBufferPageSize(Program& program, CBHandle cb_handle, std::uint8_t buffer_index,
                                  std::uint32_t page_size);
// Moves a globally allocated circular buffer to another L1 buffer. No processor is told.
void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle, const Buffer& buffer);
void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle, const Buffer& buffer,
                                        std::uint32_t address_offset);
void UpdateDynamicCircularBufferAddressAndTotalSize(Program& program, CBHandle cb_handle,
                                                    const Buffer& buffer, std::uint32_t total_size);

// Semaphores lie in the reserved region of L1 and take no other L1.
std::uint32_t CreateSemaphore(Program& program,
                              const std::variant<CoreRange, CoreRangeSet>& core_spec,
                              std::uint32_t initial_value);

// Makes one word in the L1 of each core, at the same address; see GlobalSemaphore
// (global_semaphore.hpp).
GlobalSemaphore CreateGlobalSemaphore(distributed::MeshDevice& device, CoreRangeSet cores,
                                      std::uint32_t initial_value,
                                      BufferType buffer_type = BufferType::L1);
GlobalSemaphore CreateGlobalSemaphore(IDevice* device, const CoreRangeSet& cores,
                                      std::uint32_t initial_value,
                                      BufferType buffer_type = BufferType::L1);

// ---- buffers ----

// See Buffer::create. With an address, the result is an alias of memory that another buffer holds.
std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config);
std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config, DeviceAddr address);
std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config,
                                     SubDeviceId sub_device_id);
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config);
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config, DeviceAddr address);
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config, SubDeviceId sub_device_id);
// Does nothing if the buffer is already deallocated.
void DeallocateBuffer(Buffer& buffer);
// Makes the program an owner of the buffer, so that the buffer lives at least as long as the
// program.
void AssignGlobalBufferToProgram(const std::shared_ptr<Buffer>& buffer, Program& program);

// ---- runtime arguments: stored, but not used ----

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                    ttsl::Span<const std::uint32_t> runtime_args);
void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                    std::initializer_list<std::uint32_t> runtime_args);
void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::vector<CoreCoord>& core_spec,
                    const std::vector<std::vector<std::uint32_t>>& runtime_args);
void SetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id,
                          ttsl::Span<const std::uint32_t> runtime_args);
void SetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id,
                          std::initializer_list<std::uint32_t> runtime_args);
// Throws if no arguments were set.
RuntimeArgsData& GetRuntimeArgs(const Program& program, KernelHandle kernel_id,
                                const CoreCoord& logical_core);
RuntimeArgsData& GetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id);

}  // namespace tt::tt_metal
