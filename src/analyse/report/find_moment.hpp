// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::report {

// Figures of one process on one device at one moment. A figure that is not set is not compared.
struct MomentFigures {
  Kind kind = Kind::l1;  // kind of the next two figures
  std::optional<std::uint64_t> free_per_bank{};
  std::optional<std::uint64_t> largest_free_per_bank{};
  std::optional<std::uint64_t> lowest_l1{};  // address of the lowest L1 buffer
  std::optional<std::uint64_t> cb_end{};     // a placed program has circular buffers up to here
};

// Returns the last time at which one process has all these figures on one device. If several events
// have the same time, the figures after the last of them count. Returns nullopt if there is no such
// time. If `pid` is set, considers only this
// process. Reads the recording once. Calls `progress` with the finished part, 0 to 1; `progress`
// may be empty. Fails if the file is damaged.
[[nodiscard]] Result<std::optional<recording::Time>> last_moment_with(
    const MomentFigures& figures, std::optional<std::int32_t> pid, recording::Reader& reader,
    const std::function<void(double)>& progress);

}  // namespace ttmem::report
