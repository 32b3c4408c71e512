// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "read/collector/evidence.hpp"

namespace ttmem::collector {

// Does all I/O of a pass: reads every valid segment and region of `directory`, and adds a warning
// with the reason for each invalid file. A file that is not a segment yet causes no warning. Writes
// nothing. Never fails.
// `previous` is the result of an earlier pass over the same directory: a segment that has not
// changed since that pass is taken from `previous`. Every pass checks whether the owner of a
// segment lives.
[[nodiscard]] Evidence gather(const std::string& directory, Evidence previous);
// Does a pass without a previous pass. Skips work that only a later pass would use.
[[nodiscard]] Evidence gather(const std::string& directory);

// The free space in bytes below which a warning is given. With less space, new processes cannot
// create a segment, and other processes cannot grow their segments.
inline constexpr std::uint64_t kLowSpaceBytes = 1 << 20;

// Returns the warning for a directory with `free_bytes` left; nullopt if this is enough space.
[[nodiscard]] std::optional<std::string> low_space_warning(const std::string& directory,
                                                           std::uint64_t free_bytes);

}  // namespace ttmem::collector
