// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/limits.hpp"
#include "base/shorten.hpp"
#include "segment/writer/segment_writer.hpp"
#include "track/ledger/device_ledger.hpp"

namespace ttmem::tracker {

using segment::DeviceRecord;
using segment::kNoSlot;
using segment::publish;
using segment::store;

// The assumed number of columns and of rows of a grid whose size is unknown. No known device has
// more.
inline constexpr std::uint32_t kUnknownGridSide = 16;
static_assert(kUnknownGridSide * kUnknownGridSide <= kMaxCores);

// The maximum number of bytes of one kind on one device, so low that the sum of the four kinds in
// L1 does not overflow.
inline constexpr std::uint64_t kMaxTotalBytes = 1ULL << 61;
static_assert(kMaxBytes * kMaxBanks < kMaxTotalBytes);

// Returns true if the used bytes of this kind stay within kMaxTotalBytes after `freed_bytes` are
// freed and `bytes` are added.
[[nodiscard]] inline bool has_room(const DeviceRecord& record, Kind kind, std::uint64_t bytes,
                                   std::uint64_t freed_bytes = 0) noexcept {
  return record.figures.kinds[kind].used_bytes - freed_bytes <= kMaxTotalBytes - bytes;
}

inline void increase(std::uint64_t& figure, std::uint64_t by = 1) noexcept {
  store(figure, figure + by);
}

inline void raise_peak(std::uint64_t& peak, std::uint64_t current) noexcept {
  if (current > peak) store(peak, current);
}

// Copies `from`, which may be null, into `to`. Cuts off the end of a text that is too long, and
// fills the rest of `to` with zeros.
template <std::size_t Size>
void copy_text(char (&to)[Size], const char* from) noexcept {
  std::memset(to, 0, Size);
  if (from != nullptr) std::memcpy(to, from, ::strnlen(from, Size));
}

// Copies `from` into `to`. Leaves out the middle of a text that is too long, and fills the rest of
// `to` with zeros.
template <std::size_t Size>
void shorten_text(char (&to)[Size], const char* from) noexcept {
  std::memset(to, 0, Size);
  shorten(from, to);
}

// Adds the cores from `begin` up to but not including `end` to `mask`. Works on whole words,
// because adding single cores would take 100 ns longer for a sharded buffer on 64 cores.
inline void add_cores(std::uint32_t begin, std::uint32_t end, CoreMask& mask) noexcept {
  while (begin < end) {
    const std::uint32_t first = begin % 64;
    const std::uint32_t count = std::min(end - begin, 64 - first);
    mask.words[begin / 64] |= ~0ULL >> (64 - count) << first;
    begin += count;
  }
}

// One device of a tracked process: its record in the segment, and the ledger of the CBs of its
// programs. DeviceTable owns the device, and keeps it at the same address until the tracker ends,
// even if the device closes.
struct TrackedDevice {
  TrackedDevice(DeviceRecord& its_record, std::uint32_t index, std::uint32_t its_id)
      : record(&its_record), record_index(index), id(its_id), ledger(make_ledger()) {}

  [[nodiscard]] std::unique_ptr<ledger::DeviceLedger> make_ledger() const {
    return std::make_unique<ledger::DeviceLedger>(columns() * rows());
  }
  [[nodiscard]] std::uint32_t columns() const noexcept {
    return grid_x != 0 ? grid_x : kUnknownGridSide;
  }
  [[nodiscard]] std::uint32_t rows() const noexcept {
    return grid_y != 0 ? grid_y : kUnknownGridSide;
  }

  [[nodiscard]] bool is_open() const noexcept {
    return record->state == static_cast<std::uint32_t>(segment::DeviceState::open);
  }

  // Returns the number of banks that memory of this kind has, or 0 if the number is unknown.
  [[nodiscard]] std::uint32_t banks_of(Kind kind) const noexcept {
    if (is_in_dram(kind)) return record->dram_channels;
    if (is_in_l1(kind)) return std::uint32_t{grid_x} * grid_y;
    return 1;  // host memory counts as one bank
  }

  // Adds the cores of the ranges to `mask`. Returns false if a range is outside the grid or not in
  // order; cores of such a range that are inside the grid are added nevertheless.
  bool mask_of(std::span<const ttmem_core_range> ranges, CoreMask& mask) const noexcept {
    bool all_inside = true;
    for (const ttmem_core_range& range : ranges) {
      all_inside &=
          range.x0 <= range.x1 && range.y0 <= range.y1 && range.x1 < columns() && range.y1 < rows();
      const std::uint32_t x1 = std::min<std::uint32_t>(range.x1, columns() - 1);
      const std::uint32_t y1 = std::min<std::uint32_t>(range.y1, rows() - 1);
      for (std::uint32_t y = range.y0; y <= y1; ++y) {
        add_cores(y * columns() + range.x0, y * columns() + x1 + 1, mask);
      }
    }
    return all_inside;
  }

  [[nodiscard]] segment::DeviceFigures& figures() const noexcept { return record->figures; }
  [[nodiscard]] Anomalies& anomalies() const noexcept { return record->figures.anomalies; }

  [[nodiscard]] bool has_room(Kind kind, std::uint64_t bytes,
                              std::uint64_t freed_bytes = 0) const noexcept {
    return tracker::has_room(*record, kind, bytes, freed_bytes);
  }

  void count_bad_argument() noexcept {
    publish(record->seq, [&] { increase(anomalies().bad_arguments); });
  }
  void count_alloc_over_live() noexcept {
    publish(record->seq, [&] { increase(anomalies().allocs_over_live); });
  }
  void count_unknown_free() noexcept {
    publish(record->seq, [&] { increase(anomalies().unknown_frees); });
  }

  DeviceRecord* record;
  std::uint32_t record_index;
  // Copies of fields of the record. The tracker uses the copies, so that a workload that overwrites
  // the record by mistake cannot change the number of cores.
  std::uint32_t id;
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
  std::unique_ptr<ledger::DeviceLedger> ledger;
};

}  // namespace ttmem::tracker
