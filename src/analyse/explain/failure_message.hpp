// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"

namespace ttmem::explain {

// An out-of-memory message of TT-Metal or of the dry run. `what` determines which numbers can be
// set. Old versions of the runtime report fewer numbers.
struct FailureMessage {
  enum class What : std::uint8_t {
    out_of_memory,     // no room for a buffer
    below_limit,       // an L1 buffer would lie below the lowest allowed address
    clash,             // CBs of a program and L1 buffers overlap
    beyond_l1,         // CBs of a program are larger than L1
    trace_region,      // the trace region is too small for the traces
    trace_overlap,     // without a trace region, a trace overlaps other buffers
    kernel_config,     // the kernels and arguments of a program are too large
    cb_beyond_buffer,  // a CB is larger than the buffer that it views
    too_many_cbs,
    active_trace,  // a warning: buffers allocated while a trace is live may be overwritten
  };
  using Number = std::optional<std::uint64_t>;

  What what = What::out_of_memory;
  // The sentence of the message, without the prefix of the log line, cleaned by safe_text(). At
  // most 4 KiB.
  std::string text{};

  // The following numbers are set for out_of_memory.
  std::optional<Kind> kind{};
  Number bytes{};
  Number bytes_per_bank{};
  Number banks{};
  Number bank_bytes{};
  Number allocated_per_bank{};
  Number free_per_bank{};
  Number largest_free_per_bank{};

  // The following numbers are set for clash and beyond_l1.
  Number program{};
  struct Cores {
    std::uint32_t x0, y0, x1, y1;
    friend bool operator==(const Cores&, const Cores&) = default;
  };
  std::optional<Cores> cores{};
  Number l1_address{};  // address of the lowest L1 buffer of the device
  Number cb_end{};
  Number l1_bytes{};  // size of the L1 of a core

  // The needed amount and the limit. Set for trace_region, trace_overlap, kernel_config,
  // below_limit, cb_beyond_buffer and too_many_cbs.
  Number needed{};
  Number limit{};
};

// Returns all messages in a text, in order. Ignores other lines, prefixes of logs and colours.
// Joins the lines of a message that was wrapped (wrapped_message.hpp). Pure, safe from any thread;
// terminates on any text.
[[nodiscard]] std::vector<FailureMessage> find_failures(std::string_view text);

// Returns true if two messages can be about the same failure. Both must have the same `what`, and
// no number may differ. In addition, the texts must be equal, or both messages must have a number
// that usually differs from failure to failure.
[[nodiscard]] bool can_be_same(const FailureMessage& a, const FailureMessage& b);

}  // namespace ttmem::explain
