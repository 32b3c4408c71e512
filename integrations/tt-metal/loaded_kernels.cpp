// SPDX-License-Identifier: Apache-2.0
#include "loaded_kernels.hpp"

#include <algorithm>

#include "kernel_bytes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace {

// The number of columns and of rows in the tables below. No chip has more.
constexpr std::size_t kRow = 32;

constexpr std::size_t core_index(std::size_t x, std::size_t y) { return y * kRow + x; }

// Calls use(element of `bytes`) for each core of `cores`. Enlarges `bytes` if necessary.
template <typename Use>
void for_each_core(const CoreRanges& cores, std::vector<std::uint32_t>& bytes, Use use) {
  for (const ttmem_core_range& range : cores.ranges()) {
    const std::size_t width = std::min<std::size_t>(range.x1 + 1U, kRow);
    const std::size_t height = std::min<std::size_t>(range.y1 + 1U, kRow);
    if (bytes.size() < height * kRow) bytes.resize(height * kRow);
    for (std::size_t y = range.y0; y < height; ++y) {
      for (std::size_t x = range.x0; x < width; ++x) use(bytes[core_index(x, y)]);
    }
  }
}

}  // namespace

void KernelSizes::add(const CoreRanges& cores, std::uint64_t kernel_bytes) {
  for_each_core(cores, bytes_, [&](std::uint32_t& on_core) {
    on_core = static_cast<std::uint32_t>(std::min(on_core + kernel_bytes, kKernelRingBytes));
  });
}

void KernelSizes::add_where_none(const CoreRanges& cores, std::uint64_t kernel_bytes) {
  for_each_core(cores, bytes_, [&](std::uint32_t& on_core) {
    if (on_core == 0) {
      on_core = static_cast<std::uint32_t>(std::min(kernel_bytes, kKernelRingBytes));
    }
  });
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

void LoadedKernels::leave_all_cores(std::uint64_t program) {
  std::replace(owner_.begin(), owner_.end(), program, std::uint64_t{0});
}

// Makes the program the owner of all cores of its kernels. Returns false if the program already
// owned all of these cores.
bool LoadedKernels::take_cores(std::uint64_t program, Loaded& own) {
  const std::vector<std::uint32_t>& bytes = own.sizes->bytes();
  if (owner_.size() < bytes.size()) owner_.resize(bytes.size());
  std::uint64_t before = 0;  // the program that lost the last core; `other` is its entry
  Loaded* other = nullptr;
  bool any = false;
  for (std::size_t core = 0; core < bytes.size(); ++core) {
    std::uint64_t& owner = owner_[core];
    if (bytes[core] == 0 || owner == program) continue;
    if (owner != 0) {
      if (owner != before) other = &programs_.at(owner);
      before = owner;
      other->bytes -= other->sizes->bytes()[core];
      if (!other->lost_cores) evicted_programs_.push_back(owner);
      other->lost_cores = true;
    }
    owner = program;
    own.bytes += bytes[core];
    any = true;
  }
  return any;
}

void LoadedKernels::load(std::uint64_t program, const std::shared_ptr<const KernelSizes>& sizes) {
  if (program == last_ && sizes.get() == last_sizes_) return;
  last_ = program;
  last_sizes_ = sizes.get();
  if (sizes->bytes().empty()) return;
  Loaded& own = programs_[program];
  if (own.sizes != nullptr && own.sizes != sizes) {
    leave_all_cores(program);
    own.bytes = 0;
  }
  own.sizes = sizes;
  const bool any = take_cores(program, own);
  for (const std::uint64_t each : evicted_programs_) {
    const auto found = programs_.find(each);
    found->second.lost_cores = false;
    report(each, found->second);
    if (found->second.bytes == 0) programs_.erase(found);
  }
  evicted_programs_.clear();
  // Reports the program after the evicted programs. In the other order, the cores that changed
  // hands would be counted twice for a moment.
  if (any) report(program, own);
}

void LoadedKernels::unload(std::uint64_t program) {
  if (last_ == program) last_ = 0;
  if (programs_.empty()) return;
  const auto found = programs_.find(program);
  if (found == programs_.end()) return;
  ttmem_kernel_unload(chip_, program);
  leave_all_cores(program);
  programs_.erase(found);
}

}  // namespace ttmem::tt_metal
