// SPDX-License-Identifier: Apache-2.0
//
// Suggests the usual cures from the figures of a message alone. Nothing is tried, because the held
// buffers are unknown. One function for each kind of failure. Pure.
#pragma once

#include <cstdint>

#include "analyse/explain/bank_request.hpp"
#include "analyse/explain/explanation.hpp"
#include "analyse/explain/failure_message.hpp"

namespace ttmem::explain {

// Returns the size of a bfloat16 buffer of `bytes` after a conversion to bfloat8_b. A tile has 2048
// B in bfloat16 and 1088 B in bfloat8_b.
[[nodiscard]] constexpr std::uint64_t as_bfloat8_b(std::uint64_t bytes) {
  return bytes / 32 * 17 + (bytes % 32 * 17 + 31) / 32;
}

// Returns `bytes` plus a margin of 10 %, rounded up to whole pages. The trace region needs the
// margin, because other inputs can make larger traces.
[[nodiscard]] std::uint64_t with_trace_margin(std::uint64_t bytes);

// Add suggestions to `result`, which must already have the cause and the missing bytes.
void suggest_untried_for_request(const BankRequest& request, Explanation& result);
void suggest_untried_for_clash(const FailureMessage& failure, Explanation& result);
void suggest_untried_for_beyond_l1(Explanation& result);

}  // namespace ttmem::explain
