// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "segment/reader/byte_source.hpp"

namespace ttmem::segment {

// Splits the value of $TTMEM_RUN into run ids, the innermost run first.
[[nodiscard]] std::vector<std::string> split_run_ids(const std::string& text);

// Returns the ids of the runs to which the process of a segment belongs, the innermost run first.
// Returns an empty list if the process belongs to no run, if its library does not store runs, or if
// the header is incomplete and the writer has not stored the runs yet.
[[nodiscard]] std::vector<std::string> read_run_ids(const ByteSource& source);

}  // namespace ttmem::segment
