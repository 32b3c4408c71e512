// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "read/recording/file/rows.hpp"

namespace ttmem::exports {

// So many live programs that have this layout.
struct Sharer {
  const recording::Layout* layout = nullptr;
  std::uint64_t programs = 0;
};

// What each has of the circular buffers of that device. Cached programs lie on the same addresses;
// a byte that k of them have counts 1/k for each, as Linux does with shared pages (PSS). So the sum
// is what the cores have reserved, to the byte: the few that do not divide go to the first ones.
[[nodiscard]] std::vector<std::uint64_t> cb_shares(const recording::RecordedDevice& device,
                                                   const std::vector<Sharer>& sharers);

// What one program would have if it were alone: on each core, the union of its circular buffers.
[[nodiscard]] std::uint64_t cb_bytes(const recording::RecordedDevice& device,
                                     const recording::Layout& layout);

}  // namespace ttmem::exports
