// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "cluster.hpp"
#include "core_spec.hpp"
#include "error.hpp"
#include "impl/program/program_impl.hpp"

namespace tt::tt_metal {

using dryrun::Cluster;
using dryrun::cores_of;
using dryrun::require;

namespace {

// Returns nullopt for data movement.
std::optional<MathFidelity> fidelity_of(
    const std::variant<DataMovementConfig, ComputeConfig>& config) {
  const auto* compute = std::get_if<ComputeConfig>(&config);
  return compute == nullptr ? std::nullopt : std::optional(compute->math_fidelity);
}

CircularBufferImpl& view_on_a_buffer(Program& program, CBHandle cb_handle) {
  CircularBufferImpl& cb = *program.impl().get_circular_buffer(cb_handle);
  require(!cb.is_global_circular_buffer(), "CircularBuffer must not be a GlobalCircularBuffer!");
  return cb;
}

// Returns the implementation of a program for changes, because TT-Metal's functions that set
// runtime arguments take a const program.
detail::ProgramImpl& mutable_impl(const Program& program) {
  return const_cast<detail::ProgramImpl&>(program.impl());
}

}  // namespace

std::size_t GetNumAvailableDevices() { return Cluster::instance().system().chips.size(); }
std::size_t GetNumPCIeDevices() {
  const dryrun::System system = Cluster::instance().system();
  return system.chips.size() - system.remote_chips.size();
}
bool IsGalaxyCluster() { return false; }

IDevice* CreateDevice(ChipId device_id, std::uint8_t num_hw_cqs, std::size_t l1_small_size,
                      std::size_t trace_region_size, const DispatchCoreConfig& dispatch_core_config,
                      const std::vector<std::uint32_t>& /*l1_bank_remap*/,
                      std::size_t worker_l1_size) {
  return Cluster::instance().open(device_id, {.num_hw_cqs = num_hw_cqs,
                                              .l1_small_size = l1_small_size,
                                              .trace_region_size = trace_region_size,
                                              .worker_l1_size = worker_l1_size,
                                              .dispatch_core_config = dispatch_core_config});
}

bool CloseDevice(IDevice* device) {
  auto* const chip = dynamic_cast<Device*>(device);
  return chip != nullptr && Cluster::instance().release(chip);
}

std::map<ChipId, IDevice*> detail::CreateDevices(const std::vector<ChipId>& device_ids,
                                                 std::uint8_t num_hw_cqs, std::size_t l1_small_size,
                                                 std::size_t trace_region_size,
                                                 const DispatchCoreConfig& dispatch_core_config,
                                                 const std::vector<std::uint32_t>& l1_bank_remap,
                                                 std::size_t worker_l1_size) {
  std::map<ChipId, IDevice*> devices;
  try {
    for (const ChipId id : device_ids) {
      devices[id] = CreateDevice(id, num_hw_cqs, l1_small_size, trace_region_size,
                                 dispatch_core_config, l1_bank_remap, worker_l1_size);
    }
  } catch (...) {
    CloseDevices(devices);
    throw;
  }
  return devices;
}

void detail::CloseDevices(const std::map<ChipId, IDevice*>& devices) {
  for (const auto& [id, device] : devices) CloseDevice(device);
}

IDevice* detail::GetActiveDevice(ChipId device_id) {
  return Cluster::instance().find_open(device_id);
}

void detail::CompileProgram(IDevice* device, Program& program, bool force_slow_dispatch) {
  program.impl().compile_and_allocate(device, force_slow_dispatch);
}

void detail::LaunchProgram(IDevice* device, Program& program, bool /*wait_until_cores_done*/,
                           bool force_slow_dispatch) {
  CompileProgram(device, program, force_slow_dispatch);
}

Program CreateProgram() { return {}; }

KernelHandle CreateKernel(Program& program, const std::string& file_name,
                          const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                          const std::variant<DataMovementConfig, ComputeConfig>& config) {
  return program.impl().add_kernel(file_name, cores_of(core_spec), fidelity_of(config));
}

KernelHandle CreateKernelFromString(
    Program& program, const std::string& /*kernel_src_code*/,
    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
    const std::variant<DataMovementConfig, ComputeConfig>& config) {
  return program.impl().add_kernel("Inline source", cores_of(core_spec), fidelity_of(config));
}

ReaderDataMovementConfig::ReaderDataMovementConfig(
    std::vector<std::uint32_t> compile_args_, std::map<std::string, std::string> defines_,
    std::unordered_map<std::string, std::uint32_t> named_compile_args_,
    KernelBuildOptLevel opt_level_, std::vector<std::filesystem::path> compiler_include_paths_)
    : DataMovementConfig{.processor = DataMovementProcessor::RISCV_1,
                         .noc = NOC::RISCV_1_default,
                         .compile_args = std::move(compile_args_),
                         .defines = std::move(defines_),
                         .named_compile_args = std::move(named_compile_args_),
                         .opt_level = opt_level_,
                         .compiler_include_paths = std::move(compiler_include_paths_)} {}

WriterDataMovementConfig::WriterDataMovementConfig(
    std::vector<std::uint32_t> compile_args_, std::map<std::string, std::string> defines_,
    std::unordered_map<std::string, std::uint32_t> named_compile_args_,
    KernelBuildOptLevel opt_level_, std::vector<std::filesystem::path> compiler_include_paths_)
    : DataMovementConfig{.processor = DataMovementProcessor::RISCV_0,
                         .noc = NOC::RISCV_0_default,
                         .compile_args = std::move(compile_args_),
                         .defines = std::move(defines_),
                         .named_compile_args = std::move(named_compile_args_),
                         .opt_level = opt_level_,
                         .compiler_include_paths = std::move(compiler_include_paths_)} {}

CBHandle CreateCircularBuffer(Program& program,
                              const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                              const CircularBufferConfig& config) {
  return program.impl().add_circular_buffer(cores_of(core_spec), config);
}

const CircularBufferConfig& GetCircularBufferConfig(Program& program, CBHandle cb_handle) {
  return program.impl().get_circular_buffer(cb_handle)->config();
}

void UpdateCircularBufferTotalSize(Program& program, CBHandle cb_handle, std::uint32_t total_size) {
  const auto buffer = program.impl().get_circular_buffer(cb_handle);
  buffer->config().set_total_size(total_size);
  // The size of a view on an L1 buffer has no effect on the addresses of other circular buffers.
  if (!buffer->globally_allocated()) program.impl().invalidate_layout();
}

void UpdateCircularBufferPageSize(Program& program, CBHandle cb_handle, std::uint8_t buffer_index,
                                  std::uint32_t page_size) {
  program.impl().get_circular_buffer(cb_handle)->config().set_page_size(buffer_index, page_size);
}

void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle,
                                        const Buffer& buffer) {
  CircularBufferImpl& cb = view_on_a_buffer(program, cb_handle);
  cb.config().set_globally_allocated_address(buffer);
  cb.assign_global_address();
}

void UpdateDynamicCircularBufferAddress(Program& program, CBHandle cb_handle, const Buffer& buffer,
                                        std::uint32_t address_offset) {
  CircularBufferImpl& cb = view_on_a_buffer(program, cb_handle);
  cb.config().set_globally_allocated_address(buffer);
  cb.config().set_address_offset(address_offset);
  cb.assign_global_address();
}

void UpdateDynamicCircularBufferAddressAndTotalSize(Program& program, CBHandle cb_handle,
                                                    const Buffer& buffer,
                                                    std::uint32_t total_size) {
  CircularBufferImpl& cb = *program.impl().get_circular_buffer(cb_handle);
  cb.config().set_globally_allocated_address_and_total_size(buffer, total_size);
  cb.assign_global_address();
}

std::uint32_t CreateSemaphore(Program& program,
                              const std::variant<CoreRange, CoreRangeSet>& /*core_spec*/,
                              std::uint32_t /*initial_value*/) {
  return program.impl().add_semaphore();
}

std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config) {
  return Buffer::create(config.device, config.size, config.page_size, config.buffer_type);
}
std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config, DeviceAddr address) {
  return Buffer::create(config.device, address, config.size, config.page_size, config.buffer_type);
}
std::shared_ptr<Buffer> CreateBuffer(const InterleavedBufferConfig& config,
                                     SubDeviceId sub_device_id) {
  return Buffer::create(config.device, config.size, config.page_size, config.buffer_type,
                        std::nullopt, std::nullopt, sub_device_id);
}
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config) {
  return Buffer::create(config.device, config.size, config.page_size, config.buffer_type,
                        BufferShardingArgs(config.shard_parameters, config.buffer_layout));
}
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config, DeviceAddr address) {
  return Buffer::create(config.device, address, config.size, config.page_size, config.buffer_type,
                        BufferShardingArgs(config.shard_parameters, config.buffer_layout));
}
std::shared_ptr<Buffer> CreateBuffer(const ShardedBufferConfig& config, SubDeviceId sub_device_id) {
  return Buffer::create(config.device, config.size, config.page_size, config.buffer_type,
                        BufferShardingArgs(config.shard_parameters, config.buffer_layout),
                        std::nullopt, sub_device_id);
}

void DeallocateBuffer(Buffer& buffer) { buffer.deallocate(); }

void AssignGlobalBufferToProgram(const std::shared_ptr<Buffer>& buffer, Program& program) {
  program.impl().add_owned_buffer(buffer);
}

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                    ttsl::Span<const std::uint32_t> runtime_args) {
  for (const CoreCoord& core : corerange_to_cores(cores_of(core_spec))) {
    mutable_impl(program).set_runtime_args(kernel, core, runtime_args);
  }
}

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
                    std::initializer_list<std::uint32_t> runtime_args) {
  SetRuntimeArgs(program, kernel, core_spec,
                 ttsl::Span<const std::uint32_t>(runtime_args.begin(), runtime_args.size()));
}

void SetRuntimeArgs(const Program& program, KernelHandle kernel,
                    const std::vector<CoreCoord>& core_spec,
                    const std::vector<std::vector<std::uint32_t>>& runtime_args) {
  require(core_spec.size() == runtime_args.size(), "Mismatch between number of cores ",
          core_spec.size(), " and number of runtime args ", runtime_args.size(),
          " getting updated");
  for (std::size_t i = 0; i < core_spec.size(); ++i) {
    mutable_impl(program).set_runtime_args(kernel, core_spec[i], runtime_args[i]);
  }
}

void SetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id,
                          ttsl::Span<const std::uint32_t> runtime_args) {
  mutable_impl(program).set_common_runtime_args(kernel_id, runtime_args);
}

void SetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id,
                          std::initializer_list<std::uint32_t> runtime_args) {
  SetCommonRuntimeArgs(program, kernel_id,
                       ttsl::Span<const std::uint32_t>(runtime_args.begin(), runtime_args.size()));
}

RuntimeArgsData& GetRuntimeArgs(const Program& program, KernelHandle kernel_id,
                                const CoreCoord& logical_core) {
  return mutable_impl(program).runtime_args(kernel_id, logical_core);
}

RuntimeArgsData& GetCommonRuntimeArgs(const Program& program, KernelHandle kernel_id) {
  return mutable_impl(program).common_runtime_args(kernel_id);
}

}  // namespace tt::tt_metal
