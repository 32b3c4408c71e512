// SPDX-License-Identifier: Apache-2.0
#include "server/observatory.hpp"

#include <utility>

#include "collector/collector.hpp"

namespace ttmem::server {

Observatory::Observatory(std::string directory) : directory_(std::move(directory)) {}

void Observatory::tick() { snapshot_ = collector::collect(directory_); }

const model::Snapshot& Observatory::snapshot() {
  snapshot_ = collector::collect(directory_);
  return snapshot_;
}

}  // namespace ttmem::server
