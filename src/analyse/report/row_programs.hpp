// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "read/recording/file/chips.hpp"
#include "read/recording/file/tables.hpp"
#include "read/recording/playback/placed_programs.hpp"
#include "track/ledger/footprint.hpp"

namespace ttmem::report {

using recording::RowId;
using recording::Tables;

// The live programs of each device while a recording is read. If a device is closed or its process
// ends, the device counts as left and keeps its last programs. Not thread-safe; `tables` must
// outlive this object.
class RowPrograms {
 public:
  explicit RowPrograms(const Tables& tables)
      : tables_(tables), rows_(tables.devices.size()), named_(1) {}

  // A changed device, and the bytes of its programs before the change.
  struct Changed {
    RowId device = 0;
    std::uint64_t before_bytes = 0;
  };
  Changed place(const recording::RecordedProgram& program);
  Changed remove(const recording::RecordedProgram& program);
  // Removes the programs that ended as `changed` and were not placed again. Calls visit(changed)
  // for each device on which programs were removed. Must be called before the first event with a
  // later time. Takes almost no time if no programs changed.
  template <typename Visitor>
  void settle(Visitor&& visit) {
    for (const RowId device : changing_) {
      const Changed changed{device, bytes(device)};
      if (at(device).programs->settle()) visit(changed);
    }
    changing_.clear();
  }
  [[nodiscard]] bool is_settled() const { return changing_.empty(); }

  // Returns the ledger of a device, or null if the device has no programs or is left.
  [[nodiscard]] ledger::DeviceLedger* ledger(RowId device);
  // Returns the ledger of a device, even if the device is left.
  [[nodiscard]] ledger::DeviceLedger* ledger_left(RowId device);

  // Returns the bytes of the device's programs.
  [[nodiscard]] std::uint64_t bytes(RowId device);

  // The name and scope of a program. Placement::name of the ledgers is an index in this table. The
  // entry at index 0 has an empty name.
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
  ledger::FootprintTable footprints_;  // declared before the rows, whose programs refer to it
  std::vector<Row> rows_;
  std::vector<RowId> changing_;
  std::vector<Named> named_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> index_of_;  // by name and scope
};

}  // namespace ttmem::report
