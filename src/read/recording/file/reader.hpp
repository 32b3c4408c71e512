// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/story.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::recording {

// Reads a recording, even while a recorder writes it. Uses memory for the tables and for everything
// that is live at one time, but not for the whole story. Not thread-safe.
class Reader {
 public:
  // Fails if the file is not a recording, is damaged, or has another version.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(const std::string& path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const Tables& tables() const;
  // Returns the number of allocations, programs and dispatches. The duration of for_each_event() is
  // proportional to this number.
  [[nodiscard]] std::uint64_t rows() const;

  // Calls visit(event) for each event of the story, in order of time. Stops early if visit()
  // returns false. Each call starts at the beginning.
  [[nodiscard]] Result<void> for_each_event(const std::function<bool(const Event&)>& visit,
                                            Telling telling = Telling::everything) const;

  // Returns an object that reads all events one by one. The Reader must outlive the Story. Several
  // Story objects may be used at the same time.
  [[nodiscard]] std::unique_ptr<Story> story() const;

  // Calls visit(row) for each row, in order of the ids. Faster than for_each_event().
  [[nodiscard]] Result<void> for_each_allocation(
      const std::function<void(const RecordedAllocation&)>& visit) const;
  [[nodiscard]] Result<void> for_each_program(
      const std::function<void(const RecordedProgram&)>& visit) const;

  // Sets a function that for_each_event() calls now and then with the finished part, 0 to 1. An
  // empty function ends these calls.
  void set_progress(std::function<void(double)> progress);

  // Returns the end of the run, or the time of the last event if the recording has no end.
  [[nodiscard]] Time end_ns() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::recording
