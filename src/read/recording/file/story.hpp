// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/result.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// One event of the story. Only the pointer that belongs to `type` is valid.
struct Event {
  enum class Type : std::uint8_t {
    free,  // an end comes before a begin at the same time
    remove,
    device_close,
    process_end,
    process_begin,
    device_open,
    gap,  // at the begin of the gap
    allocate,
    place,
    dispatch,
    mark,
  };
  Type type = Type::mark;
  Time time_ns = 0;
  // allocate: the allocation on all its devices. free: its end on `devices`, while the devices of
  // the set `rest` keep it. `before` is the set of the devices that had it before this end.
  const RecordedAllocation* allocation = nullptr;
  RowId before = 0;
  RowId rest = 0;                            // 0: none
  const RecordedProgram* program = nullptr;  // place, remove
  const Dispatch* dispatch = nullptr;
  const RecordedDevice* device = nullptr;    // device_open, device_close
  const RecordedProcess* process = nullptr;  // process_begin, process_end
  const Mark* mark = nullptr;
  const Gap* gap = nullptr;
};

// The events that a story contains. A caller may leave out dispatches, which are numerous and
// change only the resident figures.
enum class Telling : std::uint8_t { everything, without_dispatches };

// Reads a recording as a story: all events in order of time. Events at the same time are in the
// order of Event::Type, and events of the same type in the order of their rows. Not thread-safe.
class Story {
 public:
  // `database` and `tables` must outlive the Story.
  Story(Database& database, const Tables& tables, Telling telling = Telling::everything);
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // Returns the current event; null at the end, and after a failure. Valid until advance().
  [[nodiscard]] const Event* next() const;
  // Moves to the following event. Requires a current event.
  void advance();

  // Returns the number of rows of allocations, programs and dispatches that were read so far.
  [[nodiscard]] std::uint64_t rows_read() const;
  [[nodiscard]] std::optional<Error> failed() const;

 private:
  class Pass;
  std::unique_ptr<Pass> pass_;
};

// Calls visit(row) for each row, in order of the ids. Faster than the story, for callers that do
// not need the order of the ends. Fails if the file is damaged.
[[nodiscard]] Result<void> for_each_row(
    Database& database, const Tables& tables,
    const std::function<void(const RecordedAllocation&)>& visit);
[[nodiscard]] Result<void> for_each_row(Database& database, const Tables& tables,
                                        const std::function<void(const RecordedProgram&)>& visit);

}  // namespace ttmem::recording
