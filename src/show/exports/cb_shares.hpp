// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/recording/file/rows.hpp"

namespace ttmem::exports {

// A layout, and the number of live programs with this layout.
struct Sharer {
  const recording::Layout* layout = nullptr;
  std::uint64_t programs = 0;
};

// Divides the circular buffers of a device among the sharers, and returns the bytes of each sharer.
// Cached programs use the same addresses, so a byte that k programs use counts 1/k for each
// program, like shared pages in Linux (PSS). The sum of the shares is exactly the physical bytes of
// all cores. If bytes cannot be divided evenly, the first sharers get the remainder.
[[nodiscard]] std::vector<std::uint64_t> cb_shares(const recording::RecordedDevice& device,
                                                   const std::vector<Sharer>& sharers);

// Returns the bytes that one program would take alone. They are the sum over all cores of the union
// of the program's circular buffers.
[[nodiscard]] std::uint64_t cb_bytes(const recording::RecordedDevice& device,
                                     const recording::Layout& layout);

}  // namespace ttmem::exports
