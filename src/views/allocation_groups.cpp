// SPDX-License-Identifier: Apache-2.0
#include "views/allocation_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "base/saturating.hpp"
#include "views/format.hpp"
#include "views/select.hpp"
#include "views/table.hpp"

namespace ttmem::views {
namespace {

using model::Allocation;
using model::Snapshot;

constexpr std::array<std::string_view, 4> kNames = {"label", "kind", "process", "device"};

std::string process_name(const Snapshot& snapshot, const Allocation& a) {
  const model::Process* process = process_of(snapshot, a);
  if (process == nullptr) return fmt::format("{}", a.pid);
  return fmt::format("{} {}", format_pid(*process),
                     process->name.empty() ? kUnknown : std::string_view(process->name));
}

// The number; chips may share one, so the uid too.
std::string device_name(const Snapshot& snapshot, const Allocation& a) {
  if (a.device >= snapshot.devices.size()) return std::string(kUnknown);
  const model::Device& device = snapshot.devices[a.device];
  return device.uid ? fmt::format("{} (uid {})", device.id, format_hex(*device.uid))
                    : fmt::format("{}", device.id);
}

std::string name_in(GroupBy by, const Snapshot& snapshot, const Allocation& a) {
  switch (by) {
    case GroupBy::label:
      return a.label;
    case GroupBy::kind:
      return std::string(name_of(a.kind));
    case GroupBy::process:
      return process_name(snapshot, a);
    default:
      return device_name(snapshot, a);
  }
}

void add(AllocationGroup& group, const Allocation& a) {
  const bool first = group.allocations == 0;
  ++group.allocations;
  group.bytes = saturating_add(group.bytes, a.bytes);
  const bool known = a.physical_bytes && (first || group.physical_bytes);
  group.physical_bytes =
      known ? model::Bytes(saturating_add(group.physical_bytes.value_or(0), *a.physical_bytes))
            : std::nullopt;
  group.largest_bytes = std::max(group.largest_bytes, a.physical_bytes.value_or(a.bytes));
}

std::uint64_t size_of(const AllocationGroup& group) {
  return group.physical_bytes.value_or(group.bytes);
}

std::string header_of(GroupBy by) {
  std::string header(name_of(by));
  std::transform(header.begin(), header.end(), header.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return header;
}

}  // namespace

Result<GroupBy> parse_group_by(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return Error{"must be label, kind, process or device"};
  return static_cast<GroupBy>(found - kNames.begin());
}

std::string_view name_of(GroupBy by) { return kNames[static_cast<std::size_t>(by)]; }

std::vector<AllocationGroup> group_allocations(const Snapshot& snapshot,
                                               const std::vector<Allocation>& allocations,
                                               GroupBy by) {
  std::map<std::pair<std::string, model::State>, AllocationGroup> found;
  for (const Allocation& a : allocations) {
    if (a.left_out) continue;
    std::string name = name_in(by, snapshot, a);
    AllocationGroup& group = found[{name, a.state}];
    group.name = std::move(name);
    group.state = a.state;
    add(group, a);
  }
  std::vector<AllocationGroup> groups;
  groups.reserve(found.size());
  for (auto& [key, group] : found) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return size_of(a) > size_of(b); });
  return groups;
}

std::string allocation_groups_text(const std::vector<AllocationGroup>& groups, GroupBy by,
                                   const TextOptions& options) {
  if (groups.empty()) return wrapped("No live allocation matches.", 0, Color::plain, options);
  using enum Column::Align;
  Table table({{"ALLOCS"},
               {"SIZE", right, 1},
               {"PHYSICAL"},
               {"LARGEST", right, 2},
               {header_of(by), left, 0, Column::Cut::middle}});
  for (const AllocationGroup& group : groups) {
    const bool dead = group.state == model::State::dead;
    const Color color = dead ? Color::red : Color::plain;
    const std::string name = group.name.empty() ? "-" : group.name;
    table.add_row({{fmt::format("{}", group.allocations), color},
                   {format_bytes(model::Bytes(group.bytes), options.units), color},
                   {format_bytes(group.physical_bytes, options.units), color},
                   {format_bytes(model::Bytes(group.largest_bytes), options.units), color},
                   {dead ? name + " (dead)" : name, color}});
  }
  return table.render(0, options);
}

}  // namespace ttmem::views
