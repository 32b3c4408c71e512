// SPDX-License-Identifier: Apache-2.0
#include "support/segment_builder.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::testing {

using namespace segment;

namespace {

// A chunk of the file to be built.
struct Chunk {
  ChunkKind kind;
  std::size_t place;  // index among the chunks of its kind
  std::vector<std::byte> bytes;
};

template <typename Record>
void add_chunks(ChunkKind kind, const std::deque<Record>& records, std::vector<Chunk>& chunks) {
  constexpr std::size_t per_chunk = kChunkBytes / sizeof(Record);
  for (std::size_t first = 0; first < records.size(); first += per_chunk) {
    Chunk chunk{kind, first / per_chunk, std::vector<std::byte>(kChunkBytes)};
    const std::size_t count = std::min(per_chunk, records.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(chunk.bytes.data() + i * sizeof(Record), &records[first + i], sizeof(Record));
    }
    chunks.push_back(std::move(chunk));
  }
}

}  // namespace

SegmentBuilder::SegmentBuilder() {
  header_.magic = kMagic;
  header_.layout_version = kLayoutVersion;
  header_.header_bytes = kHeaderBytes;
  header_.chunk_bytes = kChunkBytes;
  header_.device_bytes = sizeof(DeviceRecord);
  header_.allocation_bytes = sizeof(AllocationSlot);
  header_.program_bytes = sizeof(ProgramSlot);
  header_.cb_bytes = sizeof(CbRecord);
  header_.event_bytes = sizeof(EventRecord);
  header_.text_bytes = sizeof(TextRecord);
  header_.device_set_bytes = sizeof(DeviceSetRecord);
  header_.pid = 4711;
  header_.uid = 1000;
  header_.start_time_ticks = 88123;
  set_text(header_.name, "python3");
  set_text(header_.command, "python3 train.py");
}

DeviceRecord& SegmentBuilder::add_device(std::uint32_t id, std::uint64_t uid) {
  DeviceRecord& device = devices_.emplace_back();
  device.seq = 2;
  device.state = static_cast<std::uint32_t>(DeviceState::open);
  device.id = id;
  device.announced = 1;
  device.resident_reported = 1;
  device.programs_reported = 1;
  for (KindFigures& kind : device.figures.kinds) kind.known = kAllFigures;
  device.uid = uid;
  set_text(device.arch, "wormhole_b0");
  set_text(device.board, "n150");
  device.grid_x = 8;
  device.grid_y = 8;
  device.l1_bytes_per_core = 1499136;
  device.l1_base = 105664;
  device.dram_channels = 12;
  device.dram_bytes_per_channel = 1ULL << 30;
  return device;
}

AllocationSlot& SegmentBuilder::add_allocation(std::uint32_t device, Kind kind,
                                               std::uint64_t address, std::uint64_t bytes,
                                               std::uint64_t bytes_per_bank) {
  AllocationSlot& slot = allocations_.emplace_back();
  slot.seq = 2;
  slot.live = 1;
  slot.kind = static_cast<std::uint8_t>(kind);
  slot.flags = static_cast<std::uint8_t>(kNoCores | (bytes_per_bank == 0 ? kPerBankUnknown : 0));
  slot.born = ++header_.events;
  slot.id = slot.born;
  slot.address = address;
  slot.bytes = bytes;
  slot.bytes_per_bank = bytes_per_bank;
  slot.banks = is_in_dram(kind) ? 12 : 64;
  slot.device = device;
  return slot;
}

ProgramSlot& SegmentBuilder::add_program(std::uint32_t device, std::uint64_t program,
                                         const std::vector<CbSpec>& cbs) {
  ProgramSlot& slot = programs_.emplace_back();
  slot.seq = 2;
  slot.live = 1;
  slot.born = ++header_.events;
  slot.program = program;
  slot.device = device;
  slot.first_cb = static_cast<std::uint32_t>(cbs_.size());
  slot.cb_count = static_cast<std::uint32_t>(cbs.size());
  slot.footprint = cbs.empty() ? 0 : 1000 + programs_.size();
  for (const CbSpec& spec : cbs) {
    CbRecord& cb = cbs_.emplace_back();
    cb.footprint = slot.footprint;
    cb.address = spec.address;
    cb.bytes = spec.bytes;
    cb.flags = spec.flags;
    cb.cores = spec.cores;
  }
  return slot;
}

ProgramSlot& SegmentBuilder::add_program_like(const ProgramSlot& other, std::uint32_t device,
                                              std::uint64_t program) {
  ProgramSlot& slot = programs_.emplace_back(other);
  slot.born = ++header_.events;
  slot.program = program;
  slot.device = device;
  return slot;
}

std::uint32_t SegmentBuilder::add_name(std::string_view text) {
  TextRecord& record = texts_.emplace_back();
  set_text(record.text, text);
  record.length = std::min(text.size(), sizeof record.text);
  return static_cast<std::uint32_t>(texts_.size());
}

std::uint32_t SegmentBuilder::add_device_set(const std::vector<std::uint32_t>& devices) {
  DeviceSetRecord& record = device_sets_.emplace_back();
  for (const std::uint32_t device : devices) record.devices.set(device);
  record.count = record.devices.count();
  return static_cast<std::uint32_t>(device_sets_.size());
}

void SegmentBuilder::fill_ring(std::uint64_t newest) {
  constexpr std::uint32_t capacity = kChunkBytes / sizeof(EventRecord);
  events_.resize(capacity);
  header_.event_capacity = capacity;
  header_.events = newest;
  const std::uint64_t oldest = newest > capacity ? newest - capacity + 1 : 1;
  for (std::uint64_t n = oldest; n <= newest; ++n) {
    EventRecord& event = events_[(n - 1) % capacity];
    event.number = n;
    event.when_ns = n * 10;
    event.type = static_cast<std::uint8_t>(EventType::alloc);
    event.id = n;
    event.bytes = 32;
  }
}

std::vector<std::byte> SegmentBuilder::bytes() const {
  std::vector<Chunk> chunks;
  add_chunks(ChunkKind::device, devices_, chunks);
  add_chunks(ChunkKind::allocation, allocations_, chunks);
  add_chunks(ChunkKind::program, programs_, chunks);
  add_chunks(ChunkKind::cb, cbs_, chunks);
  add_chunks(ChunkKind::event, events_, chunks);
  add_chunks(ChunkKind::text, texts_, chunks);
  add_chunks(ChunkKind::device_set, device_sets_, chunks);
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const Chunk& a, const Chunk& b) { return a.place < b.place; });

  Header header = header_;
  if (!keep_counts_) {
    header.chunk_count = static_cast<std::uint32_t>(chunks.size());
    header.device_count = static_cast<std::uint32_t>(devices_.size());
    header.allocation_count = static_cast<std::uint32_t>(allocations_.size());
    header.program_count = static_cast<std::uint32_t>(programs_.size());
    header.cb_count = static_cast<std::uint32_t>(cbs_.size());
    header.text_count = static_cast<std::uint32_t>(texts_.size());
    header.device_set_count = static_cast<std::uint32_t>(device_sets_.size());
  }
  std::vector<std::byte> bytes(kHeaderBytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bytes[kChunkTableOffset + i] = static_cast<std::byte>(chunks[i].kind);
    bytes.insert(bytes.end(), chunks[i].bytes.begin(), chunks[i].bytes.end());
  }
  return bytes;
}

}  // namespace ttmem::testing
