// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ttmem::model {

// The result of one check of `ttmem doctor`.
struct Check {
  // failure: measuring is impossible. warning: measuring is impaired, or figures may be unexpected.
  // note: only information.
  enum class Status : std::uint8_t { good, note, warning, failure };

  std::string name;  // "shared memory"
  Status status = Status::good;
  std::string found;   // what the check found
  std::string advice;  // what the user should do; empty if there is nothing to do
};

}  // namespace ttmem::model
