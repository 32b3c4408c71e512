// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyse/leaks/live_filter.hpp"
#include "analyse/leaks/live_leaks.hpp"
#include "analyse/report/name_pattern.hpp"
#include "analyse/report/steady_growth.hpp"
#include "analyse/selection/select.hpp"
#include "base/saturating.hpp"

namespace ttmem::leaks {

using model::ProcessKey;
using model::Snapshot;
using model::State;
using report::Growth;
using report::name_pattern;

namespace {

template <typename Item>
std::string process_name(const Snapshot& snapshot, const Item& item) {
  const model::Process* const process = selection::process_of(snapshot, item);
  return process == nullptr ? std::string() : process->name;
}

// Returns true if the filter selects the item and the item's process is alive. The memory of dead
// processes does not grow.
template <typename Item>
bool may_grow(const Snapshot& snapshot, const Filter& filter, Kind kind, const Item& item) {
  return item.state == State::alive && takes(snapshot, filter, kind, item);
}

}  // namespace

LiveGrowth::Figures& LiveGrowth::figures(const Key& key, const std::string& scope,
                                         const std::string& label, const std::string& process) {
  const auto [known, fresh] = groups_.try_emplace(key);
  Group& group = known->second;
  if (fresh) {
    group.scope = scope;
    group.label = label;
    group.process = process;
  }
  if (group.scope != scope) group.scope = std::get<2>(key);
  if (group.label != label) group.label = std::get<3>(key);
  if (group.seen.empty() || group.seen.back().first != looks_) group.seen.push_back({looks_, {}});
  return group.seen.back().second;
}

void LiveGrowth::look(const Snapshot& snapshot) {
  for (const model::Allocation& allocation : snapshot.allocations) {
    if (allocation.left_out || !may_grow(snapshot, filter_, allocation.kind, allocation)) continue;
    const Key key(model::key_of(allocation), allocation.kind, name_pattern(allocation.scope),
                  name_pattern(allocation.label), false);
    Figures& sum =
        figures(key, allocation.scope, allocation.label, process_name(snapshot, allocation));
    sum.bytes = saturating_add(
        sum.bytes,
        model::on_all_devices(allocation, allocation.physical_bytes.value_or(allocation.bytes)));
    sum.count += model::devices_of(allocation).size();
  }
  look_at_programs(snapshot);
  ++looks_;
}

void LiveGrowth::look_at_programs(const Snapshot& snapshot) {
  for (const model::Program& program : snapshot.programs) {
    if (!may_grow(snapshot, filter_, Kind::cb, program)) continue;
    const ProcessKey process = model::key_of(program);
    const std::string name = process_name(snapshot, program);
    const Key one(process, Kind::cb, name_pattern(program.scope), name_pattern(program.name),
                  false);
    ++figures(one, program.scope, program.name, name).count;
    ++figures(Key(process, Kind::cb, "", "", true), "", "", name).count;
  }
  for (const model::Device& device : snapshot.devices) {
    for (const model::Process& process : device.processes) {
      const auto known = groups_.find(Key(model::key_of(process), Kind::cb, "", "", true));
      if (known == groups_.end() || known->second.seen.back().first != looks_) continue;
      Figures& all = known->second.seen.back().second;
      all.bytes = saturating_add(all.bytes, process.used(Kind::cb).value_or(0));
    }
  }
}

Growth LiveGrowth::growth_of(const Key& key, const Group& group) const {
  const ProcessKey& process = std::get<0>(key);
  const Kind kind = std::get<1>(key);
  const bool all_programs = std::get<4>(key);
  report::SteadyGrowth bytes;
  report::SteadyGrowth count;
  std::uint32_t next = 0;
  const auto look = [&](const Figures& now) {
    bytes.add(next, looks_, now.bytes);
    count.add(next, looks_, now.count);
    ++next;
  };
  for (const auto& [number, now] : group.seen) {
    while (next < number) look({});
    look(now);
  }
  while (next < looks_) look({});
  Growth growth;
  // Returns a Growth with `marks` 0, which means that the group did not grow steadily.
  if (!(kind == Kind::cb ? count : bytes).is_steady(looks_)) return growth;
  growth.kind = kind;
  growth.scope = group.scope;
  growth.label = group.label;
  growth.all_programs = all_programs;
  growth.process = group.process;
  growth.pid = process.pid;
  growth.marks = looks_;
  if (kind != Kind::cb || all_programs) {
    growth.first_bytes = bytes.first();
    growth.last_bytes = bytes.last();
  }
  growth.steps = report::SteadyGrowth::steps(looks_);
  growth.first_count = count.first();
  growth.last_count = count.last();
  growth.grew = kind == Kind::cb ? count.grew() : bytes.grew();
  return growth;
}

std::vector<Growth> LiveGrowth::growth() const {
  std::vector<Growth> list;
  for (const auto& [key, group] : groups_) {
    Growth growth = growth_of(key, group);
    if (growth.marks != 0) list.push_back(std::move(growth));
  }
  std::stable_sort(list.begin(), list.end(), report::grew_more);
  return list;
}

}  // namespace ttmem::leaks
