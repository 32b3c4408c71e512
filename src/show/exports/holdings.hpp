// SPDX-License-Identifier: Apache-2.0
//
// What the formats without a time axis show: who held how much.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "show/exports/selection.hpp"
#include "show/exports/stacks.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

struct Amount {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// All allocations that were alike on one device, or all programs of one name with the same circular
// buffers, each of which counts as one object.
struct StackHolding {
  recording::RowId device = 0;
  Kind kind = Kind::dram;
  std::uint64_t object_bytes = 0;  // of one of them
  Stack stack{};

  Amount allocated{};  // over the whole recording
  // What was never freed: held when the recording ended, or left on the device when that was closed
  // or its process ended; of a device that its process opened again, the last time counts.
  Amount at_end{};
  // When its memory (DRAM, L1, trace) was fullest on its chip. So the sum over the L1 of a chip is
  // the peak of that, and that over DRAM the peak of DRAM, which may be at another time.
  Amount at_peak{};
  Amount at_time{};  // after all that happened up to the time that read_holdings() was asked for
};

struct StackHoldings {
  std::vector<StackHolding> rows{};  // by device, kind, stack and size
  Peaks peaks{};                     // by the chips of the selection
};

// Circular buffers that programs share are divided among them (cb_shares.hpp), so that sums are
// what the cores have reserved; `allocated` is what each would have alone. Two passes over the
// recording; memory for what differs.
[[nodiscard]] Result<StackHoldings> read_holdings(const recording::Reader& reader,
                                                  const Selection& selection,
                                                  recording::Time time_ns = 0);

}  // namespace ttmem::exports
