// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "serve/viewer/thinned_line.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::viewer {

// The bytes that every chip held over time.
struct Lines {
  std::vector<std::vector<Point>> of_chip{};  // indexed like Selection::chips()
  std::size_t stretches = 0;                  // number of stretches of each ThinnedLine
  bool is_thinned = false;
};

// Reads the lines in one pass over the recording. A line begins with the bytes held at the begin of
// the range, and ends with the bytes held at the end.
[[nodiscard]] Result<Lines> read_lines(const recording::Reader& reader,
                                       const exports::Selection& selection, const TimeRange& range);

}  // namespace ttmem::viewer
