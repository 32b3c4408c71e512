// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/picture.hpp"

#include <algorithm>

#include "base/format_bytes.hpp"
#include "base/plural.hpp"

namespace ttmem::explain {
namespace {

// The maximum number of bands that are not merged. A picture of these bands and of the merged bands
// between them fits on a screen.
constexpr std::size_t kOwnBands = 6;

// Returns one band for each holder and each free block, the lowest first.
std::vector<Band> all_bands(const collector::AddressRange& region,
                            std::span<const BufferHolder> holders, std::uint64_t begin,
                            std::uint64_t end) {
  std::vector<Band> bands;
  std::uint64_t at = region.begin;
  for (const BufferHolder& holder : holders) {
    if (holder.address > at) bands.push_back({Band::What::free, at, holder.address});
    const bool in_the_way = holder.address < end && holder.end() > begin;
    bands.push_back({Band::What::held, holder.address, holder.end(), name_of(holder), in_the_way});
    at = std::max(at, holder.end());
  }
  if (region.end > at) bands.push_back({Band::What::free, at, region.end});
  return bands;
}

// Marks the bands that are not merged: first the bands in the way, if they are few, then the
// largest bands.
std::vector<bool> own_bands(const std::vector<Band>& bands) {
  const auto in_the_way = static_cast<std::size_t>(
      std::count_if(bands.begin(), bands.end(), [](const Band& band) { return band.in_the_way; }));
  const bool are_few = in_the_way <= kOwnBands;
  std::vector<std::size_t> order(bands.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t most = std::min(kOwnBands, order.size());
  const auto before = [&](std::size_t a, std::size_t b) {
    if (are_few && bands[a].in_the_way != bands[b].in_the_way) return bands[a].in_the_way;
    return bands[a].bytes() > bands[b].bytes();
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    before);
  std::vector<bool> own(bands.size(), false);
  for (std::size_t i = 0; i < most; ++i) own[order[i]] = true;
  return own;
}

// Returns one band in place of several adjacent bands, which may be buffers and free blocks.
Band shared_band(std::span<const Band> bands) {
  Band shared{Band::What::held, bands.front().begin, bands.back().end};
  std::uint64_t holders = 0;
  std::uint64_t free = 0;
  for (const Band& band : bands) {
    if (band.what == Band::What::held) {
      ++holders;
    } else {
      free += band.bytes();
    }
    shared.in_the_way = shared.in_the_way || band.in_the_way;
  }
  shared.who = plural(holders, "buffer", "buffers");
  if (free > 0) {
    shared.what = Band::What::mixed;
    shared.who += ", " + format_bytes(free, Scale::core) + " free between";
  }
  return shared;
}

}  // namespace

std::vector<Band> bands_of(const collector::AddressRange& region,
                           std::span<const BufferHolder> holders, std::uint64_t begin,
                           std::uint64_t end) {
  const std::vector<Band> all = all_bands(region, holders, begin, end);
  const std::vector<bool> own = own_bands(all);
  std::vector<Band> bands;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first + 1;
    while (!own[first] && last < all.size() && !own[last]) ++last;
    const std::span<const Band> run(&all[first], last - first);
    bands.push_back(run.size() == 1 ? run.front() : shared_band(run));
    first = last;
  }
  std::reverse(bands.begin(), bands.end());
  return bands;
}

}  // namespace ttmem::explain
