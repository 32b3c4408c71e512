// SPDX-License-Identifier: Apache-2.0
//
// Tests TT-Metal's regions in a snapshot, beside segments.
#include <gtest/gtest.h>

#include "evidence_fixtures.hpp"
#include "read/collector/build_snapshot.hpp"

namespace ttmem::collector {
namespace {

using fixtures::evidence;
using fixtures::process;
using fixtures::region;
using fixtures::snapshot_of;
using model::Snapshot;
using model::State;
using testing::SegmentBuilder;

TEST(RegionsInSnapshot, ARowOfTtMetalIsADeviceWithoutCapacities) {
  const Snapshot snapshot = snapshot_of({}, {region(0xb, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  const model::Device& device = snapshot.devices[0];
  EXPECT_EQ(device.uid, 0xbu);
  EXPECT_EQ(device.used(Kind::dram), 18087936u);
  EXPECT_EQ(device.l1_used_bytes, 393216u + 131072u + 1966080u);
  EXPECT_EQ(device.used(Kind::cb), 1966080u);
  EXPECT_FALSE(device.dram_capacity_bytes.has_value());
  EXPECT_FALSE(device.peak(Kind::dram).has_value());
  EXPECT_FALSE(device.used(Kind::kernel).has_value());
  EXPECT_FALSE(device.programs.has_value());
  EXPECT_FALSE(device.anomalies.has_value());
  EXPECT_FALSE(device.physical(Kind::dram).has_value());
  EXPECT_TRUE(device.cores.empty());
  ASSERT_EQ(device.processes.size(), 1u);
  EXPECT_EQ(device.processes[0].source, model::Source::tt_metal);
  EXPECT_FALSE(device.processes[0].used(Kind::kernel).has_value());
  EXPECT_FALSE(live_allocations(device.processes[0].kinds).has_value());
}

TEST(RegionsInSnapshot, ADeadRowIsListedAndNotCounted) {
  const Snapshot snapshot = snapshot_of({}, {region(0xb, 20, State::dead)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_FALSE(snapshot.devices[0].used(Kind::dram).has_value());
  EXPECT_EQ(snapshot.devices[0].processes.at(0).state, State::dead);
  EXPECT_EQ(snapshot.devices[0].processes.at(0).used(Kind::dram), 18087936u);
}

TEST(RegionsInSnapshot, ARowOfAProcessWithASegmentIsNotCountedTwice) {
  SegmentBuilder builder = process(0xb, 1000, 1000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 20)}, {region(0xb, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u);
  EXPECT_EQ(snapshot.devices[0].processes.size(), 1u);
}

TEST(RegionsInSnapshot, AProcessIsOnOneChipWhenOnlyItsRowNamesTheChip) {
  for (const State state : {State::alive, State::dead}) {
    SegmentBuilder builder = process(0, 1000, 1000);
    SegmentBuilder other = process(0xb, 500, 500);
    const Snapshot snapshot =
        snapshot_of({evidence(builder, 20, state), evidence(other, 21)}, {region(0xb, 20, state)});
    ASSERT_EQ(snapshot.devices.size(), 1u);
    EXPECT_EQ(snapshot.devices[0].uid, 0xbu);
    EXPECT_EQ(snapshot.devices[0].used(Kind::dram), state == State::alive ? 1500u : 500u);
    EXPECT_EQ(snapshot.devices[0].processes.size(), 2u);
  }
}

TEST(RegionsInSnapshot, AProcessIsOnOneChipWhenOnlyItsSegmentNamesTheChip) {
  SegmentBuilder builder = process(0xb, 1000, 1000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 20)}, {region(0, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u);
}

TEST(RegionsInSnapshot, ARowOfALiveProcessDoesNotBelongToADeadProcessOfItsPid) {
  SegmentBuilder builder = process(0, 1000, 1000);
  const Snapshot snapshot =
      snapshot_of({evidence(builder, 20, State::dead)}, {region(0xb, 20, State::alive)});
  EXPECT_EQ(snapshot.devices.size(), 2u);
}

TEST(RegionsInSnapshot, ASegmentUnconfirmedByProcHidesNoRow) {
  SegmentBuilder builder = process(0xb, 1000, 1000);
  SegmentEvidence foreign = evidence(builder, 20);  // the process is in another pid namespace
  foreign.confirmed = false;
  const Snapshot snapshot = snapshot_of({foreign}, {region(0xb, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].processes.size(), 2u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u + 18087936u);
}

TEST(RegionsInSnapshot, ARowBesideATrackedProcessMakesCoresUnknown) {
  SegmentBuilder builder = process(0xb, 1000, 4000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 10)}, {region(0xb, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u + 18087936u);
  EXPECT_EQ(snapshot.devices[0].peak(Kind::dram), 1000u + 18087936u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::kernel), 7u) << "of the one who reports kernels";
  EXPECT_FALSE(snapshot.devices[0].physical(Kind::dram).has_value()) << "the row's are logical";
  EXPECT_FALSE(snapshot.devices[0].cb_resident_bytes.has_value());
  EXPECT_FALSE(snapshot.devices[0].programs.has_value());
  EXPECT_FALSE(snapshot.devices[0].cores.at(0).cb_bytes.has_value());
  EXPECT_FALSE(snapshot.devices[0].headroom_bytes_per_core.has_value());
}

TEST(RegionsInSnapshot, ARegionOfAnUnnumberedChipBelongsToTheDeviceOfItsLogicalNumber) {
  SegmentBuilder builder = process(0, 1000, 1000);
  const Snapshot snapshot = snapshot_of({evidence(builder, 20)}, {region(0, 20, State::alive)});
  ASSERT_EQ(snapshot.devices.size(), 1u);
  EXPECT_EQ(snapshot.devices[0].used(Kind::dram), 1000u);
}

}  // namespace
}  // namespace ttmem::collector
