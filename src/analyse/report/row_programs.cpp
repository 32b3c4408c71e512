// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/row_programs.hpp"

namespace ttmem::report {

using recording::Ending;
using recording::RecordedProgram;

std::uint64_t RowPrograms::bytes(RowId device) {
  const ledger::DeviceLedger* ledger = this->ledger(device);
  return ledger != nullptr ? ledger->physical_bytes() : 0;
}

ledger::DeviceLedger* RowPrograms::ledger(RowId device) {
  const Row& row = at(device);
  return row.programs && !row.is_left ? &row.programs->ledger() : nullptr;
}

ledger::DeviceLedger* RowPrograms::ledger_left(RowId device) {
  const Row& row = at(device);
  return row.programs ? &row.programs->ledger() : nullptr;
}

std::uint32_t RowPrograms::index_of(const RecordedProgram& program) {
  const std::uint64_t key = std::uint64_t{program.name} << 32 | program.scope;
  if (key == 0) return 0;
  const auto [known, fresh] = index_of_.try_emplace(key, static_cast<std::uint32_t>(named_.size()));
  if (fresh) named_.push_back({program.name, program.scope});
  return known->second;
}

RowPrograms::Changed RowPrograms::place(const RecordedProgram& program) {
  Row& row = at(program.device);
  const Changed changed{program.device, bytes(program.device)};
  if (row.is_left || program.layout == 0) return changed;
  if (!row.programs) {
    row.programs = std::make_unique<recording::PlacedPrograms>(
        tables_, tables_.device(program.device), footprints_);
  }
  row.programs->place(program);
  row.programs->ledger().find(program.number)->name = index_of(program);
  return changed;
}

RowPrograms::Changed RowPrograms::remove(const RecordedProgram& program) {
  Row& row = at(program.device);
  const Changed changed{program.device, bytes(program.device)};
  if (!row.programs || row.is_left) return changed;
  if (program.ending == Ending::device_closed || program.ending == Ending::process_ended) {
    row.is_left = true;
    return changed;
  }
  row.programs->remove(program);
  if (program.ending == Ending::changed) changing_.push_back(program.device);
  return changed;
}

}  // namespace ttmem::report
