// SPDX-License-Identifier: Apache-2.0
//
// One function for each kind of failure. Each function fills in the facts of the message. If the
// held buffers are known (`memory` is not null), the function adds the buffers that were in the way
// and the changes that would have helped. Pure.
#pragma once

#include <vector>

#include "analyse/explain/device_memory.hpp"
#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure_message.hpp"

namespace ttmem::explain {

// Explains a buffer that did not fit.
void explain_request(const FailureMessage& failure, const DeviceMemory* memory,
                     Explanation& result);

// Explain a program whose CBs overlap L1 buffers, and a program whose CBs are larger than L1.
void explain_clash(const FailureMessage& failure, const DeviceMemory* memory, Explanation& result);
void explain_beyond_l1(const FailureMessage& failure, const DeviceMemory* memory,
                       Explanation& result);

// Explains traces that do not fit into the trace region.
void explain_trace_region(const FailureMessage& failure, const DeviceMemory* memory,
                          Explanation& result);

// Explains a failure that does not depend on the held buffers.
void explain_limit(const FailureMessage& failure, Explanation& result);

// Explains a state without a failure. Names the kind of memory that would fail first.
void explain_tightest(const DeviceMemory& memory, Explanation& result);

// Lists the largest `holders` in `result`, at most kMaxHolders, and counts the other holders.
void list_in_the_way(std::vector<BufferHolder> holders, Explanation& result);

// Returns the program that the message is about, or null if the state has no such program.
[[nodiscard]] const model::Program* find_program(const FailureMessage& failure,
                                                 const DeviceMemory& memory);

}  // namespace ttmem::explain
