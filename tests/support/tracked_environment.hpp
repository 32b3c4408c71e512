// SPDX-License-Identifier: Apache-2.0
//
// Makes the test program that includes this header a tracked process with its own directory.
#pragma once

#include <cstdlib>
#include <string>

#include "support/temporary_directory.hpp"

namespace ttmem {

[[nodiscard]] inline const std::string& tracked_directory() {
  static const TemporaryDirectory instance;
  return instance.path();
}

// Sets the environment before main(), because the first call of the library decides whether the
// process is tracked.
inline const bool kIsTracked = [] {
  ::setenv("TTMEM_DIR", tracked_directory().c_str(), 1);
  ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);
  return true;
}();

}  // namespace ttmem
