// SPDX-License-Identifier: Apache-2.0
// The comparison of two runs, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/kinds.hpp"

namespace ttmem::report {

// The values of one figure in both runs. `name` is the name of the figure in --fail-on.
struct FigureDiff {
  const char* name = "";
  bool is_bytes = true;  // false: a count
  std::optional<FigureRange> before{};
  std::optional<FigureRange> now{};

  // Returns the difference, or nullopt if one of the figures is not exact.
  [[nodiscard]] std::optional<std::int64_t> change() const {
    const bool exact = before && now && before->is_exact() && now->is_exact();
    return exact ? std::optional(*now->least - *before->least) : std::nullopt;
  }
};

enum class ChangeType : std::uint8_t { added, gone, grown, shrunk, other_sizes };
[[nodiscard]] const char* name_of(ChangeType type);

// A holder whose size at the peak differs between the two runs.
struct HolderChange {
  ChangeType type = ChangeType::added;
  Kind kind = Kind::dram;
  std::string scope{};
  std::string label{};
  bool shared = false;  // circular buffers that programs of several names share
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
  std::vector<HolderChange> dram;  // differences at the peaks, the largest first
  std::vector<HolderChange> l1;
  // False: not all moments of a run were recorded, so the real peaks of this run may be higher.
  bool all_seen = true;
  bool made_of_known = true;  // false: a recording is an aggregate, so `dram` and `l1` are empty
};

// Compares the fullest devices of both runs, each at its peak, because chip numbers may differ
// between runs. Matches holders by kind, scope, label and `shared`; holders without scope and label
// also by size. Never matches by address, id, pid or chip number. Pure.
[[nodiscard]] Diff make_diff(const Report& before, const Report& now);

}  // namespace ttmem::report
