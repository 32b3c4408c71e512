// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// What a process leaves behind when it closes a device or ends.
enum class AfterClose : std::uint8_t {
  gone,  // nothing, as in life
  // What each device held when it was last closed, or when its process ended. At the end of a
  // recording everything is closed; this shows how it was left.
  kept,
};

// Plays a recording: the Snapshot of any moment, made by the code that makes the live ones. So it
// has every figure of `ttmem --json`, but for what a recording does not hold: temperatures, and the
// counts of anomalies.
//
// Forward steps cost what happened in between, a step back plays from the beginning. Takes memory
// for what is live. Not thread-safe; `reader` must outlive it.
class Playback {
 public:
  explicit Playback(const Reader& reader, AfterClose after_close = AfterClose::gone);
  ~Playback();
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;

  // To the state after all that happened up to that time, that time included. Fails when the file
  // is damaged; then the state is that before the damage.
  [[nodiscard]] Result<void> advance_to(Time time);
  // 0 at the beginning.
  [[nodiscard]] Time time() const;

  // Takes time in proportion to what is live. Its time_unix_ns is 0 when the recording does not say
  // when it began.
  [[nodiscard]] model::Snapshot snapshot() const;

 private:
  class State;
  const Reader& reader_;
  AfterClose after_close_;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::recording
