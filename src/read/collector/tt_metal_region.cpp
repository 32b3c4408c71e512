// SPDX-License-Identifier: Apache-2.0
#include "read/collector/tt_metal_region.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/safe_text.hpp"

namespace ttmem::collector {
namespace {

constexpr std::size_t kVersionAt = 0;
constexpr std::size_t kUidAt = 32;
constexpr std::size_t kDeviceIdAt = 40;
constexpr std::size_t kRowsAt = 856;
constexpr std::size_t kRows = 64;
constexpr std::size_t kInitStateAt = 8536;  // offset in bytes; only in version 4
constexpr std::uint32_t kReady = 0x52454459;

struct RawRow {
  std::int32_t pid;  // 0: free, -1: being released
  std::uint32_t padding;
  std::uint64_t dram;
  std::uint64_t l1;
  std::uint64_t l1_small;
  std::uint64_t trace;
  std::uint64_t cb;
  std::uint64_t updated_unix_ns;
  char name[64];
};
static_assert(sizeof(RawRow) == 120);
static_assert(offsetof(RawRow, dram) == 8);
static_assert(offsetof(RawRow, cb) == 40);
static_assert(offsetof(RawRow, updated_unix_ns) == 48);
static_assert(offsetof(RawRow, name) == 56);
static_assert(kRowsAt + kRows * sizeof(RawRow) == kInitStateAt);

// Reads the value at offset `at`. All values lie in the first kInitStateAt + 4 bytes. The caller
// has checked that `bytes` is at least this long.
template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace

bool is_region_name(std::string_view name) {
  constexpr std::string_view prefix = "tt_device_";
  constexpr std::string_view suffix = "_memory";
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  if (name.size() <= prefix.size() + suffix.size()) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<TtMetalRegion> decode_region(std::span<const std::byte> bytes) {
  if (bytes.size() < kInitStateAt + sizeof(kReady)) {
    return Error{
        fmt::format("it has {} bytes, but a region of TT-Metal has {}; remove it when no "
                    "TT-Metal process runs",
                    bytes.size(), kRegionBytes)};
  }
  const auto version = get<std::uint32_t>(bytes, kVersionAt);
  if (version < 2 || version > 4) {
    return Error{
        fmt::format("it has version {} of TT-Metal's format, and this ttmem knows 2 to 4; "
                    "install a newer ttmem",
                    version)};
  }
  if (version == 4 && get<std::uint32_t>(bytes, kInitStateAt) != kReady) {
    return Error{"TT-Metal has not finished setting it up; try again"};
  }
  TtMetalRegion region;
  region.version = version;
  region.uid = get<std::uint64_t>(bytes, kUidAt);
  region.device_id = get<std::uint32_t>(bytes, kDeviceIdAt);
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto raw = get<RawRow>(bytes, kRowsAt + i * sizeof(RawRow));
    if (raw.pid <= 0) continue;
    RegionRow& row = region.rows.emplace_back();
    row.pid = raw.pid;
    row.name = safe_text({raw.name, sizeof(raw.name)});
    row.updated_unix_ns = raw.updated_unix_ns;
    // A region has only logical sizes, which count as used bytes. The CB size of a region already
    // counts each CB once per core.
    for (const auto& [kind, size] :
         {std::pair(Kind::dram, raw.dram), std::pair(Kind::l1, raw.l1),
          std::pair(Kind::l1_small, raw.l1_small), std::pair(Kind::trace, raw.trace)}) {
      row.kinds[kind].set(&KindFigures::used_bytes, size);
      row.kinds[kind].set(&KindFigures::logical_bytes, size);
    }
    row.kinds[Kind::cb].set(&KindFigures::used_bytes, raw.cb);
  }
  return region;
}

}  // namespace ttmem::collector
