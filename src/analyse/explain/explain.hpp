// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure_message.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::explain {

// Where a state comes from. The source decides how well the state must agree with the message.
enum class StateSource : std::uint8_t {
  bystander,  // processes of this machine: used only if the figures of the message identify one
  recording,  // a recording that the user named: used unless a figure contradicts the message
  chosen,     // a process or a moment that the user named: always used
  failure,    // kept or recorded by the failing process at the moment of the failure: always used
};

// The input of explain().
struct Question {
  std::optional<FailureMessage>
      failure{};  // nullopt: nothing has failed, explain what would fail first
  const model::Snapshot* state = nullptr;  // null: only the message is known
  // Explain this process only; nullopt: the process that fits the message best.
  std::optional<std::int32_t> pid{};
  StateSource source = StateSource::bystander;
};

// Explains why a request failed, which buffers were in the way, and the smallest changes that would
// have prevented the failure. Tries the changes on the allocator of the dry run, with the buffers
// that `state` contains. If `state` does not belong to the message, the explanation says so. It is
// then made from the message alone, unless the user chose the state. Pure, safe from any thread.
[[nodiscard]] Explanation explain(const Question& question);

}  // namespace ttmem::explain
