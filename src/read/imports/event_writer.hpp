// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "read/recording/file/rows.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::imports {

// Writes the events of another tool as rows of a recording. Finds the allocation that a free ends,
// and the program to which a CB belongs. The events must come in order of time.
class EventWriter {
 public:
  // `writer` must outlive this object.
  explicit EventWriter(recording::Writer& writer) : writer_(writer) {}

  // Begins an allocation. A live allocation with the same number on the same devices ends first.
  void allocate(const recording::RecordedAllocation& allocation);
  // Ends the live allocation with this number on these devices. Returns false, and does nothing, if
  // there is none.
  bool free(recording::RowId devices, std::uint64_t number, recording::Time time);

  // Places the program without CBs, or removes the CBs of a placed program. Only its device,
  // number, name and scope are read from `program`.
  void lay_out(const recording::RecordedProgram& program, recording::Time time);
  [[nodiscard]] bool has_program(recording::RowId device, std::uint64_t program) const {
    return placed_.contains({device, program});
  }
  // Adds a CB to a program for which lay_out() was called. CBs of consecutive calls become one
  // layout.
  void add_cb(recording::RowId device, std::uint64_t program, const recording::RecordedCb& cb,
              recording::Time time);
  // Ends a program. Does nothing if the program is not placed.
  void end_program(recording::RowId device, std::uint64_t program, recording::Time time);

  // Writes the waiting layouts. A layout waits because more CBs of its program may follow.
  void settle();

  [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
  [[nodiscard]] std::uint64_t programs() const { return programs_; }

 private:
  // Device set and number of an allocation, or device and number of a program.
  using Key = std::pair<recording::RowId, std::uint64_t>;

  struct Placed {
    recording::RecordedProgram program{};  // its id is 0 until the row is written
    recording::Layout layout{};
    bool is_changed = false;  // `layout` is not written yet
  };

  void change(const Key& key, Placed& placed, recording::Time time);

  recording::Writer& writer_;
  std::map<Key, recording::RowId> live_;
  std::map<Key, Placed> placed_;
  std::vector<Key> changed_;  // keys of placed_ with is_changed
  recording::Time changed_at_ = 0;
  std::uint64_t allocations_ = 0;
  std::uint64_t programs_ = 0;
};

}  // namespace ttmem::imports
