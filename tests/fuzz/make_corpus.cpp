// SPDX-License-Identifier: Apache-2.0
//
// Writes the seed corpus of fuzz_segment: make_corpus DIRECTORY
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "compact_segment.hpp"
#include "support/segment_builder.hpp"

namespace {

using ttmem::CoreMask;
using ttmem::testing::SegmentBuilder;
using Bytes = std::vector<std::byte>;

// Values of the first byte of an input, which are described in fuzz_segment.cpp.
constexpr std::byte kCompact{0};
constexpr std::byte kRaw{1};
constexpr std::byte kRestless{2};
constexpr std::byte kRegion{3};

SegmentBuilder busy_process() {
  SegmentBuilder builder;
  for (std::uint32_t id = 0; id < 3; ++id) {
    auto& device = builder.add_device(id, id == 0 ? 0 : 0x1f000 + id);
    device.figures.kinds[ttmem::Kind::dram].used_bytes = 4096;
    device.cores[3].cb_bytes = 2048;
  }
  for (std::uint8_t kind = 0; kind < 6; ++kind) {
    auto& slot =
        builder.add_allocation(kind % 3u, static_cast<ttmem::Kind>(kind), 1048640, 4096, 1024);
    if (kind % 2 != 0) {
      slot.flags = 0;
      slot.cores = CoreMask::first(8);
    }
  }
  builder.add_allocation(0, ttmem::Kind::l1, 1048640, 4096, 0);
  const auto& program = builder.add_program(
      0, 77, {{105664, 2048}, {107712, 1024, CoreMask::first(8)}, {0, 64, CoreMask::first(2), 1}});
  builder.add_program_like(program, 1, 77);
  builder.add_program(0, 78, {{106000, 2048, CoreMask::first(32)}});
  builder.add_program(2, 79, {}).name = builder.add_name("decoder.0.matmul");
  return builder;
}

Bytes region() {
  Bytes bytes(8576);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  };
  put(0, std::uint32_t{3});
  put(32, std::uint64_t{4476187513037});
  for (std::size_t row = 0; row < 2; ++row) {
    put(856 + row * 120, static_cast<std::int32_t>(23315 + row));
    put(864 + row * 120, std::uint64_t{18087936});
    put(912 + row * 120, std::uint64_t{0x65626f7270});
  }
  return bytes;
}

bool write(const std::filesystem::path& file, std::initializer_list<std::byte> prefix,
           const Bytes& bytes) {
  std::ofstream out(file, std::ios::binary);
  for (const std::byte b : prefix) out.put(static_cast<char>(b));
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return out.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);

  SegmentBuilder with_events;
  with_events.add_device(0, 1);
  with_events.fill_ring(40);
  const Bytes empty = SegmentBuilder().bytes();
  const Bytes busy = ttmem::fuzz::compact(busy_process().bytes());
  const std::byte each_read{1};
  const std::byte third_read{3};
  const std::byte first_slots{10};  // in units of 8 KiB: 80 KiB, the begin of the second chunk
  const bool written =
      write(directory / "empty", {kCompact}, ttmem::fuzz::compact(empty)) &&
      write(directory / "busy", {kCompact}, busy) &&
      write(directory / "events", {kCompact}, ttmem::fuzz::compact(with_events.bytes())) &&
      write(directory / "raw", {kRaw}, empty) &&
      write(directory / "restless", {kRestless, each_read, first_slots, std::byte{2}, std::byte{0}},
            busy) &&
      write(directory / "shrinking",
            {kRestless, third_read, first_slots, std::byte{0xff}, std::byte{0}}, busy) &&
      write(directory / "region", {kRegion}, region());
  if (!written) std::fprintf(stderr, "make_corpus: cannot write to %s\n", argv[1]);
  return written ? 0 : 1;
}
