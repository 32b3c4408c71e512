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

// Shows with a few small reads whether a segment has changed. Contains the header and the sequence
// numbers of the device records. Every event and every dropped call or name changes the header, and
// every change of a figure raises a sequence number. The writer does no work for the fingerprint.
//
// A reader takes the fingerprint before it reads the segment. If the image is settled (see
// is_settled()), the image is up to date as long as the fingerprint stays the same.
struct Fingerprint {
  Header header{};
  std::vector<std::uint64_t> places;  // offsets of the device records in the file
  std::vector<std::uint32_t> seqs;    // `seq` and `cores_seq` of each device record

  friend bool operator==(const Fingerprint& a, const Fingerprint& b) {
    return std::memcmp(&a.header, &b.header, sizeof a.header) == 0 && a.places == b.places &&
           a.seqs == b.seqs;
  }
};

// Reads the fingerprint of a segment. Returns nullopt if the header is not HeaderState::complete or
// the file is truncated. Any thread may call the functions of this header.
[[nodiscard]] std::optional<Fingerprint> read_fingerprint(const ByteSource& source);

// Returns true if the segment still has this fingerprint. Reads the header and eight bytes per
// device.
[[nodiscard]] bool still_has(const ByteSource& source, const Fingerprint& fingerprint);

// Returns true if the lists of allocations and programs agree with the figures. No call of the
// writer was then in progress when `image` was read. The fingerprint alone does not show the end of
// a call, because the writer writes the slot of an allocation after the figures. Returns false for
// a segment that could not grow, because some of its allocations are in the figures but not in the
// lists.
[[nodiscard]] bool is_settled(const SegmentImage& image);

}  // namespace ttmem::segment
