// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "segment/reader/segment_map.hpp"

namespace ttmem::segment {
namespace {

// Reads both sequence numbers of the device record at `place`.
bool read_seqs(const ByteSource& source, std::uint64_t place, std::array<std::uint32_t, 2>& seqs) {
  return read_value(source, place + offsetof(DeviceRecord, seq), seqs[0]) &&
         read_value(source, place + offsetof(DeviceRecord, cores_seq), seqs[1]);
}

struct AllocationSum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

std::optional<Fingerprint> read_fingerprint(const ByteSource& source) {
  const Result<SegmentMap> map = map_segment(source);
  if (!map) return std::nullopt;
  Fingerprint fingerprint;
  fingerprint.header = map->header;
  const std::uint32_t count =
      std::min({map->header.device_count, map->devices.capacity(), kMaxDevices});
  for (std::uint32_t i = 0; i < count; ++i) {
    std::array<std::uint32_t, 2> seqs{};
    fingerprint.places.push_back(map->devices.offset_of(i));
    if (!read_seqs(source, fingerprint.places.back(), seqs)) return std::nullopt;
    fingerprint.seqs.insert(fingerprint.seqs.end(), seqs.begin(), seqs.end());
  }
  return fingerprint;
}

bool still_has(const ByteSource& source, const Fingerprint& fingerprint) {
  Header header;
  if (!read_value(source, 0, header)) return false;
  if (std::memcmp(&header, &fingerprint.header, sizeof header) != 0) return false;
  for (std::size_t i = 0; i < fingerprint.places.size(); ++i) {
    std::array<std::uint32_t, 2> seqs{};
    if (!read_seqs(source, fingerprint.places[i], seqs)) return false;
    if (seqs[0] != fingerprint.seqs[2 * i] || seqs[1] != fingerprint.seqs[2 * i + 1]) return false;
  }
  return true;
}

bool is_settled(const SegmentImage& image) {
  if (image.invalid_records != 0) return false;
  std::vector<PerKind<AllocationSum>> listed(image.devices.size());
  std::vector<std::uint64_t> programs(image.devices.size());
  for (const LiveAllocation& allocation : image.allocations) {
    for (const std::uint32_t device : devices_of(allocation)) {
      AllocationSum& sum = listed[device][allocation.kind];
      ++sum.count;
      sum.bytes += allocation.bytes;
    }
  }
  for (const LiveProgram& program : image.programs) ++programs[program.device];
  for (std::size_t d = 0; d < image.devices.size(); ++d) {
    const DeviceImage& device = image.devices[d];
    if (!device.coherent || !device.cores_coherent) return false;
    if (device.programs != programs[d]) return false;
    for (const Kind kind : kAllKinds) {
      const KindFigures& figures = device.kinds[kind];
      // Compares only the CBs without an address, because only these CBs are in the list of
      // allocations.
      const std::uint64_t bytes = kind == Kind::cb ? device.loose_cb_bytes : figures.logical_bytes;
      const AllocationSum& sum = listed[d][kind];
      if (figures.live != sum.count || bytes != sum.bytes) return false;
    }
  }
  return true;
}

}  // namespace ttmem::segment
