// SPDX-License-Identifier: Apache-2.0
//
// A trace for https://ui.perfetto.dev. Below each device are its counters, its allocations and
// programs as slices, and its dispatches. Below each process are its marks and gaps.
#include <fmt/format.h>

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <set>
#include <utility>

#include "show/exports/cb_shares.hpp"
#include "show/exports/format.hpp"
#include "show/exports/lanes.hpp"
#include "show/exports/perfetto_counters.hpp"
#include "show/exports/perfetto_trace.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

// Maximum number of rows with one name. Users do not scroll through more rows.
constexpr std::size_t kMaxLanes = 1000;

// The ranks of a device's tracks of slices. The counters of the device have lower ranks and are
// shown above these tracks.
enum SliceRank : std::uint64_t { kDispatches = 20, kPrograms = 21, kAllocations = 22 };

constexpr PerKind<std::string_view> kSliceNames = {
    {"DRAM buffers", "L1 buffers, each", "L1_SMALL buffers", "Trace buffers", "CBs counted by hand",
     "Kernels, each", "Host buffers"}};

// The slices of one name on one chip. Slices that overlap are in different rows.
class Slices {
 public:
  // Takes a free lane for a new slice, and adds a track if the lane has none. Returns nullopt if
  // all lanes are taken.
  std::optional<std::size_t> begin(PerfettoTrace& trace, TrackId parent, std::string_view name,
                                   std::uint64_t rank) {
    const auto lane = lanes_.take();
    if (lane && *lane == tracks_.size()) tracks_.push_back(trace.add_track(parent, name, rank));
    return lane;
  }
  [[nodiscard]] TrackId track(std::size_t lane) const { return tracks_[lane]; }
  void end(std::size_t lane) { lanes_.give_back(lane); }

 private:
  Lanes lanes_{kMaxLanes};
  std::vector<TrackId> tracks_;
};

// Identifies a slice: an allocation on a device, or a program.
struct SliceKey {
  RowId device = 0;
  RowId allocation = 0;  // 0: a program
  RowId program = 0;

  friend bool operator==(const SliceKey&, const SliceKey&) = default;
  friend std::size_t hash_value(const SliceKey& life) {
    std::size_t seed = 0;
    for (const RowId part : {life.device, life.allocation, life.program})
      boost::hash_combine(seed, part);
    return seed;
  }
};

// The track, name and category of a slice.
struct ShownSlice {
  std::string_view track;
  std::uint64_t rank = 0;
  std::string name;
  std::string_view category;
};

// The tracks below one chip.
struct ChipTracks {
  ChipTracks(PerfettoTrace& trace, const Selection& selection, const ExportedChip& chip,
             TrackId a_track)
      : track(a_track), counters(trace, selection, chip, a_track) {}

  TrackId track;
  TrackId dispatches = 0;  // 0: not created yet
  PerfettoCounters counters;
  PerKind<Slices> allocations{};
  Slices programs{};
};

std::string title_of(const ExportedChip& chip) {
  std::string title = chip.name();
  if (!chip.board.empty()) title += ": " + valid_utf8(chip.board);
  if (!chip.arch.empty()) title += fmt::format(" ({})", valid_utf8(chip.arch));
  return title;
}

class PerfettoExporter {
 public:
  PerfettoExporter(const ExportJob& job, Output& output)
      : tables_(job.reader.tables()),
        selection_(job.selection),
        end_ns_(job.reader.end_ns()),
        trace_(output) {
    const std::vector<ExportedChip>& chips = selection_.chips();
    chips_.reserve(chips.size());
    for (std::size_t i = 0; i < chips.size(); ++i) {
      const TrackId track = trace_.add_track(0, title_of(chips[i]), i);
      chips_.emplace_back(trace_, selection_, chips[i], track);
    }
  }

  Result<Notes> write(const recording::Reader& reader) {
    Usage usage(tables_, selection_);
    const auto passed = for_each_moment(
        reader, usage,
        [&](Time time, const std::vector<std::size_t>& changed) {
          for (const std::size_t chip : changed) {
            if (!tables_.run.aggregate) chips_[chip].counters.write(usage, time);
          }
          end_ns_ = std::max(end_ns_, time);
        },
        [&](const Event& event) { add_event(usage, event); });
    if (!passed) return passed.error();
    if (tables_.run.aggregate) write_timeline();
    for (const auto& [life, place] : lives_) {
      trace_.end_slice(place.slices->track(place.lane), end_ns_);
    }
    return notes();
  }

 private:
  void add_event(const Usage& usage, const Event& event) {
    switch (event.type) {
      case Event::Type::device_open:
        return open(usage, *event.device);
      case Event::Type::allocate:
        return allocate(*event.allocation);
      case Event::Type::free:
        for (const RowId device : tables_.device_set(event.allocation->devices)) {
          end({.device = device, .allocation = event.allocation->id}, event.time_ns);
        }
        return;
      case Event::Type::place:
        return place(*event.program);
      case Event::Type::remove:
        names_.erase({event.program->device, event.program->number});
        return end({.device = event.program->device, .program = event.program->id}, event.time_ns);
      case Event::Type::dispatch:
        return dispatch(*event.dispatch);
      case Event::Type::mark:
        return trace_.add_instant(process_track(event.mark->process), event.time_ns,
                                  valid_utf8(event.mark->name), "mark");
      case Event::Type::gap:
        return gap(*event.gap);
      default:
        return;
    }
  }

  void open(const Usage& usage, const recording::RecordedDevice& device) {
    const std::size_t chip = selection_.chip_of(device.id);
    if (chip == Selection::kNone) return;
    chips_[chip].counters.open(device);
    if (!tables_.run.aggregate) chips_[chip].counters.write(usage, device.begin_ns);
  }

  // Writes the counters of an aggregated recording, which has samples of the processes instead of
  // events.
  void write_timeline() {
    std::vector<PerKind<std::uint64_t>> used(tables_.devices.size());
    for (const recording::RecordedSample& sample : tables_.timeline) {
      const std::size_t at = selection_.chip_of(sample.device);
      if (at == Selection::kNone || !selection_.has(sample.kind)) continue;
      used[static_cast<std::size_t>(sample.device - 1)][sample.kind] = sample.used_bytes;
      PerKind<std::uint64_t> sums{};
      for (const RowId device : selection_.chips()[at].devices) {
        for (const Kind kind : kAllKinds) {
          sums[kind] += used[static_cast<std::size_t>(device - 1)][kind];
        }
      }
      chips_[at].counters.write(sums, std::nullopt, sample.time_ns);
    }
  }

  void allocate(const recording::RecordedAllocation& allocation) {
    const recording::RecordedRequest& request = tables_.request(allocation.request);
    if (!selection_.has(request.kind)) return;
    for (const RowId device : tables_.device_set(allocation.devices)) {
      if (!selection_.has(device)) continue;
      Annotations about;
      about.add("bytes", request.used_bytes());
      if (allocation.address) about.add("address", *allocation.address);
      if (request.cores != 0) about.add("cores", tables_.core_set(request.cores).count());
      about.add("pid", pid_of(device));
      about.set_stack(stack_of(tables_, device, request), request.used_bytes());
      const std::string_view label = tables_.text(request.label);
      begin({.device = device, .allocation = allocation.id},
            chips_[selection_.chip_of(device)].allocations[request.kind],
            {.track = kSliceNames[request.kind],
             .rank = kAllocations + static_cast<std::uint64_t>(request.kind),
             .name = label.empty() ? "(no label)" : valid_utf8(label),
             .category = name_of(request.kind)},
            allocation.begin_ns, about);
    }
  }

  void place(const recording::RecordedProgram& program) {
    if (!selection_.has(program.device) || !selection_.has(Kind::cb)) return;
    names_[{program.device, program.number}] = program.name;
    Annotations about;
    about.add("program", program.number);
    about.add("pid", pid_of(program.device));
    // The bytes that the program would take alone. The counter shows the bytes of all programs
    // together.
    const std::uint64_t bytes = program.layout == 0 ? 0
                                                    : cb_bytes(tables_.device(program.device),
                                                               tables_.layout(program.layout));
    about.set_stack(stack_of(tables_, program.device, program.name, program.scope), bytes);
    begin({.device = program.device, .program = program.id},
          chips_[selection_.chip_of(program.device)].programs,
          {.track = "Programs",
           .rank = kPrograms,
           .name = name_of_program(program.name),
           .category = "program"},
          program.begin_ns, about);
  }

  void dispatch(const recording::Dispatch& dispatch) {
    const recording::Launch& launch = tables_.launch(dispatch.launch);
    for (const RowId device : tables_.device_set(dispatch.devices)) {
      if (!selection_.has(device) || !selection_.has(Kind::cb) || launch.programs.empty()) continue;
      ChipTracks& chip = chips_[selection_.chip_of(device)];
      if (chip.dispatches == 0) {
        chip.dispatches = trace_.add_track(chip.track, "Dispatches", kDispatches);
      }
      Annotations about;
      about.add(launch.trace ? "programs" : "program",
                launch.trace ? launch.programs.size() : launch.programs.front());
      const auto name = names_.find({device, launch.programs.front()});
      trace_.add_instant(
          chip.dispatches, dispatch.time_ns,
          launch.trace ? "trace" : name_of_program(name == names_.end() ? 0 : name->second),
          "dispatch", about);
    }
  }

  void gap(const recording::Gap& gap) {
    TrackId& track = gap_tracks_[gap.process];
    if (track == 0) track = trace_.add_track(process_track(gap.process), "Lost events", 0);
    Annotations about;
    about.add("lost_events", gap.lost_events);
    trace_.begin_slice(track, gap.begin_ns, "events were lost", "gap", about);
    trace_.end_slice(track, gap.end_ns);
  }

  [[nodiscard]] std::string name_of_program(std::uint32_t text) const {
    return text == 0 ? "(no name)" : valid_utf8(tables_.text(text));
  }
  [[nodiscard]] std::uint64_t pid_of(RowId device) const {
    return static_cast<std::uint64_t>(tables_.process(tables_.device(device).process).pid);
  }

  void begin(const SliceKey& life, Slices& slices, const ShownSlice& shown, Time time,
             const Annotations& about) {
    const TrackId parent = chips_[selection_.chip_of(life.device)].track;
    const auto lane = slices.begin(trace_, parent, shown.track, shown.rank);
    if (!lane) {
      ++not_drawn_;
      return;
    }
    lives_[life] = {&slices, *lane};
    trace_.begin_slice(slices.track(*lane), time, shown.name, shown.category, about);
  }

  void end(const SliceKey& life, Time time) {
    const auto at = lives_.find(life);
    if (at == lives_.end()) return;
    const auto [slices, lane] = at->second;
    trace_.end_slice(slices->track(lane), time);
    slices->end(lane);
    lives_.erase(at);
  }

  // Returns the track of a process. Marks without a process (id 0) have their own track.
  TrackId process_track(RowId id) {
    TrackId& track = process_tracks_[id];
    if (track != 0) return track;
    if (id == 0) return track = trace_.add_track(0, "Marks", selection_.chips().size());
    const recording::RecordedProcess& process = tables_.process(id);
    // True if no earlier process has this pid. Perfetto would merge two processes with the same
    // pid, so the later process gets a plain track.
    const bool alone = process.pid > 0 && pids_.insert(process.pid).second;
    if (alone) return track = trace_.add_process(process);
    return track = trace_.add_track(0, fmt::format("{} {}", valid_utf8(process.name), process.pid),
                                    selection_.chips().size());
  }

  [[nodiscard]] Notes notes() const {
    if (not_drawn_ == 0) return {};
    return {fmt::format(
        "{} allocations and programs are not drawn as slices: more than {} of a kind were live at "
        "once; the counters have all",
        not_drawn_, kMaxLanes)};
  }

  const Tables& tables_;
  const Selection& selection_;
  Time end_ns_;
  PerfettoTrace trace_;
  std::vector<ChipTracks> chips_;
  struct Place {
    Slices* slices = nullptr;
    std::size_t lane = 0;
  };
  boost::unordered_flat_map<SliceKey, Place> lives_;
  // Names of the live programs, by device and program number.
  boost::unordered_flat_map<std::pair<RowId, std::uint64_t>, std::uint32_t> names_;
  boost::unordered_flat_map<RowId, TrackId> process_tracks_;
  boost::unordered_flat_map<RowId, TrackId> gap_tracks_;
  std::set<std::int32_t> pids_;
  std::uint64_t not_drawn_ = 0;
};

}  // namespace

Result<Notes> write_perfetto(const ExportJob& job, Output& output) {
  return PerfettoExporter(job, output).write(job.reader);
}

}  // namespace ttmem::exports
