// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "read/model/snapshot.hpp"
#include "serve/observatory/history.hpp"
#include "serve/observatory/postmortem.hpp"

namespace ttmem::serve {

// The interface through which the HTTP API reads a machine. It is implemented by Observatory, and
// by a machine with fixed contents in a test. Used by one thread.
class ObservedMachine {
 public:
  virtual ~ObservedMachine() = default;

  // Returns the state as of now. The reference is valid until the next call of a function that is
  // not const.
  [[nodiscard]] virtual const model::Snapshot& snapshot() = 0;
  // Returns the snapshot of the last pass, or makes a pass if there was none. The snapshot is at
  // most a second old while passes are made once a second. Allocations and programs may be missing.
  [[nodiscard]] virtual const model::Snapshot& last() = 0;
  // Returns the number of passes that found something new. As long as the number stays the same,
  // only the time in last() changes.
  [[nodiscard]] virtual std::uint64_t changes() const = 0;
  // Returns the page for Prometheus, as of now.
  [[nodiscard]] virtual std::string metrics() = 0;
  // Returns true if the last pass could read the directory of the segments, or if there was no pass
  // yet.
  [[nodiscard]] virtual bool up() const = 0;
  [[nodiscard]] virtual const History& history() const = 0;
  [[nodiscard]] virtual const Postmortems& postmortems() const = 0;
};

}  // namespace ttmem::serve
