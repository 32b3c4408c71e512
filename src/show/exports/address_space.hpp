// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "show/exports/snapshot_encoder.hpp"

namespace ttmem::exports {

// A stretch of addresses that nothing else has, and what lies in it. A viewer knows an allocation
// by its address alone: two at one address would be one. Not thread-safe.
class AddressSpace {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 44;

  struct Block {
    std::uint64_t bytes = 0;
    Shared stack{};
  };

  explicit AddressSpace(std::uint64_t base) : base_(base) {}

  // At least so large, from its begin on.
  void reserve(std::uint64_t bytes);

  // The address in the file; none when something lies there, or it is beyond the end. `bytes` is
  // not 0.
  [[nodiscard]] std::optional<std::uint64_t> put_at(std::uint64_t offset, const Block& block);
  // The same, wherever there is room.
  [[nodiscard]] std::optional<std::uint64_t> put(const Block& block);
  void remove(std::uint64_t address);

  // Null: nothing begins there.
  [[nodiscard]] const Block* find(std::uint64_t address) const;
  // What there is now, by its address in the file.
  [[nodiscard]] const std::map<std::uint64_t, Block>& blocks() const { return blocks_; }
  // All that was ever used or reserved, as [begin, end) in the file; empty: nothing was.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  void cover(std::uint64_t begin, std::uint64_t end);

  std::uint64_t base_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t next_ = 0;                                         // of put()
  std::map<std::uint64_t, std::vector<std::uint64_t>> left_over_;  // by size: for put()
};

}  // namespace ttmem::exports
