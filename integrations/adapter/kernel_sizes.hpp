// SPDX-License-Identifier: Apache-2.0
//
// What a program's kernels take, from the runtime's own figures.
#pragma once

#include <tt-metalium/device.hpp>

#include "loaded_kernels.hpp"

namespace tt::tt_metal::detail {
class ProgramImpl;
}  // namespace tt::tt_metal::detail

namespace ttmem::adapter {

// The binaries' sizes, as the runtime knows them once they are compiled. A kernel without a binary
// makes them an estimate.
[[nodiscard]] tt_metal::KernelSizes kernel_sizes(::tt::tt_metal::detail::ProgramImpl& program,
                                                 ::tt::tt_metal::IDevice& device);

}  // namespace ttmem::adapter
