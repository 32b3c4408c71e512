// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// What could not be carried over, and what that leaves uncertain. Not thread-safe.
class Unknowns {
 public:
  void add(Why why, Kind kind, std::uint64_t count, std::uint64_t bytes) {
    Unknown& unknown = found_[{why, kind}];
    unknown = {why, kind, unknown.count + count, unknown.bytes + bytes};
    touch(kind);
  }
  // Something was left out that lies in the memory of that kind.
  void touch(Kind kind) { touched_[place_of(kind)] = true; }
  // Nobody knows which kinds they were of.
  void add_lost(std::uint64_t events) {
    found_[{Why::lost, Kind::dram}] = {Why::lost, Kind::dram, events, 0};
    for (const Kind kind : kBankKinds) touched_[kind] = true;
  }
  // True if something in the same memory was left out, so that addresses there are not certain.
  [[nodiscard]] bool touched(Kind kind) const { return touched_[place_of(kind)]; }

  [[nodiscard]] std::vector<Unknown> list() const {
    std::vector<Unknown> all;
    for (const auto& [key, unknown] : found_) all.push_back(unknown);
    std::stable_sort(all.begin(), all.end(),
                     [](const Unknown& a, const Unknown& b) { return a.bytes > b.bytes; });
    return all;
  }

 private:
  // Circular buffers share memory with L1 buffers.
  static Kind place_of(Kind kind) { return kind == Kind::cb ? Kind::l1 : kind; }

  std::map<std::pair<Why, Kind>, Unknown> found_;
  PerKind<bool> touched_{};
};

}  // namespace ttmem::fit
