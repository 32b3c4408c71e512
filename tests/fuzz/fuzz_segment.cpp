// SPDX-License-Identifier: Apache-2.0
//
// Runs all code that reads foreign bytes of segments: the segment reader and the users of its
// result, the event reader, and the decoder of TT-Metal's regions. The first byte of an input
// chooses:
//
//   0  a segment, in the compact form of compact_segment.hpp
//   1  the bytes of a segment file
//   2  triples of bytes (n, offset / 8 KiB, flip) up to a zero byte, then a compact segment. At
//      every n-th read, the triple changes the byte at the offset or cuts the file there.
//   3  a region of TT-Metal
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "compact_segment.hpp"
#include "read/collector/build_snapshot.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_reader.hpp"

namespace ttmem::fuzz {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// A source that changes its bytes while it is read.
class RestlessSource final : public segment::ByteSource {
 public:
  struct Change {
    std::uint8_t at_read;
    std::uint8_t where;
    std::uint8_t flip;  // XORed with the byte; 0xff cuts the file at this byte instead
  };
  RestlessSource(std::vector<std::byte> bytes, std::vector<Change> changes)
      : bytes_(std::move(bytes)), changes_(std::move(changes)) {}

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ++reads_;
    for (const Change& change : changes_) {
      if (reads_ % change.at_read != 0) continue;
      const std::size_t place = std::size_t{change.where} * 8192;
      if (place >= bytes_.size()) continue;
      if (change.flip == 0xff) {
        bytes_.resize(place);
      } else {
        bytes_[place] ^= static_cast<std::byte>(change.flip);
      }
    }
    return segment::MemorySource(bytes_).read_at(offset, out);
  }
  std::uint64_t size() const override { return bytes_.size(); }

 private:
  mutable std::vector<std::byte> bytes_;
  std::vector<Change> changes_;
  mutable std::uint64_t reads_ = 0;
};

void check_image(const segment::SegmentImage& image, std::uint64_t file_bytes) {
  require(image.allocations.size() * sizeof(segment::AllocationSlot) <= file_bytes,
          "no more allocations than the file has room for");
  require(image.programs.size() * sizeof(segment::ProgramSlot) <= file_bytes,
          "no more programs than the file has room for");
  std::uint64_t cbs = 0;
  for (const auto& footprint : image.footprints) cbs += footprint.size();
  require(cbs * sizeof(segment::CbRecord) <= file_bytes, "no more CBs than the file has room for");
  for (const auto& device : image.devices) {
    require(device.cores.size() == std::size_t{device.grid_x} * device.grid_y, "a figure per core");
    require(device.cores.size() <= kMaxCores, "no more cores than there can be");
    for (const auto& kind : device.kinds) require(kind.peak_bytes >= kind.used_bytes, "peaks");
  }
}

void check_snapshot(const model::Snapshot& snapshot) {
  for (const auto& allocation : snapshot.allocations) {
    require(allocation.device < snapshot.devices.size(), "an allocation is on a device");
    for (const std::uint32_t device : devices_of(allocation)) {
      require(device < snapshot.devices.size(), "an allocation is on devices");
    }
  }
  for (const auto& program : snapshot.programs) {
    require(program.device < snapshot.devices.size(), "a program is on a device");
    require(program.exclusive_bytes <= program.physical_bytes, "exclusive within physical");
    require(program.physical_bytes <= program.logical_bytes, "physical within logical");
    require(program.bytes_per_core <= program.physical_bytes, "one core within all");
  }
}

// Returns evidence with three parts: the segment as that of a live process, the same segment as
// that of a dead process, and a region.
collector::Evidence evidence_of(const segment::SegmentImage& image) {
  collector::Evidence evidence;
  evidence.monotonic_ns = 1;
  evidence.segments.push_back({image, model::State::alive, "user", {}, true});
  evidence.segments.push_back({image, model::State::dead, "user", {}, false});
  for (auto& segment : evidence.segments) segment.geometry = collector::geometry_of(image);
  collector::RegionEvidence region;
  region.rows.push_back({{.pid = 7, .name = "x"}, model::State::alive, "user", {}});
  evidence.regions.push_back(std::move(region));
  return evidence;
}

void read_all(const segment::ByteSource& source) {
  const std::uint64_t bytes = source.size();
  if (const auto image = segment::read_segment(source)) {
    check_image(*image, bytes);
    check_snapshot(collector::build_snapshot(evidence_of(*image)));
  }
  for (const std::uint64_t after : {std::uint64_t{0}, std::uint64_t{1000}}) {
    const auto events = segment::read_events(source, after);
    if (!events) continue;
    require(events->events.size() * sizeof(segment::EventRecord) <= bytes, "events fit the file");
    require(events->newest - after == events->lost + events->events.size(), "events add up");
  }
}

void read_restless(std::span<const std::byte> input) {
  std::vector<RestlessSource::Change> changes;
  const auto number = [&](std::size_t i) { return std::to_integer<std::uint8_t>(input[i]); };
  while (input.size() >= 3 && number(0) != 0 && changes.size() < 8) {
    changes.push_back({number(0), number(1), number(2)});
    input = input.subspan(3);
  }
  if (!input.empty()) input = input.subspan(1);
  const std::vector<std::byte> bytes = expand(input);
  const RestlessSource source(bytes, changes);
  if (const auto image = segment::read_segment(source)) check_image(*image, bytes.size());
}

void read_region(std::span<const std::byte> input) {
  const auto region = collector::decode_region(input);
  if (!region) return;
  collector::Evidence evidence;
  collector::RegionEvidence rows{.uid = region->uid, .device_id = region->device_id, .rows = {}};
  for (const auto& row : region->rows) {
    require(row.pid > 0, "a row has a pid");
    rows.rows.push_back({row, row.pid % 2 == 0 ? model::State::alive : model::State::dead, "u"});
  }
  evidence.regions.push_back(std::move(rows));
  check_snapshot(collector::build_snapshot(std::move(evidence)));
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  switch (std::to_integer<int>(input[0]) % 4) {
    case 0: {
      const std::vector<std::byte> bytes = expand(rest);
      return read_all(segment::MemorySource(bytes));
    }
    case 1:
      return read_all(segment::MemorySource(rest));
    case 2:
      return read_restless(rest);
    default:
      return read_region(rest);
  }
}

}  // namespace ttmem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ttmem::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}
