// SPDX-License-Identifier: Apache-2.0
//
// Compares a state with the figures of a message. Pure.
#pragma once

#include <cstdint>

#include "analyse/explain/device_memory.hpp"
#include "analyse/explain/failure_message.hpp"

namespace ttmem::explain {

// How well a state agrees with a message.
enum class Match : std::uint8_t {
  no,       // a figure contradicts the message
  unknown,  // nothing contradicts the message, but other states can agree with it too
  yes,      // the figures that identify a state are equal
};

// Returns whether the message is about this memory at this moment.
[[nodiscard]] Match match(const FailureMessage& failure, const DeviceMemory& memory);

// Returns false if match() would return `no`, as far as the figures of the device alone show.
// Takes almost no time; the result of outline() suffices as `memory`. A mesh has many devices, and
// looking at all buffers of each takes seconds.
[[nodiscard]] bool can_match(const FailureMessage& failure, const DeviceMemory& memory);

// Returns false if the message has no figure that match() compares.
[[nodiscard]] bool has_figures_to_match(const FailureMessage& failure);

}  // namespace ttmem::explain
