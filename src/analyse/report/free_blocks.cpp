// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/free_blocks.hpp"

#include <iterator>
#include <limits>

namespace ttmem::report {
namespace {

constexpr std::uint32_t kBeyond = std::numeric_limits<std::uint32_t>::max();  // outside the region

}  // namespace

FreeBlocks::FreeBlocks(const collector::BankRegion& region) : region_(region) {
  cover_.emplace(region.range.begin, 0);
  cover_.emplace(region.range.end, kBeyond);
  note(cover_.begin(), true);
}

std::uint64_t FreeBlocks::largest() const {
  return lengths_.empty() ? 0 : std::prev(lengths_.end())->first;
}

std::uint64_t FreeBlocks::length(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t over = begin % region_.step;
  if (begin != region_.range.begin && over != 0) begin += region_.step - over;
  return end > begin ? end - begin : 0;
}

// Adds the length of a free block to lengths_ if `there` is true, otherwise removes the length.
// Does nothing if buffers take the block.
void FreeBlocks::note(Cover::iterator block, bool there) {
  if (block->second != 0) return;
  const std::uint64_t bytes = length(block->first, std::next(block)->first);
  total_ = there ? total_ + bytes : total_ - bytes;
  if (there) {
    ++lengths_[bytes];
  } else if (const auto known = lengths_.find(bytes); --known->second == 0) {
    lengths_.erase(known);
  }
}

// Splits a block, so that a block begins at `address`.
FreeBlocks::Cover::iterator FreeBlocks::split(std::uint64_t address) {
  const auto after = cover_.lower_bound(address);
  if (after != cover_.end() && after->first == address) return after;
  return cover_.emplace_hint(after, address, std::prev(after)->second);
}

void FreeBlocks::change(std::uint64_t begin, std::uint64_t end, bool add) {
  // The blocks from the block before `begin` to the block at `end` may grow, shrink or vanish.
  // Removes their lengths first, and adds the lengths of the changed blocks at the end.
  auto first = std::prev(cover_.upper_bound(begin));
  if (first->first == begin && first != cover_.begin()) --first;
  auto last = cover_.lower_bound(end);
  if (last->first == end && last->second != kBeyond) ++last;
  for (auto block = first; block != last; ++block) note(block, false);
  const auto from = split(begin);
  const auto to = split(end);
  for (auto block = from; block != to; ++block) block->second += add ? 1U : ~0U;
  for (auto block = std::next(first); block != last;) {
    block = block->second == std::prev(block)->second ? cover_.erase(block) : std::next(block);
  }
  for (auto block = first; block != last; ++block) note(block, true);
}

}  // namespace ttmem::report
