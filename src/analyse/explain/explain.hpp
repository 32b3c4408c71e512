// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::explain {

// What is to be explained.
struct Question {
  std::optional<Failure> failure{};        // none: nothing has failed, what would fail first
  const model::Snapshot* state = nullptr;  // null: there is the message alone
  std::optional<std::int32_t> pid{};       // only this process; none: the one that it fits best
  bool is_that_moment = false;  // `state` was kept, or recorded, by who failed, when it failed
};

// Why it failed, who was in the way, and the smallest changes with which it would not have. Changes
// are tried on the allocator of the dry run, with what `state` says was held. Of a state that is
// not that of the failure it says so. Pure, safe from any thread.
[[nodiscard]] Explanation explain(const Question& question);

}  // namespace ttmem::explain
