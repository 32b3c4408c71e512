// SPDX-License-Identifier: Apache-2.0
#include "views/query.hpp"

#include <gtest/gtest.h>

#include "support/views_fixtures.hpp"

namespace ttmem::views {
namespace {

using namespace fixtures;

std::string row_of(const model::Snapshot& snapshot, std::string_view fields, Units units,
                   const QueryFormat& format = {}) {
  return query_rows(snapshot, parse_query(fields).value(), format, units);
}

TEST(Query, WritesValuesInTheUnitAskedFor) {
  const model::Snapshot one = mesh(1);
  EXPECT_EQ(row_of(one, "device,cb_physical", Units::mib), "0, 29.00 MiB\n");
  EXPECT_EQ(row_of(one, "cb_physical_bytes", Units::bytes), "30408704 B\n");
  EXPECT_EQ(row_of(one, "cb_physical", Units::automatic), "29.0 MiB\n");
  EXPECT_EQ(row_of(one, "cb_physical", Units::gib, {.header = true, .units = false}), "0.03\n");
}

TEST(Query, KeepsTheSignOfHeadroom) {
  EXPECT_EQ(row_of(snapshot_of({troubled().devices[0]}), "headroom_per_core", Units::bytes),
            "-115200 B\n");
}

TEST(Query, ShowsUnknownAsNotAvailable) {
  EXPECT_EQ(row_of(snapshot_of({unannounced(3)}), "device,dram_capacity,board", Units::mib),
            "3, [N/A], [N/A]\n");
}

TEST(Units, NeverShowsZeroForSomething) {
  EXPECT_EQ(number_in(0, Units::mib), "0.00");
  EXPECT_EQ(number_in(192, Units::mib), "0.0002");
  EXPECT_EQ(number_in(1, Units::gib), "0.000000001");
  EXPECT_EQ(number_in(UINT64_MAX, Units::bytes), "18446744073709551615");
}

TEST(Units, TakesAnyCaseOfLetters) {
  EXPECT_EQ(parse_units("mib").value(), Units::mib);
  EXPECT_EQ(parse_units("GiB").value(), Units::gib);
  EXPECT_FALSE(parse_units("KB"));
}

}  // namespace
}  // namespace ttmem::views
