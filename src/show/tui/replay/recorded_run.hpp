// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/playback/playback.hpp"
#include "show/tui/screen/chart_history.hpp"
#include "show/tui/screen/player.hpp"

namespace ttmem::tui {

// What `ttmem top --replay` shows of a recording. Not thread-safe.
class RecordedRun {
 public:
  // Reads the recording for its peaks, and plays it once for the charts. Fails when it is none, or
  // damaged.
  [[nodiscard]] static Result<std::unique_ptr<RecordedRun>> open(const std::string& path);

  [[nodiscard]] const std::shared_ptr<const Tape>& tape() const { return tape_; }
  // Of the whole recording; times are nanoseconds since it began.
  [[nodiscard]] const ChartHistory& history() const { return history_; }

  // What was held at that time; valid until the next call. A step back plays from the beginning.
  [[nodiscard]] const model::Snapshot& at(std::int64_t time_ns);

 private:
  explicit RecordedRun(std::unique_ptr<recording::Reader> reader);
  [[nodiscard]] Result<void> look_over(const Tape& tape);

  std::unique_ptr<recording::Reader> reader_;
  recording::Playback playback_;
  std::shared_ptr<const Tape> tape_;
  ChartHistory history_;
  model::Snapshot snapshot_;
};

}  // namespace ttmem::tui
