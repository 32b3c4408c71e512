// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "serve/viewer/thinned_line.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::viewer {

// What every chip held over time.
struct Lines {
  std::vector<std::vector<Point>> of_chip{};  // by Selection::chips()
  std::size_t stretches = 0;                  // as ThinnedLine has them
  bool is_thinned = false;
};

// One pass over the recording. A line begins with what was held at the begin of the range, and ends
// with what was held at its end.
[[nodiscard]] Result<Lines> read_lines(const recording::Reader& reader,
                                       const exports::Selection& selection, const TimeRange& range);

}  // namespace ttmem::viewer
