// SPDX-License-Identifier: Apache-2.0
#include "read/recording/looks/look_recorder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace ttmem::recording {
namespace {

// By which a chip is found again at the next look.
std::string name_of_chip(const model::Device& device) {
  if (device.uid) return "uid " + std::to_string(*device.uid);
  return device.bus_id.empty() ? "number " + std::to_string(device.id) : "bus " + device.bus_id;
}

template <typename Number>
Number known(const model::Bytes& bytes) {
  return std::in_range<Number>(bytes.value_or(0)) ? static_cast<Number>(bytes.value_or(0)) : 0;
}

void copy_facts(const model::Device& from, const model::Process& process, RecordedDevice& to) {
  to.number = from.id;
  to.uid = from.uid.value_or(0);
  to.arch = from.arch;
  to.board = from.board;
  to.grid_x = from.grid_x;
  to.grid_y = from.grid_y;
  to.l1_bytes_per_core = known<std::uint32_t>(from.l1_bytes_per_core);
  to.l1_base = known<std::uint32_t>(from.l1_base);
  to.l1_small_bytes_per_core = known<std::uint32_t>(from.l1_small_region_bytes);
  to.dram_channels = from.dram_channels;
  if (from.dram_channels != 0) {
    to.dram_bytes_per_channel = from.dram_capacity_bytes.value_or(0) / from.dram_channels;
  }
  to.trace_region_bytes = from.trace_capacity_bytes.value_or(0);
  for (const Kind kind : kAllKinds) {
    if (process.kinds[kind].known != 0) to.known_kinds |= 1U << static_cast<unsigned>(kind);
  }
  to.cb_estimate = to.cb_estimate || process.cb_estimate.value_or(false);
}

Layout as_row(const std::vector<model::CircularBuffer>& cbs) {
  Layout layout;
  for (const model::CircularBuffer& cb : cbs) {
    layout.push_back({.address = known<std::uint32_t>(cb.address),
                      .bytes = known<std::uint32_t>(cb.bytes),
                      .global = cb.global,
                      .cores = cb.cores});
  }
  return layout;
}

// The pid that a user there calls it by.
std::int32_t pid_of(const model::Process& process) {
  return process.foreign_pid ? process.host_pid.value_or(process.pid) : process.pid;
}

bool is_recorded(const model::Process& process, std::optional<std::int32_t> pid) {
  return process.state == model::State::alive && process.not_tracked.empty() &&
         (!pid || pid_of(process) == *pid);
}

// How long each process has had something, by the oldest of it.
std::map<model::ProcessKey, std::uint64_t> ages_in(const model::Snapshot& snapshot) {
  std::map<model::ProcessKey, std::uint64_t> ages;
  const auto look = [&](const auto& items) {
    for (const auto& item : items) {
      std::uint64_t& age = ages[model::key_of(item)];
      age = std::max(age, item.age_ns);
    }
  };
  look(snapshot.allocations);
  look(snapshot.programs);
  return ages;
}

}  // namespace

bool LookRecorder::finds_any(const model::Snapshot& snapshot, std::optional<std::int32_t> pid) {
  return std::any_of(snapshot.devices.begin(), snapshot.devices.end(), [&](const auto& device) {
    return std::any_of(device.processes.begin(), device.processes.end(),
                       [&](const auto& process) { return is_recorded(process, pid); });
  });
}

// What came since the look before came after it, whatever its age says.
Time LookRecorder::begin_of(std::uint64_t age_ns) const {
  const auto age = static_cast<Time>(
      std::min<std::uint64_t>(age_ns, std::numeric_limits<std::int64_t>::max() / 2));
  const Time begin = now_ns_ - age;
  return looks_ == 1 ? begin : std::max(begin, last_ns_);
}

RowId LookRecorder::device_of(const Key& process, const model::Device& device) const {
  // What this look does not list ends with it: nothing may begin or live on there.
  const auto recorded = processes_.find(process);
  if (recorded == processes_.end() || recorded->second.look != looks_) return 0;
  const auto found = recorded->second.devices.find(name_of_chip(device));
  const bool open = found != recorded->second.devices.end() && found->second.look == looks_;
  return open ? found->second.row.id : 0;
}

void LookRecorder::look(const model::Snapshot& snapshot, Time time) {
  ++looks_;
  now_ns_ = time;
  changed_.clear();
  see_processes(snapshot);
  std::vector<Begun> begun = see_lists(snapshot);
  end_what_is_gone(snapshot);
  note_gaps(begun);
  std::stable_sort(begun.begin(), begun.end(),
                   [](const Begun& a, const Begun& b) { return a.begin_ns < b.begin_ns; });
  for (const Begun& one : begun) begin(one);
  sample(snapshot);
  last_ns_ = time;
}

void LookRecorder::see_processes(const model::Snapshot& snapshot) {
  const auto ages = ages_in(snapshot);
  for (const model::Device& device : snapshot.devices) {
    for (const model::Process& process : device.processes) {
      if (!is_recorded(process, pid_)) continue;
      const Key key = model::key_of(process);
      const auto [at, is_new] = processes_.try_emplace(key);
      Recorded& recorded = at->second;
      recorded.look = looks_;
      if (is_new) {
        ++seen_;
        const auto age = ages.find(key);
        recorded.row = {.pid = process.pid,
                        .name = process.name,
                        .command = process.command,
                        .user = process.user,
                        .begin_ns = begin_of(age == ages.end() ? 0 : age->second)};
        recorded.row.id = writer_.begin(recorded.row);
      }
      see_device(device, process, recorded);
    }
  }
}

void LookRecorder::see_device(const model::Device& device, const model::Process& process,
                              Recorded& recorded) {
  OpenDevice& open = recorded.devices[name_of_chip(device)];
  open.look = looks_;
  const RecordedDevice before = open.row;
  copy_facts(device, process, open.row);
  if (open.row.id == 0) {
    open.row.process = recorded.row.id;
    open.row.begin_ns = looks_ == 1 ? recorded.row.begin_ns : last_ns_;
    open.row.id = writer_.begin(open.row);
    changed_.insert(recorded.row.id);
  } else if (!(open.row == before)) {
    writer_.change(open.row);
  }
}

std::vector<LookRecorder::Begun> LookRecorder::see_lists(const model::Snapshot& snapshot) {
  std::vector<Begun> begun;
  for (const model::Allocation& allocation : snapshot.allocations) {
    if (!allocation.left_out) see(allocation, snapshot, begun);
  }
  for (const model::Program& program : snapshot.programs) see(program, snapshot, begun);
  return begun;
}

RowId LookRecorder::request_of(const model::Allocation& allocation) {
  constexpr std::uint8_t dispatch = 2;  // TTMEM_KERNEL_DISPATCH: it stays until the device closes
  return writer_.request({.kind = allocation.kind,
                          .role = allocation.persistent ? dispatch : std::uint8_t{0},
                          .own_banks = allocation.own_banks,
                          .estimate = allocation.estimate,
                          .has_bytes_per_bank = allocation.bytes_per_bank.has_value(),
                          .banks = allocation.banks.value_or(0),
                          .cores = allocation.cores ? writer_.core_set(*allocation.cores) : 0,
                          .label = writer_.text(allocation.label),
                          .scope = writer_.scope(allocation.scope),
                          .bytes = allocation.bytes,
                          .bytes_per_bank = allocation.bytes_per_bank.value_or(0)});
}

void LookRecorder::see(const model::Allocation& allocation, const model::Snapshot& snapshot,
                       std::vector<Begun>& begun) {
  const Key process = model::key_of(allocation);
  std::vector<RowId> rows;
  for (const std::uint32_t index : devices_of(allocation)) {
    if (const RowId row = device_of(process, snapshot.devices[index])) rows.push_back(row);
  }
  if (rows.empty()) return;  // of a process that is not recorded
  std::sort(rows.begin(), rows.end());
  const RecordedAllocation row{.devices = writer_.device_set(rows),
                               .request = request_of(allocation),
                               .number = allocation.id,
                               .address = allocation.address,
                               .begin_ns = begin_of(allocation.age_ns)};
  const LiveKey key{process, static_cast<std::uint32_t>(allocation.kind), allocation.id, rows[0]};
  const auto found = allocations_.find(key);
  const bool same = found != allocations_.end() && found->second.what == row.request &&
                    found->second.devices == row.devices && found->second.address == row.address;
  if (same) {
    found->second.look = looks_;
  } else {
    begun.push_back({.begin_ns = row.begin_ns, .key = key, .allocation = row});
  }
}

void LookRecorder::see(const model::Program& program, const model::Snapshot& snapshot,
                       std::vector<Begun>& begun) {
  const Key process = model::key_of(program);
  const RowId device = device_of(process, snapshot.devices[program.device]);
  if (device == 0) return;
  const RecordedProgram row{.device = device,
                            .layout = writer_.layout(as_row(program.cbs)),
                            .number = program.program,
                            .name = writer_.text(program.name),
                            .scope = writer_.scope(program.scope),
                            .begin_ns = begin_of(program.age_ns)};
  const LiveKey key{process, 0, program.program, device};
  const auto found = programs_.find(key);
  if (found != programs_.end() && found->second.what == row.layout) {
    found->second.look = looks_;
  } else {
    begun.push_back({.begin_ns = row.begin_ns, .key = key, .program = row});
  }
}

// At the begin of the gap: it is certain to have lived until then.
void LookRecorder::end_what_is_gone(const model::Snapshot& snapshot) {
  std::set<Key> killed;
  for (const model::Device& device : snapshot.devices) {
    for (model::Process process : device.processes) {
      if (process.state != model::State::dead) continue;
      process.state = model::State::alive;  // as it was known
      killed.insert(model::key_of(process));
    }
  }
  const auto end_those = [&](Lives& lives, const auto& end) {
    std::erase_if(lives, [&](const auto& entry) {
      if (entry.second.look == looks_) return false;
      const Key& process = std::get<0>(entry.first);
      end(entry.second.row, killed.contains(process) ? Ending::process_ended : Ending::gap);
      changed_.insert(processes_.at(process).row.id);
      ++events_;
      return true;
    });
  };
  end_those(allocations_,
            [&](RowId row, Ending why) { writer_.end_allocation(row, last_ns_, why); });
  end_those(programs_, [&](RowId row, Ending why) { writer_.end_program(row, last_ns_, why); });
  for (auto& [key, recorded] : processes_) {
    for (auto& [chip, device] : recorded.devices) {
      if (device.look == looks_) continue;
      device.row.end_ns = last_ns_;
      writer_.change(device.row);
    }
    std::erase_if(recorded.devices, [&](const auto& entry) { return entry.second.look != looks_; });
    if (recorded.look == looks_) continue;
    recorded.row.end_ns = last_ns_;
    recorded.row.killed = killed.contains(key);
    writer_.change(recorded.row);
  }
  std::erase_if(processes_, [&](const auto& entry) { return entry.second.look != looks_; });
}

void LookRecorder::note_gaps(const std::vector<Begun>& begun) {
  for (const Begun& one : begun) changed_.insert(processes_.at(std::get<0>(one.key)).row.id);
  if (looks_ == 1) return;
  for (const RowId process : changed_) {
    writer_.add(Gap{.process = process, .begin_ns = last_ns_, .end_ns = now_ns_});
  }
}

void LookRecorder::begin(const Begun& one) {
  ++events_;
  if (one.allocation) {
    allocations_[one.key] = {.row = writer_.begin(*one.allocation),
                             .what = one.allocation->request,
                             .devices = one.allocation->devices,
                             .address = one.allocation->address,
                             .look = looks_};
  } else {
    programs_[one.key] = {.row = writer_.begin(*one.program),
                          .what = one.program->layout,
                          .devices = one.program->device,
                          .look = looks_};
  }
}

// The time line. Of a process the most is not told, so that it is the most of all looks.
void LookRecorder::sample(const model::Snapshot& snapshot) {
  for (const model::Device& device : snapshot.devices) {
    for (const model::Process& process : device.processes) {
      const auto recorded = processes_.find(model::key_of(process));
      if (recorded == processes_.end()) continue;
      const auto found = recorded->second.devices.find(name_of_chip(device));
      if (found == recorded->second.devices.end()) continue;  // it is not tracked on this one
      OpenDevice& open = found->second;
      for (const Kind kind : kDeviceKinds) {
        const model::Bytes used = process.used(kind);
        RecordedSample& last = open.last[kind];
        if (!used || (last.device != 0 && last.used_bytes == *used)) continue;
        last = {.time_ns = now_ns_,
                .device = open.row.id,
                .kind = kind,
                .used_bytes = *used,
                .peak_bytes = std::max(last.peak_bytes, *used)};
        writer_.add(last);
      }
    }
  }
}

}  // namespace ttmem::recording
