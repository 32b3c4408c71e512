// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyse/fit/fit.hpp"

namespace ttmem::fit {

// Counts requests and events that could not be translated. Records the memories in which addresses
// are uncertain because of these requests and events. Not thread-safe.
class Unknowns {
 public:
  void add(Why why, Kind kind, std::uint64_t count, std::uint64_t bytes) {
    Unknown& unknown = found_[{why, kind}];
    unknown = {why, kind, unknown.count + count, unknown.bytes + bytes};
    touch(kind);
  }
  // Notes that a request or program in the memory of this kind was left out.
  void touch(Kind kind) { touched_[place_of(kind)] = true; }
  // Notes lost events. The kinds of lost events are unknown, so every kind becomes uncertain.
  void add_lost(std::uint64_t events) {
    found_[{Why::lost, Kind::dram}] = {Why::lost, Kind::dram, events, 0};
    for (const Kind kind : kBankKinds) touched_[kind] = true;
  }
  // Returns true if addresses in the memory of this kind are uncertain, because a request or
  // program in the same memory was left out, or events were lost.
  [[nodiscard]] bool touched(Kind kind) const { return touched_[place_of(kind)]; }

  [[nodiscard]] std::vector<Unknown> list() const {
    std::vector<Unknown> all;
    for (const auto& [key, unknown] : found_) all.push_back(unknown);
    std::stable_sort(all.begin(), all.end(),
                     [](const Unknown& a, const Unknown& b) { return a.bytes > b.bytes; });
    return all;
  }

 private:
  // Returns Kind::l1 for circular buffers, because circular buffers and L1 buffers share memory.
  // Returns `kind` itself for other kinds.
  static Kind place_of(Kind kind) { return kind == Kind::cb ? Kind::l1 : kind; }

  std::map<std::pair<Why, Kind>, Unknown> found_;
  PerKind<bool> touched_{};
};

}  // namespace ttmem::fit
