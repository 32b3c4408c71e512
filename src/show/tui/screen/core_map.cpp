// SPDX-License-Identifier: Apache-2.0
#include "show/tui/screen/core_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyse/selection/select.hpp"
#include "base/saturating.hpp"
#include "text/core_ranges.hpp"
#include "text/format.hpp"

namespace ttmem::tui {
namespace {

using model::Snapshot;

// Returns the pid and name of the process that owns an allocation or program, such as "4711
// python".
template <typename Item>
std::string owner_of(const Snapshot& snapshot, const Item& item) {
  const model::Process* process = selection::process_of(snapshot, item);
  if (process == nullptr) return fmt::format("{}", item.pid);
  const std::string pid = text::format_pid(*process);
  return process->name.empty() ? pid : fmt::format("{} {}", pid, process->name);
}

bool has_bytes_on(const model::Allocation& a, std::uint32_t core) {
  return !a.cores || a.cores->test(core);
}

bool takes(const model::Allocation& a, std::size_t device, std::uint32_t core) {
  const bool in_l1 = a.kind == Kind::l1 || a.kind == Kind::l1_small;
  return in_l1 && is_on(a, device) && a.state == model::State::alive &&
         (!a.own_banks || has_bytes_on(a, core));
}

// Returns the label of the allocation. If the data is on other cores (`elsewhere`), the ranges of
// these cores follow the label.
std::string words_of(const model::Allocation& a, bool elsewhere, std::uint16_t columns) {
  std::string label = model::origin_of(a.scope, a.label);
  if (!elsewhere) return label;
  const std::string where = text::format_core_ranges(text::core_ranges(*a.cores, columns));
  return fmt::format("{} on {}", label.empty() ? "shards" : label, where);
}

void add_buffers(const Snapshot& snapshot, std::size_t device, std::uint32_t core, CoreMap& map) {
  for (const model::Allocation& a : snapshot.allocations) {
    if (!takes(a, device, core)) continue;
    if (!a.address || !a.bytes_per_bank) {
      ++map.without_address;
      continue;
    }
    const bool elsewhere = !has_bytes_on(a, core);
    map.spans.push_back({*a.address, saturating_add(*a.address, *a.bytes_per_bank), a.kind,
                         model::key_of(a), owner_of(snapshot, a),
                         words_of(a, elsewhere, snapshot.devices[device].grid_x), 0, elsewhere});
  }
}

void add_cbs(const Snapshot& snapshot, std::size_t device, std::uint32_t core, CoreMap& map) {
  // Address, bytes and process of a circular buffer.
  using Place = std::tuple<std::uint64_t, std::uint64_t, model::ProcessKey>;
  struct Use {
    std::uint32_t programs = 0;
    const model::Program* program = nullptr;  // one of the programs counted in `programs`
  };
  std::map<Place, Use> uses;
  for (const model::Program& program : snapshot.programs) {
    if (program.device != device || program.state != model::State::alive) continue;
    for (const model::CircularBuffer& cb : program.cbs) {
      if (!cb.cores.test(core)) continue;
      if (cb.global) {
        ++map.views;
        continue;
      }
      Use& use = uses[{cb.address, cb.bytes, model::key_of(program)}];
      ++use.programs;
      use.program = &program;
    }
  }
  for (const auto& [place, use] : uses) {
    const auto& [address, bytes, process] = place;
    const std::string& name = use.program->name;
    const std::string what = use.programs > 1 ? fmt::format("{} programs", use.programs)
                                              : fmt::format("program {}{}{}", use.program->program,
                                                            name.empty() ? "" : " ", name);
    map.spans.push_back({address, saturating_add(address, bytes), Kind::cb, process,
                         owner_of(snapshot, *use.program), what, use.programs, false});
  }
}

void find_gap(CoreMap& map) {
  if (!map.base || !map.small_begin) return;
  std::uint64_t cb_end = *map.base;
  std::uint64_t lowest = *map.small_begin;
  for (const Span& span : map.spans) {
    if (span.kind == Kind::cb) cb_end = std::max(cb_end, span.end);
    if (span.kind == Kind::l1) lowest = std::min(lowest, span.begin);
  }
  map.free_begin = cb_end;
  map.free_end = lowest;
}

}  // namespace

CoreMap core_map(const Snapshot& snapshot, std::size_t device, std::uint32_t core) {
  const model::Device& of = snapshot.devices[device];
  CoreMap map;
  map.end = of.l1_bytes_per_core;
  map.base = of.l1_base;
  if (map.end) {
    const std::uint64_t small = of.l1_small_region_bytes.value_or(0);
    map.small_begin = *map.end - std::min(*map.end, small);
  }
  if (core < kMaxCores) {
    add_buffers(snapshot, device, core, map);
    add_cbs(snapshot, device, core, map);
  }
  std::stable_sort(map.spans.begin(), map.spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.begin, a.end) > std::tie(b.begin, b.end);
  });
  find_gap(map);
  return map;
}

Cover cover_of(const Span& span) {
  if (span.elsewhere) return Cover::lockstep;
  if (span.kind == Kind::cb) return Cover::cb;
  return span.kind == Kind::l1 ? Cover::l1 : Cover::l1_small;
}

std::vector<Cover> bands_of(const CoreMap& map, int bands) {
  if (!map.end || *map.end == 0 || bands <= 0) return {};
  std::vector<Cover> covers(static_cast<std::size_t>(bands), Cover::free);
  const double per_byte = bands / static_cast<double>(*map.end);
  const auto paint = [&](std::uint64_t begin, std::uint64_t end, Cover cover) {
    if (end <= begin || begin >= *map.end) return;
    const auto first = static_cast<std::size_t>(static_cast<double>(begin) * per_byte);
    const double last = static_cast<double>(std::min(end, *map.end)) * per_byte;
    const auto stop = std::min<std::size_t>(
        covers.size(), std::max<std::size_t>(first + 1, static_cast<std::size_t>(last + 0.999)));
    for (std::size_t i = std::min(first, covers.size() - 1); i < stop; ++i) covers[i] = cover;
  };
  paint(0, map.base.value_or(0), Cover::reserved);
  for (const Cover cover : {Cover::cb, Cover::lockstep, Cover::l1, Cover::l1_small}) {
    for (const Span& span : map.spans) {
      if (cover_of(span) == cover) paint(span.begin, span.end, cover);
    }
  }
  if (map.free_begin && map.free_end && *map.free_end < *map.free_begin) {
    paint(*map.free_end, *map.free_begin, Cover::clash);
  }
  return covers;
}

}  // namespace ttmem::tui
