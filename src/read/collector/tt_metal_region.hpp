// SPDX-License-Identifier: Apache-2.0
// Reads the region that TT-Metal writes for each chip in shared memory: a table of processes and
// their bytes. ttmem never writes to the region. A region has no capacities, peaks, addresses or
// per-core figures, and all its sizes are logical.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/kind_figures.hpp"
#include "base/result.hpp"

namespace ttmem::collector {

struct RegionRow {
  std::int32_t pid = 0;  // always above 0
  std::string name;
  PerKind<KindFigures> kinds{};  // only the figures that a region has
  std::uint64_t updated_unix_ns = 0;

  friend bool operator==(const RegionRow&, const RegionRow&) = default;
};

struct TtMetalRegion {
  std::uint32_t version = 0;
  std::uint64_t uid = 0;  // uid of the chip; 0: unknown
  std::uint32_t device_id = 0;
  std::vector<RegionRow> rows;
};

// The size of a region in bytes.
inline constexpr std::size_t kRegionBytes = 8576;

// Returns true for `tt_device_<number>_memory`.
[[nodiscard]] bool is_region_name(std::string_view name);

// Decodes a region. Skips rows that are free or being released. Fails if the version is unknown,
// the bytes are too few, or the region is not ready yet. Callers put the file name in front of the
// error message.
[[nodiscard]] Result<TtMetalRegion> decode_region(std::span<const std::byte> bytes);

}  // namespace ttmem::collector
