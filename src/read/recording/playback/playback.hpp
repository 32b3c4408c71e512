// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// How a device looks after its process has closed it or has ended.
enum class AfterClose : std::uint8_t {
  gone,  // the process holds nothing on the device, as in reality
  // The device keeps the memory that was held when the device was last closed, or when its process
  // ended. Use this value for the end of a recording, when all devices are closed.
  kept,
};

// Plays a recording: makes the Snapshot of any moment, with the code that makes live snapshots. The
// Snapshot has every figure of `ttmem --json` except temperatures and counts of anomalies, which a
// recording does not contain.
//
// A step forward takes time in proportion to the events in between. A step back plays from the
// beginning. Uses memory only for live objects. Not thread-safe; `reader` must outlive this
// object.
class Playback {
 public:
  explicit Playback(const Reader& reader, AfterClose after_close = AfterClose::gone);
  ~Playback();
  Playback(const Playback&) = delete;
  Playback& operator=(const Playback&) = delete;

  // Moves to the state after all events up to and including `time`. Fails if the file is damaged;
  // the state then includes only the events before the damage.
  [[nodiscard]] Result<void> advance_to(Time time);
  // Returns the current time, which is 0 at the beginning.
  [[nodiscard]] Time time() const;

  // Makes the snapshot of the current time. Takes time in proportion to the number of live objects.
  // The snapshot's time_unix_ns is 0 if the recording does not contain its own start time.
  [[nodiscard]] model::Snapshot snapshot() const;

 private:
  class State;
  const Reader& reader_;
  AfterClose after_close_;
  std::unique_ptr<State> state_;
};

}  // namespace ttmem::recording
