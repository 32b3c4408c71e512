// SPDX-License-Identifier: Apache-2.0
//
// Recordings of other tools: captures of ttnn graphs, and of TT-Metal's hooks (`ttmem replay`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::imports {

inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;  // of a file

struct Imported {
  std::string_view what{};  // "a graph of ttnn"
  std::uint64_t events = 0;
  std::uint64_t allocations = 0;
  std::uint64_t programs = 0;
  recording::Time end_ns = 0;        // of the last event
  std::vector<std::string> notes{};  // what the reader of the recording should know, a line each
};

// Writes the recording `out` of what is in `file`, whose format is told by its content. Fails when
// it is none that is known, is damaged or larger than kMaxBytes; then `out` is not touched. Fails
// too when `out` is there, unless it may be overwritten, or cannot be written; then it is removed.
[[nodiscard]] Result<Imported> import_file(const std::string& file, const std::string& out,
                                           bool overwrite);

}  // namespace ttmem::imports
