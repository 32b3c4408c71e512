// SPDX-License-Identifier: Apache-2.0
// Finds the holders of a chip's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyse/report/live_counts.hpp"
#include "analyse/report/report.hpp"
#include "analyse/report/row_programs.hpp"
#include "base/result.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::RowId;
using recording::Tables;

// Selects the openings of a chip that are counted: all openings, or only those for which
// Chips::is_last or Chips::is_at_end is true.
enum class Openings : std::uint8_t { all, last, at_end };
[[nodiscard]] bool counts(const Chips& chips, RowId device, Openings openings);

// Returns the allocations of `kinds` on a chip, one Holder for each entry of `counts`.
[[nodiscard]] std::vector<Holder> allocation_holders(const Tables& tables, const Chips& chips,
                                                     std::uint32_t chip, const LiveCounts& counts,
                                                     std::span<const Kind> kinds,
                                                     Openings openings = Openings::all);

// Returns the programs of one process on a chip. The bytes of all Holders together are the bytes of
// the process's circular buffers. If only programs of one name use some bytes, the bytes belong to
// the Holder of that name. All other bytes belong to the Holder with `shared`.
[[nodiscard]] std::vector<Holder> program_holders(const Tables& tables, RowId device,
                                                  ledger::DeviceLedger& ledger,
                                                  const RowPrograms& programs);

// Limits the memory of the lists of one report. Without the limit, a small file that describes many
// devices with many long names could need gigabytes.
class HolderRoom {
 public:
  // Adds the size of `list` in bytes to the size of all lists. Returns false if the sum is larger
  // than in any real run.
  [[nodiscard]] bool take(const std::vector<Holder>& list);

 private:
  std::size_t left_ = kMaxBytes;
  static constexpr std::size_t kMaxBytes = std::size_t{128} << 20;
};

[[nodiscard]] Error too_many_holders(const std::string& path);

// Merges the Holders that differ only in size. Returns the largest Holder first.
[[nodiscard]] std::vector<Holder> by_name(std::vector<Holder> holders);

}  // namespace ttmem::report
