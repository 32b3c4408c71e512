// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ttmem::model {

// One thing that `ttmem doctor` looked at.
struct Check {
  // A failure prevents measuring; a warning makes it worse or surprises; a note is only worth
  // knowing.
  enum class Status : std::uint8_t { good, note, warning, failure };

  std::string name;  // "shared memory"
  Status status = Status::good;
  std::string found;   // what is so
  std::string advice;  // what to do; empty: nothing
};

}  // namespace ttmem::model
