// SPDX-License-Identifier: Apache-2.0
//
// What --fail-on says: a figure of a run, and how much of it is too much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/result.hpp"

namespace ttmem::report {

// A figure of a whole run. A peak is that of the fullest device, a least one that of the tightest:
// which number a chip has is not the same in every run. A leak is the sum over all devices.
struct RunFigure {
  const char* name;                                        // "dram.peak"
  const char* meaning;                                     // for help
  std::optional<FigureRange> (*of)(const Report& report);  // nullopt: unknown
  bool is_bytes = true;                                    // else a number of events
};
[[nodiscard]] const std::vector<RunFigure>& run_figures();

// "dram.peak>+2%", "l1.peak>1.2MiB", "headroom.min<64KiB", "leak>0". A sign makes it relative to
// another run, and a percentage always is.
struct Limit {
  std::string text;
  const RunFigure* figure = nullptr;
  bool above = true;      // else below
  bool or_equal = false;  // >= and <=
  bool relative = false;
  bool percent = false;
  double value = 0;  // bytes, or percent; negative: less than before
};

// Fails with what is wrong with it.
[[nodiscard]] Result<Limit> parse_limit(const std::string& text);
// The same, for a single run: fails for a relative one.
[[nodiscard]] Result<Limit> parse_absolute_limit(const std::string& text);

// The result is unknown if a figure is unknown, or only some values between its bounds exceed the
// limit.
enum class Judgement : std::uint8_t { kept, exceeded, unknown };

// `before` is null for an absolute limit, here and below.
[[nodiscard]] Judgement judge(const Limit& limit, const Report* before, const Report& now);
// A sentence that says by how much, when the limit is exceeded; empty when it is not.
[[nodiscard]] std::string exceeded(const Limit& limit, const Report* before, const Report& now);
// Returns which figure is unknown or not exact, and why.
[[nodiscard]] std::string why_unknown(const Limit& limit, const Report* before, const Report& now);

// Return the bound of a range that is shown, and the words before it: "at least ", "at most ", or
// nothing for an exact figure.
[[nodiscard]] std::int64_t shown_bound(const FigureRange& range);
[[nodiscard]] const char* words_before_bound(const FigureRange& range);

}  // namespace ttmem::report
