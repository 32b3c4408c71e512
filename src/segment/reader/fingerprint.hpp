// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "segment/layout/layout.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::segment {

// Shows with a few small reads that a segment has not changed. It is the header, which has the
// number of the newest event and the counts of what was dropped, and the sequence numbers of the
// devices, which every change of a figure raises. The writer does nothing for it.
//
// A reader takes the fingerprint before it reads the segment. While the fingerprint stays the same,
// the image that it read is up to date, if that is settled: see is_settled().
struct Fingerprint {
  Header header{};
  std::vector<std::uint64_t> places;  // of the device records in the file
  std::vector<std::uint32_t> seqs;    // `seq` and `cores_seq` of each

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return std::memcmp(&a.header, &b.header, sizeof a.header) == 0 && a.places == b.places &&
           a.seqs == b.seqs;
  }
};

// None when the header is not complete, or the file is cut short. Safe from any thread, as are the
// others.
[[nodiscard]] std::optional<Fingerprint> read_fingerprint(const ByteSource& source);

// Whether the segment still has that fingerprint: reads the header and eight bytes per device.
[[nodiscard]] bool still_has(const ByteSource& source, const Fingerprint& fingerprint);

// True if the lists agree with the figures, so that no call of the writer was in progress when
// `image` was read. The fingerprint alone does not show the end of a call, because the slot of an
// allocation is written after its figures. Always false for a segment that could not grow: some of
// its allocations are in the figures and not in the lists.
[[nodiscard]] bool is_settled(const SegmentImage& image);

}  // namespace ttmem::segment
