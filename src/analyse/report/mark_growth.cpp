// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/mark_growth.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyse/report/name_pattern.hpp"
#include "base/safe_text.hpp"

namespace ttmem::report {

using recording::Mark;
using recording::RecordedAllocation;
using recording::RecordedProgram;
using recording::RowId;
using recording::Tables;

namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;
constexpr std::uint32_t kAllPrograms = 0;  // index of a group

std::string series_key(RowId process, const Mark& mark) {
  return std::to_string(process) + " " + name_pattern(mark.name);
}

}  // namespace

MarkGrowth::MarkGrowth(const Tables& tables, std::vector<bool> devices)
    : tables_(tables),
      devices_of_(tables.processes.size()),
      counts_(std::move(devices)),
      series_of_process_(tables.processes.size()),
      group_of_request_(tables.requests.size(), kNoGroup) {
  if (counts_.empty()) counts_.assign(tables.devices.size(), true);
  const auto counts = [&](RowId device) { return counts_[static_cast<std::size_t>(device - 1)]; };
  for (const recording::RecordedDevice& device : tables.devices) {
    if (counts(device.id)) devices_of_[process_index(device.process)].push_back(device.id);
  }
  for (const std::vector<RowId>& set : tables.device_sets) {
    on_devices_.push_back(
        static_cast<std::uint32_t>(std::count_if(set.begin(), set.end(), counts)));
  }
  Group all;
  all.kind = Kind::cb;
  all.all_programs = true;
  groups_.push_back(std::move(all));
  find_series();
}

void MarkGrowth::find_series() {
  std::map<std::string, Series> found;
  for (const Mark& mark : tables_.marks) {
    for_each_process(mark, [&](RowId process) {
      Series& series = found[series_key(process, mark)];
      const std::string name = safe_text(mark.name);
      if (series.marks++ == 0) {
        series.name = name;
      } else if (series.name != name) {
        series.name = name_pattern(name);
      }
      series.process = process;
    });
  }
  std::vector<std::pair<std::string, Series>> all;
  for (auto& [key, series] : found) {
    if (series.marks >= SteadyGrowth::kMinSamples) all.emplace_back(key, std::move(series));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.marks > b.second.marks; });
  for (auto& [key, series] : all) {
    std::vector<std::uint32_t>& of_process = series_of_process_[process_index(series.process)];
    if (of_process.size() == kMaxSeries) continue;
    series.place = of_process.size();
    const auto number = static_cast<std::uint32_t>(series_.size());
    of_process.push_back(number);
    series_by_name_.emplace(key, number);
    series_.push_back(std::move(series));
  }
}

MarkGrowth::Series* MarkGrowth::series_of(RowId process, const Mark& mark) {
  const auto known = series_by_name_.find(series_key(process, mark));
  return known == series_by_name_.end() ? nullptr : &series_[known->second];
}

std::uint32_t MarkGrowth::group_of(Kind kind, std::uint32_t scope, std::uint32_t label) {
  const std::string_view scope_text = tables_.scope(scope);
  const std::string_view label_text = tables_.text(label);
  const std::string scope_pattern = name_pattern(scope_text);
  const std::string label_pattern = name_pattern(label_text);
  std::string key = std::to_string(static_cast<int>(kind));
  key.append(1, '\0').append(scope_pattern).append(1, '\0').append(label_pattern);
  const auto number = static_cast<std::uint32_t>(groups_.size());
  const auto [known, fresh] = group_by_pattern_.try_emplace(std::move(key), number);
  if (fresh) {
    Group& made = groups_.emplace_back();
    made.kind = kind;
    made.scope = scope_text;
    made.label = label_text;
  }
  Group& group = groups_[known->second];
  if (group.scope != scope_text) group.scope = scope_pattern;
  if (group.label != label_text) group.label = label_pattern;
  return known->second;
}

MarkGrowth::Entry& MarkGrowth::entry(RowId process, std::uint32_t group) {
  const std::uint64_t key = static_cast<std::uint64_t>(process) << 32 | group;
  const auto [known, fresh] = entry_of_.try_emplace(key, entries_.size());
  if (fresh) {
    Entry& added = entries_.emplace_back();
    added.process = process;
    added.group = group;
    added.looks.resize(series_of_process_[process_index(process)].size());
  }
  return entries_[known->second];
}

// For a removal, `bytes` and `count` are two's complements, so the sums wrap around. The results
// are right, because each removed size was added before.
void MarkGrowth::note(Entry& entry, std::uint64_t bytes, std::uint64_t count) {
  entry.bytes += bytes;
  entry.count += count;
  const std::vector<std::uint32_t>& series = series_of_process_[process_index(entry.process)];
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (std::exchange(entry.looks[i].changed, true)) continue;
    series_[series[i]].changed.push_back(static_cast<std::uint32_t>(&entry - entries_.data()));
  }
}

void MarkGrowth::change(const RecordedAllocation& allocation, int direction) {
  const std::uint64_t times = on_devices_[static_cast<std::size_t>(allocation.devices - 1)];
  const RowId process = tables_.device(tables_.device_set(allocation.devices).front()).process;
  if (times == 0 || series_of_process_[process_index(process)].empty()) return;
  const recording::RecordedRequest& request = tables_.request(allocation.request);
  std::uint32_t& group = group_of_request_[static_cast<std::size_t>(allocation.request - 1)];
  if (group == kNoGroup) group = group_of(request.kind, request.scope, request.label);
  const std::uint64_t bytes = request.used_bytes() * times;
  note(entry(process, group), direction > 0 ? bytes : 0 - bytes, direction > 0 ? times : 0 - times);
}

void MarkGrowth::change(const RecordedProgram& program, int direction) {
  const RowId process = tables_.device(program.device).process;
  const bool counts = counts_[static_cast<std::size_t>(program.device - 1)];
  if (!counts || series_of_process_[process_index(process)].empty()) return;
  const std::uint64_t names = std::uint64_t{program.name} << 32 | program.scope;
  const auto [known, fresh] = group_by_names_.try_emplace(names, kNoGroup);
  if (fresh) known->second = group_of(Kind::cb, program.scope, program.name);
  const std::uint64_t one = direction > 0 ? 1 : UINT64_MAX;
  note(entry(process, known->second), 0, one);
  note(entry(process, kAllPrograms), 0, one);
}

void MarkGrowth::add_mark(Series& series, std::uint64_t cb_bytes) {
  const std::uint32_t index = series.next++;
  for (const std::uint32_t number : series.changed) {
    Entry& entry = entries_[number];
    Look& look = entry.looks[series.place];
    if (entry.group == kAllPrograms) entry.bytes = cb_bytes;
    look.bytes.add(index, series.marks, entry.bytes);
    look.count.add(index, series.marks, entry.count);
    look.changed = false;
  }
  series.changed.clear();
}

Growth MarkGrowth::growth_of(const Entry& entry, const Series& series) const {
  const Group& group = groups_[entry.group];
  const Look& look = entry.looks[series.place];
  const recording::RecordedProcess& process = tables_.process(entry.process);
  Growth growth;
  growth.kind = group.kind;
  growth.scope = safe_text(group.scope);
  growth.label = safe_text(group.label);
  growth.all_programs = group.all_programs;
  growth.process = safe_text(process.name);
  growth.pid = process.pid;
  growth.mark = series.name;
  growth.marks = series.marks;
  if (group.kind != Kind::cb || group.all_programs) {
    growth.first_bytes = look.bytes.first();
    growth.last_bytes = look.bytes.last();
  }
  growth.steps = SteadyGrowth::steps(series.marks);
  growth.first_count = look.count.first();
  growth.last_count = look.count.last();
  growth.grew = group.kind == Kind::cb ? look.count.grew() : look.bytes.grew();
  return growth;
}

std::vector<Growth> MarkGrowth::growth() const {
  std::vector<Growth> list;
  for (const Entry& entry : entries_) {
    for (const std::uint32_t number : series_of_process_[process_index(entry.process)]) {
      const Series& series = series_[number];
      const Look& look = entry.looks[series.place];
      const bool by_count = groups_[entry.group].kind == Kind::cb;
      if (!(by_count ? look.count : look.bytes).is_steady(series.marks)) continue;
      list.push_back(growth_of(entry, series));
      break;  // one series per group suffices: the other series show the same growth
    }
  }
  std::stable_sort(list.begin(), list.end(), grew_more);
  return list;
}

}  // namespace ttmem::report
