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

// The recording that `ttmem top --replay` shows. Not thread-safe.
class RecordedRun {
 public:
  // Reads the recording to find its peaks, then plays the recording once to fill the charts. Fails
  // if the file is not a recording or is damaged.
  [[nodiscard]] static Result<std::unique_ptr<RecordedRun>> open(const std::string& path);

  [[nodiscard]] const std::shared_ptr<const Tape>& tape() const { return tape_; }
  // Returns the samples of the whole recording; times are nanoseconds since its begin.
  [[nodiscard]] const ChartHistory& history() const { return history_; }

  // Returns the snapshot at `time_ns`; the reference is valid until the next call. If `time_ns` is
  // earlier than in the previous call, the recording is played again from its begin.
  [[nodiscard]] const model::Snapshot& at(std::int64_t time_ns);

 private:
  explicit RecordedRun(std::unique_ptr<recording::Reader> reader);
  [[nodiscard]] Result<void> sample_moments(const Tape& tape);

  std::unique_ptr<recording::Reader> reader_;
  recording::Playback playback_;
  std::shared_ptr<const Tape> tape_;
  ChartHistory history_;
  model::Snapshot snapshot_;
};

}  // namespace ttmem::tui
