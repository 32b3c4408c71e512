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

// Shows with a few small reads whether a segment has changed. Contains the header, with the number
// of the newest event and the numbers of dropped calls and names, and the sequence numbers of the
// devices, which every change of a figure raises. The writer does no work for the fingerprint.
//
// A reader takes the fingerprint before it reads the segment. While the fingerprint stays the same,
// the image that the reader got is up to date, provided that the image is settled: see
// is_settled().
struct Fingerprint {
  Header header{};
  std::vector<std::uint64_t> places;  // offsets of the device records in the file
  std::vector<std::uint32_t> seqs;    // `seq` and `cores_seq` of each device record

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return std::memcmp(&a.header, &b.header, sizeof a.header) == 0 && a.places == b.places &&
           a.seqs == b.seqs;
  }
};

// Returns nullopt if the header is incomplete or the file is truncated. Any thread may call the
// functions of this header.
[[nodiscard]] std::optional<Fingerprint> read_fingerprint(const ByteSource& source);

// Returns true if the segment still has this fingerprint. Reads the header and eight bytes per
// device.
[[nodiscard]] bool still_has(const ByteSource& source, const Fingerprint& fingerprint);

// Returns true if the lists agree with the figures. Then no call of the writer was in progress when
// `image` was read. The fingerprint alone does not show the end of a call, because the slot of an
// allocation is written after its figures. Returns false for a segment that could not grow: some of
// its allocations are in the figures and not in the lists.
[[nodiscard]] bool is_settled(const SegmentImage& image);

}  // namespace ttmem::segment
