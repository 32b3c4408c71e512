// SPDX-License-Identifier: Apache-2.0
#include "kernel_bytes.hpp"

#include <algorithm>
#include <exception>

#include "describe.hpp"

namespace ttmem::tt_metal {

KernelBytes kernel_bytes(const std::vector<tt::tt_metal::detail::KernelMeta>& kernels) {
  KernelBytes total;
  for (const auto& kernel : kernels) {
    if (kernel.programmable_core_type != tt::tt_metal::HalProgrammableCoreType::TENSIX) continue;
    std::uint64_t known = 0;
    for (const auto& binary : kernel.binary_meta) known += binary.packed_size;
    if (known == 0) total.estimate = true;
    total.per_core += known == 0 ? kKernelEstimateBytes : known;
  }
  total.per_core = std::min(total.per_core, kKernelRingBytes);
  return total;
}

KernelBytes collect_kernel_bytes(const tt::tt_metal::Program& program,
                                 const tt::tt_metal::IDevice& device, bool is_compiled) {
  using tt::tt_metal::detail::collect_kernel_meta;
  if (is_compiled) {
    try {
      return kernel_bytes(collect_kernel_meta(program, chips_of(&device).front()));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the header
    }
  }
  return kernel_bytes(collect_kernel_meta(program, nullptr));
}

}  // namespace ttmem::tt_metal
