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

// A range of addresses of a bank or a core, and its contents.
struct Band {
  enum class What : std::uint8_t { free, held, mixed, cbs, overlap, region };
  What what = What::free;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string who{};
  bool in_the_way = false;

  [[nodiscard]] std::uint64_t bytes() const { return end - begin; }
};

// A picture of a bank, or of the L1 of a core. The picture marks [asked_begin, asked_end) as the
// place for the request. Both are 0 if there is no place for the request.
struct Picture {
  std::string title{};
  std::vector<Band> bands{};  // highest addresses first
  std::uint64_t asked_begin = 0;
  std::uint64_t asked_end = 0;
};

// Returns the bands of the holders and of the free blocks between them, the highest first.
// `holders` must be sorted by address. Holders in [begin, end) are in the way. Merges adjacent
// bands, except for the largest bands and, if they are few, the bands in the way.
[[nodiscard]] std::vector<Band> bands_of(const collector::AddressRange& region,
                                         std::span<const BufferHolder> holders, std::uint64_t begin,
                                         std::uint64_t end);

}  // namespace ttmem::explain
