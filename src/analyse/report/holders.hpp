// SPDX-License-Identifier: Apache-2.0
//
// What a chip's memory is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyse/report/chips.hpp"
#include "analyse/report/live_counts.hpp"
#include "analyse/report/report.hpp"
#include "analyse/report/row_programs.hpp"
#include "base/result.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"

namespace ttmem::report {

// Which of the devices that are a chip: Chips::is_last, Chips::is_at_end.
enum class Openings : std::uint8_t { all, last, at_end };
[[nodiscard]] bool counts(const Chips& chips, RowId device, Openings openings);

// The allocations of `kinds` on a chip, one Holder for each name and size.
[[nodiscard]] std::vector<Holder> allocation_holders(const Tables& tables, const Chips& chips,
                                                     std::uint32_t chip, const LiveCounts& counts,
                                                     std::span<const Kind> kinds,
                                                     Openings openings = Openings::all);

// The programs of one process on a chip. The bytes of all Holders together are what its circular
// buffers take: those where only programs of one name lie are that name's, the rest is in the
// Holder with `shared`.
[[nodiscard]] std::vector<Holder> program_holders(const Tables& tables, RowId device,
                                                  ledger::DeviceLedger& ledger,
                                                  const RowPrograms& programs);

// Limits the lists of one report. In a small file many devices may each hold many allocations with
// long names, which would take gigabytes.
class HolderRoom {
 public:
  // Returns false if the lists so far are longer than those of a real run.
  [[nodiscard]] bool take(const std::vector<Holder>& list);

 private:
  std::size_t left_ = kMaxBytes;
  static constexpr std::size_t kMaxBytes = std::size_t{128} << 20;
};

[[nodiscard]] Error too_many_holders(const std::string& path);

// One Holder for each name instead, whatever the sizes. The largest first.
[[nodiscard]] std::vector<Holder> by_name(std::vector<Holder> holders);

}  // namespace ttmem::report
