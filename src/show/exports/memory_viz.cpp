// SPDX-License-Identifier: Apache-2.0
//
// A memory snapshot of PyTorch, for https://pytorch.org/memory_viz and torch/cuda/_memory_viz.py.
// The viewer identifies an allocation by its address, and a device by its index in a list.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <map>
#include <utility>

#include "base/plural.hpp"
#include "show/exports/address_space.hpp"
#include "show/exports/format.hpp"
#include "show/exports/left_at_end.hpp"
#include "show/exports/snapshot_encoder.hpp"
#include "show/exports/snapshot_segments.hpp"
#include "show/exports/snapshot_texts.hpp"
#include "show/exports/stacks.hpp"
#include "show/exports/thinning.hpp"
#include "show/exports/usage.hpp"

namespace ttmem::exports {

using recording::Event;
using recording::RecordedAllocation;
using recording::RecordedRequest;
using recording::RowId;
using recording::Tables;
using recording::Time;

namespace {

// Number of entries above which Thinning leaves out allocations, because the viewer would take
// minutes or crash.
constexpr std::uint64_t kMaxThinnedEntries = 200'000;
// Number of entries above which the export fails. Thinning may leave more entries than
// kMaxThinnedEntries, because the live allocations of the peak are never left out.
constexpr std::uint64_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxSharedBytes = 64 << 20;  // mainly stacks
// JavaScript has no exact integers above this number.
constexpr Time kLargestNumber = (Time{1} << 53) - 1;
// Number of address spaces that begin below kLargestNumber.
constexpr std::size_t kMaxSpaces = 510;

// The identity of a live allocation: its row ids in the recording.
struct AllocationKey {
  RowId device = 0;
  RowId allocation = 0;

  friend bool operator==(const AllocationKey&, const AllocationKey&) = default;
  friend std::size_t hash_value(const AllocationKey& life) {
    std::size_t seed = 0;
    boost::hash_combine(seed, life.device);
    boost::hash_combine(seed, life.allocation);
    return seed;
  }
};

// The entries and address spaces of one chip.
struct OfChip {
  EncodedList entries;
  std::vector<AddressSpace> spaces;
  // The index in `spaces`, by the slot of the device and the kind, kUnplaced or kCbs.
  std::map<std::pair<std::size_t, int>, std::size_t> space_of;
  enum : int { kUnplaced = -1, kCbs = -2 };
};

// Returns the slot of each device, by row. Two devices of one chip that were open at the same time
// have different slots, counted from 0.
std::vector<std::size_t> slots_of(const Tables& tables, const std::vector<ExportedChip>& chips) {
  std::vector<std::size_t> slots(tables.devices.size());
  for (const ExportedChip& chip : chips) {
    std::vector<Time> ends;  // slot -> time when the slot is free again
    for (const RowId id : chip.devices) {
      const recording::RecordedDevice& device = tables.device(id);
      const auto at =
          std::find_if(ends.begin(), ends.end(), [&](Time end) { return end <= device.begin_ns; });
      const std::size_t slot = static_cast<std::size_t>(at - ends.begin());
      if (at == ends.end()) ends.emplace_back();
      ends[slot] = device.end_ns.value_or(std::numeric_limits<Time>::max());
      slots[static_cast<std::size_t>(id - 1)] = slot;
    }
  }
  return slots;
}

class MemoryVizExporter {
 public:
  MemoryVizExporter(const ExportJob& job, const Thinning& thinning, SnapshotEncoder& encoder)
      : job_(job),
        tables_(job.reader.tables()),
        selection_(job.selection),
        thinning_(thinning),
        encoder_(encoder),
        texts_(encoder),
        chips_(selection_.chips().size()),
        left_(tables_, selection_),
        slots_(slots_of(tables_, selection_.chips())),
        cb_stack_(texts_.frames({"(all programs)", "cb"})) {}

  Result<void> read() {
    Usage usage(tables_, selection_, &left_);
    for (std::size_t i = 0; i < chips_.size(); ++i) {
      add_first_entry(chips_[i]);
      // Creates the space for circular buffers first, because set_cbs() uses the first space.
      space_of(chips_[i], selection_.chips()[i].devices.front(), OfChip::kCbs);
    }
    auto passed = for_each_moment(
        job_.reader, usage,
        [&](Time time, const std::vector<std::size_t>& changed) {
          if (is_full()) return;
          for (const std::size_t chip : changed) set_cbs(usage, chip, time, true);
          for (const RecordedAllocation& allocation : pending_) allocate(allocation);
          pending_.clear();
          for (const std::size_t chip : changed) set_cbs(usage, chip, time, false);
        },
        [&](const Event& event) {
          if (is_full()) return;
          if (event.type == Event::Type::allocate) pending_.push_back(*event.allocation);
          if (event.type == Event::Type::free) free(*event.allocation, event.rest);
        });
    if (!passed || !is_full()) return passed;
    return Error{fmt::format(
        "the snapshot would be too large: {}, and the viewer dies at far fewer; choose with "
        "--device or --kind",
        entries_ > kMaxEntries ? fmt::format("more than {} entries", kMaxEntries)
                               : fmt::format("more than {} bytes of stacks", kMaxSharedBytes))};
  }

  [[nodiscard]] Result<void> write(Output& output);
  [[nodiscard]] Notes notes() const;

 private:
  // -- entries

  void add_entry(OfChip& chip, std::string_view action, std::uint64_t address,
                 const AddressSpace::Block& block, Time time, std::string_view category = {}) {
    std::vector<EncodedField> fields = {
        {texts_.word("action"), texts_.word(action)}, {texts_.word("addr"), address},
        {texts_.word("size"), block.bytes},           {texts_.word("stream"), std::uint64_t{0}},
        {texts_.word("time_us"), time_us(time)},      {texts_.word("frames"), block.stack}};
    if (!category.empty()) fields.push_back({texts_.word("category"), texts_.word(category)});
    encoder_.append(chip.entries, fields);
    ++entries_;
  }
  [[nodiscard]] bool is_full() const {
    return entries_ > kMaxEntries || encoder_.shared_bytes() > kMaxSharedBytes;
  }
  // Adds an entry with the category "unknown". Viewers of 2023 to 2025 fail if a snapshot has
  // categories but not this one.
  void add_first_entry(OfChip& chip) {
    const AddressSpace::Block nothing{0, texts_.no_frames()};
    add_entry(chip, "snapshot", 0, nothing, 0, "unknown");
  }
  void add_free(OfChip& chip, std::uint64_t address, const AddressSpace::Block& block, Time time) {
    // Adds two adjacent entries. The viewer merges both entries, and the second entry ends the
    // allocation.
    add_entry(chip, "free_requested", address, block, time);
    add_entry(chip, "free_completed", address, block, time);
  }
  // Limits the time to the valid range, so that a damaged recording cannot cause an overflow.
  [[nodiscard]] std::uint64_t time_us(Time time) const {
    const auto start = static_cast<Time>(tables_.run.started_unix_ns / 1000);
    return static_cast<std::uint64_t>(std::clamp<Time>(start + time / 1000, 0, kLargestNumber));
  }

  // -- allocations

  void allocate(const RecordedAllocation& allocation) {
    const RecordedRequest& request = tables_.request(allocation.request);
    // Circular buffers are one block per chip, see set_cbs(). An allocation of 0 bytes has no
    // block.
    if (!selection_.has(request.kind) || request.kind == Kind::cb) return;
    if (request.used_bytes() == 0) return;
    for (const RowId device : tables_.device_set(allocation.devices)) {
      const std::size_t at = selection_.chip_of(device);
      if (at == Selection::kNone) continue;
      if (is_full()) return;
      const bool kept = thinning_.keeps(at, memory_of(request.kind), allocation.begin_ns,
                                        left_.end_on(allocation, device).end_ns);
      if (!kept) {
        ++left_out_;
        continue;
      }
      OfChip& chip = chips_[at];
      const AddressSpace::Block block{request.used_bytes(), stack_of_request(device, allocation)};
      const auto [space, address] = put(chip, device, allocation, block);
      if (address == 0) {
        ++impossible_;
        continue;
      }
      lives_[{device, allocation.id}] = {space, address};
      add_entry(chip, "alloc", address, block, allocation.begin_ns, name_of(request.kind));
    }
  }

  // Frees an allocation on its devices in `allocation`, unless it was left there at the end. The
  // devices of the set `rest` keep it.
  void free(const RecordedAllocation& allocation, RowId rest) {
    const auto pending =
        std::find_if(pending_.begin(), pending_.end(),
                     [&](const RecordedAllocation& a) { return a.id == allocation.id; });
    if (pending != pending_.end()) {
      // Drops an allocation that begins and ends at one moment, because the viewer would never show
      // it.
      if (rest == 0) {
        pending_.erase(pending);
      } else {
        pending->devices = rest;
      }
      return;
    }
    for (const RowId device : tables_.device_set(allocation.devices)) {
      const auto at = lives_.find(AllocationKey{device, allocation.id});
      if (at == lives_.end()) continue;
      if (left_.has(device, {allocation.end_ns, allocation.ending})) continue;
      const auto [space, address] = at->second;
      lives_.erase(at);
      OfChip& chip = chips_[selection_.chip_of(device)];
      add_free(chip, address, *chip.spaces[space].find(address), *allocation.end_ns);
      chip.spaces[space].remove(address);
    }
  }

  struct Place {
    std::size_t space = 0;
    std::uint64_t address = 0;
  };

  // Puts an allocation at its address on the device. If the address is unknown or taken, puts the
  // allocation at any free place. An address may be taken by the buffer of another allocator that
  // manages only some cores.
  Place put(OfChip& chip, RowId device, const RecordedAllocation& allocation,
            const AddressSpace::Block& block) {
    const RecordedRequest& request = tables_.request(allocation.request);
    // The size of the block is the size per bank times the number of banks. The address is
    // multiplied in the same way, so that adjacent allocations stay adjacent.
    if (allocation.address && request.has_bytes_per_bank && request.banks != 0 &&
        *allocation.address <= AddressSpace::kBytes / request.banks) {
      const std::size_t space = space_of(chip, device, static_cast<int>(request.kind));
      if (const auto at = chip.spaces[space].put_at(*allocation.address * request.banks, block)) {
        return {space, *at};
      }
    }
    const std::size_t space = space_of(chip, device, OfChip::kUnplaced);
    return {space, chip.spaces[space].put(block).value_or(0)};
  }

  // Returns the index of the space for a kind. Processes that have the chip open at the same time
  // have different spaces.
  std::size_t space_of(OfChip& chip, RowId device, int kind) {
    const std::pair key(slots_[static_cast<std::size_t>(device - 1)], kind);
    if (const auto at = chip.space_of.find(key); at != chip.space_of.end()) return at->second;
    if (chip.spaces.size() == kMaxSpaces) return kMaxSpaces - 1;  // shares the last space
    chip.space_of[key] = chip.spaces.size();
    AddressSpace& space = chip.spaces.emplace_back((chip.spaces.size() + 1) * AddressSpace::kBytes);
    const recording::RecordedDevice& about = tables_.device(device);
    if (kind == static_cast<int>(Kind::dram)) {
      space.reserve(about.dram_channels * about.dram_bytes_per_channel);
    } else if (kind == static_cast<int>(Kind::l1)) {
      space.reserve(std::uint64_t{about.l1_bytes_per_core} * about.grid_x * about.grid_y);
    }
    return chip.spaces.size() - 1;
  }

  // -- circular buffers

  // Replaces the block of circular buffers if their physical bytes changed. Programs share
  // addresses by design, and the viewer cannot show shared addresses. Therefore all circular
  // buffers of a chip are one block. If `shrink` is true, handles only blocks that become smaller,
  // otherwise only blocks that become larger.
  void set_cbs(const Usage& usage, std::size_t at, Time time, bool shrink) {
    OfChip& chip = chips_[at];
    const std::uint64_t now = usage.used_bytes(selection_.chips()[at], Kind::cb);
    AddressSpace& space = chip.spaces.front();
    const std::uint64_t before = space.blocks().empty() ? 0 : space.blocks().begin()->second.bytes;
    if (now == before || (now < before) != shrink) return;
    if (before > 0) {
      const auto [address, block] = *space.blocks().begin();
      add_free(chip, address, block, time);
      space.remove(address);
    }
    const bool kept = thinning_.is_kept(at, Memory::l1, time);
    const AddressSpace::Block block{now, cb_stack_};
    if (now == 0 || !kept) return;
    if (const auto address = space.put_at(0, block)) {
      add_entry(chip, "alloc", *address, block, time, name_of(Kind::cb));
    }
  }

  Shared stack_of_request(RowId device, const RecordedAllocation& allocation) {
    const auto [at, is_new] = stacks_.try_emplace({device, allocation.request});
    if (is_new) {
      at->second = texts_.frames(stack_of(tables_, device, tables_.request(allocation.request)));
    }
    return at->second;
  }

  [[nodiscard]] Shared settings(const std::vector<std::size_t>& places);

  const ExportJob& job_;
  const Tables& tables_;
  const Selection& selection_;
  const Thinning& thinning_;
  SnapshotEncoder& encoder_;
  SnapshotTexts texts_;
  std::vector<OfChip> chips_;
  LeftAtEnd left_;
  std::vector<std::size_t> slots_;
  Shared cb_stack_;
  boost::unordered_flat_map<std::pair<RowId, RowId>, Shared> stacks_;  // (device, request) -> stack
  boost::unordered_flat_map<AllocationKey, Place> lives_;
  std::vector<RecordedAllocation> pending_;  // allocations of the current moment
  std::uint64_t entries_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t impossible_ = 0;  // number of allocations larger than any device
};

Notes MemoryVizExporter::notes() const {
  Notes notes;
  if (left_out_ > 0) {
    notes.push_back(
        fmt::format("{} left out, which came and went between two peaks: the viewer cannot "
                    "show so many. Every peak is exact; --device and --kind choose what is shown",
                    plural(left_out_, "allocation is", "allocations are")));
  }
  if (impossible_ > 0) {
    notes.push_back(fmt::format("{} left out: larger than any device",
                                plural(impossible_, "allocation is", "allocations are")));
  }
  return notes;
}

// Returns facts about the run and its chips. The viewer shows these texts unchanged.
Shared MemoryVizExporter::settings(const std::vector<std::size_t>& places) {
  std::vector<EncodedField> fields = {
      {texts_.word("made by"), texts_.word("ttmem export")},
      {texts_.word("command"), texts_.word(valid_utf8(tables_.run.command))},
      {texts_.word("host"), texts_.word(valid_utf8(tables_.run.host))},
      {texts_.word("left out"), left_out_}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ExportedChip& chip = selection_.chips()[i];
    fields.push_back(
        {texts_.word(fmt::format("GPU {}", places[i])),
         texts_.word(valid_utf8(fmt::format("{}, {}, {}", chip.name(), chip.board, chip.arch)))});
  }
  return encoder_.share(EncodedFields(fields));
}

Result<void> MemoryVizExporter::write(Output& output) {
  lives_ = {};
  const std::vector<std::size_t> places = selection_.places();
  EncodedList segments;
  EncodedList traces;
  for (std::size_t i = 0; i < chips_.size(); ++i) {
    while (traces.items < places[i]) encoder_.append(traces, EncodedList{});
    encoder_.append(traces, chips_[i].entries);
    for (const AddressSpace& space : chips_[i].spaces)
      append_segment(segments, places[i], space, encoder_, texts_);
    chips_[i] = {};  // frees the entries, so that millions of them are not in memory twice
  }
  const std::array<EncodedField, 3> file = {
      {{texts_.word("segments"), &segments},
       {texts_.word("device_traces"), &traces},
       {texts_.word("allocator_settings"), settings(places)}}};
  return encoder_.finish(output, file);
}

}  // namespace

Result<Notes> write_memory_viz(const ExportJob& job, Output& output) {
  const auto thinning = Thinning::plan(job.reader, job.selection, kMaxThinnedEntries);
  if (!thinning) return thinning.error();
  const auto encoder = job.path.ends_with(".json") ? make_json_encoder() : make_pickle_encoder();
  MemoryVizExporter exporter(job, *thinning, *encoder);
  const auto passed = exporter.read();
  if (!passed) return passed.error();
  const auto written = exporter.write(output);
  if (!written) return written.error();
  return exporter.notes();
}

}  // namespace ttmem::exports
