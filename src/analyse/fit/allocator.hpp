// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/kinds.hpp"
#include "read/placement/free_list.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::fit {

// The allocator of a device, or of a mesh, whose devices the runtime allocates in lockstep. `kind`
// must always be one of kBankKinds. Not thread-safe.
class Allocator {
 public:
  explicit Allocator(const placement::MemoryMap& map);

  // Places a buffer and returns its address. Returns nullopt and changes nothing if there is no
  // room.
  [[nodiscard]] std::optional<std::uint64_t> place(Kind kind, std::uint64_t bytes_per_bank,
                                                   bool bottom_up) {
    return space(kind).allocate(bytes_per_bank, bottom_up);
  }
  void release(Kind kind, std::uint64_t address) { space(kind).deallocate(address); }

  // Returns true if the trace region has room for another trace of `bytes`. Like the runtime,
  // compares the sum of the sizes of all traces with the size of the region.
  [[nodiscard]] bool has_trace_room(std::uint64_t bytes) const {
    return bytes <= map_.trace_region_bytes && trace_bytes_ <= map_.trace_region_bytes - bytes;
  }
  [[nodiscard]] std::uint64_t trace_bytes() const { return trace_bytes_; }
  void add_trace(std::uint64_t bytes) { trace_bytes_ += bytes; }
  void remove_trace(std::uint64_t bytes) { trace_bytes_ -= bytes; }

  [[nodiscard]] const placement::MemoryMap& map() const { return map_; }
  [[nodiscard]] std::optional<std::uint64_t> lowest_l1() const {
    return space(Kind::l1).lowest_occupied_address();
  }
  [[nodiscard]] placement::FreeList::Statistics statistics(Kind kind) const {
    return space(kind).statistics();
  }

 private:
  [[nodiscard]] placement::FreeList& space(Kind kind) {
    return spaces_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const placement::FreeList& space(Kind kind) const {
    return spaces_[static_cast<std::size_t>(kind)];
  }

  placement::MemoryMap map_;
  std::array<placement::FreeList, kBankKinds.size()> spaces_;  // indexed by kind
  std::uint64_t trace_bytes_ = 0;
};

}  // namespace ttmem::fit
