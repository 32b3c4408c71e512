// SPDX-License-Identifier: Apache-2.0
#include "show/exports/cb_shares.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

#include "track/ledger/device_ledger.hpp"

namespace ttmem::exports {
namespace {

using recording::Layout;

CoreMask cores(std::initializer_list<std::uint32_t> numbers) {
  CoreMask mask;
  for (const std::uint32_t number : numbers) mask.set(number);
  return mask;
}

TEST(CbShares, ASharedByteCountsHalfForEachProgram) {
  const Layout first = {{.address = 0, .bytes = 100, .cores = cores({0, 1})}};
  const Layout second = {{.address = 50, .bytes = 100, .cores = cores({1})}};
  // On core 0 the first program has 100 bytes. On core 1 the first program alone has 50 bytes, the
  // second program alone has 50 bytes, and both programs share 50 bytes.
  EXPECT_EQ(cb_shares({}, {{&first, 1}, {&second, 1}}), (std::vector<std::uint64_t>{175, 75}));
}

TEST(CbShares, ProgramsOfOneLayoutShareItEqually) {
  const Layout layout = {{.address = 0, .bytes = 90, .cores = cores({0})}};
  EXPECT_EQ(cb_shares({}, {{&layout, 1}, {&layout, 2}}), (std::vector<std::uint64_t>{30, 60}));
}

TEST(CbShares, RemaindersAreNotLost) {
  const Layout layout = {{.address = 0, .bytes = 100, .cores = cores({0})}};
  EXPECT_EQ(cb_shares({}, {{&layout, 1}, {&layout, 1}, {&layout, 1}}),
            (std::vector<std::uint64_t>{34, 33, 33}));
}

TEST(CbShares, AViewOfABufferTakesNothing) {
  const Layout layout = {{.address = 0, .bytes = 100, .global = true, .cores = cores({0})}};
  EXPECT_EQ(cb_bytes({}, layout), 0);
}

TEST(CbShares, OverlappingBuffersOfOneProgramCountOnce) {
  const Layout layout = {{.address = 0, .bytes = 100, .cores = cores({0, 7})},
                         {.address = 60, .bytes = 60, .cores = cores({7})}};
  EXPECT_EQ(cb_bytes({}, layout), 220);
}

TEST(CbShares, CircularBuffersOutsideL1TakeNothing) {
  const recording::RecordedDevice device{.grid_x = 2, .grid_y = 1, .l1_bytes_per_core = 90};
  const Layout layout = {{.address = 0, .bytes = 100, .cores = cores({0, 7})},
                         {.address = 90, .bytes = 10, .cores = cores({0})}};
  EXPECT_EQ(cb_bytes(device, layout), 90);
}

Layout random_layout() {
  Layout layout(*rc::gen::inRange<std::size_t>(0, 4));
  for (recording::RecordedCb& cb : layout) {
    cb.address = *rc::gen::inRange<std::uint32_t>(0, 50);
    cb.bytes = *rc::gen::inRange<std::uint32_t>(0, 50);
    cb.global = *rc::gen::inRange(0, 5) == 0;
    for (int i = 0; i < 3; ++i) cb.cores.set(*rc::gen::inRange<std::uint32_t>(0, 6));
  }
  return layout;
}

RC_GTEST_PROP(CbShares, SumToTheReservedBytesOfTheCores, ()) {
  std::vector<Layout> layouts(*rc::gen::inRange<std::size_t>(1, 5));
  for (Layout& layout : layouts) layout = random_layout();
  ledger::FootprintTable footprints;
  ledger::DeviceLedger device(kMaxCores);
  std::vector<Sharer> sharers;
  std::uint64_t program = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t key = *rc::gen::inRange<std::size_t>(0, layouts.size());
    const std::uint64_t programs = *rc::gen::inRange<std::uint64_t>(1, 4);
    sharers.push_back({&layouts[key], programs});
    for (std::uint64_t n = 0; n < programs; ++n) {
      device.place(++program, footprints.acquire(std::span(&key, 1), [&] {
        std::vector<ledger::Cb> cbs;
        for (const recording::RecordedCb& cb : layouts[key]) {
          cbs.push_back({.range = {cb.address, cb.address + cb.bytes},
                         .cores = cb.cores,
                         .global = cb.global});
        }
        return cbs;
      }));
    }
  }
  const auto shares = cb_shares({}, sharers);
  RC_ASSERT(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}) ==
            device.physical_bytes());
}

}  // namespace
}  // namespace ttmem::exports
