// SPDX-License-Identifier: Apache-2.0
#include "collector/build_snapshot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/format_bytes.hpp"
#include "collector/device_total.hpp"
#include "collector/program_list.hpp"
#include "collector/segment_warnings.hpp"

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
  row.state = segment.state;
  row.source = model::Source::ttmem;
  row.kinds = device.kinds;
  if (row.used(Kind::kernel)) row.kernels_estimated_bytes = device.kernel_estimated_bytes;
  return row;
}

model::Process process_row(const RowEvidence& evidence) {
  model::Process row;
  row.pid = evidence.row.pid;
  if (evidence.state == State::alive) row.host_pid = row.pid;
  row.name = evidence.row.name;
  row.user = evidence.user;
  row.state = evidence.state;
  row.source = model::Source::tt_metal;
  row.kinds = evidence.row.kinds;
  return row;
}

// As long as the kernel keeps it.
std::string short_name(const std::string& name) { return name.substr(0, 15); }

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
    result.physical_bytes = allocation.bytes;  // by definition
  } else if (allocation.bytes_per_bank && allocation.banks) {
    result.physical_bytes = *allocation.bytes_per_bank * *allocation.banks;
  }
  result.cores = allocation.cores;
  result.own_banks = allocation.own_banks;
  result.persistent = kernel && allocation.role != 0;
  result.estimate = allocation.estimate;
  result.label = allocation.label;
  return result;
}

// The same without those kinds, and without what depends on them.
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

class Builder {
 public:
  explicit Builder(const Evidence& evidence) : evidence_(evidence) {}

  // Once, and before add_lists().
  void add_figures() {
    snapshot_.time_unix_ns = evidence_.time_unix_ns;
    snapshot_.host = evidence_.host;
    snapshot_.warnings = evidence_.warnings;
    snapshot_.unread = evidence_.unread;
    sort_evidence();
    for (const SegmentEvidence* segment : segments_) describe(*segment);
    for (std::size_t s = 0; s < segments_.size(); ++s) suppose_devices(s);
    for (std::size_t s = 0; s < segments_.size(); ++s) add_segment(s);
    for (const RegionEvidence* region : regions_) add_region(*region);
    finish_devices();
  }

  void add_lists() {
    std::size_t allocations = 0;
    for (const SegmentEvidence* segment : segments_) {
      allocations += segment->image.allocations.size();
    }
    snapshot_.allocations.reserve(allocations);
    for (std::size_t s = 0; s < segments_.size(); ++s) list(s);
  }

  model::Snapshot finish() { return std::move(snapshot_); }

 private:
  // The living first: their description of a device wins over that of the dead.
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

  // A device is identified by the chip's own number; where that is unknown, by its logical number
  // and architecture.
  using Identity = std::tuple<std::uint64_t, std::uint32_t, std::string>;

  // Finds or makes the total of a device.
  std::uint32_t total_of(std::uint64_t uid, std::uint32_t id, const std::string& arch) {
    const Identity identity = uid != 0 ? Identity(uid, 0, "") : Identity(0, id, arch);
    const auto [known, fresh] =
        known_.try_emplace(identity, static_cast<std::uint32_t>(totals_.size()));
    if (fresh) totals_.emplace_back(uid, id, arch);
    return known->second;
  }

  // A region does not know its architecture: it matches any device of its number.
  std::uint32_t total_of(const RegionEvidence& region) {
    const auto near = known_.lower_bound(Identity(0, region.device_id, ""));
    const bool same = near != known_.end() && std::get<0>(near->first) == 0 &&
                      std::get<1>(near->first) == region.device_id;
    if (region.uid == 0 && same) return near->second;
    return total_of(region.uid, region.device_id, "");
  }

  static bool names_no_chip(const DeviceImage& device) {
    return device.uid == 0 && device.arch.empty();
  }

  // The devices of which a process says more than a number.
  void describe(const SegmentEvidence& segment) {
    std::vector<std::uint32_t>& of_device = totals_of_.emplace_back();
    for (const DeviceImage& device : segment.image.devices) {
      if (names_no_chip(device)) {
        of_device.push_back(kUnknownChip);
        continue;
      }
      of_device.push_back(total_of(device.uid, device.id, device.arch));
      totals_[of_device.back()].describe(device);
    }
    chips_ = totals_.size();
  }

  // The other devices of that segment: each is the only chip with that number, or, if there are
  // none or several, one of its own.
  void suppose_devices(std::size_t s) {
    for (std::size_t d = 0; d < totals_of_[s].size(); ++d) {
      if (totals_of_[s][d] != kUnknownChip) continue;
      const DeviceImage& device = segments_[s]->image.devices[d];
      const auto end = totals_.begin() + static_cast<std::ptrdiff_t>(chips_);
      const auto has_it = [&](const DeviceTotal& total) { return total.has_number(device.id); };
      const auto only = std::find_if(totals_.begin(), end, has_it);
      const bool supposed = only != end && std::find_if(only + 1, end, has_it) == end;
      totals_of_[s][d] = supposed ? static_cast<std::uint32_t>(only - totals_.begin())
                                  : total_of(device.uid, device.id, device.arch);
      totals_[totals_of_[s][d]].describe(device);
    }
  }

  [[nodiscard]] bool is_supposed(std::uint32_t total, const DeviceImage& device) const {
    return names_no_chip(device) && total < chips_;
  }

  void warn_impossible(const DeviceTotal& total, const std::string& who, std::uint32_t device,
                       Kind kind, const KindFigures& figures) {
    snapshot_.warnings.push_back(fmt::format(
        "{} claims {} of {} on device {}, which has at most {}: its {} figures are left out; find "
        "out who wrote them",
        who, format_bytes(std::max(figures.peak_bytes, figures.logical_bytes)), name_of(kind),
        device, format_bytes(total.most_of(kind).value_or(0)), name_of(kind)));
  }

  // The device as it can be. Else a copy in `mended`, without figures that cannot be, with
  // warnings.
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
    for (std::size_t d = 0; d < image.devices.size(); ++d) {
      DeviceTotal& total = totals_[totals_of_[s][d]];
      std::optional<DeviceImage> mended;
      const DeviceImage& device = possible(total, s, d, mended);
      if (segment.state == State::alive) {
        total.add_tracked(device, segment.geometry.at(d));
        if (segment.confirmed && !segment.foreign_pid) {
          counted_.emplace(totals_of_[s][d], image.pid);
        } else if (segment.foreign_pid) {
          foreign_.emplace(totals_of_[s][d], image.pid, short_name(image.name));
        }
      }
      model::Process row = process_row(segment, device);
      row.supposed_device = is_supposed(totals_of_[s][d], image.devices[d]);
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
      if (counted_.contains({index, row.row.pid})) continue;
      if (foreign_.contains({index, row.row.pid, short_name(row.row.name)})) continue;
      for (const Kind kind : total.impossible(row.row.kinds)) {
        const std::string who = fmt::format("process {} ({})", row.row.pid, row.row.name);
        KindFigures& figures = row.row.kinds[kind];
        figures.peak_bytes = figures.used_bytes;
        warn_impossible(total, who, region.device_id, kind, figures);
        figures = {};
      }
      if (row.state == State::alive) {
        total.add_untracked(row.row);
        counted_.emplace(index, row.row.pid);
      }
      total.add_process(process_row(row));
    }
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
      device.complete = snapshot_.complete();
      if (!device.complete) device.free = {};  // what could not be read may lie there
      snapshot_.devices.push_back(std::move(device));
    }
    mark_shared_numbers();
  }

  void mark_shared_numbers() {
    std::map<std::uint32_t, std::uint32_t> chips_with;
    for (const model::Device& device : snapshot_.devices) {
      for (const std::uint32_t number : device.ids) ++chips_with[number];
    }
    for (model::Device& device : snapshot_.devices) {
      device.shares_number = std::any_of(device.ids.begin(), device.ids.end(),
                                         [&](auto number) { return chips_with[number] > 1; });
    }
  }

  void list(std::size_t s) {
    const SegmentEvidence& segment = *segments_[s];
    std::vector<std::uint32_t> device_index;
    for (const std::uint32_t total : totals_of_[s]) {
      device_index.push_back(index_of_total_[total]);
    }
    for (const LiveAllocation& allocation : segment.image.allocations) {
      model::Allocation& result = snapshot_.allocations.emplace_back(listed(allocation));
      result.device = device_index[allocation.device];
      result.pid = segment.image.pid;
      result.state = segment.state;
      result.segment = segment.origin.file_number;
      result.left_out = left_out_.contains({s, allocation.device, allocation.kind});
      result.age_ns = age_ns(segment, allocation.when_ns, evidence_.monotonic_ns);
    }
    programs_.list(segment, device_index, evidence_.monotonic_ns, snapshot_);
  }

  static constexpr std::uint32_t kUnknownChip = UINT32_MAX;

  const Evidence& evidence_;
  std::vector<const SegmentEvidence*> segments_;  // without clean exits, sorted
  std::vector<const RegionEvidence*> regions_;
  model::Snapshot snapshot_;
  std::vector<DeviceTotal> totals_;
  std::size_t chips_ = 0;  // of the totals, those of which more than a number is known
  std::map<Identity, std::uint32_t> known_;                   // index into totals_
  std::vector<std::vector<std::uint32_t>> totals_of_;         // by segment and its device
  std::set<std::pair<std::uint32_t, std::int32_t>> counted_;  // living process by total and pid
  // Living processes with a pid of another namespace: total, pid and name. A row has the pid that
  // its writer sees, so the name must do instead of /proc.
  std::set<std::tuple<std::uint32_t, std::int32_t, std::string>> foreign_;
  std::vector<std::uint32_t> index_of_total_;  // in the snapshot
  // Kinds of which a segment claims more than its device has.
  std::set<std::tuple<std::size_t, std::size_t, Kind>> left_out_;
  ProgramList programs_;
};

}  // namespace

model::Snapshot build_snapshot(const Evidence& evidence) {
  Builder builder(evidence);
  builder.add_figures();
  builder.add_lists();
  return builder.finish();
}

model::Snapshot build_figures(const Evidence& evidence) {
  Builder builder(evidence);
  builder.add_figures();
  return builder.finish();
}

}  // namespace ttmem::collector
