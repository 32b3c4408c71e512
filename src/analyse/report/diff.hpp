// SPDX-License-Identifier: Apache-2.0
//
// Two runs side by side. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/kinds.hpp"

namespace ttmem::report {

// A figure of each run, as --fail-on names it.
struct FigureDiff {
  const char* name = "";
  bool is_bytes = true;  // else a number
  std::optional<FigureRange> before{};
  std::optional<FigureRange> now{};

  // Returns nullopt if one of the figures is not exact.
  [[nodiscard]] std::optional<std::int64_t> change() const {
    const bool exact = before && now && before->is_exact() && now->is_exact();
    return exact ? std::optional(*now->least - *before->least) : std::nullopt;
  }
};

enum class ChangeType : std::uint8_t { added, gone, grown, shrunk, other_sizes };
[[nodiscard]] const char* name_of(ChangeType type);

// What has one name was other at the peak of one run than at that of the other.
struct HolderChange {
  ChangeType type = ChangeType::added;
  Kind kind = Kind::dram;
  std::string scope{};
  std::string label{};
  bool shared = false;  // of circular buffers: programs of several names
  std::uint64_t before_bytes = 0;
  std::uint64_t before_count = 0;
  std::uint64_t now_bytes = 0;
  std::uint64_t now_count = 0;

  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(now_bytes) - static_cast<std::int64_t>(before_bytes);
  }
};

struct Diff {
  std::vector<FigureDiff> figures;
  std::vector<HolderChange> dram;  // at the peaks; the largest change first
  std::vector<HolderChange> l1;
  bool all_seen = true;       // false: one run may not have seen its fullest moments
  bool made_of_known = true;  // false: one of them is an aggregate, so there are no changes
};

// Compares the fullest devices, each at its peak: chips have other numbers in another run. What
// they held is matched by kind, scope, label and size; what has neither scope nor label by kind and
// size. Never by address, id, pid or number of the chip. Pure.
[[nodiscard]] Diff make_diff(const Report& before, const Report& now);

}  // namespace ttmem::report
