// SPDX-License-Identifier: Apache-2.0
//
// One function for each way to fail. Each fills in what the message says and, when there is a state
// (`memory` is not null), who was in the way and what would have helped. Pure.
#pragma once

#include <vector>

#include "analyse/explain/device_memory.hpp"
#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure.hpp"

namespace ttmem::explain {

// No room for a buffer.
void explain_request(const Failure& failure, const DeviceMemory* memory, Explanation& result);

// CBs of a program overlap L1 buffers, or are larger than L1.
void explain_clash(const Failure& failure, const DeviceMemory* memory, Explanation& result);
void explain_beyond_l1(const Failure& failure, const DeviceMemory* memory, Explanation& result);

// The traces are larger than the region that was set up for them.
void explain_trace_region(const Failure& failure, const DeviceMemory* memory, Explanation& result);

// What is no matter of who holds what.
void explain_limit(const Failure& failure, Explanation& result);

// Nothing has failed: what would fail first.
void explain_tightest(const DeviceMemory& memory, Explanation& result);

// Lists them, the largest first, as far as there is room for them in the answer.
void list_in_the_way(std::vector<Holder> holders, Explanation& result);

// The program that the message means; null: the state has none.
[[nodiscard]] const model::Program* find_program(const Failure& failure,
                                                 const DeviceMemory& memory);

}  // namespace ttmem::explain
