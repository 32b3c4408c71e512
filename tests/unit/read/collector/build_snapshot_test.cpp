// SPDX-License-Identifier: Apache-2.0
#include "read/collector/build_snapshot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "evidence_fixtures.hpp"

namespace ttmem::collector {
namespace {

using model::Snapshot;
using model::State;
using segment::DeviceRecord;
using testing::SegmentBuilder;
using testing::set_text;

using fixtures::evidence;
using fixtures::kDram;
using fixtures::kKernel;
using fixtures::kL1;
using fixtures::mentions;
using fixtures::process;
using fixtures::region;
using fixtures::snapshot_of;

TEST(BuildSnapshot, UnreportedResidentCbsAreUnknownUnlessThereAreNoCbs) {
  SegmentBuilder tells = process(0xa, 1000, 2000);
  tells.device(0).figures.cb_resident_bytes = 30;
  SegmentBuilder silent = process(0xa, 1000, 2000);
  silent.device(0).resident_reported = 0;
  const Snapshot unknown = snapshot_of({evidence(tells, 10), evidence(silent, 11)});
  EXPECT_EQ(unknown.devices.at(0).cb_resident_bytes, std::nullopt);
  EXPECT_EQ(unknown.devices.at(0).used(Kind::cb), 100u);
  EXPECT_EQ(unknown.devices.at(0).cores.at(0).cb_resident_bytes, std::nullopt);
  EXPECT_EQ(unknown.devices.at(0).cores.at(0).cb_bytes, 0u);
  silent.device(0).figures.kinds[Kind::cb].set(&KindFigures::used_bytes, 0);
  const Snapshot known = snapshot_of({evidence(tells, 10), evidence(silent, 11)});
  EXPECT_EQ(known.devices.at(0).cb_resident_bytes, 30u);
}

TEST(BuildSnapshot, OneProcessGivesItsOwnFigures) {
  SegmentBuilder builder = process(0xa, 1000, 2000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  const model::Device& device = snapshot.devices[0];
  EXPECT_EQ(device.uid, 0xau);
  EXPECT_EQ(device.used(Kind::dram), 1000u);
  EXPECT_EQ(device.peak(Kind::dram), 2000u);
  EXPECT_EQ(device.dram_capacity_bytes, 12ULL << 30);
  EXPECT_EQ(device.l1_capacity_bytes, 64u * 1499136u);
  EXPECT_EQ(device.l1_used_bytes, 157u);
  EXPECT_EQ(device.physical(Kind::l1), 100u);
  EXPECT_EQ(device.logical(Kind::l1), 90u);
  EXPECT_EQ(device.kernels_persistent_bytes, 6u);
  EXPECT_EQ(device.cores.size(), 64u);
  EXPECT_EQ(device.headroom_bytes_per_core, 1499136 - 105664);
  EXPECT_FALSE(device.trace_capacity_bytes.has_value()) << "not announced";
  ASSERT_EQ(device.processes.size(), 1u);
  EXPECT_EQ(live_allocations(device.processes[0].kinds), 4u);
  EXPECT_EQ(device.processes[0].user, "alice");
}

// The snapshot sorts chips by their numbers, whatever their order in the segment.
TEST(BuildSnapshot, ABufferOfAMeshIsListedOnceAndEndsTheHeadroomOfEachOfItsDevices) {
  SegmentBuilder builder;
  for (const std::uint32_t id : {7U, 3U, 5U}) builder.add_device(id, 0x100 + id);
  const std::uint32_t set = builder.add_device_set({0, 1});
  segment::AllocationSlot& slot = builder.add_allocation(set, Kind::l1, 974336, 6400, 100);
  slot.flags |= segment::kOnSet;
  const Snapshot snapshot = snapshot_of({evidence(builder, 7)});
  ASSERT_EQ(snapshot.allocations.size(), 1U);
  EXPECT_EQ(snapshot.allocations[0].devices, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(snapshot.allocations[0].device, 0U);
  EXPECT_EQ(snapshot.devices[0].headroom_bytes_per_core, 974336 - 105664);
  EXPECT_EQ(snapshot.devices[2].headroom_bytes_per_core, 974336 - 105664);
  EXPECT_EQ(snapshot.devices[1].headroom_bytes_per_core, 1499136 - 105664);
  EXPECT_EQ(snapshot.devices[0].cores[9].l1_bytes, 100U);
}

TEST(BuildSnapshot, ProcessesOfTwoContainersWithTheSamePidAreTwo) {
  SegmentBuilder a = process(0xa, 1000, 5000);
  SegmentBuilder b = process(0xa, 2000, 2500);
  b.add_allocation(0, kDram, 0, 64, 64);
  SegmentEvidence one = evidence(a, 7);
  SegmentEvidence two = evidence(b, 7);
  one.origin.file_number = 100;
  two.origin.file_number = 200;
  one.foreign_pid = two.foreign_pid = true;
  one.host_pid = 81234;
  const Snapshot snapshot = snapshot_of({one, two});
  ASSERT_EQ(snapshot.devices.at(0).processes.size(), 2u);
  EXPECT_EQ(snapshot.devices[0].processes[0].segment, 200u);
  EXPECT_EQ(snapshot.devices[0].processes[0].host_pid, std::nullopt);
  EXPECT_EQ(snapshot.devices[0].processes[1].host_pid, 81234);
  EXPECT_EQ(snapshot.allocations.at(0).segment, 200u);
}

TEST(BuildSnapshot, ARowOfAProcessInAContainerIsItsSegmentIfTheNameIsTheSame) {
  SegmentBuilder builder = process(0xa, 1000, 5000);
  set_text(builder.header().name, "probe");
  SegmentEvidence container = evidence(builder, 7);
  container.foreign_pid = true;
  EXPECT_EQ(snapshot_of({container}, {region(0xa, 7, State::dead)}).devices.at(0).processes.size(),
            1u);
  set_text(builder.header().name, "another");
  SegmentEvidence other = evidence(builder, 7);
  other.foreign_pid = true;
  EXPECT_EQ(snapshot_of({other}, {region(0xa, 7, State::alive)}).devices.at(0).processes.size(),
            2u);
}

TEST(BuildSnapshot, AKindIsUnknownUntilAProcessReportsIt) {
  SegmentBuilder a = process(0xa, 1000, 1000);
  SegmentBuilder b = process(0xa, 2000, 2000);
  for (const Kind kind : {kL1, Kind::trace}) {
    a.device(0).figures.kinds[kind].known = 0;
    b.device(0).figures.kinds[kind].known = 0;
  }
  b.device(0).figures.kinds[kDram].known = 0;
  const model::Device device = snapshot_of({evidence(a, 10), evidence(b, 11)}).devices.at(0);
  EXPECT_EQ(device.used(kDram), 1000u) << "of the one who reports it";
  EXPECT_FALSE(device.used(Kind::trace).has_value());
  EXPECT_FALSE(device.used(kL1).has_value());
  EXPECT_EQ(device.used(Kind::l1_small), 0u) << "reported, and so measured";
  EXPECT_FALSE(device.l1_used_bytes.has_value()) << "Total L1 needs L1 buffers";
  EXPECT_FALSE(device.l1_peak_bytes.has_value());
  EXPECT_FALSE(device.cores.at(0).l1_bytes.has_value());
  EXPECT_EQ(device.cores.at(0).cb_bytes, 0u);
  EXPECT_FALSE(device.headroom_bytes_per_core.has_value());
}

TEST(BuildSnapshot, SumsOverLivingProcessesAndTakesTheLargestCertainPeak) {
  SegmentBuilder a = process(0xa, 1000, 5000);
  SegmentBuilder b = process(0xa, 2000, 2500);
  const Snapshot snapshot = snapshot_of({evidence(a, 10), evidence(b, 11)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 3000u);
  EXPECT_EQ(snapshot.devices[0].peak(Kind::dram), 5000u);
  EXPECT_EQ(snapshot.devices[0].peak(Kind::cb), 100u) << "what both hold now";
  EXPECT_EQ(snapshot.devices[0].programs, 4u);
  EXPECT_EQ(snapshot.devices[0].processes[0].pid, 11) << "who holds most comes first";
}

TEST(BuildSnapshot, ADeadOwnerIsListedAndNotCounted) {
  SegmentBuilder a = process(0xa, 1000, 1000);
  SegmentBuilder b = process(0xa, 9000, 9000);
  b.add_allocation(0, kDram, 0, 64, 64);
  const Snapshot snapshot = snapshot_of({evidence(b, 11, State::dead), evidence(a, 10)});
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u);
  EXPECT_EQ(snapshot.devices[0].peak(Kind::dram), 1000u);
  ASSERT_EQ(snapshot.devices[0].processes.size(), 2u);
  EXPECT_EQ(snapshot.devices[0].processes[0].pid, 10) << "the living first";
  EXPECT_EQ(snapshot.devices[0].processes[1].used(Kind::dram), 9000u);
  ASSERT_EQ(snapshot.allocations.size(), 1u);
  EXPECT_EQ(snapshot.allocations[0].state, State::dead);
}

TEST(BuildSnapshot, ADeviceThatOnlyDeadProcessesHeldIsUnknown) {
  SegmentBuilder builder = process(0xa, 1000, 1000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 10, State::dead)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  for (const Kind kind : kAllKinds) EXPECT_FALSE(snapshot.devices[0].used(kind).has_value());
  EXPECT_FALSE(snapshot.devices[0].l1_used_bytes.has_value());
  EXPECT_FALSE(snapshot.devices[0].cb_resident_bytes.has_value());
  EXPECT_FALSE(snapshot.devices[0].programs.has_value());
  EXPECT_FALSE(snapshot.devices[0].anomalies.has_value());
  EXPECT_EQ(snapshot.devices[0].dram_capacity_bytes, 12ULL << 30);
  EXPECT_FALSE(snapshot.devices[0].peak(Kind::dram).has_value());
}

TEST(BuildSnapshot, ASegmentWithACleanEndIsLeftOut) {
  SegmentBuilder builder = process(0xa, 1000, 1000);
  builder.header().exit_state = 1;
  EXPECT_TRUE(snapshot_of({evidence(builder, 10, State::dead)}).devices.empty());
  EXPECT_EQ(snapshot_of({evidence(builder, 10, State::alive)}).devices.size(), 1u);
}

TEST(BuildSnapshot, DevicesAreMatchedByUidOrElseByIdAndArchitecture) {
  SegmentBuilder a;
  a.add_device(0, 0xa);
  a.add_device(1, 0);
  a.add_device(2, 0);
  SegmentBuilder b;
  b.add_device(5, 0xa);  // same chip as device 0 of `a`, with another number
  b.add_device(1, 0);
  set_text(b.add_device(2, 0).arch, "blackhole");
  const Snapshot snapshot = snapshot_of({evidence(a, 10), evidence(b, 11)});
  ASSERT_EQ(snapshot.devices.size(), 4u);
  EXPECT_EQ(snapshot.devices[0].processes.size(), 2u);
  EXPECT_EQ(snapshot.devices[1].processes.size(), 2u);
  EXPECT_EQ(snapshot.devices[2].processes.size(), 1u);
  EXPECT_EQ(snapshot.devices[3].processes.size(), 1u);
}

TEST(BuildSnapshot, AChipKeepsEveryNumberThatProcessesGiveIt) {
  SegmentBuilder a;
  a.add_device(0, 0xa);
  SegmentBuilder b;
  b.add_device(5, 0xa);
  b.add_device(0, 0xb);
  b.add_device(7, 0xc);
  const Snapshot snapshot = snapshot_of({evidence(a, 10), evidence(b, 11)});
  ASSERT_EQ(snapshot.devices.size(), 3u);
  EXPECT_EQ(snapshot.devices[0].ids, (std::vector<std::uint32_t>{0, 5}));
  EXPECT_TRUE(snapshot.devices[0].shares_number) << "both are called 0";
  EXPECT_TRUE(snapshot.devices[1].shares_number);
  EXPECT_FALSE(snapshot.devices[2].shares_number);
}

TEST(BuildSnapshot, AProcessWithoutUidsHasTheOnlyChipOfItsNumber) {
  SegmentBuilder a;
  a.add_device(0, 0xa);
  a.add_device(1, 0xb);
  SegmentBuilder other;
  other.add_device(1, 0xc);
  SegmentBuilder unnamed;
  for (const std::uint32_t id : {0U, 1U, 2U}) set_text(unnamed.add_device(id, 0).arch, "");
  const Snapshot snapshot =
      snapshot_of({evidence(a, 30), evidence(other, 20), evidence(unnamed, 10)});
  ASSERT_EQ(snapshot.devices.size(), 5u);
  ASSERT_EQ(snapshot.devices[0].processes.size(), 2u) << "the only chip that is called 0";
  for (const model::Process& process : snapshot.devices[0].processes) {
    EXPECT_EQ(process.supposed_device, process.pid == 10);
  }
  for (std::size_t i = 1; i < 5; ++i) {
    ASSERT_EQ(snapshot.devices[i].processes.size(), 1u);
    EXPECT_FALSE(snapshot.devices[i].processes[0].supposed_device);
  }
}

TEST(BuildSnapshot, ListsPointAtTheSortedDevices) {
  SegmentBuilder builder;
  builder.add_device(9, 1);
  builder.add_device(4, 2);
  builder.add_allocation(0, kDram, 0, 64, 64);
  builder.add_program(1, 77, {{105664, 32}});
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  EXPECT_EQ(snapshot.devices.at(snapshot.allocations.at(0).device).id, 9u);
  EXPECT_EQ(snapshot.devices.at(snapshot.programs.at(0).device).id, 4u);
}

TEST(BuildSnapshot, UnknownCapacitiesAndSizesStayUnknown) {
  SegmentBuilder builder = process(0xa, 1, 1);
  builder.device(0).dram_channels = 0;
  builder.device(0).l1_bytes_per_core = 0;
  builder.device(0).figures.kinds[kL1].unsized = 1;
  const model::Device device = snapshot_of({evidence(builder, 10)}).devices.at(0);
  EXPECT_FALSE(device.dram_capacity_bytes.has_value());
  EXPECT_FALSE(device.l1_capacity_bytes.has_value());
  EXPECT_FALSE(device.physical(Kind::l1).has_value());
  EXPECT_EQ(device.used(Kind::l1), 100u);
  EXPECT_FALSE(device.headroom_bytes_per_core.has_value());
}

TEST(BuildSnapshot, GridsOfDifferentSizesAreMergedCoreByCore) {
  SegmentBuilder small = process(0xa, 1, 1);
  small.device(0).grid_y = 7;
  small.device(0).cores[8].cb_bytes = 5;  // core (0, 1)
  SegmentBuilder large = process(0xa, 1, 1);
  large.device(0).grid_x = 9;
  large.device(0).cores[9].cb_bytes = 6;  // core (0, 1)
  const model::Device device =
      snapshot_of({evidence(small, 10), evidence(large, 11)}).devices.at(0);
  EXPECT_EQ(device.grid_x, 9);
  EXPECT_EQ(device.grid_y, 8);
  EXPECT_EQ(device.cores.at(9).cb_bytes, 11u);
}

TEST(BuildSnapshot, AnIncompleteListHidesHeadroomAndGivesAReason) {
  SegmentBuilder builder = process(0xa, 1, 1);
  builder.header().dropped_allocations = 12;
  builder.header().last_error = ENOSPC;
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  EXPECT_FALSE(snapshot.devices[0].headroom_bytes_per_core.has_value());
  EXPECT_FALSE(snapshot.devices[0].cores[0].l1_bytes.has_value());
  ASSERT_EQ(snapshot.warnings.size(), 1u);
  EXPECT_TRUE(mentions(snapshot, "process 10 (python3): 12 allocations"));
  EXPECT_TRUE(mentions(snapshot, "No space left on device"));
  EXPECT_TRUE(mentions(snapshot, "free space in /dev/shm"));
}

TEST(BuildSnapshot, EveryKindOfLossHasItsWarning) {
  SegmentBuilder builder = process(0xa, 1, 1);
  builder.header().last_error = ENOSPC;
  EXPECT_TRUE(mentions(snapshot_of({evidence(builder, 10)}), "could not grow"));
  builder.header().dropped_programs = 1;
  EXPECT_TRUE(mentions(snapshot_of({evidence(builder, 10)}), "1 program counted but not listed"));
  builder.header().dropped_calls = 2;
  EXPECT_TRUE(mentions(snapshot_of({evidence(builder, 10)}), "2 calls not recorded"));
  builder.header().dropped_names = 3;
  EXPECT_TRUE(mentions(snapshot_of({evidence(builder, 10)}), "3 placements shown without a name"));
  builder.device(0).grid_x = 1000;
  EXPECT_TRUE(mentions(snapshot_of({evidence(builder, 10)}), "left out 1 record"));
}

TEST(BuildSnapshot, LeftoversOnClosedDevicesAreAWarningForLiveAndDeadProcesses) {
  SegmentBuilder builder = process(0xa, 1, 1);
  const auto close_with = [&](std::uint32_t id, std::uint64_t left, std::uint64_t bytes) {
    DeviceRecord& closed = builder.add_device(id, 0xc0 + id);
    closed.state = static_cast<std::uint32_t>(segment::DeviceState::closed);
    closed.figures.anomalies.left_at_close = left;
    closed.figures.anomalies.left_at_close_bytes = bytes;
  };
  EXPECT_TRUE(snapshot_of({evidence(builder, 10)}).warnings.empty());
  close_with(3, 3, 1258291);
  for (const State state : {State::alive, State::dead}) {
    EXPECT_TRUE(mentions(
        snapshot_of({evidence(builder, 10, state)}),
        "process 10 (python3) left 3 allocations (1.20 MiB) on device 3 when it closed it; "));
  }
  close_with(5, 1, 192);
  const Snapshot both = snapshot_of({evidence(builder, 10)});
  ASSERT_EQ(both.warnings.size(), 1u);
  EXPECT_TRUE(
      mentions(both, "left 4 allocations (1.20 MiB) on devices 3, 5 when it closed them; "));
}

TEST(BuildSnapshot, CbsWithoutAnAddressAreNoAllocations) {
  SegmentBuilder builder = process(0xa, 1, 1);
  builder.device(0).figures.kinds[Kind::cb].live = 5;
  EXPECT_EQ(
      live_allocations(snapshot_of({evidence(builder, 10)}).devices.at(0).processes.at(0).kinds),
      4u);
}

TEST(BuildSnapshot, ImpossibleFiguresAreLeftOutAndAWarningNamesTheProcess) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  SegmentBuilder b = process(0xa, 1000, 1000);
  for (const std::uint64_t claimed : {most, (std::uint64_t{12} << 30) + 1}) {
    SegmentBuilder a = process(0xa, claimed, claimed);
    const Snapshot snapshot = snapshot_of({evidence(a, 10), evidence(b, 11)});
    EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u);
    EXPECT_EQ(snapshot.devices[0].used(kL1), 200u) << "the other kinds count";
    EXPECT_TRUE(mentions(snapshot, "process 10 (python3) claims"));
  }
  SegmentBuilder a = process(0xb, std::uint64_t{2} << 40, 0);
  a.device(0).dram_channels = 0;
  const Snapshot alone = snapshot_of({evidence(a, 10)});
  EXPECT_FALSE(alone.devices[0].used(Kind::dram).has_value()) << "more than any device has";
  EXPECT_TRUE(mentions(alone, "at most 1.00 TiB"));
}

TEST(BuildSnapshot, AllocationsKeepTheirKnownProperties) {
  SegmentBuilder builder = process(0xa, 1, 1);
  auto& sized = builder.add_allocation(0, kL1, 1400000, 2048, 2048);
  sized.flags = 0;
  sized.cores = CoreMask::first(4);
  sized.banks = 4;
  sized.when_ns = 400;
  set_text(sized.label, "matmul");
  builder.add_allocation(0, kDram, 77, 500, 0).when_ns = 5000;
  auto& kernel = builder.add_allocation(0, kKernel, 0, 2000, 0);
  kernel.role = 2;
  kernel.flags |= segment::kNoAddress;
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  ASSERT_EQ(snapshot.allocations.size(), 3u);
  EXPECT_EQ(snapshot.allocations[0].kind, Kind::l1);
  EXPECT_EQ(snapshot.allocations[0].physical_bytes, 8192u);
  EXPECT_EQ(snapshot.allocations[0].cores, CoreMask::first(4));
  EXPECT_EQ(snapshot.allocations[0].age_ns, 600u);
  EXPECT_EQ(snapshot.allocations[0].label, "matmul");
  EXPECT_FALSE(snapshot.allocations[1].physical_bytes.has_value());
  EXPECT_EQ(snapshot.allocations[1].age_ns, 0u) << "from after the pass";
  EXPECT_TRUE(snapshot.allocations[2].persistent);
  EXPECT_FALSE(snapshot.allocations[2].address.has_value());
}

TEST(BuildSnapshot, TimesOfAnotherBootAreIgnored) {
  SegmentBuilder builder = process(0xa, 1, 1);
  builder.add_allocation(0, kDram, 0, 64, 64).when_ns = 400;
  SegmentEvidence other = evidence(builder, 10, State::dead);
  other.this_boot = false;
  EXPECT_EQ(snapshot_of({other}).allocations.at(0).age_ns, 0u);
}

TEST(BuildSnapshot, OverlappingBuffersAreCountedWithinAProcess) {
  SegmentBuilder a = process(0xa, 1, 1);
  a.add_allocation(0, kDram, 1048640, 64, 64);
  a.add_allocation(0, kDram, 1048640, 64, 64);
  SegmentBuilder b = process(0xa, 1, 1);
  b.add_allocation(0, kDram, 1048640, 64, 64);
  const Snapshot snapshot = snapshot_of({evidence(a, 10), evidence(b, 11)});
  EXPECT_EQ(snapshot.devices[0].anomalies->overlapping_buffers, 1u);
}

TEST(BuildSnapshot, FreeSpaceExcludesTheBuffersOfAllLiveProcesses) {
  constexpr std::uint64_t begin = 1048640;
  constexpr std::uint64_t all = (1ULL << 30) - begin;
  SegmentBuilder a = process(0xa, 1, 1);
  a.add_allocation(0, kDram, begin, 64, 64);
  SegmentBuilder b = process(0xa, 1, 1);
  b.add_allocation(0, kDram, begin + 128, 64, 64);
  SegmentBuilder dead = process(0xa, 1, 1);
  dead.add_allocation(0, kDram, begin + 640, 64, 64);
  const model::FreeSpace free =
      snapshot_of({evidence(a, 10), evidence(b, 11), evidence(dead, 12, State::dead)})
          .devices[0]
          .free[kDram];
  EXPECT_EQ(free.bytes_per_bank, all - 128);
  EXPECT_EQ(free.largest_per_bank, all - 192);
}

TEST(BuildSnapshot, FreeSpaceIsUnknownWhenUnlistedBuffersMayLieThere) {
  const auto free_beside = [](const auto& change, std::vector<RegionEvidence> regions = {}) {
    SegmentBuilder a = process(0xa, 1, 1);
    SegmentBuilder b = process(0xa, 1, 1);
    change(b);
    return snapshot_of({evidence(a, 10), evidence(b, 11)}, std::move(regions))
        .devices[0]
        .free[kDram]
        .bytes_per_bank;
  };
  EXPECT_TRUE(free_beside([](SegmentBuilder&) {}));
  EXPECT_FALSE(free_beside([](SegmentBuilder& b) { b.header().dropped_allocations = 1; }));
  EXPECT_FALSE(free_beside([](SegmentBuilder& b) { b.device(0).trace_region_bytes = 8192; }));
  EXPECT_FALSE(free_beside([](SegmentBuilder& b) {
    b.device(0).figures.kinds[kDram].used_bytes = 1ULL << 50;
    b.add_allocation(0, kDram, 1048640, 64, 64);
  })) << "its figures cannot be";
  EXPECT_FALSE(free_beside([](SegmentBuilder&) {}, {region(0xa, 20, State::alive)}));
  EXPECT_TRUE(free_beside([](SegmentBuilder&) {}, {region(0xa, 20, State::dead)}));
}

TEST(BuildSnapshot, ProgramsShowTheBytesThatTheirEndWouldFree) {
  SegmentBuilder builder = process(0xa, 1, 1);
  const auto& first = builder.add_program(0, 1, {{105664, 1000}, {106664, 24, CoreMask::first(8)}});
  builder.add_program_like(first, 0, 2);
  builder.add_program(0, 3, {{105664, 2000, CoreMask::first(8)}, {0, 5, {}, 1}}).resident_cores = 8;
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  ASSERT_EQ(snapshot.programs.size(), 3u);
  EXPECT_EQ(snapshot.programs[0].physical_bytes, 64u * 1000 + 8 * 24);
  EXPECT_EQ(snapshot.programs[0].bytes_per_core, 1024u);
  EXPECT_EQ(snapshot.programs[0].cores, 64u);
  EXPECT_EQ(snapshot.programs[0].exclusive_bytes, 0u);
  EXPECT_EQ(snapshot.programs[2].exclusive_bytes, 8u * 976);
  EXPECT_EQ(snapshot.programs[2].resident_cores, 8u);
  EXPECT_TRUE(snapshot.programs[2].cbs.at(1).global);
}

// Each program slot of 64 bytes may name 1024 CBs. Without a maximum, a small file could become a
// huge snapshot.
TEST(BuildSnapshot, ListsABoundedNumberOfCbsAndWarns) {
  SegmentBuilder builder;
  builder.add_device(0, 1);
  const std::vector<testing::CbSpec> many(1024, {105664, 32});
  const auto& first = builder.add_program(0, 0, many);
  for (std::uint64_t i = 1; i < 5000; ++i) builder.add_program_like(first, 0, i);
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)});
  EXPECT_EQ(snapshot.programs.size(), 4096u);
  EXPECT_TRUE(mentions(snapshot, "904 programs"));
}

TEST(BuildSnapshot, TheOrderOfTheEvidenceDoesNotMatter) {
  SegmentBuilder a = process(0xa, 1000, 1000);
  SegmentBuilder b = process(0xa, 1000, 1000);
  set_text(a.device(0).board, "n150");
  set_text(b.device(0).board, "n300");
  const Snapshot one = snapshot_of({evidence(a, 10), evidence(b, 11)});
  const Snapshot two = snapshot_of({evidence(b, 11), evidence(a, 10)});
  EXPECT_EQ(one.devices[0].board, two.devices[0].board);
  EXPECT_EQ(one.devices[0].processes[0].pid, two.devices[0].processes[0].pid);
}

}  // namespace
}  // namespace ttmem::collector
