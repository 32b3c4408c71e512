// SPDX-License-Identifier: Apache-2.0
#include "show/web/assets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

namespace ttmem::web {
namespace {

std::string source(const std::string& name) {
  std::ifstream file(std::string(TTMEM_SOURCE_DIR) + "/src/show/web/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Assets, AreTheFilesOfThePage) {
  for (const char* name : {"index.html", "app.js", "app.css", "icon.svg"}) {
    const Asset* asset = find(std::string("/") + name);
    ASSERT_NE(asset, nullptr) << name;
    EXPECT_EQ(plain(*asset), source(name)) << name;
  }
  EXPECT_EQ(find("/no_charts.js"), nullptr);  // a build without charts has this file as /uplot.js
  EXPECT_NE(find("/uplot.js"), nullptr);
  EXPECT_EQ(find("/../app.js"), nullptr);
}

TEST(Assets, HaveAContentTypeAndAnETagOfTheirContent) {
  std::set<std::string_view> tags;
  for (const Asset& asset : all()) {
    EXPECT_EQ(asset.content_type, content_type_of(asset.path));
    EXPECT_EQ(asset.etag.size(), 18U) << asset.path;
    EXPECT_TRUE(tags.insert(asset.etag).second) << asset.path;
  }
  EXPECT_EQ(find("/app.js")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(content_type_of("data.bin"), "application/octet-stream");
  EXPECT_EQ(content_type_of("data"), "application/octet-stream");
}

TEST(Assets, TakeLessThan200KilobytesOnTheWire) {
  const auto assets = all();
  const std::size_t bytes =
      std::accumulate(assets.begin(), assets.end(), std::size_t{0},
                      [](std::size_t sum, const Asset& asset) { return sum + asset.gzip.size(); });
  EXPECT_LE(bytes, 200'000U);
}

TEST(Assets, SayWhenThereAreNoCharts) {
  const bool has_charts = find("/uplot-licence.txt") != nullptr;
  EXPECT_EQ(missing().empty(), has_charts);
  EXPECT_EQ(plain(*find("/uplot.js")) == source("no_charts.js"), !has_charts);
}

}  // namespace
}  // namespace ttmem::web
