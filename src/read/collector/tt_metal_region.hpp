// SPDX-License-Identifier: Apache-2.0
//
// The region that TT-Metal itself writes in shared memory for each chip, without ttmem: a table of
// processes and their bytes. It has no capacities, peaks, addresses or per-core figures, and its
// sizes are logical ones.
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
  std::int32_t pid = 0;  // above 0
  std::string name;
  PerKind<KindFigures> kinds{};  // what the region knows of them
  std::uint64_t updated_unix_ns = 0;

  friend bool operator==(const RegionRow&, const RegionRow&) = default;
};

struct Region {
  std::uint32_t version = 0;
  std::uint64_t uid = 0;  // of the chip; 0: unknown
  std::uint32_t device_id = 0;
  std::vector<RegionRow> rows;
};

// The most bytes that decode_region() reads.
inline constexpr std::size_t kRegionBytes = 8576;

// `tt_device_<number>_memory`.
[[nodiscard]] bool is_region_name(std::string_view name);

// Fails when the version is unknown, the bytes are too few, or the region is not ready yet; the
// message goes after the name of the file. A row that is free or being released is not a failure.
[[nodiscard]] Result<Region> decode_region(std::span<const std::byte> bytes);

}  // namespace ttmem::collector
