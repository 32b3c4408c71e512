// SPDX-License-Identifier: Apache-2.0
//
// What a chip's memory is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyse/report/live_counts.hpp"
#include "analyse/report/report.hpp"
#include "analyse/report/row_programs.hpp"
#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"
#include "track/ledger/device_ledger.hpp"

namespace ttmem::report {

using recording::Chips;
using recording::RowId;
using recording::Tables;

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

// One Holder for each name instead, whatever the sizes. The largest first.
[[nodiscard]] std::vector<Holder> by_name(std::vector<Holder> holders);

}  // namespace ttmem::report
