// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure_message.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::explain {

// The input of explain().
struct Question {
  std::optional<FailureMessage>
      failure{};  // nullopt: nothing has failed, explain what would fail first
  const model::Snapshot* state = nullptr;  // null: only the message is known
  // Explain this process only; nullopt: the process that fits the message best.
  std::optional<std::int32_t> pid{};
  // True: the failing process kept or recorded `state` at the moment of the failure.
  bool is_that_moment = false;
};

// Explains why a request failed, which buffers were in the way, and the smallest changes that would
// have prevented the failure. Tries the changes on the allocator of the dry run, with the buffers
// that `state` contains. If `state` is not the state of the failure, the explanation says so. Pure,
// safe from any thread.
[[nodiscard]] Explanation explain(const Question& question);

}  // namespace ttmem::explain
