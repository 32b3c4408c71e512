// SPDX-License-Identifier: Apache-2.0
// The kernels that each core of a chip holds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core_ranges.hpp"

namespace ttmem::tt_metal {

// The bytes of a program's kernels on each compute core.
class KernelSizes {
 public:
  bool estimate = false;  // true if a kernel has no binary, or its cores are unknown

  // Adds a kernel on each of these cores. The sum of a core is at most kKernelRingBytes.
  void add(const CoreRanges& cores, std::uint64_t kernel_bytes);
  // Adds a kernel on each of these cores that has no kernel yet.
  void add_where_none(const CoreRanges& cores, std::uint64_t kernel_bytes);

  // Returns the bytes on each core. The core (x, y) has the index 32 * y + x. A core with 0, or
  // beyond the end of the vector, has no kernel.
  [[nodiscard]] const std::vector<std::uint32_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint32_t> bytes_;
};

// The loaded kernels of one chip. The kernels of a core stay loaded until another program with
// kernels on this core is dispatched. The new kernels evict the old kernels from this core only.
// Reports every change.
class LoadedKernels {
 public:
  explicit LoadedKernels(std::uint32_t chip) : chip_(chip) {}

  // Loads the kernels of a program. If the program is already loaded, its sizes are replaced.
  void load(std::uint64_t program, const std::shared_ptr<const KernelSizes>& sizes);
  void unload(std::uint64_t program);

 private:
  struct Loaded {
    std::shared_ptr<const KernelSizes> sizes;
    std::uint64_t bytes = 0;  // bytes on the cores that the program still owns
    bool lost_cores = false;  // true if the program has lost cores since its last report
  };
  void leave_all_cores(std::uint64_t program);
  [[nodiscard]] bool take_cores(std::uint64_t program, Loaded& own);
  void report(std::uint64_t program, const Loaded& loaded) const;

  std::uint32_t chip_;
  std::uint64_t last_ = 0;  // the program that was loaded last; 0: none
  const KernelSizes* last_sizes_ = nullptr;
  // The program on each core, indexed like KernelSizes::bytes(); 0: none.
  std::vector<std::uint64_t> owner_;
  std::map<std::uint64_t, Loaded> programs_;
  std::vector<std::uint64_t>
      evicted_programs_;  // the programs that lost cores in the running load()
};

}  // namespace ttmem::tt_metal
