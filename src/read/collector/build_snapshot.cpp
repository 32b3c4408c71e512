// SPDX-License-Identifier: Apache-2.0
#include "read/collector/build_snapshot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/format_bytes.hpp"
#include "read/collector/chip_match.hpp"
#include "read/collector/device_total.hpp"
#include "read/collector/program_list.hpp"
#include "read/collector/segment_warnings.hpp"
#include "read/collector/untracked.hpp"
#include "read/model/shared_numbers.hpp"

namespace ttmem::collector {
namespace {

using model::State;
using segment::DeviceImage;
using segment::LiveAllocation;
using segment::SegmentImage;

model::Process process_row(const SegmentEvidence& segment, const DeviceImage& device) {
  model::Process row;
  row.pid = segment.image.pid;
  row.segment = segment.origin.file_number;
  row.foreign_pid = segment.foreign_pid;
  if (segment.image.pid_namespace != 0) row.pid_namespace = segment.image.pid_namespace;
  row.host_pid = segment.host_pid;
  row.name = segment.image.name;
  row.command = segment.image.command;
  row.user = segment.user;
  row.job = segment.job;
  row.state = segment.state;
  row.source = model::Source::ttmem;
  row.kinds = device.kinds;
  if (row.used(Kind::kernel)) row.kernels_estimated_bytes = device.kernel_estimated_bytes;
  if (row.used(Kind::cb)) row.cb_estimate = device.cb_estimate;
  return row;
}

model::Process process_row(const RowEvidence& evidence) {
  model::Process row;
  row.pid = evidence.row.pid;
  if (evidence.state == State::alive) row.host_pid = row.pid;
  row.name = evidence.row.name;
  row.user = evidence.user;
  row.job = evidence.job;
  row.state = evidence.state;
  row.source = model::Source::tt_metal;
  row.kinds = evidence.row.kinds;
  return row;
}

model::Process process_row(const Untracked& process) {
  model::Process row;
  row.pid = process.pid;
  if (process.pid != 0) row.host_pid = process.pid;
  row.name = process.name;
  row.command = process.command;
  row.user = process.user;
  row.job = process.job;
  row.source = model::Source::driver;
  row.not_tracked = process.reason;
  row.may_hold = process.may_hold;
  return row;
}

// Truncates a name as the kernel does in /proc/PID/comm.
std::string short_name(const std::string& name) { return name.substr(0, 15); }

// The key of a process among the rows of TT-Metal's region: pid, state and name. A row has the pid
// in its writer's own pid namespace. The pid of a living process of another pid namespace cannot be
// checked in /proc, so the name must match too. Otherwise the name in the key is empty.
using RowName = std::tuple<std::int32_t, State, std::string>;

// Returns nullopt if /proc does not confirm that the segment belongs to the process that it names.
// Such a segment replaces no row of TT-Metal's region.
std::optional<RowName> row_name(const SegmentEvidence& segment) {
  const std::int32_t pid = segment.image.pid;
  if (segment.state == State::dead) return RowName(pid, State::dead, "");
  if (segment.foreign_pid) return RowName(pid, State::alive, short_name(segment.image.name));
  return segment.confirmed ? std::optional(RowName(pid, State::alive, "")) : std::nullopt;
}

std::array<RowName, 2> row_names(const RowEvidence& row) {
  return {RowName(row.row.pid, row.state, ""),
          RowName(row.row.pid, State::alive, short_name(row.row.name))};
}

model::Allocation listed(const LiveAllocation& allocation) {
  const bool kernel = allocation.kind == Kind::kernel;
  const bool whole_device = kernel || allocation.kind == Kind::cb;
  model::Allocation result;
  result.kind = allocation.kind;
  result.id = allocation.id;
  result.address = allocation.address;
  result.bytes = allocation.bytes;
  result.bytes_per_bank = allocation.bytes_per_bank;
  result.banks = allocation.banks;
  if (whole_device) {
    result.physical_bytes = allocation.bytes;  // logical and physical size are equal here
  } else if (allocation.bytes_per_bank && allocation.banks) {
    result.physical_bytes = *allocation.bytes_per_bank * *allocation.banks;
  }
  result.cores = allocation.cores;
  result.own_banks = allocation.own_banks;
  result.persistent = kernel && allocation.role != 0;
  result.estimate = allocation.estimate;
  result.label = allocation.label;
  result.scope = allocation.scope;
  result.visit = allocation.visit;
  return result;
}

// Removes the figures of `kinds` from the device, and all figures that depend on these kinds.
void leave_out(const std::vector<Kind>& kinds, DeviceImage& device) {
  for (const Kind kind : kinds) {
    device.kinds[kind] = {};
    if (is_in_l1(kind)) {
      device.l1_total_peak_bytes = 0;
      device.cores.clear();
    }
    if (kind == Kind::cb) device.cb_resident_known = device.programs_known = false;
  }
}

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(const Evidence& evidence) : evidence_(evidence), match_(evidence) {}

  // Must be called once, before add_lists().
  void add_figures() {
    snapshot_.time_unix_ns = evidence_.time_unix_ns;
    snapshot_.host = evidence_.host;
    snapshot_.warnings = evidence_.warnings;
    snapshot_.unread = evidence_.unread;
    sort_evidence();
    for (const RegionEvidence* region : regions_) learn_uids(*region);
    for (const SegmentEvidence* segment : segments_) describe(*segment);
    for (std::size_t s = 0; s < segments_.size(); ++s) suppose_devices(s);
    for (std::size_t s = 0; s < segments_.size(); ++s) add_segment(s);
    for (const RegionEvidence* region : regions_) add_region(*region);
    for (std::uint32_t i = 0; i < evidence_.driver.chips.size(); ++i) add_chip(i);
    finish_devices();
    set_sensors(evidence_.driver, snapshot_);
    for (std::string& warning : untracked_warnings(evidence_)) {
      snapshot_.warnings.push_back(warning);
      snapshot_.unread.push_back(std::move(warning));
    }
  }

  void add_lists() {
    std::size_t allocations = 0;
    for (const SegmentEvidence* segment : segments_) {
      allocations += segment->image.allocations.size();
    }
    snapshot_.allocations.reserve(allocations);
    for (std::size_t s = 0; s < segments_.size(); ++s) list(s);
    for (const SegmentEvidence* segment : segments_) list_left_at_close(*segment);
  }

  model::Snapshot finish() { return std::move(snapshot_); }

 private:
  // Sorts living processes before dead processes, because the first description of a device takes
  // precedence over later descriptions.
  void sort_evidence() {
    for (const SegmentEvidence& segment : evidence_.segments) {
      if (segment.state == State::alive || !segment.image.clean_exit) segments_.push_back(&segment);
    }
    for (const RegionEvidence& region : evidence_.regions) regions_.push_back(&region);
    const auto segment_key = [](const SegmentEvidence* s) {
      return std::tie(s->state, s->image.pid, s->image.start_time_ticks, s->image.uid,
                      s->origin.name);
    };
    std::stable_sort(segments_.begin(), segments_.end(),
                     [&](const auto* a, const auto* b) { return segment_key(a) < segment_key(b); });
    const auto region_key = [](const RegionEvidence* r) { return std::pair(r->uid, r->device_id); };
    std::stable_sort(regions_.begin(), regions_.end(),
                     [&](const auto* a, const auto* b) { return region_key(a) < region_key(b); });
  }

  // Identifies a device by its uid, or, if the uid is unknown, by its number and architecture.
  using Identity = std::tuple<std::uint64_t, std::uint32_t, std::string>;

  // Returns the index of a device's total. Adds the total if there is none yet.
  std::uint32_t total_of(std::uint64_t uid, std::uint32_t id, const std::string& arch) {
    const Identity identity = uid != 0 ? Identity(uid, 0, "") : Identity(0, id, arch);
    const auto [known, fresh] =
        known_.try_emplace(identity, static_cast<std::uint32_t>(totals_.size()));
    if (fresh) totals_.emplace_back(uid, id, arch);
    return known->second;
  }

  // Returns the index of the total for a region: the total of the chip that ChipMatch finds, else
  // the total with the region's uid. A region without a uid gets the total that one of its
  // processes uses under the region's device number, else any total with this number and no uid.
  // The architecture is not compared, because a region does not contain it.
  std::uint32_t total_of(const RegionEvidence& region) {
    if (const ChipMatch::Chip chip = match_.of(region)) {
      const std::uint32_t total = total_of_chip(*chip);
      totals_[total].add_uid(region.uid);
      return total;
    }
    if (region.uid != 0) return total_of(region.uid, region.device_id, "");
    for (const RowEvidence& row : region.rows) {
      for (const RowName& name : row_names(row)) {
        const auto same = chip_of_.find({name, region.device_id});
        if (same != chip_of_.end()) return same->second;
      }
    }
    const auto near = known_.lower_bound(Identity(0, region.device_id, ""));
    const bool same = near != known_.end() && std::get<0>(near->first) == 0 &&
                      std::get<1>(near->first) == region.device_id;
    return same ? near->second : total_of(0, region.device_id, "");
  }

  // Stores the region's uid in uid_of_ for each process of the region.
  void learn_uids(const RegionEvidence& region) {
    if (region.uid == 0) return;
    for (const RowEvidence& row : region.rows) {
      for (const RowName& name : row_names(row)) {
        const auto [known, fresh] = uid_of_.try_emplace({name, region.device_id}, region.uid);
        // Two chips have this number, so the uid is ambiguous.
        if (!fresh && known->second != region.uid) known->second = 0;
      }
    }
  }

  // Returns the uid of a segment's device. If the segment does not state the uid, takes it from the
  // region of TT-Metal that has a row of the process and the same device number. One process does
  // not give two chips the same number, so the number identifies the chip.
  [[nodiscard]] std::uint64_t uid_of(const SegmentEvidence& segment,
                                     const DeviceImage& device) const {
    const std::optional<RowName> name = row_name(segment);
    if (device.uid != 0 || !name) return device.uid;
    const auto known = uid_of_.find({*name, device.id});
    return known != uid_of_.end() ? known->second : 0;
  }

  [[nodiscard]] bool names_no_chip(const SegmentEvidence& segment,
                                   const DeviceImage& device) const {
    return device.arch.empty() && uid_of(segment, device) == 0;
  }

  // Finds the totals of a segment's devices. Leaves devices of which only the number is known to
  // suppose_devices().
  void describe(const SegmentEvidence& segment) {
    std::vector<std::uint32_t>& of_device = totals_of_.emplace_back();
    std::vector<std::uint64_t> uids;
    for (const DeviceImage& device : segment.image.devices) {
      uids.push_back(uid_of(segment, device));
    }
    const std::vector<ChipMatch::Chip> chips = match_.of(segment, uids);
    for (std::size_t d = 0; d < uids.size(); ++d) {
      const DeviceImage& device = segment.image.devices[d];
      if (chips[d]) {
        of_device.push_back(total_of_chip(*chips[d]));
        totals_[of_device.back()].add_uid(uids[d]);
      } else if (names_no_chip(segment, device)) {
        of_device.push_back(kUnknownChip);
        continue;
      } else {
        of_device.push_back(total_of(uids[d], device.id, device.arch));
      }
      totals_[of_device.back()].describe(device);
    }
    chips_ = totals_.size();
  }

  // Finds the totals of the devices of segment `s` that describe() left out. If exactly one chip
  // has the number of the device, the device is taken for this chip. Otherwise the device gets a
  // total of its own.
  void suppose_devices(std::size_t s) {
    for (std::size_t d = 0; d < totals_of_[s].size(); ++d) {
      if (totals_of_[s][d] != kUnknownChip) continue;
      supposed_.emplace(s, d);
      const DeviceImage& device = segments_[s]->image.devices[d];
      const auto end = totals_.begin() + static_cast<std::ptrdiff_t>(chips_);
      const auto has_it = [&](const DeviceTotal& total) { return total.has_number(device.id); };
      const auto only = std::find_if(totals_.begin(), end, has_it);
      const bool supposed = only != end && std::find_if(only + 1, end, has_it) == end;
      totals_of_[s][d] = supposed ? static_cast<std::uint32_t>(only - totals_.begin())
                                  : total_of(0, device.id, device.arch);
      totals_[totals_of_[s][d]].describe(device);
    }
  }

  [[nodiscard]] bool is_supposed(std::size_t s, std::size_t d) const {
    return supposed_.contains({s, d}) && totals_of_[s][d] < chips_;
  }

  void warn_impossible(const DeviceTotal& total, const std::string& who, std::uint32_t device,
                       Kind kind, const KindFigures& figures) {
    snapshot_.warnings.push_back(fmt::format(
        "{} claims {} of {} on device {}, which has at most {}: its {} figures are left out; find "
        "out who wrote them",
        who, format_bytes(std::max(figures.peak_bytes, figures.logical_bytes)), name_of(kind),
        device, format_bytes(total.most_of(kind).value_or(0)), name_of(kind)));
  }

  // Returns device `d` of segment `s` if all its figures are possible. Otherwise adds warnings,
  // sets `mended` to a copy of the device without the impossible figures, and returns `mended`.
  const DeviceImage& possible(const DeviceTotal& total, std::size_t s, std::size_t d,
                              std::optional<DeviceImage>& mended) {
    const SegmentEvidence& segment = *segments_[s];
    const DeviceImage& device = segment.image.devices[d];
    const std::vector<Kind> wrong = total.impossible(device.kinds);
    if (wrong.empty()) return device;
    for (const Kind kind : wrong) left_out_.emplace(s, d, kind);
    const std::string who = fmt::format("process {} ({})", pid_text(segment), segment.image.name);
    for (const Kind kind : wrong) {
      warn_impossible(total, who, device.id, kind, device.kinds[kind]);
    }
    leave_out(wrong, mended.emplace(device));
    return *mended;
  }

  void add_segment(std::size_t s) {
    const SegmentEvidence& segment = *segments_[s];
    const SegmentImage& image = segment.image;
    const std::optional<RowName> name = row_name(segment);
    for (std::size_t d = 0; d < image.devices.size(); ++d) {
      DeviceTotal& total = totals_[totals_of_[s][d]];
      std::optional<DeviceImage> mended;
      const DeviceImage& device = possible(total, s, d, mended);
      if (segment.state == State::alive) {
        total.add_tracked(device, segment.geometry.at(d));
      }
      if (name) {
        listed_.emplace(totals_of_[s][d], *name);
        chip_of_.emplace(std::pair(*name, device.id), totals_of_[s][d]);
      }
      model::Process row = process_row(segment, device);
      row.supposed_device = is_supposed(s, d);
      total.add_process(std::move(row));
    }
    add_segment_warnings(segment, evidence_.directory, snapshot_.warnings);
  }

  void add_region(const RegionEvidence& region) {
    if (region.rows.empty()) return;
    const std::uint32_t index = total_of(region);
    DeviceTotal& total = totals_[index];
    total.add_number(region.device_id);
    for (RowEvidence row : region.rows) {
      const std::array<RowName, 2> names = row_names(row);
      if (listed_.contains({index, names[0]}) || listed_.contains({index, names[1]})) continue;
      for (const Kind kind : total.impossible(row.row.kinds)) {
        const std::string who = fmt::format("process {} ({})", row.row.pid, row.row.name);
        KindFigures& figures = row.row.kinds[kind];
        figures.peak_bytes = figures.used_bytes;
        warn_impossible(total, who, region.device_id, kind, figures);
        figures = {};
      }
      if (row.state == State::alive) {
        total.add_untracked(row.row);
        listed_.emplace(index, names[0]);
      }
      total.add_process(process_row(row));
    }
  }

  // Returns the index of the total of a chip that the driver lists. Adds the total if there is none
  // yet.
  std::uint32_t total_of_chip(std::uint32_t chip) {
    const auto [known, fresh] =
        total_of_chip_.try_emplace(chip, static_cast<std::uint32_t>(totals_.size()));
    if (fresh) {
      const driver::Chip& facts = evidence_.driver.chips[chip];
      totals_.emplace_back(facts.asic_id.value_or(0), facts.number, facts.arch);
    }
    return known->second;
  }

  void add_chip(std::uint32_t index) {
    const driver::Chip& chip = evidence_.driver.chips[index];
    DeviceTotal& total = totals_[total_of_chip(index)];
    total.describe(chip);
    bool may_be_used = !chip.holders_known || model::living_processes(total.device()) > 0;
    for (const std::int32_t pid : chip.holders) {
      const Untracked* const process = untracked(pid);
      may_be_used = may_be_used || process == nullptr || process->may_hold;
      if (process == nullptr) continue;
      total.add_process(process_row(*process));
      if (process->may_hold) total.set_incomplete();
    }
    if (!may_be_used && !chip.in_reset) total.set_idle();
  }

  // Returns the entry of an untracked process; null if the process is tracked or has ended.
  [[nodiscard]] const Untracked* untracked(std::int32_t pid) const {
    const auto& all = evidence_.untracked;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Untracked& process) { return process.pid == pid; });
    return found == all.end() ? nullptr : &*found;
  }

  void finish_devices() {
    std::vector<std::pair<model::Device, std::uint32_t>> devices;
    for (std::uint32_t i = 0; i < totals_.size(); ++i) devices.emplace_back(totals_[i].finish(), i);
    std::stable_sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first.id, a.first.uid) < std::tie(b.first.id, b.first.uid);
    });
    index_of_total_.resize(devices.size());
    for (auto& [device, total] : devices) {
      index_of_total_[total] = static_cast<std::uint32_t>(snapshot_.devices.size());
      device.complete = device.complete && evidence_.unread.empty();
      // A range that looks free may contain an allocation that was not read, so the free space is
      // unknown.
      if (!device.complete) device.free = {};
      snapshot_.devices.push_back(std::move(device));
    }
    model::mark_shared_numbers(snapshot_.devices);
  }

  // Adds the allocation to the Snapshot, but only on `devices`, which are all or some of the
  // allocation's devices.
  model::Allocation& list(const SegmentEvidence& segment, const LiveAllocation& allocation,
                          std::span<const std::uint32_t> devices,
                          const std::vector<std::uint32_t>& device_index) {
    model::Allocation& result = snapshot_.allocations.emplace_back(listed(allocation));
    result.device = device_index[devices.front()];
    if (devices.size() > 1) {
      for (const std::uint32_t device : devices) result.devices.push_back(device_index[device]);
      std::sort(result.devices.begin(), result.devices.end());
      result.device = result.devices.front();
    }
    result.pid = segment.image.pid;
    result.state = segment.state;
    result.segment = segment.origin.file_number;
    result.age_ns = age_ns(segment, allocation.when_ns, evidence_.monotonic_ns);
    return result;
  }

  void list(std::size_t s) {
    const SegmentEvidence& segment = *segments_[s];
    std::vector<std::uint32_t> device_index;
    for (const std::uint32_t total : totals_of_[s]) {
      device_index.push_back(index_of_total_[total]);
    }
    for (const LiveAllocation& allocation : segment.image.allocations) {
      const auto is_left_out = [&](std::uint32_t device) {
        return left_out_.contains({s, device, allocation.kind});
      };
      const auto devices = devices_of(allocation);
      const bool any = std::any_of(devices.begin(), devices.end(), is_left_out);
      if (!any) {
        list(segment, allocation, devices, device_index);
        continue;
      }
      std::vector<std::uint32_t> of(devices.begin(), devices.end());
      const auto middle = std::stable_partition(of.begin(), of.end(), is_left_out);
      list(segment, allocation, {of.begin(), middle}, device_index).left_out = true;
      if (middle != of.end()) list(segment, allocation, {middle, of.end()}, device_index);
    }
    programs_.list(segment, device_index, evidence_.monotonic_ns, snapshot_);
  }

  void list_left_at_close(const SegmentEvidence& segment) {
    for (const segment::DevicePeaks& device : segment.image.peaks) {
      if (device.left_at_close == 0) continue;
      model::LeftAtClose& left = snapshot_.left_at_close.emplace_back();
      left.pid = segment.image.pid;
      left.state = segment.state;
      left.segment = segment.origin.file_number;
      left.foreign_pid = segment.foreign_pid;
      left.host_pid = segment.host_pid;
      left.name = segment.image.name;
      left.device_number = device.id;
      left.allocations = device.left_at_close;
      left.bytes = device.left_at_close_bytes;
    }
  }

  static constexpr std::uint32_t kUnknownChip = UINT32_MAX;

  const Evidence& evidence_;
  const ChipMatch match_;
  // The segments in the order of sort_evidence(), without segments that had a clean exit.
  std::vector<const SegmentEvidence*> segments_;
  std::vector<const RegionEvidence*> regions_;
  model::Snapshot snapshot_;
  std::vector<DeviceTotal> totals_;
  std::size_t chips_ = 0;                    // number of totals of known chips, which come first
  std::map<Identity, std::uint32_t> known_;  // index into totals_, by identity
  // Index into totals_, by index into the driver's chips.
  std::map<std::uint32_t, std::uint32_t> total_of_chip_;
  // The devices of which only the number is known, as (segment, device).
  std::set<std::pair<std::size_t, std::size_t>> supposed_;
  std::vector<std::vector<std::uint32_t>> totals_of_;  // index into totals_, by segment and device
  // The processes that a total already lists, as (index into totals_, process).
  std::set<std::pair<std::uint32_t, RowName>> listed_;
  // Both maps have the key (process, number that the process gives the device). uid_of_ has the uid
  // from TT-Metal's region, 0 if ambiguous. chip_of_ has the index into totals_.
  std::map<std::pair<RowName, std::uint32_t>, std::uint64_t> uid_of_;
  std::map<std::pair<RowName, std::uint32_t>, std::uint32_t> chip_of_;
  // Index into snapshot_.devices, by index into totals_.
  std::vector<std::uint32_t> index_of_total_;
  // The figures that exceed the capacity of their device, as (segment, device, kind).
  std::set<std::tuple<std::size_t, std::size_t, Kind>> left_out_;
  ProgramList programs_;
};

}  // namespace

void set_sensors(const driver::Driver& driver, model::Snapshot& snapshot) {
  for (model::Device& device : snapshot.devices) {
    if (!device.driver_number) continue;
    for (std::size_t i = 0; i < driver.chips.size() && i < driver.sensors.size(); ++i) {
      if (driver.chips[i].number != device.driver_number) continue;
      device.temperature_c = driver.sensors[i].temperature_c;
      device.power_w = driver.sensors[i].power_w;
      device.aiclk_mhz = driver.sensors[i].aiclk_mhz;
    }
  }
}

model::Snapshot build_snapshot(const Evidence& evidence) {
  SnapshotBuilder builder(evidence);
  builder.add_figures();
  builder.add_lists();
  return builder.finish();
}

model::Snapshot build_figures(const Evidence& evidence) {
  SnapshotBuilder builder(evidence);
  builder.add_figures();
  return builder.finish();
}

}  // namespace ttmem::collector
