// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/segment_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/safe_text.hpp"
#include "segment/reader/buffer_layout.hpp"
#include "segment/reader/device_reader.hpp"
#include "segment/reader/device_set_reader.hpp"
#include "segment/reader/footprint_reader.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/stable_copy.hpp"
#include "segment/reader/text_reader.hpp"

namespace ttmem::segment {
namespace {

Error cut_short() {
  return {"it became shorter while it was read; its process may be starting or ending, try again"};
}

// Reads a segment once.
class Pass {
 public:
  Pass(const ByteSource& source, const SegmentMap& map)
      : source_(source), map_(map), texts_(source, map), sets_(source, map) {}

  Result<SegmentImage> run() {
    copy_header();
    std::optional<OpenDevices> open = read_devices(source_, map_);
    if (!open) return cut_short();
    image_.devices = std::move(open->devices);
    image_.left_at_close = std::move(open->left_at_close);
    image_.peaks = std::move(open->peaks);
    image_.invalid_records = open->invalid_records;
    device_of_record_ = std::move(open->of_record);
    if (!read_job() || !read_failure() || !read_not_seen() || !read_allocations() ||
        !read_programs())
      return cut_short();
    return std::move(image_);
  }

 private:
  void copy_header() {
    const Header& header = map_.header;
    image_.pid = header.pid;
    image_.uid = header.uid;
    image_.start_time_ticks = header.start_time_ticks;
    image_.pid_namespace = header.pid_namespace;
    std::copy(std::begin(header.boot_id), std::end(header.boot_id), image_.boot_id.begin());
    image_.created_unix_ns = header.created_unix_ns;
    image_.created_ns = header.created_ns;
    image_.name = safe_text(std::string_view(header.name, sizeof(header.name)));
    image_.command = safe_text(std::string_view(header.command, sizeof(header.command)));
    image_.clean_exit = header.exit_state == static_cast<std::uint32_t>(ExitState::clean);
    image_.client_ended = header.exit_state == static_cast<std::uint32_t>(ExitState::client_ended);
    image_.client_uid = header.client_uid;
    image_.last_error = header.last_error;
    image_.events = map_.events_before;
    image_.event_count = event_count(header);
    image_.dropped_allocations = header.dropped_allocations;
    image_.dropped_programs = header.dropped_programs;
    image_.dropped_calls = header.dropped_calls;
    image_.dropped_names = header.dropped_names;
  }

  // Returns false if the file is truncated.
  bool read_job() {
    if (map_.header.layout_version < 4) return true;
    JobRecord record;
    if (!read_value(source_, kJobOffset, record)) return false;
    const auto text = [](const auto& field) {
      return safe_text(std::string_view(field, sizeof field));
    };
    image_.job = {.id = text(record.id),
                  .step = text(record.step),
                  .partition = text(record.partition),
                  .rank = text(record.rank),
                  .ranks = text(record.ranks),
                  .pod = text(record.pod),
                  .pod_uid = text(record.pod_uid),
                  .pod_namespace = text(record.pod_namespace),
                  .container = text(record.container)};
    return true;
  }

  // Returns false if the file is truncated.
  bool read_failure() {
    if (map_.header.layout_version < 4) return true;
    for (int i = 0; i < kStableTries; ++i) {
      FailureRecord record;
      if (!single_.load(source_, kFailureOffset, sizeof record)) return false;
      if (!single_.sequenced(0, record)) continue;
      if (record.number != 0) image_.failure = image_of(record);
      return true;
    }
    // Every copy is torn: the writer died during the write. The image then contains no failure.
    return true;
  }

  static FailureImage image_of(const FailureRecord& record) {
    const std::size_t bytes = std::min<std::size_t>(record.text_bytes, sizeof record.text);
    return {.number = record.number,
            .when_ns = record.when_ns,
            .when_unix_ns = record.when_unix_ns,
            .not_kept = record.not_kept,
            .not_kept_error = record.not_kept_error,
            .run = safe_text(std::string_view(record.run, sizeof record.run)),
            .text = safe_lines(std::string_view(record.text, bytes))};
  }

  // Returns false if the file is truncated.
  bool read_not_seen() {
    for (const std::uint32_t number : map_.header.not_seen) {
      std::string text;
      if (!texts_.read(number, text)) return false;
      if (!text.empty()) image_.not_seen.push_back(std::move(text));
    }
    return true;
  }

  // Calls use(slot, index) for each untorn slot among the first `count` slots. Leaves out a slot
  // that stays torn: the writer is changing the slot, or died while it changed the slot. Returns
  // false if the file is truncated.
  template <typename Slot, typename Use>
  bool for_each_slot(const RecordPlaces& array, std::uint32_t count, Use&& use) {
    for (std::uint32_t first = 0; first < count; first += array.records_per_chunk()) {
      const std::uint32_t here = std::min(array.records_per_chunk(), count - first);
      const std::uint64_t offset = array.offset_of(first);
      if (!block_.load(source_, offset, here * sizeof(Slot))) return false;
      for (std::uint32_t i = 0; i < here; ++i) {
        Slot slot;
        if (block_.sequenced(i * sizeof(Slot), slot) ||
            read_again(offset + i * sizeof(Slot), slot)) {
          use(slot, first + i);
        }
      }
    }
    return true;
  }

  // Reads a torn slot again. A living writer changes only a few slots at a time, so a file with
  // many torn slots is damaged. Limits the number of retries for the whole file.
  template <typename Slot>
  bool read_again(std::uint64_t offset, Slot& slot) {
    for (int i = 0; i < kStableTries && retries_left_ > 0; ++i, --retries_left_) {
      if (single_.load(source_, offset, sizeof(Slot)) && single_.sequenced(0, slot)) return true;
    }
    return false;
  }

  bool read_allocations() {
    const std::uint32_t count = std::min(map_.header.allocation_count, map_.allocations.capacity());
    bool labelled = true;
    const bool whole = for_each_slot<AllocationSlot>(
        map_.allocations, count, [&](const AllocationSlot& slot, std::uint32_t index) {
          if (slot.live != 1 || slot.born > image_.events) return;
          const std::vector<std::uint32_t>& devices = devices_of(slot);
          if (devices.empty()) return;  // ignores an allocation whose devices are all closed
          if (plausible(slot) && cores_fit(slot, devices)) {
            labelled &= add_allocation(slot, index, devices);
          } else {
            ++image_.invalid_records;
          }
        });
    return whole && labelled;
  }

  static bool plausible(const AllocationSlot& slot) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const bool sized = (slot.flags & kPerBankUnknown) == 0;
    if (slot.kind >= kKinds) return false;
    if (static_cast<Kind>(slot.kind) == Kind::kernel && slot.role > 2) return false;
    if (!sized) return true;
    if (slot.bytes_per_bank > most - slot.address) return false;
    return slot.banks == 0 || slot.bytes_per_bank <= most / slot.banks;
  }

  // Returns true if the cores lie inside the grid of each device. Checks only buffers in L1,
  // because the cores of a buffer in DRAM stand for banks.
  [[nodiscard]] bool cores_fit(const AllocationSlot& slot,
                               const std::vector<std::uint32_t>& devices) const {
    const auto kind = static_cast<Kind>(slot.kind);
    const bool on_cores = kind == Kind::l1 || kind == Kind::l1_small;
    if (!on_cores || (slot.flags & kNoCores) != 0) return true;
    return std::all_of(devices.begin(), devices.end(),
                       [&](std::uint32_t device) { return inside_grid(slot.cores, device); });
  }

  [[nodiscard]] bool inside_grid(const CoreMask& cores, std::uint32_t device) const {
    return (cores - grid_mask(image_.devices[device])).empty();
  }

  // Returns false if the file is truncated.
  bool add_allocation(const AllocationSlot& slot, std::uint32_t index,
                      const std::vector<std::uint32_t>& devices) {
    LiveAllocation allocation;
    allocation.slot = index;
    allocation.device = devices.front();
    if (devices.size() > 1) allocation.devices = devices;
    allocation.kind = static_cast<Kind>(slot.kind);
    allocation.role = allocation.kind == Kind::kernel ? slot.role : std::uint8_t{0};
    allocation.when_ns = slot.when_ns;
    allocation.id = slot.id;
    allocation.estimate = (slot.flags & kEstimate) != 0;
    if ((slot.flags & kNoAddress) == 0) allocation.address = slot.address;
    allocation.bytes = slot.bytes;
    if ((slot.flags & kPerBankUnknown) == 0) allocation.bytes_per_bank = slot.bytes_per_bank;
    if (slot.banks != 0) allocation.banks = slot.banks;
    if ((slot.flags & kNoCores) == 0) allocation.cores = slot.cores;
    allocation.own_banks = (slot.flags & kOwnBanks) != 0;
    allocation.layout = buffer_layout(allocation.kind, slot.role, slot.flags, slot.cores);
    const OriginNumbers origin = origin_numbers(slot.flags, slot.label);
    allocation.label = safe_text(origin.label);
    const bool whole =
        (origin.label_number == 0 || texts_.read(origin.label_number, allocation.label)) &&
        texts_.read_scope(origin.scope_number, allocation.scope);
    allocation.scope_number = origin.scope_number;
    allocation.visit = visit_of(origin.scope_number, slot.when_ns);
    image_.allocations.push_back(std::move(allocation));
    return whole;
  }

  // Returns the visit of the scope during which an allocation was made at `when_ns`. The texts are
  // read after map_.events_before was read, and all listed allocations were made at that event or
  // earlier. So if no thread is in the scope when its text is read, the scope was left after the
  // allocation.
  ScopeVisit visit_of(std::uint32_t scope, std::uint64_t when_ns) {
    return visit_at(static_cast<std::int64_t>(when_ns), texts_.visits(scope));
  }

  bool read_programs() {
    const std::uint32_t count = std::min(map_.header.program_count, map_.programs.capacity());
    std::vector<ProgramSlot> live;
    std::vector<std::uint32_t> indices;
    const bool whole = for_each_slot<ProgramSlot>(
        map_.programs, count, [&](const ProgramSlot& slot, std::uint32_t index) {
          if (slot.live == 1 && slot.born <= image_.events && device_of(slot.device)) {
            live.push_back(slot);
            indices.push_back(index);
          }
        });
    if (!whole) return false;
    std::optional<Footprints> footprints = read_footprints(source_, map_, live);
    if (!footprints) return false;
    image_.footprints = std::move(footprints->footprints);
    image_.invalid_records += footprints->invalid_records;
    const std::vector<CoreMask> cores = covered_cores(image_.footprints);
    for (std::size_t i = 0; i < live.size(); ++i) {
      const std::optional<std::uint32_t> footprint = footprints->of_program[i];
      if (!footprint) continue;
      if (inside_grid(cores[*footprint], *device_of(live[i].device))) {
        if (!add_program(live[i], indices[i], *footprint)) return false;
      } else {
        ++image_.invalid_records;
      }
    }
    return true;
  }

  static std::vector<CoreMask> covered_cores(const std::vector<LiveFootprint>& footprints) {
    std::vector<CoreMask> covered(footprints.size());
    for (std::size_t i = 0; i < footprints.size(); ++i) {
      for (const LiveCb& cb : footprints[i]) covered[i] |= cb.cores;
    }
    return covered;
  }

  // Returns false if the file is truncated.
  bool add_program(const ProgramSlot& slot, std::uint32_t index, std::uint32_t footprint) {
    LiveProgram program;
    program.slot = index;
    program.device = *device_of(slot.device);
    program.footprint = footprint;
    program.resident_cores = std::min(slot.resident_cores, kMaxCores);
    program.when_ns = slot.when_ns;
    program.program = slot.program;
    const bool whole = texts_.read(slot.name, program.name) &&
                       (slot.scope == 0 || texts_.read_scope(slot.scope, program.scope));
    program.scope_number = slot.scope;
    program.visit = visit_of(slot.scope, slot.when_ns);
    image_.programs.push_back(std::move(program));
    return whole;
  }

  // Returns the open devices of an allocation.
  const std::vector<std::uint32_t>& devices_of(const AllocationSlot& slot) {
    found_.clear();
    const auto add = [&](std::uint32_t record) {
      if (const auto device = device_of(record)) found_.push_back(*device);
    };
    if ((slot.flags & kOnSet) == 0) {
      add(slot.device);
    } else if (const auto set = sets_.read(slot.device)) {
      if (set->empty()) ++image_.invalid_records;
      set->for_each(add);
    }
    return found_;
  }

  [[nodiscard]] std::optional<std::uint32_t> device_of(std::uint32_t record) const {
    return record < device_of_record_.size() ? device_of_record_[record] : std::nullopt;
  }

  const ByteSource& source_;
  const SegmentMap& map_;
  SegmentImage image_;
  std::vector<std::optional<std::uint32_t>> device_of_record_;
  TextReader texts_;
  DeviceSetReader sets_;
  // Result of devices_of(); a member, so that its memory is reused.
  std::vector<std::uint32_t> found_;
  StableCopy block_;
  StableCopy single_;
  int retries_left_ = 256;
};

}  // namespace

Result<SegmentImage> read_segment(const ByteSource& source) {
  Result<SegmentMap> map = map_segment(source);
  if (!map) return map.error();
  return Pass(source, *map).run();
}

}  // namespace ttmem::segment
