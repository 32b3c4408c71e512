// SPDX-License-Identifier: Apache-2.0
//
// Which program's kernels each core of a chip holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tt-metalium/core_coord.hpp>
#include <utility>

namespace ttmem::tt_metal {

using Core = std::pair<std::uint32_t, std::uint32_t>;

// What a program's kernels take on each compute core.
struct KernelSizes {
  std::map<Core, std::uint64_t> bytes;
  bool estimate = false;  // of a kernel that has no binary, or whose cores are not known

  // A kernel takes so much on each of these cores; all together at most what a core has for them.
  void add(const ::tt::tt_metal::CoreRangeSet& cores, std::uint64_t kernel_bytes);
};

// One chip. A program that is dispatched takes its cores from others, which keep their rest: the
// kernels of a core stay there until another program comes. Reports every change.
class LoadedKernels {
 public:
  explicit LoadedKernels(std::uint32_t chip) : chip_(chip) {}

  // Other sizes of a program that is loaded replace those that it had.
  void load(std::uint64_t program, const std::shared_ptr<const KernelSizes>& sizes);
  void unload(std::uint64_t program);

 private:
  struct Loaded {
    std::shared_ptr<const KernelSizes> sizes;
    std::uint64_t bytes = 0;  // on the cores that it still has
  };
  void report(std::uint64_t program, const Loaded& loaded) const;

  std::uint32_t chip_;
  std::uint64_t last_ = 0;  // the program that came last; 0: none
  const KernelSizes* last_sizes_ = nullptr;
  std::map<Core, std::uint64_t> owner_;  // the program on each core
  std::map<std::uint64_t, Loaded> programs_;
};

}  // namespace ttmem::tt_metal
