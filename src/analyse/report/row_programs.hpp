// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyse/report/chips.hpp"
#include "read/recording/file/tables.hpp"
#include "read/recording/playback/placed_programs.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::report {

// The programs of each device of a recording while its story is told. A device that was closed, or
// whose process ended, keeps those that it was left with: is_left(). Not thread-safe; `tables` must
// outlive it.
class RowPrograms {
 public:
  explicit RowPrograms(const Tables& tables)
      : tables_(tables), rows_(tables.devices.size()), named_(1) {}

  // What changed: the device, and what its programs took before.
  struct Changed {
    RowId device = 0;
    std::uint64_t before_bytes = 0;
  };
  Changed place(const recording::RecordedProgram& program);
  Changed remove(const recording::RecordedProgram& program);
  // Time goes on: calls visit(changed) for each device on which a program was to change and did
  // not. Cheap when there is none.
  template <typename Visitor>
  void settle(Visitor&& visit) {
    for (const RowId device : changing_) {
      const Changed changed{device, bytes(device)};
      if (at(device).programs->settle()) visit(changed);
    }
    changing_.clear();
  }
  [[nodiscard]] bool is_settled() const { return changing_.empty(); }

  // Null: it has none, or is_left().
  [[nodiscard]] ledger::DeviceLedger* ledger(RowId device);
  // The same for one that is left.
  [[nodiscard]] ledger::DeviceLedger* ledger_left(RowId device);

  // What they take.
  [[nodiscard]] std::uint64_t bytes(RowId device);

  // Who placed it: Placement::name of the ledgers is an index of this. The first is nobody.
  struct Named {
    std::uint32_t name = 0;
    std::uint32_t scope = 0;
    friend bool operator==(const Named&, const Named&) = default;
  };
  [[nodiscard]] const Named& named(std::uint32_t index) const { return named_[index]; }

 private:
  struct Row {
    std::unique_ptr<recording::PlacedPrograms> programs;
    bool is_left = false;
  };
  [[nodiscard]] Row& at(RowId device) { return rows_[static_cast<std::size_t>(device - 1)]; }
  [[nodiscard]] std::uint32_t index_of(const recording::RecordedProgram& program);

  const Tables& tables_;
  ledger::FootprintTable footprints_;  // before the rows, whose programs refer to it
  std::vector<Row> rows_;
  std::vector<RowId> changing_;
  std::vector<Named> named_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> index_of_;  // by name and scope
};

}  // namespace ttmem::report
