// SPDX-License-Identifier: Apache-2.0
//
// Imports recordings of other tools: captures of ttnn graphs, and of TT-Metal's hooks (`ttmem
// replay`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;  // maximum size of a file

struct Imported {
  std::string_view what{};  // the format in words, such as "a graph of ttnn"
  std::uint64_t events = 0;
  std::uint64_t allocations = 0;
  std::uint64_t programs = 0;
  recording::Time end_ns = 0;        // time of the last event
  std::vector<std::string> notes{};  // hints for the reader of the recording, one line each
};

// Imports `file` into the recording `out`. Recognises the format by the content of the file. Fails
// if the format is unknown, or if the file is damaged or larger than kMaxBytes; `out` is then not
// touched. Fails if `out` exists and `overwrite` is false. Fails if `out` cannot be written; `out`
// is then removed.
[[nodiscard]] Result<Imported> import_file(const std::string& file, const std::string& out,
                                           bool overwrite);

}  // namespace ttmem::imports
