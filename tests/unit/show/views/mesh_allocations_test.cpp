// SPDX-License-Identifier: Apache-2.0
//
// Tests that a buffer on several devices is one row, and that the sums count its bytes on each
// device.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyse/selection/select.hpp"
#include "show/views/allocation_groups.hpp"
#include "show/views/allocations.hpp"
#include "show/views/json.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::views {
namespace {

using MeshJson = nlohmann::json;
using Indices = std::vector<std::uint32_t>;
using namespace fixtures;

// Returns a snapshot with a buffer of weights that has 24 MiB in DRAM and is on all eight devices.
model::Snapshot with_mesh() {
  model::Snapshot snapshot = mesh(8);
  snapshot.allocations = with_lists().allocations;
  snapshot.allocations[2].devices = {0, 1, 2, 3, 4, 5, 6, 7};
  return snapshot;
}

TEST(MeshAllocations, AreOneEntryWithAllDevicesInJsonAndCsv) {
  const model::Snapshot snapshot = with_mesh();
  const auto list = selection::select_allocations(snapshot, {});
  const MeshJson root = MeshJson::parse(allocations_json(snapshot, list, JsonLayout::pretty));
  ASSERT_EQ(root["allocations"].size(), 3U);
  const MeshJson& weights = root["allocations"][0];
  EXPECT_EQ(weights["device"], 0);
  EXPECT_EQ(weights["devices"], MeshJson::parse("[0,1,2,3,4,5,6,7]"));
  EXPECT_EQ(weights["physical_bytes"], 24 * kMiB) << "on each device";
  EXPECT_EQ(root["allocations"][1]["devices"], MeshJson::parse("[1]"));
  const std::string csv = allocations_csv(snapshot, list);
  EXPECT_NE(csv.find(",label,devices,scope,job\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",layers.0.attention.wqkv,0-7,n/a,n/a\n"), std::string::npos) << csv;
}

TEST(MeshAllocations, AreOneRowAndTheSumCoversAllDevices) {
  const model::Snapshot snapshot = with_mesh();
  const std::string text =
      allocations_text(snapshot, selection::select_allocations(snapshot, {}), 0, {.width = 200});
  EXPECT_NE(text.find("\n0-7 "), std::string::npos) << text;
  EXPECT_NE(text.find("3 allocations, 192.5 MiB physical and 1 of unknown physical size; on "
                      "all devices, while the list has the sizes on one device."),
            std::string::npos)
      << text;
}

TEST(MeshAllocations, AreFoundOnEachOfTheirDevices) {
  const model::Snapshot some = selection::select_devices(with_mesh(), {3, 4});
  const auto list = selection::select_allocations(some, {});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].devices, (Indices{0, 1}));
  const model::Snapshot one = selection::select_devices(with_mesh(), {4});
  ASSERT_EQ(one.allocations.size(), 1U);
  EXPECT_EQ(one.allocations[0].device, 0U);
  EXPECT_TRUE(one.allocations[0].devices.empty());
}

TEST(MeshAllocations, CountInTheGroupOfEachDeviceAndOnceInOtherGroups) {
  const model::Snapshot snapshot = with_mesh();
  const auto list = selection::select_allocations(snapshot, {.pid = {}, .kinds = {Kind::dram}});
  const auto by_device = group_allocations(snapshot, list, GroupBy::device);
  ASSERT_EQ(by_device.size(), 8U);
  for (const AllocationGroup& group : by_device) {
    EXPECT_EQ(group.allocations, 1U);
    EXPECT_EQ(group.physical.on_all(), 24 * kMiB);
    EXPECT_EQ(group.largest_bytes, 24 * kMiB);
  }
  const auto by_kind = group_allocations(snapshot, list, GroupBy::kind);
  ASSERT_EQ(by_kind.size(), 1U);
  EXPECT_EQ(by_kind[0].allocations, 1U);
  EXPECT_EQ(by_kind[0].physical.on_all(), 8 * 24 * kMiB);
  EXPECT_EQ(by_kind[0].physical.per_device(), 24 * kMiB);
  EXPECT_EQ(by_kind[0].largest_bytes, 8 * 24 * kMiB);
  EXPECT_EQ(by_kind[0].largest_per_device, 24 * kMiB);
  EXPECT_EQ(by_kind[0].logical.on_all(), 8 * (24 * kMiB - 100));
}

}  // namespace
}  // namespace ttmem::views
