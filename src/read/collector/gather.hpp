// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "read/collector/evidence.hpp"

namespace ttmem::collector {

// All the I/O of a pass: reads every valid segment and region of `directory`, and has a warning
// with the reason for each other file. Writes nothing. Never fails.
//
// `previous` is what an earlier pass over the same directory found: a segment that has not changed
// since is taken from there. Whether its owner lives is checked in every pass.
[[nodiscard]] Evidence gather(const std::string& directory, Evidence previous);
// A single pass, which no other follows.
[[nodiscard]] Evidence gather(const std::string& directory);

// With less than this, new processes cannot create a segment, and others cannot grow theirs.
inline constexpr std::uint64_t kLowSpaceBytes = 1 << 20;

// The warning when a directory has `free_bytes` left; none when that is enough.
[[nodiscard]] std::optional<std::string> low_space_warning(const std::string& directory,
                                                           std::uint64_t free_bytes);

}  // namespace ttmem::collector
