// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/device.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

namespace ttmem::tt_metal {

// A core loads the kernels of the program it runs into this much of its reserved L1.
inline constexpr std::uint64_t kKernelRingBytes = 69 * 1024;
// For a kernel of unknown size: data movement and compute together are rarely larger.
inline constexpr std::uint64_t kKernelEstimateBytes = 50 * 1024;

struct KernelBytes {
  std::uint64_t per_core = 0;
  bool estimate = false;
};

// What these kernels take on a core that runs all of them: the sizes of their binaries where the
// runtime knows them, kKernelEstimateBytes for each other one, and at most kKernelRingBytes.
// Kernels of Ethernet cores are not counted: they are not in the L1 of compute cores.
[[nodiscard]] KernelBytes kernel_bytes(
    const std::vector<tt::tt_metal::detail::KernelMeta>& kernels);
// The same for those of a program, without binaries if it is not compiled for the device yet, or if
// the runtime throws: an observer must not stop its host.
[[nodiscard]] KernelBytes collect_kernel_bytes(const tt::tt_metal::Program& program,
                                               const tt::tt_metal::IDevice& device,
                                               bool is_compiled);

}  // namespace ttmem::tt_metal
