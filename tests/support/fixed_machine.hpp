// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "serve/observatory/observed_machine.hpp"

namespace ttmem {

// A machine for the HTTP API whose state the test sets.
struct FixedMachine : serve::ObservedMachine {
  [[nodiscard]] const model::Snapshot& snapshot() override { return state; }
  [[nodiscard]] const model::Snapshot& last() override { return state; }
  [[nodiscard]] std::uint64_t changes() const override { return 0; }
  [[nodiscard]] std::string metrics() override { return "ttmem_up 1\n"; }
  [[nodiscard]] bool up() const override { return is_up; }
  [[nodiscard]] const serve::History& history() const override { return recorded; }
  [[nodiscard]] const serve::Postmortems& postmortems() const override { return dead; }

  model::Snapshot state;
  bool is_up = true;
  serve::History recorded;
  serve::Postmortems dead;
};

}  // namespace ttmem
