// SPDX-License-Identifier: Apache-2.0
// Reads the runtime's own objects. Their classes are declared in internal headers, which a checkout
// of TT-Metal has and a package does not. The adapter is compiled with one of two implementations:
// runtime_objects_internal.cpp uses the internal headers and reads everything;
// runtime_objects_public.cpp uses only public headers and reads less.
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

// True if the adapter is compiled with internal headers. Dataflow buffers and scratchpads are then
// read, kernel sizes are exact, and a program can be read at any time. If false, only the circular
// buffers are known that TT-Metal's hook reports while a program is placed.
inline constexpr bool kReadsPrograms = TTMEM_HAS_INTERNAL_HEADERS != 0;

// Returns the uid of the chip, or 0 if the uid is unknown.
[[nodiscard]] std::uint64_t unique_id(const tm::IDevice& chip);

// Collect the circular buffers of a program. Call begin_layout() before a program is placed on this
// thread, and cb_reported() whenever TT-Metal's hook reports a circular buffer during the
// placement. Both functions do nothing if kReadsPrograms is true.
void begin_layout();
void cb_reported(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t bytes,
                 bool is_view, const tm::IDevice* chip);

// Replaces `cbs`, the known circular buffers of the program, by its present circular buffers. Call
// it after a placement, on the thread of the placement. Returns true if `cbs` changed.
[[nodiscard]] bool read_layout(tm::detail::ProgramImpl& program,
                               std::vector<tt_metal::ProgramCb>& cbs);
// Returns true if `cbs` has all circular buffers of the program. Views may be missing.
[[nodiscard]] bool is_complete(const tm::Program& program,
                               const std::vector<tt_metal::ProgramCb>& cbs);
// Adds views that read_layout() could not find. Returns true if a view was added.
[[nodiscard]] bool add_views(tm::Program& program, std::vector<tt_metal::ProgramCb>& cbs);

// Returns the kernel sizes of a compiled program. `cbs` is the result of read_layout().
[[nodiscard]] tt_metal::KernelSizes kernel_sizes(tm::Program& program, tm::IDevice& device,
                                                 const std::vector<tt_metal::ProgramCb>& cbs);

}  // namespace ttmem::preload
