// SPDX-License-Identifier: Apache-2.0
#include "show/views/query.hpp"

#include <gtest/gtest.h>

#include "support/views_fixtures.hpp"

namespace ttmem::views {
namespace {

using namespace fixtures;

std::string row_of(const model::Snapshot& snapshot, std::string_view fields, text::Units units,
                   const QueryFormat& format = {}) {
  return query_rows(snapshot, parse_query(fields).value(), format, units);
}

TEST(Query, WritesValuesInTheRequestedUnit) {
  const model::Snapshot one = mesh(1);
  EXPECT_EQ(row_of(one, "device,cb_physical", text::Units::mib), "0, 29.00 MiB\n");
  EXPECT_EQ(row_of(one, "cb_physical_bytes", text::Units::bytes), "30408704 B\n");
  EXPECT_EQ(row_of(one, "cb_physical", text::Units::automatic), "29.0 MiB\n");
  EXPECT_EQ(row_of(one, "cb_physical", text::Units::gib, {.header = true, .units = false}),
            "0.03\n");
}

TEST(Query, KeepsTheSignOfHeadroom) {
  EXPECT_EQ(row_of(snapshot_of({troubled().devices[0]}), "headroom_per_core", text::Units::bytes),
            "-115200 B\n");
}

TEST(Query, ShowsUnknownAsNotAvailable) {
  EXPECT_EQ(row_of(snapshot_of({unannounced(3)}), "device,dram_capacity,board", text::Units::mib),
            "3, [N/A], [N/A]\n");
}

TEST(Units, NeverShowsZeroForANonzeroValue) {
  EXPECT_EQ(text::number_in(0, text::Units::mib), "0.00");
  EXPECT_EQ(text::number_in(192, text::Units::mib), "0.0002");
  EXPECT_EQ(text::number_in(1, text::Units::gib), "0.000000001");
  EXPECT_EQ(text::number_in(UINT64_MAX, text::Units::bytes), "18446744073709551615");
}

TEST(Units, TakesAnyCaseOfLetters) {
  EXPECT_EQ(text::parse_units("mib").value(), text::Units::mib);
  EXPECT_EQ(text::parse_units("GiB").value(), text::Units::gib);
  EXPECT_FALSE(text::parse_units("KB"));
}

}  // namespace
}  // namespace ttmem::views
