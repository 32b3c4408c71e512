// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/peak_contents.hpp"

#include <algorithm>
#include <array>

#include "analyse/report/holders.hpp"
#include "analyse/report/row_programs.hpp"

namespace ttmem::report {
namespace {

using recording::Event;

constexpr std::array kDram = {Kind::dram};
constexpr std::array kL1 = {Kind::l1, Kind::l1_small, Kind::kernel, Kind::cb};

}  // namespace

PeakContents::Look& PeakContents::look(const Moment& at) {
  auto known = std::lower_bound(looks_.begin(), looks_.end(), at,
                                [](const Look& look, const Moment& to) { return look.at < to; });
  if (known == looks_.end() || known->at != at) {
    known = looks_.insert(known, Look());
    known->at = at;
  }
  return *known;
}

void PeakContents::add_chip(std::uint32_t chip, const ChipFigures& figures) {
  if (const Record& dram = figures.peak(Kind::dram); dram.is_set) {
    look(dram.moment).dram.push_back(chip);
  }
  if (const Record& l1 = figures.l1_peak(); l1.is_set) look(l1.moment).l1.push_back(chip);
}

// Returns the set of devices that hold the allocation at `at`. The allocation must be live at `at`.
RowId PeakContents::devices_at(const recording::RecordedAllocation& row, const Moment& at) {
  RowId devices = row.devices;
  // At its begin, the allocation is on all its devices, even if some devices free it at the same
  // time.
  if (at == Moment{row.begin_ns, Event::Type::allocate, row.id}) return devices;
  for (const recording::PartialEnd& part : row.partial_ends) {
    if (at < Moment{part.end_ns, Event::Type::free, row.id}) break;
    devices = part.rest;
  }
  return devices;
}

// Calls visit(look) for each Look whose moment lies in the life of the row.
template <typename Row, typename Visitor>
void PeakContents::for_each_look(const Row& row, Event::Type begin, Event::Type end,
                                 Visitor visit) {
  const Moment born{row.begin_ns, begin, row.id};
  auto look = std::lower_bound(looks_.begin(), looks_.end(), born,
                               [](const Look& a, const Moment& at) { return a.at < at; });
  for (; look != looks_.end() && is_live(row, begin, end, look->at); ++look) visit(*look);
}

Result<void> PeakContents::read(const recording::Reader& reader, HolderRoom& room) {
  if (looks_.empty()) return {};
  auto read = reader.for_each_allocation([&](const recording::RecordedAllocation& row) {
    for_each_look(row, Event::Type::allocate, Event::Type::free,
                  [&](Look& look) { look.live.add(devices_at(row, look.at), row.request); });
  });
  if (!read) return read;
  read = reader.for_each_program([&](const recording::RecordedProgram& row) {
    for_each_look(row, Event::Type::place, Event::Type::remove,
                  [&](Look& look) { look.programs.push_back(row); });
  });
  for (const Look& look : looks_) {
    if (!fill_in(look, room)) return too_many_holders(reader.path());
  }
  return read;
}

// Fills in the contents at one peak. Returns false if the lists do not fit into `room`.
bool PeakContents::fill_in(const Look& look, HolderRoom& room) {
  for (const std::uint32_t chip : look.dram) {
    devices_[chip].at_dram_peak = allocation_holders(tables_, chips_, chip, look.live, kDram);
    if (!room.take(devices_[chip].at_dram_peak)) return false;
  }
  for (const std::uint32_t chip : look.l1) {
    devices_[chip].at_l1_peak = l1_holders(look, chip);
    if (!room.take(devices_[chip].at_l1_peak)) return false;
  }
  return true;
}

std::vector<Holder> PeakContents::l1_holders(const Look& look, std::uint32_t chip) const {
  std::vector<Holder> holders = allocation_holders(tables_, chips_, chip, look.live, kL1);
  RowPrograms programs(tables_);
  for (const recording::RecordedProgram& program : look.programs) {
    if (chips_.of(program.device) == chip) programs.place(program);
  }
  for (const RowId row : chips_.chips[chip].rows) {
    ledger::DeviceLedger* const ledger = programs.ledger(row);
    if (ledger == nullptr) continue;
    const std::vector<Holder> more = program_holders(tables_, row, *ledger, programs);
    holders.insert(holders.end(), more.begin(), more.end());
  }
  return holders;
}

}  // namespace ttmem::report
