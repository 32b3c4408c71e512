// SPDX-License-Identifier: Apache-2.0
#include "show/exports/snapshot_segments.hpp"

#include <array>

namespace ttmem::exports {
namespace {

void append_block(EncodedList& blocks, std::uint64_t address, std::uint64_t bytes,
                  std::string_view state, Shared stack, const SnapshotEncoder& encoder,
                  SnapshotTexts& texts) {
  encoder.append(blocks, std::array<EncodedField, 5>{{{texts.word("address"), address},
                                                      {texts.word("size"), bytes},
                                                      {texts.word("requested_size"), bytes},
                                                      {texts.word("state"), texts.word(state)},
                                                      {texts.word("frames"), stack}}});
}

}  // namespace

// Appends the free ranges of the space as blocks too, because the blocks of a segment must cover
// the segment without gaps.
void append_segment(EncodedList& segments, std::size_t place, const AddressSpace& space,
                    const SnapshotEncoder& encoder, SnapshotTexts& texts) {
  if (space.begin() == space.end()) return;
  EncodedList blocks;
  std::uint64_t at = space.begin();
  std::uint64_t used = 0;
  const auto fill = [&](std::uint64_t until) {
    if (until > at)
      append_block(blocks, at, until - at, "inactive", texts.no_frames(), encoder, texts);
    at = until;
  };
  for (const auto& [address, block] : space.blocks()) {
    fill(address);
    append_block(blocks, address, block.bytes, "active_allocated", block.stack, encoder, texts);
    at = address + block.bytes;
    used += block.bytes;
  }
  fill(space.end());
  encoder.append(segments, std::array<EncodedField, 10>{
                               {{texts.word("device"), std::uint64_t{place}},
                                {texts.word("address"), space.begin()},
                                {texts.word("total_size"), space.end() - space.begin()},
                                {texts.word("allocated_size"), used},
                                {texts.word("active_size"), used},
                                {texts.word("requested_size"), used},
                                {texts.word("stream"), std::uint64_t{0}},
                                {texts.word("segment_type"), texts.word("large")},
                                {texts.word("frames"), texts.no_frames()},
                                {texts.word("blocks"), &blocks}}});
}

}  // namespace ttmem::exports
