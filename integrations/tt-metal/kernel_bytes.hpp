// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/device.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

namespace ttmem::tt_metal {

// The reserved part of L1 into which a core loads the kernels of its program.
inline constexpr std::uint64_t kKernelRingBytes = 69 * 1024;
// The estimated bytes of a kernel whose binary is unknown. The data movement and compute kernels of
// a core together rarely take more than this.
inline constexpr std::uint64_t kKernelEstimateBytes = 50 * 1024;

struct KernelBytes {
  std::uint64_t per_core = 0;
  bool estimate = false;
};

// Returns the bytes that these kernels take on a core that runs all of them. The result is at most
// kKernelRingBytes. A kernel whose binary the runtime does not know counts as kKernelEstimateBytes.
// Kernels of Ethernet cores do not count, because they are not in the L1 of compute cores.
[[nodiscard]] KernelBytes kernel_bytes(
    const std::vector<tt::tt_metal::detail::KernelMeta>& kernels);
// Returns the bytes of a program's kernels. The binaries are unknown if the program is not yet
// compiled for the device, or if the runtime throws. The exception is ignored, because tracking
// must not stop the program.
[[nodiscard]] KernelBytes collect_kernel_bytes(const tt::tt_metal::Program& program,
                                               const tt::tt_metal::IDevice& device,
                                               bool is_compiled);

}  // namespace ttmem::tt_metal
