// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/segment_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "base/safe_text.hpp"
#include "segment/reader/segment_map.hpp"
#include "support/segment_builder.hpp"

namespace ttmem::segment {
namespace {

using testing::CbSpec;
using testing::SegmentBuilder;
using testing::set_text;

constexpr Kind kDram = Kind::dram;
constexpr Kind kL1 = Kind::l1;

Result<SegmentImage> read(const std::vector<std::byte>& bytes) {
  return read_segment(MemorySource(bytes));
}

SegmentImage must_read(const std::vector<std::byte>& bytes) {
  Result<SegmentImage> image = read(bytes);
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return {};
  }
  return std::move(*image);
}

HeaderState state_of(const std::vector<std::byte>& bytes) {
  return header_state(MemorySource(bytes));
}

// A source whose bytes change between two reads, as if a writer were active.
class ActiveSource final : public ByteSource {
 public:
  using Writer = std::function<void(std::uint64_t offset, std::vector<std::byte>& bytes)>;
  ActiveSource(std::vector<std::byte> bytes, Writer before_read)
      : bytes_(std::move(bytes)), before_read_(std::move(before_read)) {}

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    before_read_(offset, bytes_);
    return MemorySource(bytes_).read_at(offset, out);
  }
  std::uint64_t size() const override { return bytes_.size(); }

 private:
  mutable std::vector<std::byte> bytes_;
  Writer before_read_;
};

template <typename Record>
Record& at(std::vector<std::byte>& bytes, std::size_t offset) {
  return *reinterpret_cast<Record*>(bytes.data() + offset);
}

SegmentBuilder small_segment() {
  SegmentBuilder builder;
  DeviceRecord& device = builder.add_device(3, 0x1f00a);
  device.figures.kinds[kDram].used_bytes = 1200;
  device.figures.kinds[kDram].peak_bytes = 2400;
  device.figures.kinds[Kind::cb].used_bytes = 640;
  device.cores[9] = {.cb_bytes = 10, .cb_resident_bytes = 5, .cb_end = 106000, .reserved = 0};
  AllocationSlot& slot = builder.add_allocation(0, kDram, 1048640, 1000, 100);
  set_text(slot.label, "weights");
  const ProgramSlot& program = builder.add_program(0, 77, {{105664, 2048}, {107712, 1024}});
  builder.add_program_like(program, 0, 78);
  return builder;
}

TEST(SegmentReader, ReadsHeaderDevicesAllocationsAndPrograms) {
  const SegmentImage image = must_read(small_segment().bytes());
  EXPECT_EQ(image.pid, 4711);
  EXPECT_EQ(image.name, "python3");
  EXPECT_EQ(image.command, "python3 train.py");
  ASSERT_EQ(image.devices.size(), 1u);
  const DeviceImage& device = image.devices[0];
  EXPECT_TRUE(device.coherent);
  EXPECT_EQ(device.id, 3u);
  EXPECT_EQ(device.uid, 0x1f00au);
  EXPECT_EQ(device.arch, "wormhole_b0");
  EXPECT_EQ(device.kinds[kDram].peak_bytes, 2400u);
  EXPECT_EQ(device.kinds[Kind::cb].used_bytes, 640u);
  ASSERT_EQ(device.cores.size(), 64u);
  EXPECT_EQ(device.cores[9].cb_end, 106000u);
  ASSERT_EQ(image.allocations.size(), 1u);
  EXPECT_EQ(image.allocations[0].address, 1048640u);
  EXPECT_EQ(image.allocations[0].bytes_per_bank, 100u);
  EXPECT_EQ(image.allocations[0].label, "weights");
  EXPECT_FALSE(image.allocations[0].cores.has_value());
  ASSERT_EQ(image.programs.size(), 2u);
  ASSERT_EQ(image.footprints.size(), 1u) << "both programs have the same CBs";
  EXPECT_EQ(image.footprints[image.programs[1].footprint][1].address, 107712u);
  EXPECT_EQ(image.invalid_records, 0u);
}

TEST(SegmentReader, ReadsTheNamesOfProgramsAndMakesThemPrintable) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  const std::uint32_t matmul = builder.add_name("decoder.0.matmul");
  const std::uint32_t evil = builder.add_name("a\x1b[31m");
  const std::uint32_t full = builder.add_name(std::string(200, 'x'));
  for (const std::uint32_t name : {matmul, matmul, evil, full, std::uint32_t{0}}) {
    builder.add_program(0, 1, {{.address = 105664, .bytes = 2048}}).name = name;
  }
  const auto image = read(builder.bytes());
  ASSERT_TRUE(image);
  std::vector<std::string> names;
  for (const LiveProgram& program : image->programs) names.push_back(program.name);
  EXPECT_EQ(names, (std::vector<std::string>{"decoder.0.matmul", "decoder.0.matmul", "a?[31m",
                                             std::string(120, 'x'), ""}));
}

TEST(SegmentReader, AProgramWithATornOrMissingTextHasNoName) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  const std::uint32_t incomplete = builder.add_name("never finished");
  builder.text(0).length = 0;
  const std::uint32_t absurd = builder.add_name("absurd");
  builder.text(1).length = 121;
  for (const std::uint32_t name : {incomplete, absurd, std::uint32_t{3}, ~std::uint32_t{0}}) {
    builder.add_program(0, 1, {}).name = name;
  }
  const auto image = read(builder.bytes());
  ASSERT_TRUE(image);
  ASSERT_EQ(image->programs.size(), 4u);
  for (const LiveProgram& program : image->programs) EXPECT_EQ(program.name, "");
}

TEST(SegmentReader, AFileWithoutMagicIsNotASegmentYet) {
  SegmentBuilder builder = small_segment();
  builder.header().magic = 0;
  EXPECT_EQ(state_of(builder.bytes()), HeaderState::incomplete);
  EXPECT_EQ(state_of({}), HeaderState::incomplete);
  const auto image = read(builder.bytes());
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("not a segment yet"), std::string::npos);
}

TEST(SegmentReader, AnotherLayoutVersionIsAnErrorWithTheNextStep) {
  SegmentBuilder builder = small_segment();
  builder.header().layout_version = 7;
  EXPECT_EQ(state_of(builder.bytes()), HeaderState::other_version);
  const auto image = read(builder.bytes());
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("another version of libttmem (layout 7"), std::string::npos);
  EXPECT_NE(image.error().message.find("use the ttmem"), std::string::npos);
}

TEST(SegmentReader, TheLayoutWithoutDeviceSetsIsStillRead) {
  SegmentBuilder builder = small_segment();
  const std::size_t allocations = read(builder.bytes())->allocations.size();
  builder.header().layout_version = 1;
  builder.header().device_set_bytes = 0;
  const auto image = read(builder.bytes());
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->allocations.size(), allocations);
  EXPECT_EQ(image->invalid_records, 0U);
}

TEST(SegmentReader, ABufferOnASetOfDevicesIsOneAllocationOnTheOpenDevices) {
  SegmentBuilder builder;
  for (std::uint32_t id = 0; id < 4; ++id) builder.add_device(10 + id, 0);
  builder.device(1).state = static_cast<std::uint32_t>(DeviceState::closed);
  const std::uint32_t set = builder.add_device_set({0, 1, 3});
  AllocationSlot& slot = builder.add_allocation(set, Kind::l1, 1 << 20, 6400, 100);
  slot.flags |= kOnSet;
  const auto image = read(builder.bytes());
  ASSERT_TRUE(image) << image.error().message;
  ASSERT_EQ(image->allocations.size(), 1U);
  EXPECT_EQ(image->allocations[0].devices, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(image->devices[2].id, 13U);
}

TEST(SegmentReader, AContradictorySetIsInvalidAndAFutureSetIsSkipped) {
  const auto read_with = [](const auto& change) {
    SegmentBuilder builder;
    builder.add_device(0, 0);
    builder.add_device(1, 0);
    const std::uint32_t set = builder.add_device_set({0, 1});
    AllocationSlot& slot = builder.add_allocation(set, Kind::dram, 4096, 1200, 100);
    slot.flags |= kOnSet;
    change(builder, slot);
    auto image = read(builder.bytes());
    EXPECT_TRUE(image);
    EXPECT_TRUE(image->allocations.empty());
    return image->invalid_records;
  };
  using Builder = SegmentBuilder;
  EXPECT_EQ(read_with([](Builder& b, auto&) { b.device_set(0).count = 0; }), 1U);
  EXPECT_EQ(read_with([](Builder& b, auto&) { b.device_set(0).count = 3; }), 1U);
  EXPECT_EQ(read_with([](Builder&, auto& slot) { slot.device = 0; }), 1U);
  // The segment has only set 1, so set 2 is an error.
  EXPECT_EQ(read_with([](Builder&, auto& slot) { slot.device = 2; }), 1U);
  // The writer may have added set 5000 after the reader read the sets, so set 5000 is no error.
  EXPECT_EQ(read_with([](Builder&, auto& slot) { slot.device = 5000; }), 0U);
}

TEST(SegmentReader, AnotherMagicIsForeignAndAWrongRecordSizeIsDamage) {
  SegmentBuilder foreign = small_segment();
  foreign.header().magic = 0x1234;
  EXPECT_EQ(state_of(foreign.bytes()), HeaderState::foreign);
  EXPECT_FALSE(read(foreign.bytes()));
  for (std::uint32_t Header::*size :
       {&Header::header_bytes, &Header::chunk_bytes, &Header::device_bytes,
        &Header::allocation_bytes, &Header::program_bytes, &Header::cb_bytes, &Header::event_bytes,
        &Header::text_bytes}) {
    SegmentBuilder builder = small_segment();
    builder.header().*size += 1;
    EXPECT_EQ(state_of(builder.bytes()), HeaderState::damaged);
    EXPECT_FALSE(read(builder.bytes()));
  }
}

TEST(SegmentReader, ATruncatedFileIsAnErrorOrHoldsOnlyWholeChunks) {
  const std::vector<std::byte> whole = small_segment().bytes();
  for (std::size_t length = 1; length < whole.size(); length *= 2) {
    for (const std::size_t size : {length - 1, length, length + 1}) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
      const auto image = read(cut);
      EXPECT_EQ(image.has_value(), size >= kHeaderBytes) << size;
      if (!image) continue;
      EXPECT_EQ(image->devices.size(), size >= kHeaderBytes + kChunkBytes ? 1u : 0u) << size;
    }
  }
}

TEST(SegmentReader, AFileThatShrinksAtAnyReadEndsInAnErrorOrASmallerImage) {
  const std::vector<std::byte> whole = small_segment().bytes();
  int reads = 0;
  const ActiveSource counting(whole, [&](std::uint64_t, auto&) { ++reads; });
  ASSERT_TRUE(read_segment(counting));
  int errors = 0;
  for (int cut_at = 0; cut_at < reads; ++cut_at) {
    int read = 0;
    const ActiveSource source(whole, [&](std::uint64_t, std::vector<std::byte>& bytes) {
      if (read++ == cut_at) bytes.resize(100);
    });
    if (!read_segment(source)) ++errors;
  }
  EXPECT_EQ(errors, reads);
}

TEST(SegmentReader, AbsurdCountsAreBoundedByTheChunksOfTheFile) {
  SegmentBuilder builder = small_segment();
  Header& header = builder.header();
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  builder.keep_counts();
  header.chunk_count = header.device_count = header.allocation_count = header.program_count =
      header.cb_count = header.event_capacity = most;
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_EQ(image.devices.size(), 1u);
  EXPECT_EQ(image.allocations.size(), 1u);
  EXPECT_EQ(image.programs.size(), 2u);
}

TEST(SegmentReader, ChunksOfUnknownKindAreSkipped) {
  std::vector<std::byte> bytes = small_segment().bytes();
  bytes[kChunkTableOffset + 1] = std::byte{200};  // changes the kind of the chunk of allocations
  const SegmentImage image = must_read(bytes);
  EXPECT_EQ(image.devices.size(), 1u);
  EXPECT_TRUE(image.allocations.empty());
}

TEST(SegmentReader, TheChunksOfOneKindAreOneArrayInTheOrderOfTheFile) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  for (std::uint64_t i = 0; i < 1300; ++i) builder.add_allocation(0, kDram, i * 64, 64, 64);
  for (std::uint64_t i = 0; i < 1300; ++i) builder.add_program(0, i, {{105664, 32}});
  const SegmentImage image = must_read(builder.bytes());
  ASSERT_EQ(image.allocations.size(), 1300u);
  for (std::uint64_t i = 0; i < 1300; ++i) ASSERT_EQ(image.allocations[i].address, i * 64);
  ASSERT_EQ(image.programs.size(), 1300u);
  EXPECT_EQ(image.programs[1299].program, 1299u);
}

TEST(SegmentReader, ASlotWhoseWriterDiedInsideIsNotListed) {
  SegmentBuilder builder = small_segment();
  builder.add_allocation(0, kDram, 4096, 64, 64).seq = 3;
  EXPECT_EQ(must_read(builder.bytes()).allocations.size(), 1u);
}

TEST(SegmentReader, ADeviceWhoseWriterDiedInsideIsListedAsIncoherent) {
  SegmentBuilder builder = small_segment();
  builder.device(0).seq = 5;
  const SegmentImage image = must_read(builder.bytes());
  ASSERT_EQ(image.devices.size(), 1u);
  EXPECT_FALSE(image.devices[0].coherent);
  EXPECT_TRUE(image.devices[0].cores_coherent);
  EXPECT_EQ(image.devices[0].kinds[kDram].used_bytes, 1200u);
}

TEST(SegmentReader, AbsurdFiguresOfAnIncoherentDeviceDoNotWrapAround) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  SegmentBuilder builder = small_segment();
  builder.device(0).seq = 5;
  builder.device(0).figures.kinds[kL1].used_bytes = most;
  EXPECT_EQ(must_read(builder.bytes()).devices.at(0).l1_total_bytes, most);
}

TEST(SegmentReader, AClosedDeviceShowsOnlyItsLeftovers) {
  SegmentBuilder builder = small_segment();
  for (const std::uint64_t left : {0U, 3U}) {
    DeviceRecord& closed = builder.add_device(7, 0x7);
    closed.state = static_cast<std::uint32_t>(DeviceState::closed);
    closed.figures.anomalies.left_at_close = left;
    closed.figures.anomalies.left_at_close_bytes = left * 1000;
  }
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_EQ(image.devices.size(), 1u);
  ASSERT_EQ(image.left_at_close.size(), 1u);
  EXPECT_EQ(image.left_at_close[0].device_id, 7u);
  EXPECT_EQ(image.left_at_close[0].allocations, 3u);
  EXPECT_EQ(image.left_at_close[0].bytes, 3000u);
}

// Offsets of the first records in small_segment(). The file has the header, then one chunk each for
// devices, allocations, programs and CBs.
constexpr std::size_t kDeviceAt = kHeaderBytes;
constexpr std::size_t kAllocationAt = kHeaderBytes + kChunkBytes;
constexpr std::size_t kCbAt = kHeaderBytes + 3 * kChunkBytes;

TEST(SegmentReader, ASlotThatChangesWhileItIsCopiedIsReadAgain) {
  int reads_of_slots = 0;
  const ActiveSource source(small_segment().bytes(), [&](std::uint64_t offset, auto& bytes) {
    if (offset != kAllocationAt || ++reads_of_slots != 2) return;
    auto& slot = at<AllocationSlot>(bytes, kAllocationAt);
    slot.seq += 2;
    slot.address = 8192;
  });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  ASSERT_EQ(image->allocations.size(), 1u);
  EXPECT_EQ(image->allocations[0].address, 8192u);
  EXPECT_GT(reads_of_slots, 3);
}

// If a value changes and then changes back, two copies of a torn slot can have the same bytes.
TEST(SegmentReader, AWriteBetweenEqualCopiesIsNoticed) {
  int reads_of_slots = 0;
  const ActiveSource source(small_segment().bytes(), [&](std::uint64_t offset, auto& bytes) {
    if (offset != kAllocationAt) return;
    ++reads_of_slots;
    auto& slot = at<AllocationSlot>(bytes, kAllocationAt);
    // Two copies get the same body, but from two different writes.
    slot.address = 8192;
    slot.seq += 2;
  });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->allocations.empty());
  EXPECT_GT(reads_of_slots, 3);
}

TEST(SegmentReader, ADeviceUnderConstantWritingKeepsIndividuallyCorrectFigures) {
  const ActiveSource source(small_segment().bytes(), [&](std::uint64_t offset, auto& bytes) {
    if (offset != kDeviceAt) return;
    auto& device = at<DeviceRecord>(bytes, kDeviceAt);
    device.seq += 2;
    device.figures.kinds[kDram].used_bytes += 32;
    device.figures.kinds[kDram].peak_bytes = 0;
  });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  ASSERT_EQ(image->devices.size(), 1u);
  EXPECT_FALSE(image->devices[0].coherent);
  EXPECT_EQ((image->devices[0].kinds[kDram].used_bytes - 1200) % 32, 0u);
  EXPECT_EQ(image->devices[0].id, 3u);
  EXPECT_EQ(image->allocations.size(), 1u) << "the slots are not touched";
}

TEST(SegmentReader, OnlySlotsFromBeforeThePassAreListed) {
  SegmentBuilder builder = small_segment();
  builder.allocation(0).born = builder.header().events + 1;
  EXPECT_TRUE(must_read(builder.bytes()).allocations.empty());
}

TEST(SegmentReader, AnAllocationMadeDuringThePassIsNotListed) {
  SegmentBuilder builder = small_segment();
  builder.add_allocation(0, kDram, 4096, 64, 64).live = 0;
  int reads = 0;
  const ActiveSource source(builder.bytes(), [&](std::uint64_t, std::vector<std::byte>& bytes) {
    if (++reads != 2) return;
    auto& header = at<Header>(bytes, 0);
    auto& slot = at<AllocationSlot>(bytes, kAllocationAt + sizeof(AllocationSlot));
    slot.live = 1;
    slot.seq += 2;
    slot.born = ++header.events;
  });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->allocations.size(), 1u);
}

TEST(SegmentReader, ContradictorySlotsAreCountedAndLeftOut) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const auto invalid_with = [](const std::function<void(AllocationSlot&)>& change) {
    SegmentBuilder builder = small_segment();
    change(builder.allocation(0));
    const SegmentImage image = must_read(builder.bytes());
    EXPECT_EQ(image.allocations.empty(), image.invalid_records == 1);
    return image.invalid_records == 1;
  };
  EXPECT_FALSE(invalid_with([](AllocationSlot&) {}));
  EXPECT_TRUE(invalid_with([](AllocationSlot& slot) { slot.kind = kKinds; }));
  EXPECT_TRUE(invalid_with([](AllocationSlot& slot) { slot.kind = 5, slot.role = 3; }));
  EXPECT_TRUE(invalid_with([&](AllocationSlot& slot) { slot.address = most - 10; }));
  EXPECT_TRUE(invalid_with([&](AllocationSlot& slot) { slot.bytes_per_bank = most / 2; }));
  EXPECT_TRUE(invalid_with([](AllocationSlot& slot) {
    slot.kind = static_cast<std::uint8_t>(kL1);
    slot.flags = 0;
    slot.cores.set(64);  // too large, because the grid has the cores 0 to 63
  }));
}

TEST(SegmentReader, SlotsOfDevicesThatAreNotOpenAreLeftOut) {
  SegmentBuilder builder = small_segment();
  builder.add_allocation(1, kDram, 0, 64, 64);
  builder.add_allocation(0xffffffff, kDram, 0, 64, 64);
  EXPECT_EQ(must_read(builder.bytes()).allocations.size(), 1u);
  builder.device(0).state = static_cast<std::uint32_t>(DeviceState::closed);
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_TRUE(image.devices.empty());
  EXPECT_TRUE(image.allocations.empty());
  EXPECT_TRUE(image.programs.empty());
}

TEST(SegmentReader, ADeviceWithTooManyCoresIsInvalid) {
  SegmentBuilder builder = small_segment();
  builder.device(0).grid_x = 17;
  builder.device(0).grid_y = 16;
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_TRUE(image.devices.empty());
  EXPECT_EQ(image.invalid_records, 1u);
}

TEST(SegmentReader, NoPeakIsBelowItsCurrentFigure) {
  SegmentBuilder builder = small_segment();
  builder.device(0).figures.kinds[kDram].peak_bytes = 7;
  builder.device(0).figures.kinds[Kind::cb].peak_bytes = 7;
  builder.device(0).figures.l1_total_bytes = 9;
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_EQ(image.devices[0].kinds[kDram].peak_bytes, 1200u);
  EXPECT_EQ(image.devices[0].kinds[Kind::cb].peak_bytes, 640u);
  EXPECT_EQ(image.devices[0].l1_total_peak_bytes, 9u);
}

TEST(SegmentReader, AProgramWhoseCbsHaveAnotherFootprintByNowIsGone) {
  SegmentBuilder builder = small_segment();
  builder.add_program(0, 79, {{105664, 32}});
  builder.cb(0).footprint = 999;
  const SegmentImage image = must_read(builder.bytes());
  ASSERT_EQ(image.programs.size(), 1u);
  EXPECT_EQ(image.programs[0].program, 79u);
  EXPECT_EQ(image.invalid_records, 0u);
}

TEST(SegmentReader, AProgramWhoseCbsAreReusedDuringTheCopyIsGone) {
  int reads_of_cbs = 0;
  const ActiveSource source(small_segment().bytes(), [&](std::uint64_t offset, auto& bytes) {
    if (offset == kCbAt && ++reads_of_cbs == 3) at<CbRecord>(bytes, kCbAt).footprint = 0;
  });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  EXPECT_EQ(reads_of_cbs, 3);
  EXPECT_TRUE(image->programs.empty());
}

TEST(SegmentReader, AProgramWithoutCbsIsListed) {
  SegmentBuilder builder = small_segment();
  builder.add_program(0, 80, {});
  const SegmentImage image = must_read(builder.bytes());
  ASSERT_EQ(image.programs.size(), 3u);
  EXPECT_TRUE(image.footprints[image.programs[2].footprint].empty());
}

TEST(SegmentReader, ProgramsThatNameImpossibleCbsAreCountedAndLeftOut) {
  const auto invalid_with = [](const std::function<void(ProgramSlot&)>& change) {
    SegmentBuilder builder;
    builder.add_device(0, 1);
    change(builder.add_program(0, 1, {{105664, 32}}));
    const SegmentImage image = must_read(builder.bytes());
    EXPECT_EQ(image.programs.empty(), image.invalid_records == 1);
    return image.invalid_records == 1;
  };
  EXPECT_FALSE(invalid_with([](ProgramSlot&) {}));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.first_cb = 0xffffffff; }));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.cb_count = 0xffffffff; }));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.cb_count = 2; }));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.first_cb = 1023, slot.cb_count = 2; }));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.cb_count = 0; }));
  EXPECT_TRUE(invalid_with([](ProgramSlot& slot) { slot.footprint = 0; }));
}

// If a footprint number could name several ranges of CBs, a small file could make the reader copy
// the same CBs a million times.
TEST(SegmentReader, AFootprintNumberNamesOneRangeOfCbs) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  const ProgramSlot& program = builder.add_program(0, 1, {{105664, 32}, {105696, 32}});
  builder.add_program_like(program, 0, 2).cb_count = 1;
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_EQ(image.footprints.size(), 1u);
  EXPECT_EQ(image.programs.size(), 1u);
  EXPECT_EQ(image.invalid_records, 1u);
}

TEST(SegmentReader, AProgramOnCoresOutsideTheGridIsInvalid) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  builder.add_program(0, 1, {{105664, 32, CoreMask::first(65)}});
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_TRUE(image.programs.empty());
  EXPECT_EQ(image.invalid_records, 1u);
}

TEST(SegmentReader, ManyTornSlotsDoNotDelayTheReader) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  for (std::uint64_t i = 0; i < 5000; ++i) builder.add_allocation(0, kDram, i, 1, 1).seq = 1;
  std::uint64_t reads = 0;
  const ActiveSource source(builder.bytes(), [&](std::uint64_t, auto&) { ++reads; });
  const auto image = read_segment(source);
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->allocations.empty());
  EXPECT_LT(reads, 1000u);
}

TEST(SafeText, KeepsUtf8AndReplacesTerminalControlCharacters) {
  EXPECT_EQ(safe_text("träning ✓ 🚀"), "träning ✓ 🚀");
  EXPECT_EQ(safe_text(std::string_view("abc\0def", 7)), "abc");
  EXPECT_EQ(safe_text("a\x1b[2Jb\n\x7f"), "a?[2Jb??");
  EXPECT_EQ(safe_text("\xc2\x9b"), "?") << "CSI as one character";
  EXPECT_EQ(safe_text("x\xe2\x80\xaey"), "x?y") << "right-to-left override";
}

TEST(SafeText, ReplacesEveryByteThatIsNotUtf8) {
  EXPECT_EQ(safe_text("\xff\xc0\xaf"), "???") << "never valid; overlong slash";
  EXPECT_EQ(safe_text("cut \xe2\x9c"), "cut ??") << "cut in the middle of a character";
  EXPECT_EQ(safe_text("\xed\xa0\x80"), "???") << "half of a surrogate pair";
  EXPECT_EQ(safe_text("\xf4\x90\x80\x80"), "????") << "beyond Unicode";
}

TEST(SegmentReader, NamesAreSafeToPrint) {
  SegmentBuilder builder = small_segment();
  set_text(builder.header().name, std::string(32, 'n'));
  set_text(builder.header().command, "a\x1b]0;b");
  set_text(builder.device(0).arch, "\xff");
  set_text(builder.allocation(0).label, "a\nb");
  const SegmentImage image = must_read(builder.bytes());
  EXPECT_EQ(image.name, std::string(32, 'n')) << "not terminated when full";
  EXPECT_EQ(image.command, "a?]0;b");
  EXPECT_EQ(image.devices[0].arch, "?");
  EXPECT_EQ(image.allocations[0].label, "a?b");
}

}  // namespace
}  // namespace ttmem::segment
