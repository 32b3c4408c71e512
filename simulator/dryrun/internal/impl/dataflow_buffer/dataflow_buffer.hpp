// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tt-metalium/core_coord.hpp>
#include <variant>

namespace tt::tt_metal {
class Program;
}  // namespace tt::tt_metal

namespace tt::tt_metal::experimental::dfb {

struct DataflowBufferConfig {
  std::uint32_t entry_size = 0;
  std::uint32_t num_entries = 0;
  // True if the dataflow buffer lies in an L1 buffer.
  // DataflowBufferImpl::set_borrowed_memory_base_addr() sets its address.
  bool borrows_memory = false;
};

// Declares a dataflow buffer, which is the circular buffer of Metal 2.0. Returns its number in the
// program. The program must not have run yet.
std::uint32_t CreateDataflowBuffer(
    Program& program, const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
    const DataflowBufferConfig& config);

}  // namespace tt::tt_metal::experimental::dfb
