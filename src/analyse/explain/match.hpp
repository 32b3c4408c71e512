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

// Returns false if the figures of the device alone show that match() would return `no`. Takes
// almost no time; the result of outline() suffices as `memory`. match() looks at all buffers, which
// takes seconds for all devices of a large mesh.
[[nodiscard]] bool can_match(const FailureMessage& failure, const DeviceMemory& memory);

// Returns true if the message has a figure that match() compares.
[[nodiscard]] bool has_figures_to_match(const FailureMessage& failure);

}  // namespace ttmem::explain
