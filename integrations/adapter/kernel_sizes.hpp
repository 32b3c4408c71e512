// SPDX-License-Identifier: Apache-2.0
//
// What a program's kernels take, from the runtime's own figures.
#pragma once

#include <memory>
#include <tt-metalium/device.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <unordered_map>

#include "loaded_kernels.hpp"

namespace tt::tt_metal {
class Kernel;
namespace detail {
class ProgramImpl;
}  // namespace detail
}  // namespace tt::tt_metal

namespace ttmem::adapter {

// The kernels on compute cores.
[[nodiscard]] std::unordered_map<::tt::tt_metal::KernelHandle,
                                 std::shared_ptr<::tt::tt_metal::Kernel>>&
compute_kernels(::tt::tt_metal::detail::ProgramImpl& program);

// The binaries' sizes, as the runtime knows them once they are compiled. A kernel without a binary
// makes them an estimate.
[[nodiscard]] tt_metal::KernelSizes kernel_sizes(::tt::tt_metal::detail::ProgramImpl& program,
                                                 ::tt::tt_metal::IDevice& device);

}  // namespace ttmem::adapter
