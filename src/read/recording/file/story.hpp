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

// One step of the story. Of the pointers, the one that belongs to `type` is set; the others mean
// nothing.
struct Event {
  enum class Type : std::uint8_t {
    free,  // ends come before what begins at the same time
    remove,
    device_close,
    process_end,
    process_begin,
    device_open,
    gap,  // at its begin
    allocate,
    place,
    dispatch,
    mark,
  };
  Type type = Type::mark;
  Time time_ns = 0;
  const Allocation* allocation = nullptr;  // allocate, free
  const Program* program = nullptr;        // place, remove
  const Dispatch* dispatch = nullptr;
  const Device* device = nullptr;    // device_open, device_close
  const Process* process = nullptr;  // process_begin, process_end
  const Mark* mark = nullptr;
  const Gap* gap = nullptr;
};

// Dispatches are many, and change no figure but what is resident.
enum class Telling : std::uint8_t { everything, without_dispatches };

// A recording as a story: all that has a moment, in the order of time; what happens at one time, in
// the order of Event::Type, and of one type, by row. Not thread-safe.
class Story {
 public:
  // Both must outlive it.
  Story(Database& database, const Tables& tables, Telling telling = Telling::everything);
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // The event that the story is at; null at its end, and after a failure. Valid until advance().
  [[nodiscard]] const Event* next() const;
  // Goes on to the one after it. Only when there is one.
  void advance();

  // Rows of allocations, programs and dispatches so far.
  [[nodiscard]] std::uint64_t rows_read() const;
  [[nodiscard]] std::optional<Error> failed() const;

 private:
  class Pass;
  std::unique_ptr<Pass> pass_;
};

// Calls visit(row) for each row, by its number: faster than the story, where the order of ends does
// not matter. Fails when the file is damaged.
[[nodiscard]] Result<void> for_each_row(Database& database, const Tables& tables,
                                        const std::function<void(const Allocation&)>& visit);
[[nodiscard]] Result<void> for_each_row(Database& database, const Tables& tables,
                                        const std::function<void(const Program&)>& visit);

}  // namespace ttmem::recording
