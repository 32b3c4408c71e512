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

// Where the buffers of a chip lie. Chips of a mesh hold the same buffers and share one of these:
// see SharedPlaces. Not thread-safe.
class BufferPlaces {
 public:
  // Without regions: where buffers may lie is not known yet.
  BufferPlaces() = default;
  explicit BufferPlaces(const Regions& regions);

  // `cores`: those that it takes its range on; null: every core.
  void change(const recording::RecordedRequest& request, std::optional<std::uint64_t> address,
              const CoreMask* cores, bool add);

  [[nodiscard]] bool is_empty() const { return live_ == 0; }
  [[nodiscard]] std::uint64_t live(Kind kind) const { return banks_[kind].live; }
  [[nodiscard]] bool has(const Regions& regions) const;
  // The largest free block of a bank, as collector::free_space() has it; none: unknown.
  [[nodiscard]] std::optional<std::uint64_t> largest_free(Kind kind) const;
  [[nodiscard]] const LowestBuffers& lowest_l1() const { return lowest_l1_; }

 private:
  // The buffers of one kind.
  struct Banks {
    std::optional<collector::BankRegion> region;
    std::optional<FreeBlocks> blocks;
    std::uint64_t live = 0;
    std::uint64_t placed = 0;    // of those, with an address
    std::uint64_t unplaced = 0;  // without an address or a size per bank
    std::uint64_t outside = 0;   // of the region
  };
  void change_banks(const recording::RecordedRequest& request, std::optional<std::uint64_t> address,
                    bool add);
  [[nodiscard]] bool is_unstated(Kind kind) const;

  PerKind<Banks> banks_{};
  std::uint64_t live_ = 0;
  LowestBuffers lowest_l1_;
};

}  // namespace ttmem::report
