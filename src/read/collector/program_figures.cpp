// SPDX-License-Identifier: Apache-2.0
#include "read/collector/program_figures.hpp"

#include <algorithm>

#include "read/collector/core_partition.hpp"

namespace ttmem::collector {
namespace {

using segment::LiveCb;
using segment::LiveFootprint;

struct CbRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Sets `ranges` to the ranges that the CBs of a footprint take on one core, ascending and disjoint.
void ranges_on_core(const LiveFootprint& footprint, std::uint32_t core,
                    std::vector<CbRange>& ranges) {
  ranges.clear();
  for (const LiveCb& cb : footprint) {
    if (cb.global || cb.bytes == 0 || !cb.cores.test(core)) continue;
    ranges.push_back({cb.address, std::uint64_t{cb.address} + cb.bytes});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CbRange& a, const CbRange& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

void add_masks(const LiveFootprint& footprint, std::vector<CoreMask>& masks) {
  for (const LiveCb& cb : footprint) {
    if (!cb.global && cb.bytes != 0) masks.push_back(cb.cores);
  }
}

// The begin or the end of an address range that a footprint takes on a core.
struct Edge {
  std::uint64_t address = 0;
  std::int32_t weight = 0;  // weight of the footprint, negative at the end of a range
  std::uint32_t use = 0;
};

// Adds the edges of all footprints on one core. A footprint that two or more programs share has
// weight 2, because no program holds its memory alone.
void add_edges(std::span<const FootprintUse> uses, std::uint32_t core, std::vector<Edge>& edges) {
  std::vector<CbRange> ranges;
  for (std::uint32_t u = 0; u < uses.size(); ++u) {
    ranges_on_core(*uses[u].footprint, core, ranges);
    const std::int32_t weight = uses[u].programs > 1 ? 2 : 1;
    for (const CbRange& range : ranges) {
      edges.push_back({range.begin, weight, u});
      edges.push_back({range.end, -weight, u});
    }
  }
}

// Adds to `exclusive[i]` the bytes that only footprint `i` covers, times `cores`. Visits the edges
// in ascending order of address. `weight` and `covering` are the sums of the weights and of the
// indices of the footprints that cover the current address. If `weight` is 1, a single footprint
// covers the address, and `covering` is its index.
void sweep(std::vector<Edge>& edges, std::uint64_t cores, std::vector<std::uint64_t>& exclusive) {
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.address < b.address; });
  std::int64_t weight = 0;
  std::uint64_t covering = 0;
  std::uint64_t from = 0;
  for (const Edge& edge : edges) {
    if (weight == 1) exclusive[covering] += (edge.address - from) * cores;
    from = edge.address;
    weight += edge.weight;
    covering += edge.weight > 0 ? edge.use : -std::uint64_t{edge.use};
  }
}

}  // namespace

std::optional<FootprintFigures> footprint_figures(const LiveFootprint& footprint,
                                                  WorkBudget& budget) {
  FootprintFigures figures;
  std::vector<CoreMask> masks;
  add_masks(footprint, masks);
  CoreMask covered;
  for (const LiveCb& cb : footprint) {
    covered |= cb.cores;
    if (!cb.global) figures.logical_bytes += std::uint64_t{cb.bytes} * cb.cores.count();
  }
  figures.cores = covered.count();
  const std::vector<CoreMask> classes = partition_cores(masks);
  if (!budget.spend(masks.size() * classes.size())) return std::nullopt;
  std::vector<CbRange> ranges;
  for (const CoreMask& cores : classes) {
    ranges_on_core(footprint, cores.lowest(), ranges);
    std::uint64_t bytes = 0;
    for (const CbRange& range : ranges) bytes += range.end - range.begin;
    figures.bytes_per_core = std::max(figures.bytes_per_core, bytes);
    figures.physical_bytes += bytes * cores.count();
  }
  return figures;
}

std::optional<std::vector<std::uint64_t>> exclusive_bytes(std::span<const FootprintUse> uses,
                                                          WorkBudget& budget) {
  std::vector<std::uint64_t> exclusive(uses.size(), 0);
  std::vector<CoreMask> masks;
  for (const FootprintUse& use : uses) add_masks(*use.footprint, masks);
  const std::vector<CoreMask> classes = partition_cores(masks);
  if (!budget.spend(masks.size() * classes.size())) return std::nullopt;
  std::vector<Edge> edges;
  for (const CoreMask& cores : classes) {
    edges.clear();
    add_edges(uses, cores.lowest(), edges);
    sweep(edges, cores.count(), exclusive);
  }
  return exclusive;
}

}  // namespace ttmem::collector
