// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analyse/report/free_blocks.hpp"
#include "analyse/report/lowest_buffers.hpp"
#include "base/kinds.hpp"
#include "read/collector/free_space.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::report {

using Regions = PerKind<std::optional<collector::BankRegion>>;

// The addresses of the buffers of a chip. Chips of a mesh hold the same buffers and share one
// object (SharedPlaces). Not thread-safe.
class BufferPlaces {
 public:
  // Makes an object without regions, for a chip whose regions are not known yet.
  BufferPlaces() = default;
  explicit BufferPlaces(const Regions& regions);

  // Adds or removes a buffer. `cores` are the cores on which the buffer takes its range; null means
  // every core.
  void change(const recording::RecordedRequest& request, std::optional<std::uint64_t> address,
              const CoreMask* cores, bool add);

  [[nodiscard]] bool is_empty() const { return live_ == 0; }
  [[nodiscard]] std::uint64_t live(Kind kind) const { return banks_[kind].live; }
  [[nodiscard]] bool has(const Regions& regions) const;
  // Return the largest free block of a bank, and all free bytes of a bank, computed like
  // collector::free_space(). Return nullopt if the free blocks are unknown.
  [[nodiscard]] std::optional<std::uint64_t> largest_free(Kind kind) const;
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(Kind kind) const;
  [[nodiscard]] const LowestBuffers& lowest_l1() const { return lowest_l1_; }

 private:
  // The buffers of one kind.
  struct Banks {
    std::optional<collector::BankRegion> region;
    std::optional<FreeBlocks> blocks;
    std::uint64_t live = 0;
    std::uint64_t placed = 0;    // number of live buffers with an address
    std::uint64_t unplaced = 0;  // number of live buffers without an address or a size per bank
    std::uint64_t outside = 0;   // number of live buffers outside of the region
  };
  void change_banks(const recording::RecordedRequest& request, std::optional<std::uint64_t> address,
                    bool add);
  [[nodiscard]] bool is_unstated(Kind kind) const;
  [[nodiscard]] bool are_blocks_known(Kind kind) const;

  PerKind<Banks> banks_{};
  std::uint64_t live_ = 0;
  LowestBuffers lowest_l1_;
};

}  // namespace ttmem::report
