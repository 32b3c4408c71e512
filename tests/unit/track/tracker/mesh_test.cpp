// SPDX-License-Identifier: Apache-2.0
//
// Tests buffers and programs of a mesh. One call with a list of devices has the same effect on
// every device as one call for each device, but makes only one record.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include "segment/reader/event_reader.hpp"
#include "support/device_calls.hpp"
#include "track/tracker/id_tracker.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::kGrid;
using fixtures::wormhole;
using Ids = std::vector<std::uint32_t>;

Ids first(std::uint32_t count) {
  Ids ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

// Returns the devices whose bits in `bits` are set.
Ids list_of(std::uint32_t bits) {
  Ids ids;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if ((bits >> i & 1U) != 0) ids.push_back(i);
  }
  return ids;
}

void open(Tracked& tracked, std::uint32_t count) {
  for (const std::uint32_t id : first(count)) tracked->device_open(wormhole(id));
}

Ids ids_of(const segment::SegmentImage& image, const segment::LiveAllocation& allocation) {
  Ids ids;
  for (const std::uint32_t device : devices_of(allocation)) ids.push_back(image.devices[device].id);
  return ids;
}

// Returns the devices of the only allocation.
Ids where_it_is(const Tracked& tracked) {
  const auto image = tracked.read();
  EXPECT_EQ(image.allocations.size(), 1U);
  return image.allocations.empty() ? Ids{} : ids_of(image, image.allocations[0]);
}

std::vector<segment::EventRecord> events_of(Tracked& tracked, std::uint64_t after = 0) {
  const UniqueFd fd(::open(tracked->segment().path().c_str(), O_RDONLY | O_CLOEXEC));
  auto events = segment::read_events(segment::FdSource(fd.get()), after);
  EXPECT_TRUE(events && events->lost == 0);
  return events->events;
}

TEST(Mesh, ABufferIsOneSlotAndOneEventAndCountsOnEachDevice) {
  Tracked tracked;
  open(tracked, 32);
  const std::uint64_t before = tracked->segment().header().events;
  tracked->mesh_buffer_alloc(first(32), buffer(TTMEM_L1, 7, 1 << 20, 65536, 1024));
  EXPECT_EQ(tracked->segment().header().allocation_count, 1U);
  const auto image = tracked.read();
  ASSERT_EQ(image.allocations.size(), 1U);
  EXPECT_EQ(ids_of(image, image.allocations[0]), first(32));
  EXPECT_EQ(image.allocations[0].bytes, 65536U);
  for (const auto& device : image.devices) {
    EXPECT_EQ(device.kinds[Kind::l1].used_bytes, 65536U);
    EXPECT_EQ(device.kinds[Kind::l1].live, 1U);
    EXPECT_EQ(device.l1_total_bytes, 65536U);
  }
  tracked->mesh_buffer_free(first(32), TTMEM_L1, 7);
  EXPECT_TRUE(tracked.read().allocations.empty());
  EXPECT_EQ(tracked.device(31).kinds[Kind::l1].used_bytes, 0U);
  EXPECT_EQ(tracked.device(31).kinds[Kind::l1].peak_bytes, 65536U);

  const auto events = events_of(tracked, before);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].type, static_cast<std::uint8_t>(segment::EventType::set_alloc));
  EXPECT_EQ(events[1].type, static_cast<std::uint8_t>(segment::EventType::set_free));
  EXPECT_EQ(events[0].id, 7U);
  EXPECT_EQ(tracked->segment().device_set(events[1].device_id - 1).count, 32U);
}

TEST(Mesh, ABufferThatIsFreedOnSomeDevicesStaysOnTheOthers) {
  Tracked tracked;
  open(tracked, 4);
  tracked->mesh_buffer_alloc(first(4), buffer(TTMEM_DRAM, 7, 4096, 1200, 100));
  tracked->mesh_buffer_free(Ids{1, 3}, TTMEM_DRAM, 7);
  EXPECT_EQ(where_it_is(tracked), (Ids{0, 2}));
  EXPECT_EQ(tracked.device(3).kinds[Kind::dram].used_bytes, 0U);
  tracked->buffer_free(0, TTMEM_DRAM, 7);
  EXPECT_EQ(where_it_is(tracked), Ids{2});
  EXPECT_EQ(tracked.device(2).kinds[Kind::dram].used_bytes, 1200U);
  tracked->mesh_buffer_free(first(4), TTMEM_DRAM, 7);
  EXPECT_TRUE(tracked.read().allocations.empty());
  EXPECT_EQ(tracked.device(0).anomalies.unknown_frees, 1U);
  EXPECT_EQ(tracked.device(2).anomalies.unknown_frees, 0U);
}

TEST(Mesh, ClosingADeviceKeepsTheBufferOnTheOtherDevices) {
  Tracked tracked;
  open(tracked, 3);
  tracked->mesh_buffer_alloc(first(3), buffer(TTMEM_DRAM, 7, 4096, 1200, 100));
  tracked->device_close(0);
  EXPECT_EQ(where_it_is(tracked), (Ids{1, 2}));
  const auto left = tracked.read().left_at_close;
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].bytes, 1200U);
  tracked->device_open(wormhole(0));  // a newly opened device has no buffers
  EXPECT_EQ(where_it_is(tracked), (Ids{1, 2}));
  EXPECT_EQ(tracked.device(0).kinds[Kind::dram].used_bytes, 0U);
  tracked->mesh_buffer_free(Ids{1, 2}, TTMEM_DRAM, 7);
  EXPECT_TRUE(tracked.read().allocations.empty());
  tracked->device_close(1);
  tracked->device_close(2);
  EXPECT_EQ(tracked.read().left_at_close.size(), 0U);
}

TEST(Mesh, TwoMeshesMayUseTheSameId) {
  Tracked tracked;
  open(tracked, 4);
  tracked->mesh_buffer_alloc(Ids{0, 1}, buffer(TTMEM_DRAM, 0, 4096, 1200, 100));
  tracked->mesh_buffer_alloc(Ids{2, 3}, buffer(TTMEM_DRAM, 0, 4096, 2400, 200));
  EXPECT_EQ(tracked.read().allocations.size(), 2U);
  tracked->mesh_buffer_free(Ids{0, 1}, TTMEM_DRAM, 4096);
  EXPECT_EQ(where_it_is(tracked), (Ids{2, 3}));
  tracked->mesh_buffer_free(first(4), TTMEM_DRAM, 4096);
  EXPECT_TRUE(tracked.read().allocations.empty());
}

TEST(Mesh, ADeviceListedTwiceCountsOnceAndAsABadArgument) {
  Tracked tracked;
  open(tracked, 2);
  for (int i = 0; i < 2; ++i) {
    tracked->mesh_buffer_alloc(Ids{0, 1, 0}, buffer(TTMEM_DRAM, 7, 4096, 1200, 100));
    tracked->mesh_buffer_free(Ids{0, 1}, TTMEM_DRAM, 7);
  }
  EXPECT_EQ(tracked.device(0).anomalies.bad_arguments, 2U);
  EXPECT_EQ(tracked.device(0).anomalies.allocs_over_live, 0U);
  EXPECT_EQ(tracked.device(0).kinds[Kind::dram].allocations, 2U);
}

TEST(Mesh, ADeviceWithoutARecordIsDroppedAndTheOtherDevicesCount) {
  Tracked tracked;
  open(tracked, segment::kMaxDevices);
  tracked->mesh_buffer_alloc(Ids{0, 1, 500}, buffer(TTMEM_DRAM, 7, 4096, 1200, 100));
  EXPECT_EQ(where_it_is(tracked), (Ids{0, 1}));
  EXPECT_EQ(tracked.read().dropped_calls, 1U);
}

TEST(Mesh, DevicesOfAnotherShapeHaveTheirOwnRecord) {
  Tracked tracked;
  open(tracked, 3);
  ttmem_device_info narrow = wormhole(3);
  narrow.grid_x = 7;
  tracked->device_open(narrow);
  tracked->mesh_buffer_alloc(first(4), buffer(TTMEM_L1, 7, 1 << 20, 6400, 100));
  const auto image = tracked.read();
  ASSERT_EQ(image.allocations.size(), 2U);
  EXPECT_EQ(ids_of(image, image.allocations[0]), first(3));
  EXPECT_EQ(image.allocations[0].banks, 64U);
  EXPECT_EQ(ids_of(image, image.allocations[1]), Ids{3});
  EXPECT_EQ(image.allocations[1].banks, 56U);
  tracked->mesh_buffer_free(first(4), TTMEM_L1, 7);
  EXPECT_TRUE(tracked.read().allocations.empty());
}

// The number of device sets has a maximum. A buffer that needs one more set has no record, but the
// figures count it.
TEST(Mesh, WithoutRoomForAnotherSetABufferIsOnlyInTheFigures) {
  Tracked tracked;
  open(tracked, 13);
  std::uint64_t buffers = 0;
  for (std::uint32_t bits = 1; bits < 1U << 13; ++bits) {
    const Ids ids = list_of(bits);
    if (ids.size() < 2 || ids[0] != 0) continue;
    tracked->mesh_buffer_alloc(ids, buffer(TTMEM_DRAM, bits, 4096, 12, 1));
    ++buffers;
  }
  const auto image = tracked.read();
  EXPECT_EQ(image.allocations.size(), segment::kMaxDeviceSets);
  EXPECT_EQ(image.dropped_allocations, buffers - segment::kMaxDeviceSets);
  EXPECT_EQ(tracked.device(0).kinds[Kind::dram].live, buffers);
  for (std::uint32_t bits = 1; bits < 1U << 13; ++bits) {
    const Ids ids = list_of(bits);
    if (ids.size() >= 2 && ids[0] == 0) tracked->mesh_buffer_free(ids, TTMEM_DRAM, bits);
  }
  EXPECT_EQ(tracked.device(12).kinds[Kind::dram].used_bytes, 0U);
  EXPECT_EQ(tracked.device(12).anomalies.unknown_frees, 0U);
}

TEST(Mesh, AProgramIsPlacedAndDispatchedOnEachDevice) {
  Tracked tracked;
  open(tracked, 8);
  const ttmem_cb cb = {fixtures::kL1Base, 2048, &kGrid, 1, 0};
  tracked->mesh_program_place(first(8), 1, {&cb, 1}, "matmul");
  tracked->mesh_program_dispatch(first(8), 1);
  const auto image = tracked.read();
  ASSERT_EQ(image.programs.size(), 8U);
  EXPECT_EQ(image.programs[7].name, "matmul");
  EXPECT_EQ(image.programs[7].resident_cores, 64U);
  EXPECT_EQ(tracked.device(7).kinds[Kind::cb].used_bytes, 2048U * 64);
  EXPECT_EQ(tracked.device(7).cb_resident_bytes, 2048U * 64);
}

// One allocation on one device, with the fields that a reader sees.
using Row = std::tuple<std::uint32_t, Kind, std::uint64_t, std::optional<std::uint64_t>,
                       std::uint64_t, std::optional<std::uint64_t>, std::optional<std::uint32_t>,
                       std::vector<std::uint32_t>, bool, std::string>;

std::vector<Row> rows_of(const segment::SegmentImage& image) {
  std::vector<Row> rows;
  for (const segment::LiveAllocation& a : image.allocations) {
    std::vector<std::uint32_t> cores;
    if (a.cores) a.cores->for_each([&](std::uint32_t core) { cores.push_back(core); });
    for (const std::uint32_t id : ids_of(image, a)) {
      rows.emplace_back(id, a.kind, a.id, a.address, a.bytes, a.bytes_per_bank, a.banks, cores,
                        a.own_banks, a.label);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Two trackers get the same history. The first tracker gets calls with lists, and the second
// tracker gets one call for each device. The history has chips of two shapes, sharded buffers,
// partial frees and closed devices. The shapes of some chips are reported late.
RC_GTEST_PROP(Mesh, AListHasTheSameEffectAsOneCallForEachDevice, ()) {
  Tracked mesh;
  Tracked one_by_one;
  const auto both = [&](auto&& call) {
    call(mesh);
    call(one_by_one);
  };
  const auto steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const Ids ids = list_of(*rc::gen::inRange<std::uint32_t>(1, 1U << 6));
    const auto type = *rc::gen::element(TTMEM_DRAM, TTMEM_L1, TTMEM_TRACE);
    const auto id = *rc::gen::inRange<std::uint64_t>(1, 6);
    const auto what = *rc::gen::inRange(0, 12);
    if (what == 0) {
      ttmem_device_info info = wormhole(ids[0]);
      if (ids[0] == 5) info.grid_x = 7;
      both([&](Tracked& tracked) { tracked->device_open(info); });
    } else if (what == 1) {
      both([&](Tracked& tracked) { tracked->device_close(ids[0]); });
    } else if (what < 4) {
      both([&](Tracked& tracked) { tracked->buffer_free(ids[0], type, id); });
    } else if (what < 6) {
      mesh->mesh_buffer_free(ids, type, id);
      for (const std::uint32_t device : ids) one_by_one->buffer_free(device, type, id);
    } else {
      const auto per_bank = *rc::gen::element<std::uint64_t>(0, 32, 1 << 20);
      ttmem_buffer given =
          buffer(type, id, id * 65536, *rc::gen::inRange<std::uint64_t>(0, 60000), per_bank);
      const ttmem_core_range cores = {0, 0, *rc::gen::element<std::uint16_t>(2, 20), 3};
      if (*rc::gen::arbitrary<bool>()) given.cores = &cores, given.core_ranges = 1;
      if (*rc::gen::inRange(0, 4) == 0) given.flags = TTMEM_BUFFER_OWN_BANKS;
      if (*rc::gen::inRange(0, 4) == 0)
        given.label = "a label that is longer than its slot has room";
      if (*rc::gen::inRange(0, 10) == 0) given.bytes = ~0ULL;  // makes the size impossible
      if (what == 6) {
        both([&](Tracked& tracked) { tracked->buffer_alloc(ids[0], given); });
      } else {
        mesh->mesh_buffer_alloc(ids, given);
        for (const std::uint32_t device : ids) one_by_one->buffer_alloc(device, given);
      }
    }
  }
  const auto got = mesh.read();
  const auto expected = one_by_one.read();
  RC_ASSERT(got.devices.size() == expected.devices.size());
  for (const segment::DeviceImage& device : got.devices) {
    const auto same = std::find_if(expected.devices.begin(), expected.devices.end(),
                                   [&](const auto& other) { return other.id == device.id; });
    RC_ASSERT(same != expected.devices.end());
    const segment::DeviceFigures& a = device;
    const segment::DeviceFigures& b = *same;
    RC_ASSERT(std::memcmp(&a, &b, sizeof a) == 0);
  }
  RC_ASSERT(rows_of(got) == rows_of(expected));
  RC_ASSERT(got.allocations.size() <= expected.allocations.size());
  RC_ASSERT(got.left_at_close.size() == expected.left_at_close.size());
}

}  // namespace
}  // namespace ttmem::tracker
