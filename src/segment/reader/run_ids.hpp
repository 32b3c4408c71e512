// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// Splits $TTMEM_RUN into the ids of the runs in it, the innermost first.
[[nodiscard]] std::vector<std::string> split_run_ids(const std::string& text);

// Returns the runs to which the process of a segment belongs, the innermost first. Empty if the
// process belongs to no run, its library does not store runs, or the writer of an incomplete header
// has not stored them yet.
[[nodiscard]] std::vector<std::string> read_run_ids(const ByteSource& source);

}  // namespace ttmem::segment
