// SPDX-License-Identifier: Apache-2.0
#include "show/views/allocation_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "analyse/selection/select.hpp"
#include "base/saturating.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

namespace ttmem::views {
namespace {

using model::Allocation;
using model::Snapshot;

constexpr std::array<std::string_view, 6> kNames = {"label",  "kind",  "process",
                                                    "device", "scope", "job"};

std::string process_name(const Snapshot& snapshot, const Allocation& a) {
  const model::Process* process = selection::process_of(snapshot, a);
  if (process == nullptr) return fmt::format("{}", a.pid);
  return fmt::format("{} {}", text::format_pid(*process),
                     process->name.empty() ? text::kUnknown : std::string_view(process->name));
}

// Returns the device number, followed by the uid if the uid is known, because two chips may have
// the same number.
std::string device_name(const Snapshot& snapshot, std::uint32_t index) {
  if (index >= snapshot.devices.size()) return std::string(text::kUnknown);
  const model::Device& device = snapshot.devices[index];
  return device.uid ? fmt::format("{} (uid {})", device.id, text::format_hex(*device.uid))
                    : fmt::format("{}", device.id);
}

std::string name_in(GroupBy by, const Snapshot& snapshot, const Allocation& a) {
  switch (by) {
    case GroupBy::label:
      return a.label;
    case GroupBy::scope:
      return a.scope;
    case GroupBy::job: {
      const model::Process* process = selection::process_of(snapshot, a);
      return process == nullptr ? std::string() : text::format_job(process->job);
    }
    case GroupBy::kind:
      return std::string(name_of(a.kind));
    default:
      return process_name(snapshot, a);
  }
}

// Returns the names of the groups that contain the allocation: one name per device if the groups
// are devices, otherwise one name.
std::vector<std::string> names_in(GroupBy by, const Snapshot& snapshot, const Allocation& a) {
  if (by != GroupBy::device) return {name_in(by, snapshot, a)};
  std::vector<std::string> names;
  for (const std::uint32_t device : devices_of(a)) names.push_back(device_name(snapshot, device));
  return names;
}

// Adds an allocation to the group. The sizes of `a` are bytes on one device, so they are multiplied
// by `devices`.
void add(AllocationGroup& group, const Allocation& a, std::uint64_t devices) {
  const bool first = group.allocations == 0;
  ++group.allocations;
  const std::uint64_t bytes = saturating_mul(a.bytes, devices);
  const std::uint64_t physical = saturating_mul(a.physical_bytes.value_or(0), devices);
  group.bytes = saturating_add(group.bytes, bytes);
  const bool known = a.physical_bytes && (first || group.physical_bytes);
  group.physical_bytes =
      known ? model::Bytes(saturating_add(group.physical_bytes.value_or(0), physical))
            : std::nullopt;
  group.largest_bytes = std::max(group.largest_bytes, a.physical_bytes ? physical : bytes);
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
  if (found == kNames.end()) return Error{"must be label, scope, kind, process, job or device"};
  return static_cast<GroupBy>(found - kNames.begin());
}

std::string_view name_of(GroupBy by) { return kNames[static_cast<std::size_t>(by)]; }

std::vector<AllocationGroup> group_allocations(const Snapshot& snapshot,
                                               const std::vector<Allocation>& allocations,
                                               GroupBy by) {
  std::map<std::pair<std::string, model::State>, AllocationGroup> found;
  for (const Allocation& a : allocations) {
    if (a.left_out) continue;
    const std::vector<std::string> names = names_in(by, snapshot, a);
    for (const std::string& name : names) {
      AllocationGroup& group = found[{name, a.state}];
      group.name = name;
      group.state = a.state;
      add(group, a, devices_of(a).size() / names.size());
    }
  }
  std::vector<AllocationGroup> groups;
  groups.reserve(found.size());
  for (auto& [key, group] : found) groups.push_back(std::move(group));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return size_of(a) > size_of(b); });
  return groups;
}

std::string allocation_groups_text(const std::vector<AllocationGroup>& groups, GroupBy by,
                                   const text::TextOptions& options) {
  if (groups.empty())
    return text::wrapped("No live allocation matches.", 0, text::Color::plain, options);
  using enum text::Column::Align;
  text::Table table({{"ALLOCS"},
                     {"SIZE", right, 1},
                     {"PHYSICAL"},
                     {"LARGEST", right, 2},
                     {header_of(by), left, 0, text::Column::Cut::middle}});
  for (const AllocationGroup& group : groups) {
    const bool dead = group.state == model::State::dead;
    const text::Color color = dead ? text::Color::red : text::Color::plain;
    const std::string name = text::or_none(group.name);
    table.add_row({{fmt::format("{}", group.allocations), color},
                   {text::format_bytes(model::Bytes(group.bytes), options.units), color},
                   {text::format_bytes(group.physical_bytes, options.units), color},
                   {text::format_bytes(model::Bytes(group.largest_bytes), options.units), color},
                   {dead ? name + " (dead)" : name, color}});
  }
  return table.render(0, options);
}

}  // namespace ttmem::views
