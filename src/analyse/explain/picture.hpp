// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyse/explain/device_memory.hpp"
#include "read/collector/free_space.hpp"

namespace ttmem::explain {

// A range of addresses of a bank or a core, and what lies there.
struct Band {
  enum class What : std::uint8_t { free, held, mixed, cbs, overlap, region };
  What what = What::free;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string who{};
  bool in_the_way = false;

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
};

// A bank, or the L1 of a core. What was asked for would have to lie in [asked_begin, asked_end);
// both are 0 when that is nowhere.
struct Picture {
  std::string title{};
  std::vector<Band> bands{};  // the highest addresses first
  std::uint64_t asked_begin = 0;
  std::uint64_t asked_end = 0;
};

// Holders, by address, and the free blocks between them, the highest first. Those in [begin, end)
// are in the way. Large ones have a band of their own, and those in the way as long as they are
// few; neighbours of the rest share one.
[[nodiscard]] std::vector<Band> bands_of(const collector::Range& region,
                                         std::span<const Holder> holders, std::uint64_t begin,
                                         std::uint64_t end);

}  // namespace ttmem::explain
