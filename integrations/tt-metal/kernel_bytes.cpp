// SPDX-License-Identifier: Apache-2.0
#include "kernel_bytes.hpp"

#include <algorithm>

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

}  // namespace ttmem::tt_metal
