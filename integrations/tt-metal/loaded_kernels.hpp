// SPDX-License-Identifier: Apache-2.0
//
// Which program's kernels each core of a chip holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core_ranges.hpp"

namespace ttmem::tt_metal {

// What a program's kernels take on each compute core.
class KernelSizes {
 public:
  bool estimate = false;  // of a kernel that has no binary, or whose cores are not known

  // A kernel takes so much on each of these cores; all together at most what a core has for them.
  void add(const CoreRanges& cores, std::uint64_t kernel_bytes);
  // The same, on those of these cores that have nothing yet.
  void add_where_none(const CoreRanges& cores, std::uint64_t kernel_bytes);

  // Row by row, of 32 cores; 0: no kernel is there. Cores behind its end have none.
  [[nodiscard]] const std::vector<std::uint32_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint32_t> bytes_;
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
    bool is_robbed = false;   // and that is yet to be reported
  };
  void leave_all_cores(std::uint64_t program);
  [[nodiscard]] bool take_cores(std::uint64_t program, Loaded& own);
  void report(std::uint64_t program, const Loaded& loaded) const;

  std::uint32_t chip_;
  std::uint64_t last_ = 0;  // the program that came last; 0: none
  const KernelSizes* last_sizes_ = nullptr;
  std::vector<std::uint64_t>
      owner_;  // the program on each core, as in KernelSizes::bytes(); 0: none
  std::map<std::uint64_t, Loaded> programs_;
  std::vector<std::uint64_t> robbed_;  // while load() runs: whose cores it has taken
};

}  // namespace ttmem::tt_metal
