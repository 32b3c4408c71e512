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

// Returns the bytes that a buffer of `bytes` takes as bfloat8_b, which has 1088 B per tile, if it
// is a bfloat16 buffer now, which has 2048 B.
[[nodiscard]] constexpr std::uint64_t as_bfloat8_b(std::uint64_t bytes) {
  return bytes / 32 * 17 + (bytes % 32 * 17 + 31) / 32;
}

// Returns a trace region that leaves 10 % above `bytes`, in whole pages. Other inputs make larger
// traces, so the figure of a message is soon too small.
[[nodiscard]] std::uint64_t with_trace_margin(std::uint64_t bytes);

// `result` has the cause and the missing bytes.
void suggest_untried_for_request(const BankRequest& request, Explanation& result);
void suggest_untried_for_clash(const FailureMessage& failure, Explanation& result);
void suggest_untried_for_beyond_l1(Explanation& result);

}  // namespace ttmem::explain
