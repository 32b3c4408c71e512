// SPDX-License-Identifier: Apache-2.0
#include "loaded_kernels.hpp"

#include <algorithm>
#include <set>

#include "kernel_bytes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

void KernelSizes::add(const tm::CoreRangeSet& cores, std::uint64_t kernel_bytes) {
  for (const tm::CoreRange& range : cores.ranges()) {
    for (std::size_t y = range.start_coord.y; y <= range.end_coord.y; ++y) {
      for (std::size_t x = range.start_coord.x; x <= range.end_coord.x; ++x) {
        std::uint64_t& on_core =
            bytes[{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)}];
        on_core = std::min(on_core + kernel_bytes, kKernelRingBytes);
      }
    }
  }
}

void LoadedKernels::report(std::uint64_t program, const Loaded& loaded) const {
  if (loaded.bytes == 0) {
    ttmem_kernel_unload(chip_, program);
  } else if (loaded.sizes->estimate) {
    ttmem_kernel_load_estimate(chip_, program, loaded.bytes, TTMEM_KERNEL_APP);
  } else {
    ttmem_kernel_load(chip_, program, loaded.bytes, TTMEM_KERNEL_APP);
  }
}

void LoadedKernels::load(std::uint64_t program, const std::shared_ptr<const KernelSizes>& sizes) {
  if (program == last_ && sizes.get() == last_sizes_) return;
  last_ = program;
  last_sizes_ = sizes.get();
  if (sizes->bytes.empty()) return;
  std::set<std::uint64_t> changed;
  Loaded& own = programs_[program];
  if (own.sizes != nullptr && own.sizes != sizes) {
    for (auto& [core, owner] : owner_) {
      if (owner == program) owner = 0;
    }
    own.bytes = 0;
  }
  own.sizes = sizes;
  for (const auto& [core, bytes] : sizes->bytes) {
    std::uint64_t& owner = owner_[core];
    if (owner == program) continue;
    if (owner != 0) {
      Loaded& other = programs_[owner];
      other.bytes -= other.sizes->bytes.at(core);
      changed.insert(owner);
    }
    owner = program;
    own.bytes += bytes;
    changed.insert(program);
  }
  for (const std::uint64_t each : changed) {
    const Loaded& loaded = programs_[each];
    report(each, loaded);
    if (loaded.bytes == 0) programs_.erase(each);
  }
}

void LoadedKernels::unload(std::uint64_t program) {
  if (last_ == program) last_ = 0;
  const auto found = programs_.find(program);
  if (found == programs_.end()) return;
  ttmem_kernel_unload(chip_, program);
  for (auto& [core, owner] : owner_) {
    if (owner == program) owner = 0;
  }
  programs_.erase(found);
}

}  // namespace ttmem::tt_metal
