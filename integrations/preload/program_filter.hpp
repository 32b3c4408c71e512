// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::preload {

// A filter in front of a table of programs. It excludes most programs that are not in the table,
// and needs no lock. TT-Metal makes two programs for each program that runs, and reports the end of
// each program in three ways, so only one of six calls is about a program in the table.
//
// add() and remove() must be called with the lock held. may_have() needs no lock. The thread that
// destroys a program received the program from the thread that placed it, and therefore sees the
// add() of this program.
class ProgramFilter {
 public:
  void add(const void* program) { count(program).fetch_add(1, std::memory_order_relaxed); }
  void remove(const void* program) { count(program).fetch_sub(1, std::memory_order_relaxed); }
  // Returns false if the program is not in the table, true if it may be.
  [[nodiscard]] bool may_have(const void* program) {
    return count(program).load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr unsigned kBits = 12;

  std::atomic<std::uint32_t>& count(const void* program) {
    const auto mixed = reinterpret_cast<std::uintptr_t>(program) * 0x9E3779B97F4A7C15U;
    return counts_[static_cast<std::size_t>(mixed >> (64 - kBits))];
  }

  // For each hash, the number of programs in the table that have this hash.
  std::array<std::atomic<std::uint32_t>, 1U << kBits> counts_{};
};

}  // namespace ttmem::preload
