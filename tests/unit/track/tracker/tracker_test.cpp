// SPDX-License-Identifier: Apache-2.0
//
// Tests the tracker, its segment and the reader together. The contents of the file must equal an
// independent model of the calls.
#include "track/tracker/tracker.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "track/tracker/id_tracker.hpp"
#include "tracked.hpp"

namespace ttmem::tracker {
namespace {

using fixtures::buffer;
using fixtures::kGrid;
using fixtures::wormhole;

constexpr std::uint32_t kL1 = fixtures::kL1BytesPerCore;

TEST(Tracker, ShowsTheBankLockstepOfAOnePageBuffer) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->buffer_alloc(0, buffer(TTMEM_L1, 1, 1460000, 2048, 2048));
  const auto l1 = tracked.device().kinds[Kind::l1];
  EXPECT_EQ(l1.logical_bytes, 2048U);
  EXPECT_EQ(l1.used_bytes, 2048U * 64);
}

TEST(Tracker, CountsAShardedBufferOnEveryCore) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  const ttmem_core_range cores = {0, 0, 3, 3};
  ttmem_buffer sharded = buffer(TTMEM_L1, 1, 1454080, 131072, 8192);
  sharded.cores = &cores;
  sharded.core_ranges = 1;
  sharded.label = "attention.q";
  tracked->buffer_alloc(0, sharded);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].used_bytes, 8192U * 64);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].peak_bytes, 8192U * 64);
  const auto image = tracked.read();
  ASSERT_EQ(image.allocations.size(), 1U);
  EXPECT_EQ(image.allocations[0].label, "attention.q");
  EXPECT_EQ(image.allocations[0].banks, 64U);
  EXPECT_EQ(image.allocations[0].cores->count(), 16U);
  EXPECT_FALSE(image.allocations[0].own_banks);
}

// The grid has 14 columns. Some rows of cores therefore begin in the middle of a word of the core
// mask.
TEST(Tracker, ARectangleCoversTheCoresInItsRowsAndColumns) {
  Tracked tracked;
  ttmem_device_info blackhole = wormhole(0);
  blackhole.grid_x = 14;
  blackhole.grid_y = 10;
  tracked->device_open(blackhole);
  std::uint64_t id = 0;
  for (const ttmem_core_range& cores :
       {ttmem_core_range{0, 0, 13, 9}, {3, 2, 12, 9}, {13, 9, 13, 9}, {0, 4, 13, 4}}) {
    ttmem_buffer sharded = buffer(TTMEM_L1, ++id, 1454080, 64, 64);
    sharded.cores = &cores;
    sharded.core_ranges = 1;
    tracked->buffer_alloc(0, sharded);
    CoreMask expected;
    for (std::uint32_t y = cores.y0; y <= cores.y1; ++y) {
      for (std::uint32_t x = cores.x0; x <= cores.x1; ++x) expected.set(y * 14 + x);
    }
    EXPECT_EQ(tracked.read().allocations[0].cores, expected) << id;
    tracked->buffer_free(0, TTMEM_L1, id);
  }
}

TEST(Tracker, CountsABufferWithItsOwnBanksOnlyThere) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  const ttmem_core_range cores = {0, 0, 3, 3};
  ttmem_buffer buffer_of_sub_device = buffer(TTMEM_L1, 1, 1454080, 131072, 8192);
  buffer_of_sub_device.cores = &cores;
  buffer_of_sub_device.core_ranges = 1;
  buffer_of_sub_device.flags = TTMEM_BUFFER_OWN_BANKS;
  tracked->buffer_alloc(0, buffer_of_sub_device);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].used_bytes, 8192U * 16);
  const auto image = tracked.read();
  EXPECT_EQ(image.allocations.at(0).banks, 16U);
  EXPECT_TRUE(image.allocations.at(0).own_banks);
}

// If the banks of a buffer are unknown, the used bytes of the buffer are the bytes that the program
// asked for.
TEST(Tracker, AShardedBufferOnAnUnknownGridHasNoPhysicalSize) {
  Tracked tracked;
  const ttmem_core_range cores = {0, 0, 3, 3};
  ttmem_buffer sharded = buffer(TTMEM_L1, 1, 1454080, 131072, 8192);
  sharded.cores = &cores;
  sharded.core_ranges = 1;
  tracked->buffer_alloc(0, sharded);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].used_bytes, 131072U);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].unsized, 1U);
  EXPECT_FALSE(tracked.read().allocations.at(0).banks.has_value());
}

TEST(Tracker, SaysThatBytesPerBankAreUnknown) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->buffer_alloc(0, buffer(TTMEM_L1, 1, 1000, 5000, 0));
  EXPECT_EQ(tracked.device().kinds[Kind::l1].unsized, 1U);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].used_bytes, 5000U);
  tracked->buffer_free(0, TTMEM_L1, 1);
  EXPECT_EQ(tracked.device().kinds[Kind::l1].unsized, 0U);
}

TEST(Tracker, TakesTheAddressAsIdWhenThereIsNone) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 0, 4096, 100, 0));
  tracked->buffer_free(0, TTMEM_DRAM, 4096);
  EXPECT_EQ(tracked.device().kinds[Kind::dram].live, 0U);
  EXPECT_EQ(tracked.device().anomalies.unknown_frees, 0U);
}

TEST(Tracker, CountsAnomaliesAndGoesOn) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->buffer_free(0, TTMEM_DRAM, 77);
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 100, 0));
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 300, 0));
  tracked->buffer_alloc(0, buffer(static_cast<ttmem_buffer_type>(7), 1, 0, 1, 0));
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 2, 0, 1ULL << 60, 0));
  tracked->program_dispatch(0, 5);
  const ttmem_core_range outside = {0, 0, 8, 0};
  const ttmem_cb cb = {105664, 1024, &outside, 1, 0};
  tracked->program_place(0, 1, {&cb, 1});
  const auto device = tracked.device();
  EXPECT_EQ(device.anomalies.unknown_frees, 1U);
  EXPECT_EQ(device.anomalies.allocs_over_live, 1U);
  EXPECT_EQ(device.kinds[Kind::dram].used_bytes, 300U);
  EXPECT_EQ(device.kinds[Kind::dram].live, 1U);
  EXPECT_EQ(device.anomalies.unknown_programs, 1U);
  EXPECT_EQ(device.anomalies.bad_arguments, 3U);
  EXPECT_EQ(device.kinds[Kind::cb].used_bytes, 8U * 1024);
}

TEST(Tracker, KeepsCbsInsideL1WhateverIsReported) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  const ttmem_cb cbs[] = {{kL1 - 100, 1000, &kGrid, 1, 0}, {~0ULL - 5, 1000, &kGrid, 1, 0}};
  tracked->program_place(0, 1, cbs);
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 64U * 100);
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 1U);
}

TEST(Tracker, CbFiguresStayAnEstimateUntilRevokedOrTheDeviceIsClosed) {
  Tracked tracked;
  tracked->set_reported(0, TTMEM_REPORTS_PROGRAMS);
  EXPECT_FALSE(tracked.device().cb_estimate);
  tracked->set_cb_estimate(0, true);
  EXPECT_TRUE(tracked.device().cb_estimate);
  tracked->set_cb_estimate(0, false);
  EXPECT_FALSE(tracked.device().cb_estimate);
  tracked->set_cb_estimate(0, true);
  tracked->device_close(0);
  tracked->set_cb_estimate(0, true);  // has no effect, because device 0 is closed
  tracked->set_reported(0, TTMEM_REPORTS_PROGRAMS);
  EXPECT_FALSE(tracked.device().cb_estimate);
}

TEST(Tracker, CountsKernelsByRoleAndReplacesAReloadedOne) {
  Tracked tracked;
  tracked->kernel_load(0, 1, 1000, TTMEM_KERNEL_APP, false);
  tracked->kernel_load(0, 1, 1500, TTMEM_KERNEL_APP, false);
  tracked->kernel_load(0, 2, 200, TTMEM_KERNEL_DISPATCH, false);
  tracked->kernel_load(0, 3, 30, TTMEM_KERNEL_FABRIC, true);
  auto device = tracked.device();
  EXPECT_EQ(device.kinds[Kind::kernel].used_bytes, 1730U);
  EXPECT_EQ(device.kernel_role_bytes, (std::array<std::uint64_t, 3>{1500, 30, 200}));
  EXPECT_EQ(device.kernel_estimated_bytes, 30U);
  EXPECT_EQ(device.l1_total_bytes, 1730U);
  EXPECT_EQ(device.anomalies.allocs_over_live, 0U);
  tracked->kernel_unload(0, 1);
  device = tracked.device();
  EXPECT_EQ(device.kinds[Kind::kernel].used_bytes, 230U);
  EXPECT_EQ(device.kinds[Kind::kernel].peak_bytes, 1730U);
}

TEST(Tracker, AnUnseenKindIsUnknownAgainWithAReason) {
  Tracked tracker;
  tracker->set_reported(0, TTMEM_REPORTS_BUFFERS | TTMEM_REPORTS_PROGRAMS);
  tracker->set_unseen(TTMEM_REPORTS_PROGRAMS, "programs are not seen: a test");
  tracker->set_unseen(TTMEM_REPORTS_PROGRAMS, "programs are not seen: a test");
  tracker->set_unseen(0, nullptr);
  EXPECT_EQ(tracker.device().kinds[Kind::cb].known, 0U);
  EXPECT_FALSE(tracker.device().programs_known);
  EXPECT_NE(tracker.device().kinds[Kind::dram].known, 0U);
  EXPECT_EQ(tracker.read().not_seen, std::vector<std::string>{"programs are not seen: a test"});
  for (const char* more : {"b", "c", "d", "e"}) tracker->set_unseen(0, more);
  EXPECT_EQ(tracker.read().not_seen.size(), segment::kMaxNotSeen);
}

// The client of seed 001 (docs/internals/seeds.md) reports a CB without an address. For each cached
// program it reports only the number and the size of the CB.
TEST(Tracker, CountsACbWithoutAnAddressOnceAtItsLargestSizeUntilItsLastFree) {
  Tracked tracked;
  tracked->cb_alloc(0, 7, 4096);
  tracked->cb_alloc(0, 7, 16384);
  tracked->cb_alloc(0, 7, 8192);
  auto device = tracked.device();
  EXPECT_EQ(device.kinds[Kind::cb].used_bytes, 16384U);
  EXPECT_EQ(device.kinds[Kind::cb].logical_bytes, 16384U);
  EXPECT_EQ(device.l1_total_bytes, 16384U);
  ASSERT_EQ(tracked.read().allocations.size(), 1U);
  EXPECT_FALSE(tracked.read().allocations[0].address);
  const ttmem_cb cb = {105664, 1024, &kGrid, 1, 0};
  tracked->program_place(0, 1, {&cb, 1});
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 16384U + 64U * 1024);
  tracked->cb_free(0, 7);
  tracked->cb_free(0, 7);
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 16384U + 64U * 1024);
  tracked->cb_free(0, 7);
  device = tracked.device();
  EXPECT_EQ(device.kinds[Kind::cb].used_bytes, 64U * 1024);
  EXPECT_EQ(device.l1_total_bytes, 64U * 1024);
  EXPECT_EQ(device.kinds[Kind::cb].peak_bytes, 16384U + 64U * 1024);
  tracked->cb_free(0, 7);
  EXPECT_EQ(tracked.device().anomalies.unknown_frees, 1U);
}

TEST(Tracker, TheRegionsBelongToTheLastOpening) {
  Tracked tracked;
  ttmem_device_info info = wormhole(0);
  info.l1_small_bytes_per_core = 32768;
  info.trace_region_bytes = 1 << 20;
  tracked->device_open(info);
  tracked->device_close(0);
  info.l1_small_bytes_per_core = 0;
  info.trace_region_bytes = 0;
  tracked->device_open(info);
  EXPECT_EQ(tracked.device().l1_small_bytes_per_core, 0U);
  EXPECT_EQ(tracked.device().trace_region_bytes, 0U);
  EXPECT_EQ(tracked.device().l1_bytes_per_core, kL1);
}

TEST(Tracker, AClosedDeviceIsEmptyAndReportsItsLeftovers) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 100, 0));
  tracked->kernel_load(0, 2, 200, TTMEM_KERNEL_DISPATCH, false);
  const ttmem_cb cb = {105664, 1024, &kGrid, 1, 0};
  tracked->program_place(0, 1, {&cb, 1});
  Receipt receipt;
  ASSERT_TRUE(tracked.allocate(0, buffer(TTMEM_L1, 3, 0, 30, 0), receipt));
  tracked.parts().allocations.release_at_close(*tracked.parts().devices.find(0), receipt);
  tracked->device_close(0);
  EXPECT_TRUE(tracked.read().devices.empty());
  EXPECT_TRUE(tracked.read().allocations.empty());
  EXPECT_TRUE(tracked.read().programs.empty());
  tracked->device_open(wormhole(0));
  const auto device = tracked.device();
  EXPECT_EQ(device.anomalies.left_at_close, 2U);
  EXPECT_EQ(device.anomalies.left_at_close_bytes, 130U);
  EXPECT_EQ(device.l1_total_bytes, 0U);
  EXPECT_EQ(device.programs, 0U);
  EXPECT_EQ(device.kinds[Kind::dram].peak_bytes, 0U);
}

TEST(Tracker, AMeshProgramIsReportedOnEachDeviceOnceAndDestroyedEverywhere) {
  Tracked tracked;
  const ttmem_cb cb = {105664, 475136, &kGrid, 1, 0};
  for (std::uint32_t id = 0; id < 8; ++id) tracked->device_open(wormhole(id));
  for (int twice = 0; twice < 2; ++twice) {
    for (std::uint32_t id = 0; id < 8; ++id) tracked->program_place(id, 1, {&cb, 1});
  }
  for (std::uint32_t id = 0; id < 8; ++id) {
    EXPECT_EQ(tracked.device(id).kinds[Kind::cb].used_bytes, 29U << 20);
    EXPECT_EQ(tracked.device(id).programs, 1U);
  }
  EXPECT_EQ(tracked.read().footprints.size(), 1U);
  tracked->program_destroy(1);
  for (std::uint32_t id = 0; id < 8; ++id) {
    EXPECT_EQ(tracked.device(id).kinds[Kind::cb].used_bytes, 0U);
    EXPECT_EQ(tracked.device(id).programs, 0U);
  }
}

TEST(Tracker, DropsCallsForMoreDevicesThanTheLayoutHolds) {
  Tracked tracked;
  for (std::uint32_t id = 0; id < segment::kMaxDevices + 3; ++id) {
    tracked->device_open(wormhole(id * 1000));
  }
  EXPECT_EQ(tracked.read().devices.size(), segment::kMaxDevices);
  EXPECT_EQ(tracked.read().dropped_calls, 3U);
}

TEST(Tracker, AGridLargerThanTheLayoutIsUnknown) {
  Tracked tracked;
  ttmem_device_info info = wormhole(0);
  info.grid_x = 40;
  info.grid_y = 40;
  tracked->device_open(info);
  EXPECT_EQ(tracked.device().grid_x, 0U);
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 1U);
}

TEST(Tracker, AGridWithOneSideUnknownIsUnknown) {
  for (const auto& [x, y] : {std::pair<std::uint16_t, std::uint16_t>{200, 0}, {0, 200}}) {
    Tracked tracked;
    ttmem_device_info info = wormhole(0);
    info.grid_x = x;
    info.grid_y = y;
    tracked->device_open(info);
    const ttmem_core_range far = {0, 0, 199, 199};
    const ttmem_cb cb = {0, 16, &far, 1, 0};
    tracked->program_place(0, 1, {&cb, 1});
    EXPECT_EQ(tracked.device().grid_x, 0U);
    EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 16U * 256);
  }
}

TEST(Tracker, AnnouncingADeviceKeepsWhatItHolds) {
  Tracked tracked;
  const ttmem_core_range row = {0, 1, 3, 1};
  ttmem_buffer sharded = buffer(TTMEM_L1, 1, 1454080, 4096, 1024);
  sharded.cores = &row;
  sharded.core_ranges = 1;
  tracked->buffer_alloc(0, sharded);
  sharded.id = 2;
  Receipt receipt;
  ASSERT_TRUE(tracked.allocate(0, sharded, receipt));
  tracked->kernel_load(0, 1, 100, TTMEM_KERNEL_APP, false);
  const ttmem_cb cb = {105664, 1024, &row, 1, 0};
  tracked->program_place(0, 7, {&cb, 1});
  tracked->device_open(wormhole(0));

  const auto image = tracked.read();
  const auto device = tracked.device();
  EXPECT_EQ(device.kinds[Kind::l1].used_bytes, 2 * 4096U);
  EXPECT_EQ(device.kinds[Kind::kernel].used_bytes, 100U);
  EXPECT_EQ(device.kinds[Kind::cb].used_bytes, 4096U);
  EXPECT_EQ(device.programs, 1U);
  EXPECT_EQ(device.l1_total_bytes, 2 * 4096U + 100 + 4096);
  CoreMask expected;
  for (std::uint32_t x = 0; x < 4; ++x) expected.set(8 + x);
  for (const auto& allocation : image.allocations) {
    if (allocation.kind == Kind::l1) {
      EXPECT_EQ(allocation.cores, expected);
    }
  }
  ASSERT_EQ(image.programs.size(), 1U);
  EXPECT_EQ(image.footprints[image.programs[0].footprint][0].cores, expected);
  for (std::uint32_t core = 0; core < 64; ++core) {
    EXPECT_EQ(device.cores[core].cb_bytes, expected.test(core) ? 1024U : 0U) << core;
  }
  tracked->program_destroy(7);
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 0U);
}

TEST(Tracker, AProgramWithTooManyCbsIsCountedAndReportedAsUnlisted) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  std::vector<ttmem_cb> cbs;
  for (std::uint64_t i = 0; i < segment::kMaxCbsPerProgram + 1; ++i) {
    cbs.push_back({105664 + 32 * i, 32, &kGrid, 1, 0});
  }
  tracked->program_place(0, 1, cbs);
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, 64U * 32 * cbs.size());
  EXPECT_TRUE(tracked.read().programs.empty());
  EXPECT_EQ(tracked.read().dropped_programs, 1U);
}

TEST(Tracker, CountsABadLayoutOnEveryDeviceThatGetsIt) {
  Tracked tracked;
  const ttmem_core_range outside = {0, 0, 8, 0};
  const ttmem_cb cb = {105664, 1024, &outside, 1, 0};
  for (std::uint32_t id = 0; id < 2; ++id) {
    tracked->device_open(wormhole(id));
    tracked->program_place(id, 1, {&cb, 1});
    EXPECT_EQ(tracked.device(id).anomalies.bad_arguments, 1U);
  }
}

TEST(Tracker, RefusesSizesThatWouldWrapAround) {
  Tracked tracked;
  tracked->device_open(wormhole(0));
  const ttmem_core_range all = {0, 0, 65535, 65535};
  ttmem_buffer huge = buffer(TTMEM_DRAM, 1, 0, 1, 1ULL << 47);
  huge.cores = &all;
  huge.core_ranges = 1;
  huge.flags = TTMEM_BUFFER_OWN_BANKS;
  tracked->buffer_alloc(0, huge);
  const ttmem_core_range reversed = {5, 0, 1, 0};
  huge.cores = &reversed;
  tracked->buffer_alloc(0, huge);
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 2U);
  huge.cores = &all;
  Receipt none;
  EXPECT_FALSE(tracked.allocate(0, huge, none));
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 3U);
  EXPECT_EQ(tracked.device().kinds[Kind::dram].used_bytes, 1U) << "banks unknown: logical";
}

TEST(Tracker, NoSumOfHugeSizesWrapsAround) {
  Tracked tracked;
  ttmem_device_info info = wormhole(0);
  info.dram_channels = 0xffffffff;
  tracked->device_open(info);
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 1U);
  constexpr std::uint64_t largest = 1ULL << 48;
  constexpr std::uint64_t most = 1ULL << 61;
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 1, 0, 1, largest));
  EXPECT_EQ(tracked.device().kinds[Kind::dram].used_bytes, 1U) << "banks unknown: logical";
  tracked->buffer_alloc(0, buffer(TTMEM_DRAM, 2, ~0ULL, 1, 1));
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 2U) << "ends beyond the last address";
  EXPECT_EQ(tracked.read().allocations.size(), 1U);

  for (std::uint64_t id = 1; id <= most / largest + 1; ++id) {
    tracked->buffer_alloc(0, buffer(TTMEM_L1, id, 0, largest, 0));
    tracked->buffer_alloc(0, buffer(TTMEM_L1_SMALL, id, 0, largest, 0));
    tracked->cb_alloc(0, id, 0);
    tracked->cb_alloc(0, id, largest);
    tracked->kernel_load(0, id, 0, TTMEM_KERNEL_APP, false);
    tracked->kernel_load(0, id, largest, TTMEM_KERNEL_APP, false);
  }
  EXPECT_EQ(tracked.device().kinds[Kind::kernel].used_bytes, most);
  EXPECT_EQ(tracked.device().kinds[Kind::cb].used_bytes, most);
  EXPECT_EQ(tracked.device().l1_total_bytes, 4 * most);
  EXPECT_EQ(tracked.device().anomalies.bad_arguments, 2U + 4);
}

// A model that keeps the live allocations in a std::map.
struct Model {
  struct Live {
    std::uint64_t logical;
    std::uint64_t used;
  };
  std::map<std::tuple<std::uint32_t, int, std::uint64_t>, Live> live;
  std::map<std::tuple<std::uint32_t, int>, std::uint64_t> peak;

  [[nodiscard]] std::uint64_t sum(std::uint32_t device, int kind, bool logical) const {
    std::uint64_t total = 0;
    for (const auto& [key, value] : live) {
      if (std::get<0>(key) == device && std::get<1>(key) == kind) {
        total += logical ? value.logical : value.used;
      }
    }
    return total;
  }
};

// Half of the buffers are freed by their ids. The other half is freed by receipts, which the test
// keeps.
RC_GTEST_PROP(Tracker, ReadsBackTheSameAsTheModel, ()) {
  Tracked tracked;
  Model model;
  std::map<std::tuple<std::uint32_t, int, std::uint64_t>, Receipt> receipts;
  for (std::uint32_t id = 0; id < 3; ++id) tracked->device_open(wormhole(id));
  const auto steps = *rc::gen::inRange(1, 150);
  for (int step = 0; step < steps; ++step) {
    const auto device = *rc::gen::inRange<std::uint32_t>(0, 3);
    const auto type = *rc::gen::element(TTMEM_DRAM, TTMEM_L1, TTMEM_L1_SMALL, TTMEM_TRACE);
    const auto id = *rc::gen::inRange<std::uint64_t>(1, 12);
    const auto key = std::make_tuple(device, static_cast<int>(type), id);
    const bool by_receipt = id % 2 == 0;
    const auto release = [&] {
      const auto receipt = receipts.find(key);
      if (receipt == receipts.end()) return;
      tracked.parts().allocations.release(*tracked.parts().devices.find(device), receipt->second,
                                          now());
      receipts.erase(receipt);
    };
    if (*rc::gen::inRange(0, 3) == 0) {
      by_receipt ? release() : tracked->buffer_free(device, type, id);
      model.live.erase(key);
      continue;
    }
    const auto per_bank = *rc::gen::inRange<std::uint64_t>(0, 5000);
    const auto bytes = *rc::gen::inRange<std::uint64_t>(0, 60000);
    const ttmem_buffer reported = buffer(type, id, id * 65536, bytes, per_bank);
    if (by_receipt) {
      release();
      RC_ASSERT(tracked.allocate(device, reported, receipts[key]));
    } else {
      tracked->buffer_alloc(device, reported);
    }
    const std::uint64_t banks = type == TTMEM_DRAM || type == TTMEM_TRACE ? 12 : 64;
    model.live.erase(key);  // an allocation replaces a live allocation of the same id
    model.live[key] = {bytes, per_bank == 0 ? bytes : per_bank * banks};
    auto& peak = model.peak[{device, static_cast<int>(type)}];
    peak = std::max(peak, model.sum(device, type, false));
  }
  const auto image = tracked.read();
  RC_ASSERT(image.allocations.size() == model.live.size());
  for (const auto& device : image.devices) {
    std::uint64_t l1_total = 0;
    for (int kind = 0; kind <= TTMEM_TRACE; ++kind) {
      const auto& figures = device.kinds[kBufferKinds.at(static_cast<std::size_t>(kind))];
      RC_ASSERT(figures.used_bytes == model.sum(device.id, kind, false));
      RC_ASSERT(figures.logical_bytes == model.sum(device.id, kind, true));
      RC_ASSERT(figures.peak_bytes == (model.peak[{device.id, kind}]));
      RC_ASSERT(figures.allocations - figures.frees == figures.live);
      if (kind == TTMEM_L1 || kind == TTMEM_L1_SMALL) l1_total += figures.used_bytes;
    }
    RC_ASSERT(device.l1_total_bytes == l1_total);
  }
  for (const auto& allocation : image.allocations) {
    const auto key = std::make_tuple(image.devices[allocation.device].id,
                                     int{buffer_type_of(allocation.kind)}, allocation.id);
    RC_ASSERT(model.live.contains(key));
    RC_ASSERT(model.live[key].logical == allocation.bytes);
  }
}

}  // namespace
}  // namespace ttmem::tracker
