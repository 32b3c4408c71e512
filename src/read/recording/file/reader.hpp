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

// Reads a recording, also one that is being written. Takes memory for the tables, and for what is
// live at a time; not for the whole story. Not thread-safe.
class Reader {
 public:
  // Fails when it is no recording, damaged, or of another version.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(const std::string& path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const Tables& tables() const;
  // How many allocations, programs and dispatches there are: what the time of a pass depends on.
  [[nodiscard]] std::uint64_t rows() const;

  // Calls visit(event) for the whole story, in the order of time. Stops early when that returns
  // false. Each call begins at the beginning.
  [[nodiscard]] Result<void> for_each_event(const std::function<bool(const Event&)>& visit,
                                            Telling telling = Telling::everything) const;

  // The same, as it is asked for. The reader must outlive it; several may be read at a time.
  [[nodiscard]] std::unique_ptr<Story> story() const;

  // Calls visit(row) for all of them, by their number. Faster than the story.
  [[nodiscard]] Result<void> for_each_allocation(
      const std::function<void(const Allocation&)>& visit) const;
  [[nodiscard]] Result<void> for_each_program(
      const std::function<void(const Program&)>& visit) const;

  // Is called with the part that is done, 0 to 1, now and then during
  // for_each_event(); may be empty.
  void set_progress(std::function<void(double)> progress);

  // The end of the story: of the run, or the last that is known of it.
  [[nodiscard]] Time end_ns() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::recording
