// SPDX-License-Identifier: Apache-2.0
//
// What is read of the runtime's own objects. A checkout of TT-Metal has the headers of their
// classes, a package has the public ones alone: the adapter is compiled with one of two
// implementations, by what is there. runtime_objects_internal.cpp reads everything;
// runtime_objects_public.cpp goes without the classes, and says less.
#pragma once

#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

#include "placed_program.hpp"

#if __has_include("impl/program/program_impl.hpp")
#define TTMEM_HAS_INTERNAL_HEADERS 1
#else
#define TTMEM_HAS_INTERNAL_HEADERS 0
#endif

namespace ttmem::preload {

namespace tm = ::tt::tt_metal;

// Dataflow buffers and scratchpads are read, kernels are exact, and a program can be read at any
// time. Without, a program is what TT-Metal's hook tells of each circular buffer while it is
// placed.
inline constexpr bool kReadsPrograms = TTMEM_HAS_INTERNAL_HEADERS != 0;

// The chip's own number; 0: not known.
[[nodiscard]] std::uint64_t unique_id(const tm::IDevice& chip);

// A program is about to be placed on this thread. Then the hook tells of its circular buffers, of
// each on every chip. Both do nothing where programs are read.
void begin_layout();
void heard_of_cb(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t bytes,
                 bool is_view, const tm::IDevice* chip);

// `cbs` is what was known of the program, and becomes what it has on its cores now. Call it when
// it has been placed, on that thread. True if that is something else.
[[nodiscard]] bool read_layout(tm::detail::ProgramImpl& program,
                               std::vector<tt_metal::ProgramCb>& cbs);
// False if the program has circular buffers with bytes of their own that are not in `cbs`.
[[nodiscard]] bool is_complete(const tm::Program& program,
                               const std::vector<tt_metal::ProgramCb>& cbs);
// Adds views that read_layout() could not know of. True if there are any.
[[nodiscard]] bool add_views(tm::Program& program, std::vector<tt_metal::ProgramCb>& cbs);

// What its kernels take, once it is compiled. `cbs` is what read_layout() says.
[[nodiscard]] tt_metal::KernelSizes kernel_sizes(tm::Program& program, tm::IDevice& device,
                                                 const std::vector<tt_metal::ProgramCb>& cbs);

}  // namespace ttmem::preload
