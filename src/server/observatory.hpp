// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/snapshot.hpp"

namespace ttmem::server {

// What the server knows of the whole machine: the Snapshot of all processes.
//
// One thread: that of the event loop.
class Observatory {
 public:
  explicit Observatory(std::string directory);

  // Once a second.
  void tick();

  // As of now. Valid until the next call of a function of this class that is not const.
  [[nodiscard]] const model::Snapshot& snapshot();

 private:
  std::string directory_;
  model::Snapshot snapshot_;
};

}  // namespace ttmem::server
