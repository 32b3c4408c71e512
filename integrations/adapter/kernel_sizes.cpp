// SPDX-License-Identifier: Apache-2.0
#include "kernel_sizes.hpp"

#include <tt-metalium/hal_types.hpp>

#include "impl/context/metal_context.hpp"
#include "impl/kernels/kernel.hpp"
#include "impl/program/program_impl.hpp"
#include "kernel_bytes.hpp"

namespace ttmem::adapter {
namespace {

namespace tm = ::tt::tt_metal;

// 0: it has none.
std::uint64_t binary_bytes(const tm::Kernel& kernel, tm::IDevice& device) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < static_cast<int>(kernel.expected_num_binaries()); ++i) {
    bytes += kernel.get_binary_packed_size(&device, i);
  }
  return bytes;
}

}  // namespace

std::unordered_map<tm::KernelHandle, std::shared_ptr<tm::Kernel>>& compute_kernels(
    tm::detail::ProgramImpl& program) {
  static const std::uint32_t compute =
      tm::MetalContext::instance().hal().get_programmable_core_type_index(
          tm::HalProgrammableCoreType::TENSIX);
  return program.get_kernels(compute);
}

tt_metal::KernelSizes kernel_sizes(tm::detail::ProgramImpl& program, tm::IDevice& device) {
  tt_metal::KernelSizes sizes;
  for (const auto& [handle, kernel] : compute_kernels(program)) {
    std::uint64_t bytes = binary_bytes(*kernel, device);
    if (bytes == 0) {
      bytes = tt_metal::kKernelEstimateBytes;
      sizes.estimate = true;
    }
    sizes.add(kernel->core_range_set(), bytes);
  }
  return sizes;
}

}  // namespace ttmem::adapter
