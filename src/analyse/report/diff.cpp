// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/diff.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <tuple>

#include "analyse/report/limit.hpp"

namespace ttmem::report {
namespace {

// Kind, scope, label, size and `shared` of a holder. The size is 0 if there is a scope or a label.
using Name = std::tuple<Kind, std::string, std::string, std::uint64_t, bool>;

Name name_of(const Holder& holder) {
  const bool has_name = !holder.scope.empty() || !holder.label.empty();
  return {holder.kind, holder.scope, holder.label, has_name ? 0 : holder.size, holder.shared};
}

// The total of all holders with one name.
struct Held {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  std::map<std::uint64_t, std::uint64_t> sizes;  // by size: number of allocations
};

std::map<Name, Held> by_names(const std::vector<Holder>& holders) {
  std::map<Name, Held> names;
  for (const Holder& holder : holders) {
    Held& held = names[name_of(holder)];
    held.bytes += holder.bytes;
    held.count += holder.count;
    held.sizes[holder.size] += holder.count;
  }
  return names;
}

// Returns the holders at the peak of the fullest device.
template <typename Peak>
const std::vector<Holder>* at_peak(const Report& report, Peak peak,
                                   std::vector<Holder> DeviceReport::*holders) {
  const DeviceReport* fullest = nullptr;
  for (const DeviceReport& device : report.devices) {
    if (!peak(device)) continue;
    if (fullest == nullptr || peak(device)->bytes > peak(*fullest)->bytes) fullest = &device;
  }
  return fullest == nullptr ? nullptr : &(fullest->*holders);
}

ChangeType type_of(const Held& before, const Held& now) {
  if (before.count == 0) return ChangeType::added;
  if (now.count == 0) return ChangeType::gone;
  if (now.bytes != before.bytes) {
    return now.bytes > before.bytes ? ChangeType::grown : ChangeType::shrunk;
  }
  return ChangeType::other_sizes;
}

HolderChange change_of(const Name& name, const Held& before, const Held& now) {
  HolderChange change;
  std::tie(change.kind, change.scope, change.label, std::ignore, change.shared) = name;
  change.type = type_of(before, now);
  change.before_bytes = before.bytes;
  change.before_count = before.count;
  change.now_bytes = now.bytes;
  change.now_count = now.count;
  return change;
}

std::vector<HolderChange> changes(const std::vector<Holder>* before,
                                  const std::vector<Holder>* now) {
  if (before == nullptr || now == nullptr) return {};
  std::map<Name, std::array<Held, 2>> both;
  for (auto& [name, held] : by_names(*before)) both[name][0] = held;
  for (auto& [name, held] : by_names(*now)) both[name][1] = held;
  std::vector<HolderChange> list;
  for (const auto& [name, held] : both) {
    const bool same = held[0].bytes == held[1].bytes && held[0].sizes == held[1].sizes;
    if (!same) list.push_back(change_of(name, held[0], held[1]));
  }
  std::stable_sort(list.begin(), list.end(), [](const HolderChange& a, const HolderChange& b) {
    return std::llabs(a.bytes()) > std::llabs(b.bytes());
  });
  return list;
}

}  // namespace

const char* name_of(ChangeType type) {
  constexpr std::array<const char*, 5> names = {"added", "gone", "grown", "shrunk", "other sizes"};
  return names[static_cast<std::size_t>(type)];
}

Diff make_diff(const Report& before, const Report& now) {
  Diff diff;
  for (const RunFigure& figure : run_figures()) {
    diff.figures.push_back({.name = figure.name,
                            .is_bytes = figure.is_bytes,
                            .before = figure.of(before),
                            .now = figure.of(now)});
  }
  diff.all_seen = before.all_seen() && now.all_seen();
  diff.made_of_known = !before.aggregate && !now.aggregate;
  if (!diff.made_of_known) return diff;
  const auto dram = [](const DeviceReport& device) { return device.peak[Kind::dram]; };
  const auto l1 = [](const DeviceReport& device) { return device.l1_peak; };
  diff.dram = changes(at_peak(before, dram, &DeviceReport::at_dram_peak),
                      at_peak(now, dram, &DeviceReport::at_dram_peak));
  diff.l1 = changes(at_peak(before, l1, &DeviceReport::at_l1_peak),
                    at_peak(now, l1, &DeviceReport::at_l1_peak));
  return diff;
}

}  // namespace ttmem::report
