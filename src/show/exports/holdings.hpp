// SPDX-License-Identifier: Apache-2.0
//
// The bytes of each holder, for the formats without a time axis.
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

// Equal allocations on one device, or programs with the same name, scope and circular
// buffers on one device. Each allocation or program counts as one object.
struct StackHolding {
  recording::RowId device = 0;
  Kind kind = Kind::dram;
  std::uint64_t object_bytes = 0;  // size of one object
  Stack stack{};

  // Objects that were allocated during the whole recording.
  Amount allocated{};
  // Objects that were never freed: live when the recording ended, or left when the device was
  // closed or its process ended. If the process opened the device several times, counts only
  // objects of the last opening.
  Amount at_end{};
  // Live objects at the peak of their memory (DRAM, L1, trace) on their chip. The sum over all L1
  // holdings of a chip is the L1 peak of the chip; the sum over its DRAM holdings is the DRAM peak,
  // which may be at another time.
  Amount at_peak{};
  Amount at_time{};  // live objects after all events up to the `time_ns` of read_holdings()
};

struct StackHoldings {
  std::vector<StackHolding> rows{};  // ordered by device, kind, stack and size
  Peaks peaks{};                     // peaks of the selected chips
};

// Reads the holdings of a recording in two passes. Memory grows with the number of different
// holdings. Circular buffers that programs share are divided among the programs (cb_shares.hpp), so
// that the sums are the physical bytes of the cores. `allocated` has the bytes that each program
// would take alone.
[[nodiscard]] Result<StackHoldings> read_holdings(const recording::Reader& reader,
                                                  const Selection& selection,
                                                  recording::Time time_ns = 0);

}  // namespace ttmem::exports
