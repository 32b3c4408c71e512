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

// What tells, for a few small reads, that a segment has not changed: the header, which has the
// number of the newest event and all that was dropped, and the sequence numbers of the devices,
// which every change of a figure raises. The writer does nothing for it.
//
// A reader takes the fingerprint before it reads the segment. As long as the fingerprint is the
// same at a later pass, what was read then still holds, if it was settled: see is_settled().
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

// Whether the lists agree with the figures: no call of the writer was half done when `image` was
// read. The slot of an allocation is written after its figures, so a fingerprint alone would not
// tell when a call that a reader met in the middle has ended. False also when the lists can never
// agree with the figures, because the segment could not grow.
[[nodiscard]] bool is_settled(const SegmentImage& image);

}  // namespace ttmem::segment
