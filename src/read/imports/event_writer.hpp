// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "read/recording/file/rows.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::imports {

// Turns the events of another tool into the rows of a recording, which want to know what belongs
// together: a free to its allocation, a CB to its program. Times must not descend.
class EventWriter {
 public:
  // `writer` must outlive it.
  explicit EventWriter(recording::Writer& writer) : writer_(writer) {}

  // One with the same number that is live on the same devices ends: it cannot be there twice.
  void allocate(const recording::RecordedAllocation& allocation);
  // False, and nothing happens, when there is none with that number on these devices.
  bool free(recording::RowId devices, std::uint64_t number, recording::Time time);

  // The program has no CBs from now on; it need not have been there before.
  // Of `program` its device, number, name and scope count.
  void lay_out(const recording::RecordedProgram& program, recording::Time time);
  [[nodiscard]] bool has_program(recording::RowId device, std::uint64_t program) const {
    return placed_.contains({device, program});
  }
  // One more CB of a program that was laid out. CBs that follow each other become one layout.
  void add_cb(recording::RowId device, std::uint64_t program, const recording::RecordedCb& cb,
              recording::Time time);
  // Nothing happens when it is not there.
  void end_program(recording::RowId device, std::uint64_t program, recording::Time time);

  // Writes the layouts that were waiting for another CB.
  void settle();

  [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
  [[nodiscard]] std::uint64_t programs() const { return programs_; }

 private:
  using Key = std::pair<recording::RowId, std::uint64_t>;  // devices or device, number

  struct Placed {
    recording::RecordedProgram program{};  // without a row: it is not written yet
    recording::Layout layout{};
    bool is_changed = false;  // its layout is not written yet
  };

  void change(const Key& key, Placed& placed, recording::Time time);

  recording::Writer& writer_;
  std::map<Key, recording::RowId> live_;
  std::map<Key, Placed> placed_;
  std::vector<Key> changed_;  // of placed_
  recording::Time changed_at_ = 0;
  std::uint64_t allocations_ = 0;
  std::uint64_t programs_ = 0;
};

}  // namespace ttmem::imports
