// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ttmem::preload {

// Says of most programs that are not in a table that they are not, without the lock of the table.
// TT-Metal makes two programs for each that runs, and tells of an end in three ways: of six calls,
// one is about a program that is known.
//
// add() and remove() are called with the lock held. may_have() needs none: whoever destroys a
// program has it from the thread that placed it, and so sees that add() and all before it.
class ProgramFilter {
 public:
  void add(const void* program) { count(program).fetch_add(1, std::memory_order_relaxed); }
  void remove(const void* program) { count(program).fetch_sub(1, std::memory_order_relaxed); }
  // False: it is not in the table. True: it may be.
  [[nodiscard]] bool may_have(const void* program) {
    return count(program).load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr unsigned kBits = 12;

  std::atomic<std::uint32_t>& count(const void* program) {
    const auto mixed = reinterpret_cast<std::uintptr_t>(program) * 0x9E3779B97F4A7C15U;
    return counts_[static_cast<std::size_t>(mixed >> (64 - kBits))];
  }

  std::array<std::atomic<std::uint32_t>, 1U << kBits> counts_{};  // programs with the same hash
};

}  // namespace ttmem::preload
