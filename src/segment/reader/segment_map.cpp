// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/segment_map.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

namespace ttmem::segment {
namespace {

bool is_known_version(const Header& header) {
  return header.layout_version >= kOldestLayoutVersion && header.layout_version <= kLayoutVersion;
}

bool sizes_match(const Header& header) {
  const std::uint32_t device_set_bytes = header.layout_version == 1 ? 0 : sizeof(DeviceSetRecord);
  return header.header_bytes == kHeaderBytes && header.chunk_bytes == kChunkBytes &&
         header.device_bytes == sizeof(DeviceRecord) &&
         header.allocation_bytes == sizeof(AllocationSlot) &&
         header.program_bytes == sizeof(ProgramSlot) && header.cb_bytes == sizeof(CbRecord) &&
         header.event_bytes == sizeof(EventRecord) && header.text_bytes == sizeof(TextRecord) &&
         header.device_set_bytes == device_set_bytes;
}

Error explain(HeaderState state, const Header& header) {
  switch (state) {
    case HeaderState::incomplete:
      return {
          "it is not a segment yet: its process is starting, or died while it started; try "
          "again, or remove leftovers with `ttmem clean`"};
    case HeaderState::foreign:
      return {"it is not a segment of ttmem; remove or rename it"};
    case HeaderState::other_version:
      return {
          fmt::format("it was written by another version of libttmem (layout {}, this ttmem "
                      "reads layouts {} to {}); use the ttmem that belongs to that library",
                      header.layout_version, kOldestLayoutVersion, kLayoutVersion)};
    default:
      return {"its header is damaged; remove it with `ttmem clean` once its process has ended"};
  }
}

HeaderState check_header(const ByteSource& source, Header& header) {
  header = {};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  const std::size_t there = source.read_at(0, bytes);
  // Pairs with the release store of `magic` in SegmentWriter::create(): all later reads see
  // everything that was written before `magic`.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (there < sizeof(header.magic) || header.magic == 0) return HeaderState::incomplete;
  if (header.magic != kMagic) return HeaderState::foreign;
  if (there < offsetof(Header, header_bytes)) return HeaderState::damaged;
  if (!is_known_version(header)) return HeaderState::other_version;
  if (there < sizeof(Header) || source.size() < kHeaderBytes || !sizes_match(header)) {
    return HeaderState::damaged;
  }
  return HeaderState::complete;
}

// Returns the number of chunks to read: the smallest of the header's count, the size of the table,
// and the number of chunks in the file.
std::uint32_t chunks_to_read(const ByteSource& source, const Header& header) {
  const std::uint64_t size = source.size();
  const std::uint64_t in_file = size < kHeaderBytes ? 0 : (size - kHeaderBytes) / kChunkBytes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>({header.chunk_count, kMaxChunks, in_file}));
}

RecordPlaces* array_of(SegmentMap& map, std::uint8_t kind) {
  switch (static_cast<ChunkKind>(kind)) {
    case ChunkKind::device:
      return &map.devices;
    case ChunkKind::allocation:
      return &map.allocations;
    case ChunkKind::program:
      return &map.programs;
    case ChunkKind::cb:
      return &map.cbs;
    case ChunkKind::event:
      return &map.events;
    case ChunkKind::text:
      return &map.texts;
    case ChunkKind::device_set:
      return &map.device_sets;
    default:
      return nullptr;
  }
}

}  // namespace

HeaderState header_state(const ByteSource& source) {
  Header header;
  return check_header(source, header);
}

std::uint64_t event_count(const Header& header) {
  const bool has_details = header.layout_version >= 4 && header.event_details == 1;
  return has_details ? header.event_count : header.events;
}

Result<SegmentMap> map_segment(const ByteSource& source) {
  SegmentMap map;
  const HeaderState state = check_header(source, map.header);
  if (state != HeaderState::complete) return explain(state, map.header);

  // Reads the header again, for its counts. A slot beyond these counts was first used after
  // `events_before` was read, so readers miss no slot that was live at that event.
  map.events_before = map.header.events;
  if (!read_value(source, 0, map.header)) return explain(HeaderState::damaged, map.header);

  // Orders the reads of the table and of the slots after the reads of the counts. Pairs with the
  // release stores of `chunk_count` in SegmentWriter::map_chunks(), which follow the stores of the
  // chunks' kinds, and with the release stores of publish().
  std::atomic_thread_fence(std::memory_order_acquire);
  std::array<std::uint8_t, kMaxChunks> kinds{};
  const std::uint32_t chunks = chunks_to_read(source, map.header);
  const auto table = std::as_writable_bytes(std::span(kinds).first(chunks));
  if (source.read_at(kChunkTableOffset, table) != chunks) {
    return explain(HeaderState::damaged, map.header);
  }
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    if (RecordPlaces* array = array_of(map, kinds[chunk])) array->add_chunk(chunk);
  }
  return map;
}

}  // namespace ttmem::segment
