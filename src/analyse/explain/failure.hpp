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

// What TT-Metal, or the dry run, says when memory does not suffice. The message decides which of
// the numbers are there; old versions say fewer of them.
struct Failure {
  enum class What : std::uint8_t {
    out_of_memory,     // no room for a buffer
    below_limit,       // an L1 buffer would lie below what it may
    clash,             // CBs of a program and L1 buffers overlap
    beyond_l1,         // CBs of a program are larger than L1
    trace_region,      // the region is too small for the traces
    trace_overlap,     // a trace without a region met other buffers
    kernel_config,     // kernels and arguments of a program are too large
    cb_beyond_buffer,  // a CB is larger than the buffer that it is a view on
    too_many_cbs,
    active_trace,  // a warning: what is allocated while a trace is live may be overwritten
  };
  using Number = std::optional<std::uint64_t>;

  What what = What::out_of_memory;
  // The sentence without the prefix of the log line; safe_text(), at most 4 KiB.
  std::string text{};

  // Of out_of_memory, and the first two of cb_beyond_buffer (the CB, the buffer).
  std::optional<Kind> kind{};
  Number bytes{};
  Number bytes_per_bank{};
  Number banks{};
  Number bank_bytes{};
  Number allocated_per_bank{};
  Number free_per_bank{};
  Number largest_free_per_bank{};

  // Of clash and beyond_l1.
  Number program{};
  struct Cores {
    std::uint32_t x0, y0, x1, y1;
    friend bool operator==(const Cores&, const Cores&) = default;
  };
  std::optional<Cores> cores{};
  Number l1_address{};  // of the lowest L1 buffer of the device
  Number cb_end{};
  Number l1_bytes{};  // of a core

  // Of trace_region, kernel_config, below_limit and too_many_cbs: what is needed, and the limit.
  Number needed{};
  Number limit{};
};

// All that a text says, in its order. Other lines around, prefixes of logs and colours do not
// matter. Pure, safe from any thread; terminates on any text.
[[nodiscard]] std::vector<Failure> find_failures(std::string_view text);

}  // namespace ttmem::explain
