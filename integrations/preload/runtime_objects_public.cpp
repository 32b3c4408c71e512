// SPDX-License-Identifier: Apache-2.0
// Implements runtime_objects.hpp with the headers of a package, in which a program is only a
// pointer. The circular buffers of a program are collected from TT-Metal's hook while the program
// is placed. The sizes of kernels are known, but not the cores on which they run.
#include "runtime_objects.hpp"

#if !TTMEM_HAS_INTERNAL_HEADERS

#include <algorithm>
#include <tt-metalium/circular_buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/host_api.hpp>

#include "describe.hpp"
#include "kernel_bytes.hpp"

namespace ttmem::preload {

using tt_metal::ProgramCb;

namespace {

// The circular buffers that the hook has reported since begin_layout(), on one chip. A program has
// the same layout on all chips.
struct Heard {
  const tm::IDevice* chip = nullptr;
  std::vector<ProgramCb> cbs;
};
thread_local Heard heard;

// Returns true if `own` equals `cbs` without its views. When a program is placed on further chips,
// the hook reports the same layout again, but without the views.
bool has_these_besides_views(const std::vector<ProgramCb>& cbs, const std::vector<ProgramCb>& own) {
  auto next = own.begin();
  for (const ProgramCb& cb : cbs) {
    if (cb.is_view) continue;
    if (next == own.end() || *next != cb) return false;
    ++next;
  }
  return next == own.end();
}

}  // namespace

std::uint64_t unique_id(const tm::IDevice&) { return 0; }

void begin_layout() {
  heard.chip = nullptr;
  heard.cbs.clear();
}

void cb_reported(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t bytes,
                 bool is_view, const tm::IDevice* chip) {
  if (heard.chip == nullptr) heard.chip = chip;
  if (heard.chip == chip)
    heard.cbs.push_back({tt_metal::CoreRanges(cores), address, bytes, is_view});
}

bool read_layout(tm::detail::ProgramImpl&, std::vector<ProgramCb>& cbs) {
  if (heard.cbs.empty() || heard.cbs == cbs || has_these_besides_views(cbs, heard.cbs)) {
    return false;
  }
  cbs.swap(heard.cbs);
  heard.cbs.clear();
  return true;
}

bool is_complete(const tm::Program& program, const std::vector<ProgramCb>& cbs) {
  const auto declared = program.circular_buffers();
  return std::count_if(declared.begin(), declared.end(),
                       [](const auto& cb) { return !cb->globally_allocated(); }) ==
         std::count_if(cbs.begin(), cbs.end(), [](const ProgramCb& cb) { return !cb.is_view; });
}

// Adds the views of a program that has only views, because the hook is not called for such a
// program.
bool add_views(tm::Program& program, std::vector<ProgramCb>& cbs) {
  if (!cbs.empty()) return false;
  for (const auto& cb : program.circular_buffers()) {
    const auto address =
        tm::GetCircularBufferConfig(program, cb->id()).globally_allocated_address();
    if (address)
      cbs.push_back({tt_metal::CoreRanges(cb->core_ranges()), *address, cb->size(), true});
  }
  return !cbs.empty();
}

tt_metal::KernelSizes kernel_sizes(tm::Program& program, tm::IDevice& device,
                                   const std::vector<ProgramCb>& cbs) {
  const std::uint64_t bytes = tt_metal::collect_kernel_bytes(program, device, true).per_core;
  return tt_metal::assumed_kernels(bytes, cbs, tt_metal::CoreRanges(tt_metal::all_cores(device)));
}

}  // namespace ttmem::preload

#endif
