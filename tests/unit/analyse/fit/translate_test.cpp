// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/translate.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"

namespace ttmem::fit {
namespace {

using recording::RecordedRequest;
using Spread = BufferLayout::Spread;

recording::RecordedDevice device_of(const placement::Board& board) {
  recording::RecordedDevice device;
  device.arch = placement::name_of(board.chip.arch);
  device.board = board.name;
  device.grid_x = static_cast<std::uint16_t>(board.compute_grid.x);
  device.grid_y = static_cast<std::uint16_t>(board.compute_grid.y);
  device.l1_bytes_per_core = board.chip.l1_bytes_per_core;
  device.l1_base = board.chip.l1_base;
  device.dram_channels = board.dram_channels;
  return device;
}

// Returns the target on the board `to` for requests from a device of the board `from`.
Target target(const char* from, const char* to, const CarryOptions& options = {}) {
  recording::Tables tables;
  tables.devices.push_back(device_of(*placement::find_board(from)));
  return find_targets(tables, *placement::find_board(to), options)->targets.front();
}

// Returns a request for an interleaved buffer. The board that reports the request has this number
// of banks.
RecordedRequest interleaved(Kind kind, std::uint64_t pages, std::uint64_t page,
                            std::uint32_t banks) {
  RecordedRequest request;
  request.kind = kind;
  request.bytes = pages * page;
  request.has_bytes_per_bank = true;
  request.bytes_per_bank = (pages + banks - 1) / banks * page;
  request.banks = banks;
  request.layout = {Spread::interleaved, BufferLayout::Direction::usual, 0, page};
  return request;
}

RecordedRequest sharded(Kind kind, std::uint64_t bytes_per_bank, std::uint32_t banks) {
  RecordedRequest request;
  request.kind = kind;
  request.bytes = bytes_per_bank * 4;
  request.has_bytes_per_bank = true;
  request.bytes_per_bank = bytes_per_bank;
  request.banks = banks;
  request.layout.spread = Spread::sharded;
  return request;
}

TEST(Translate, AnInterleavedBufferIsSpreadOverTheBanksOfTheBoard) {
  const RecordedRequest request = interleaved(Kind::dram, 56, 4096, 8);
  const auto translated = translate(request, nullptr, 1, target("p150", "p100"));
  EXPECT_EQ(translated.why, Why::none);
  EXPECT_TRUE(translated.is_placed);
  EXPECT_TRUE(translated.bottom_up);
  EXPECT_EQ(translated.request.bytes_per_bank, 8u * 4096);
  EXPECT_EQ(translated.request.banks, 7u);
}

TEST(Translate, PagesAreAlignedAsTheBoardDoesIt) {
  // A page of 96 bytes is 3 x 32 bytes on a Wormhole and 2 x 64 bytes on a Blackhole.
  const auto translated =
      translate(interleaved(Kind::dram, 12, 96, 12), nullptr, 1, target("n150", "p150"));
  EXPECT_EQ(translated.request.bytes_per_bank, 2u * 128);
}

TEST(Translate, WithoutAPageSizeOnlyToBanksOfTheSameNumber) {
  RecordedRequest request = interleaved(Kind::dram, 56, 4096, 12);
  request.layout.page_bytes = 0;
  EXPECT_EQ(translate(request, nullptr, 1, target("n300", "n150")).request.bytes_per_bank,
            request.bytes_per_bank);
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).why, Why::page_unknown);
  request.layout = {};
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).why, Why::layout_unknown);
}

TEST(Translate, ShardsInL1NeedTheirCores) {
  const RecordedRequest request = sharded(Kind::l1, 2048, 110);
  CoreMask cores;
  cores.set(7 * 11 + 7);  // core (7, 7) on a grid with 11 columns
  const auto translated = translate(request, &cores, 1, target("p150", "n150"));
  EXPECT_EQ(translated.why, Why::none);
  EXPECT_EQ(translated.request.bytes_per_bank, 2048u);
  EXPECT_EQ(translated.request.banks, 64u);
  EXPECT_FALSE(translated.bottom_up);
  cores.set(8);  // core (8, 0)
  EXPECT_EQ(translate(request, &cores, 1, target("p150", "n150")).why, Why::cores_missing);
  EXPECT_EQ(translate(request, nullptr, 1, target("p150", "n150")).why, Why::cores_unknown);
}

TEST(Translate, ShardsInDramNeedTheirBanksAndTheirPages) {
  RecordedRequest request = sharded(Kind::dram, 10 * 96, 12);
  request.layout.shard_banks = 8;
  request.layout.page_bytes = 96;
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).request.bytes_per_bank,
            10u * 128);
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p100")).why, Why::banks_missing);
  request.layout.page_bytes = 0;
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).why, Why::page_unknown);
}

TEST(Translate, ShardsOfADeviceWithoutFiguresAreUnknown) {
  Target silent = target("p150", "n150");
  silent.recorded.grid_x = 0;
  silent.recorded.dram_channels = 0;
  CoreMask cores;
  cores.set(1);
  EXPECT_EQ(translate(sharded(Kind::l1, 2048, 110), &cores, 1, silent).why, Why::cores_unknown);
  EXPECT_EQ(translate(sharded(Kind::dram, 2048, 8), nullptr, 1, silent).why, Why::layout_unknown);
}

TEST(Translate, ShardsAreRoundedUpToWholePages) {
  RecordedRequest request = sharded(Kind::dram, 10 * 96 + 1, 12);
  request.layout.shard_banks = 8;
  request.layout.page_bytes = 96;
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).request.bytes_per_bank,
            11u * 128);
  request.bytes_per_bank = 1ULL << 63;
  request.layout.page_bytes = 32;  // the Blackhole rounds each page up to 64 bytes
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).request.bytes_per_bank, ~0ULL);
  request.bytes_per_bank = 1;
  request.layout.page_bytes = kMaxBytes;  // a page is larger than the shard
  EXPECT_EQ(translate(request, nullptr, 1, target("n150", "p150")).request.bytes_per_bank,
            kMaxBytes);
}

TEST(Translate, BuffersOfASubDeviceAreUnknown) {
  RecordedRequest request = sharded(Kind::l1, 2048, 4);
  request.own_banks = true;
  EXPECT_EQ(translate(request, nullptr, 1, target("p150", "p100")).why, Why::sub_device);
}

TEST(Translate, TracesLieInDramWithoutARegion) {
  const RecordedRequest request = interleaved(Kind::trace, 8, 1024, 8);
  const auto there = translate(request, nullptr, 1, target("p150", "p100"));
  EXPECT_EQ(there.request.kind, Kind::dram);
  EXPECT_FALSE(there.bottom_up);
  CarryOptions options;
  options.trace_region_size = 1 << 20;
  const auto region = translate(request, nullptr, 1, target("p150", "p100", options));
  EXPECT_EQ(region.request.kind, Kind::trace);
  EXPECT_TRUE(region.bottom_up);
}

TEST(Translate, GrowsByAFactorInWholePages) {
  const auto translated =
      translate(interleaved(Kind::dram, 8, 4096, 8), nullptr, 1.5, target("p150", "p150"));
  EXPECT_EQ(translated.request.bytes, 12u * 4096);
  EXPECT_EQ(translated.request.bytes_per_bank, 2u * 4096);
}

TEST(Translate, AScaledBufferGrowsInTotalAndInEachBank) {
  RecordedRequest shards = sharded(Kind::dram, 4096, 8);
  shards.layout.shard_banks = 8;
  const auto translated = translate(shards, nullptr, 2, target("p150", "p150"));
  EXPECT_EQ(translated.request.bytes, 2 * shards.bytes);
  EXPECT_EQ(translated.request.bytes_per_bank, 2u * 4096);
  RecordedRequest without_pages = interleaved(Kind::dram, 8, 4096, 8);
  without_pages.layout.page_bytes = 0;
  EXPECT_EQ(translate(without_pages, nullptr, 2, target("p150", "p150")).request.bytes, 16u * 4096);
}

recording::RecordedCb cb(std::uint32_t address, std::uint32_t bytes, std::uint32_t core) {
  recording::RecordedCb made{.address = address, .bytes = bytes, .global = false, .cores = {}};
  made.cores.set(core);
  return made;
}

TEST(Translate, CircularBuffersAreStackedFromTheBaseOfTheBoard) {
  const recording::Layout layout = {cb(111616, 100, 12), cb(111616 + 128, 64, 12)};  // core (1, 1)
  const auto translated = translate(layout, target("p150", "n150"));
  EXPECT_EQ(translated.why, Why::none);
  EXPECT_EQ(translated.layout[0].address, 105664u);
  EXPECT_EQ(translated.layout[1].address, 105664u + 128);
  EXPECT_TRUE(translated.layout[1].cores.test(9));  // (1, 1) on a grid with 8 columns
  ASSERT_EQ(translated.stacks.size(), 1u);
  EXPECT_EQ(translated.stacks[0].end, 105664u + 192);
}

TEST(Translate, CircularBuffersAtOtherAddressesKeepTheirPlaceOrAreUnknown) {
  const recording::Layout layout = {cb(200000, 100, 0)};
  const auto same = translate(layout, target("p150", "p100"));
  EXPECT_EQ(same.why, Why::none);
  EXPECT_EQ(same.layout[0].address, 200000u);
  EXPECT_EQ(same.stacks.at(0).end, 200100u);
  EXPECT_EQ(translate(layout, target("p150", "n150")).why, Why::cb_order);
  EXPECT_EQ(translate({cb(111616, 100, 10)}, target("p150", "n150")).why, Why::cores_missing);
}

recording::Layout on_whole_grid(const char* board, std::uint32_t bytes) {
  const placement::Board on = *placement::find_board(board);
  recording::RecordedCb one{
      .address = on.chip.l1_base, .bytes = bytes, .global = false, .cores = {}};
  one.cores = CoreMask::first(on.compute_grid.x * on.compute_grid.y);
  return {one};
}

TEST(Estimate, TheWholeGridBecomesTheWholeGrid) {
  CarryOptions estimate;
  estimate.estimate = true;
  const recording::Layout layout = on_whole_grid("n150", 4096);
  EXPECT_EQ(translate(layout, target("n150", "p150")).layout[0].cores.count(), 64u);
  const auto larger = translate(layout, target("n150", "p150", estimate));
  EXPECT_EQ(larger.why, Why::none);
  EXPECT_EQ(larger.layout[0].cores, CoreMask::first(11 * 10));
  const recording::Layout large = on_whole_grid("p150", 4096);
  EXPECT_EQ(translate(large, target("p150", "n150")).why, Why::cores_missing);
  EXPECT_EQ(translate(large, target("p150", "n150", estimate)).layout[0].cores,
            CoreMask::first(64));
}

TEST(Estimate, OnlyTheWholeGridMayGrow) {
  EXPECT_TRUE(may_grow_with_grid(on_whole_grid("n150", 4096), target("n150", "p150")));
  EXPECT_FALSE(may_grow_with_grid(on_whole_grid("n150", 4096), target("n150", "n150")));
  EXPECT_FALSE(may_grow_with_grid({cb(105664, 100, 9)}, target("n150", "p150")));
}

TEST(Estimate, ShardsOfMissingCoresMoveToTheOtherCores) {
  CarryOptions estimate;
  estimate.estimate = true;
  const RecordedRequest request = sharded(Kind::l1, 2048, 110);
  CoreMask cores;
  cores.set(0);
  cores.set(8);  // core (8, 0) moves to core (0, 0)
  const auto translated = translate(request, &cores, 1, target("p150", "n150", estimate));
  EXPECT_EQ(translated.why, Why::none);
  EXPECT_EQ(translated.request.bytes_per_bank, 4096u);
  cores.clear(8);
  EXPECT_EQ(translate(request, &cores, 1, target("p150", "n150", estimate)).request.bytes_per_bank,
            2048u);
}

TEST(Estimate, ShardsOfMissingBanksMoveToTheOtherBanks) {
  CarryOptions estimate;
  estimate.estimate = true;
  RecordedRequest request = sharded(Kind::dram, 7 * 64, 8);
  request.layout.shard_banks = 8;
  request.layout.page_bytes = 64;
  EXPECT_EQ(translate(request, nullptr, 1, target("p150", "p100")).why, Why::banks_missing);
  EXPECT_EQ(translate(request, nullptr, 1, target("p150", "p100", estimate)).request.bytes_per_bank,
            8u * 64);
}

TEST(Target, IsOpenedAsTheRecordedDeviceWas) {
  recording::Tables tables;
  tables.devices.push_back(device_of(*placement::find_board("n300")));
  tables.devices[0].grid_y = 8;  // the height of the grid with Ethernet dispatch
  tables.devices[0].l1_small_bytes_per_core = 32768;
  tables.devices.push_back(tables.devices[0]);
  const auto found = find_targets(tables, *placement::find_board("galaxy"), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->targets.size(), 1u) << "opened alike";
  EXPECT_EQ(found->targets[0].grid, (placement::Grid{8, 10}));
  EXPECT_EQ(found->targets[0].map.l1_small_bytes, 32768u);
  CarryOptions options;
  options.l1_small_size = 2'000'000;
  EXPECT_FALSE(find_targets(tables, *placement::find_board("p150"), options));
}

}  // namespace
}  // namespace ttmem::fit
