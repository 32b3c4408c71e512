// SPDX-License-Identifier: Apache-2.0
#include "read/recording/playback/placed_programs.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/limits.hpp"

namespace ttmem::recording {
namespace {

// Returns the row of a program. The ledger keeps the row as the slot number of the placement. The
// program number is not enough: a program that is placed twice has two rows.
std::uint32_t row_of(const RecordedProgram& program) {
  return static_cast<std::uint32_t>(program.id);
}

}  // namespace

std::uint32_t core_count(const RecordedDevice& device) {
  const std::uint32_t cores = std::uint32_t{device.grid_x} * device.grid_y;
  return cores == 0 || cores > kMaxCores ? kMaxCores : cores;
}

PlacedPrograms::PlacedPrograms(const Tables& tables, const RecordedDevice& device,
                               ledger::FootprintTable& footprints)
    : tables_(tables),
      footprints_(footprints),
      cores_(core_count(device)),
      l1_end_(device.l1_bytes_per_core != 0 ? device.l1_bytes_per_core
                                            : static_cast<std::uint32_t>(kMaxCoreBytes)),
      ledger_(std::make_unique<ledger::DeviceLedger>(cores_)) {}

void PlacedPrograms::clear() {
  changes_.clear();
  ledger_ = std::make_unique<ledger::DeviceLedger>(cores_);
}

void PlacedPrograms::place(const RecordedProgram& program) {
  if (program.layout == 0) return;
  ledger_->place(program.number, footprint_of(program.layout));
  ledger_->find(program.number)->slot = row_of(program);
}

void PlacedPrograms::remove(const RecordedProgram& program) {
  if (program.ending == Ending::changed) {
    changes_.push_back({program.number, row_of(program)});
  } else {
    remove_row(program.number, row_of(program));
  }
}

void PlacedPrograms::dispatch(const Launch& launch) {
  if (launch.trace) {
    static_cast<void>(ledger_->replay_trace(launch.programs));
  } else if (!launch.programs.empty()) {
    static_cast<void>(ledger_->dispatch(launch.programs.front()));
  }
}

bool PlacedPrograms::settle() {
  bool removed = false;
  for (const Change& change : changes_) removed |= remove_row(change.number, change.row);
  changes_.clear();
  return removed;
}

bool PlacedPrograms::remove_row(std::uint64_t number, std::uint32_t row) {
  const ledger::Placement* placement = ledger_->find(number);
  return placement != nullptr && placement->slot == row && ledger_->remove(number);
}

ledger::FootprintRef PlacedPrograms::footprint_of(RowId layout) {
  const std::array<std::uint64_t, 2> key = {static_cast<std::uint64_t>(layout),
                                            std::uint64_t{cores_} << 32 | l1_end_};
  return footprints_.acquire(key, [&] { return decode(tables_.layout(layout)); });
}

// Cuts off the parts of circular buffers outside of L1 or the grid, in the same way as the tracker.
std::vector<ledger::Cb> PlacedPrograms::decode(const Layout& layout) const {
  const CoreMask grid = CoreMask::first(cores_);
  std::vector<ledger::Cb> cbs;
  cbs.reserve(layout.size());
  for (const RecordedCb& cb : layout) {
    const std::uint32_t begin = std::min(cb.address, l1_end_);
    const std::uint32_t end = begin + std::min(cb.bytes, l1_end_ - begin);
    cbs.push_back({.range = {begin, end}, .cores = cb.cores & grid, .global = cb.global});
  }
  return cbs;
}

}  // namespace ttmem::recording
