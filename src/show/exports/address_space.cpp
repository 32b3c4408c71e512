// SPDX-License-Identifier: Apache-2.0
#include "show/exports/address_space.hpp"

#include <algorithm>
#include <iterator>

namespace ttmem::exports {

void AddressSpace::cover(std::uint64_t begin, std::uint64_t end) {
  begin_ = end_ == 0 ? begin : std::min(begin_, begin);
  end_ = std::max(end_, end);
}

void AddressSpace::reserve(std::uint64_t bytes) {
  if (bytes > 0 && bytes <= kBytes) cover(base_, base_ + bytes);
}

std::optional<std::uint64_t> AddressSpace::put_at(std::uint64_t offset, const Block& block) {
  if (block.bytes > kBytes || offset > kBytes - block.bytes) return std::nullopt;
  const std::uint64_t address = base_ + offset;
  const auto above = blocks_.lower_bound(address);
  if (above != blocks_.end() && above->first < address + block.bytes) return std::nullopt;
  if (above != blocks_.begin()) {
    const auto below = std::prev(above);
    if (below->first + below->second.bytes > address) return std::nullopt;
  }
  blocks_.emplace_hint(above, address, block);
  cover(address, address + block.bytes);
  return address;
}

std::optional<std::uint64_t> AddressSpace::put(const Block& block) {
  auto& same_size = left_over_[block.bytes];
  const bool again = !same_size.empty();
  const std::uint64_t offset = again ? same_size.back() : next_;
  const auto address = put_at(offset, block);
  if (!address) return address;
  if (again) {
    same_size.pop_back();
  } else {
    next_ += block.bytes;
  }
  return address;
}

void AddressSpace::remove(std::uint64_t address) {
  const auto at = blocks_.find(address);
  // Stores the freed address for put(). If only put_at() is used, freed addresses are not needed.
  if (next_ > 0) left_over_[at->second.bytes].push_back(address - base_);
  blocks_.erase(at);
}

const AddressSpace::Block* AddressSpace::find(std::uint64_t address) const {
  const auto at = blocks_.find(address);
  return at == blocks_.end() ? nullptr : &at->second;
}

}  // namespace ttmem::exports
