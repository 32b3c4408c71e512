// SPDX-License-Identifier: Apache-2.0
#include "read/collector/tt_metal_region.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace ttmem::collector {
namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

void put_row(Bytes& bytes, std::size_t row, std::int32_t pid,
             const std::vector<std::uint64_t>& figures, const std::string& name) {
  const std::size_t at = 856 + row * 120;
  put(bytes, at, pid);
  for (std::size_t i = 0; i < figures.size(); ++i) put(bytes, at + 8 + i * 8, figures[i]);
  std::memcpy(bytes.data() + at + 56, name.data(), name.size());
}

// Returns the bytes of a region that an unmodified runtime wrote for one Blackhole chip. The
// offsets are from TT-Metal's header.
Bytes captured_region() {
  Bytes bytes(8576);
  put<std::uint32_t>(bytes, 0, 3);                    // version
  put<std::uint32_t>(bytes, 4, 1);                    // active processes
  put<std::uint64_t>(bytes, 8, 1794709671460950685);  // last update
  put<std::uint32_t>(bytes, 16, 1);                   // references
  put<std::uint64_t>(bytes, 32, 4476187513037);       // uid of the chip
  put<std::uint32_t>(bytes, 40, 0);                   // logical number
  put<std::uint64_t>(bytes, 48, 18087936);            // totals
  put<std::uint64_t>(bytes, 56, 393216);
  put<std::uint64_t>(bytes, 64, 225280);
  put<std::uint64_t>(bytes, 80, 3379200);
  put_row(bytes, 0, 23315, {18087936, 393216, 225280, 0, 3379200, 1794709671460950833}, "probe");
  return bytes;
}

TEST(TtMetalRegion, DecodesTheFiguresOfACapturedRegion) {
  const auto region = decode_region(captured_region());
  ASSERT_TRUE(region) << region.error().message;
  EXPECT_EQ(region->uid, 4476187513037u);
  EXPECT_EQ(region->device_id, 0u);
  ASSERT_EQ(region->rows.size(), 1u);
  const RegionRow& row = region->rows[0];
  EXPECT_EQ(row.pid, 23315);
  EXPECT_EQ(row.name, "probe");
  EXPECT_EQ(row.kinds[Kind::dram].used_bytes, 18087936u);
  EXPECT_EQ(row.kinds[Kind::l1].used_bytes, 393216u);
  EXPECT_EQ(row.kinds[Kind::l1_small].used_bytes, 225280u);
  EXPECT_EQ(row.kinds[Kind::trace].used_bytes, 0u);
  EXPECT_EQ(row.kinds[Kind::cb].used_bytes, 3379200u);
  EXPECT_EQ(row.updated_unix_ns, 1794709671460950833u);
}

TEST(TtMetalRegion, KnowsVersionsTwoToFour) {
  for (const std::uint32_t version : {0u, 1u, 2u, 3u, 4u, 5u, 0xffffffffu}) {
    Bytes bytes = captured_region();
    put(bytes, 0, version);
    put<std::uint32_t>(bytes, 8536, 0x52454459);
    EXPECT_EQ(decode_region(bytes).has_value(), version >= 2 && version <= 4) << version;
  }
}

TEST(TtMetalRegion, AVersionFourRegionThatIsNotReadyIsLeftOut) {
  Bytes bytes = captured_region();
  put<std::uint32_t>(bytes, 0, 4);
  const auto region = decode_region(bytes);
  ASSERT_FALSE(region);
  EXPECT_NE(region.error().message.find("has not finished"), std::string::npos);
}

TEST(TtMetalRegion, ATruncatedRegionIsAnErrorAtEveryLength) {
  const Bytes whole = captured_region();
  for (std::size_t length = 0; length < 8540; ++length) {
    ASSERT_FALSE(decode_region(std::span(whole).first(length))) << length;
  }
  EXPECT_TRUE(decode_region(std::span(whole).first(8540)));
}

TEST(TtMetalRegion, FreeRowsAndRowsBeingReleasedAreSkipped) {
  Bytes bytes = captured_region();
  put_row(bytes, 1, -1, {1, 1, 1, 1, 1, 1}, "released");
  put_row(bytes, 2, 0, {1, 1, 1, 1, 1, 1}, "free");
  put_row(bytes, 63, 99, {7, 0, 0, 0, 0, 1}, "last");
  const auto region = decode_region(bytes);
  ASSERT_TRUE(region);
  ASSERT_EQ(region->rows.size(), 2u);
  EXPECT_EQ(region->rows[1].pid, 99);
  EXPECT_EQ(region->rows[1].kinds[Kind::dram].used_bytes, 7u);
}

TEST(TtMetalRegion, NamesAreSafeToPrint) {
  Bytes bytes = captured_region();
  put_row(bytes, 0, 1, {}, std::string(63, 'x') + "\x1b");
  EXPECT_EQ(decode_region(bytes)->rows[0].name, std::string(63, 'x') + "?");
}

TEST(TtMetalRegion, IsRecognisedByItsFileName) {
  EXPECT_TRUE(is_region_name("tt_device_4476187513037_memory"));
  EXPECT_TRUE(is_region_name("tt_device_0_memory"));
  EXPECT_FALSE(is_region_name("tt_device__memory"));
  EXPECT_FALSE(is_region_name("tt_device_memory"));
  EXPECT_FALSE(is_region_name("tt_device_12x_memory"));
  EXPECT_FALSE(is_region_name("tt_device_12_memory.bak"));
}

}  // namespace
}  // namespace ttmem::collector
