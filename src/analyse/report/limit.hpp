// SPDX-License-Identifier: Apache-2.0
// The limits of --fail-on. A limit is a figure of a run and the bound of this figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/result.hpp"

namespace ttmem::report {

// A figure of a whole run. A peak is the peak of the fullest device, and a minimum is the minimum
// of the tightest device, because chip numbers may differ between runs. A leak is the sum over all
// devices.
struct RunFigure {
  const char* name;                                        // "dram.peak"
  const char* meaning;                                     // description in the help text
  std::optional<FigureRange> (*of)(const Report& report);  // nullopt: unknown
  bool is_bytes = true;                                    // false: a number of events
};
[[nodiscard]] const std::vector<RunFigure>& run_figures();

// A parsed limit: "dram.peak>+2%", "l1.peak>1.2MiB", "headroom.min<64KiB", "leak>0". A limit with a
// sign is relative to another run; a percentage needs a sign.
struct Limit {
  std::string text;
  const RunFigure* figure = nullptr;
  bool above = true;      // false: below
  bool or_equal = false;  // true for >= and <=
  bool relative = false;
  bool percent = false;
  double value = 0;  // bytes or percent; negative: less than the other run
};

// Parses a limit. The error message contains the part of the text that is wrong.
[[nodiscard]] Result<Limit> parse_limit(const std::string& text);
// Parses a limit for a single run. Fails for a relative limit.
[[nodiscard]] Result<Limit> parse_absolute_limit(const std::string& text);

// The result of judge(). The result is `unknown` if a figure is unknown, or if only some values
// between the bounds of the figure exceed the limit.
enum class Judgement : std::uint8_t { kept, exceeded, unknown };

// Compares the figure of `limit` in the run `now` with the limit. `before` is the other run. Here
// and in the next functions, `before` may be null for an absolute limit.
[[nodiscard]] Judgement judge(const Limit& limit, const Report* before, const Report& now);
// Returns a sentence that says by how much the limit is exceeded. Returns an empty text if the
// limit is not exceeded.
[[nodiscard]] std::string exceeded(const Limit& limit, const Report* before, const Report& now);
// Returns which figure is unknown or not exact, and why.
[[nodiscard]] std::string why_unknown(const Limit& limit, const Report* before, const Report& now);

// shown_bound() returns the bound of a range that views show. words_before_bound() returns the
// words that views put before this bound: "at least ", "at most ", or none if the figure is exact.
[[nodiscard]] std::int64_t shown_bound(const FigureRange& range);
[[nodiscard]] const char* words_before_bound(const FigureRange& range);

}  // namespace ttmem::report
