// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/leaks_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "analyse/leaks/leaks_json.hpp"

namespace ttmem::leaks {
namespace {

Leaks some_leaks() {
  Leaks leaks;
  leaks.file = "run.ttmem";
  Leak held;
  held.kind = Kind::dram;
  held.scope = "decoder.0/attention/a scope with a name that is longer than any line";
  held.label = "kv";
  held.process = "python3";
  held.pid = 4711;
  for (std::uint32_t device = 0; device < 4; ++device) held.bytes_on.add(device, 1 << 20);
  held.count = 4;
  held.killed = true;
  held.begin_ns = 12'300'000'000;
  leaks.dead_process.push_back(held);
  held.kind.reset();
  leaks.closed_device.push_back(held);
  report::Growth growth;
  growth.label = "request.#.logits";
  growth.process = "server";
  growth.pid = 12;
  growth.mark = "step";
  growth.marks = 11;
  growth.steps = 8;
  growth.first_bytes = 1 << 20;
  growth.last_bytes = 9 << 20;
  growth.first_count = 1;
  growth.last_count = 9;
  leaks.growth.push_back(growth);
  leaks.unknown = {"the recorder was killed, or could not write: the end is missing"};
  return leaks;
}

TEST(LeaksText, FitsTheWidthAndSaysWhatToDo) {
  for (const std::size_t width : {60U, 80U, 200U}) {
    text::TextOptions options;
    options.width = width;
    const std::string text = leaks_text(some_leaks(), 10, options);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(text::display_width(line), width) << line;
    }
    EXPECT_NE(text.find("request.#.logits"), std::string::npos) << text;
    EXPECT_NE(text.find("Next: "), std::string::npos);
    EXPECT_NE(text.find("the recorder was killed"), std::string::npos);
  }
  text::TextOptions wide;
  wide.width = 200;
  const std::string text = leaks_text(some_leaks(), 10, wide);
  for (const char* part : {"killed", "4711 python3", "0-3", "at 12.3s", "1.00 MiB", "1 to 9",
                           "BYTES/DEVICE  ALL DEVICES", "1.00 MiB     4.00 MiB"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LeaksText, FewerBytesAreNotShownAsGrowth) {
  Leaks leaks = some_leaks();
  leaks.growth[0].kind = Kind::cb;
  leaks.growth[0].all_programs = true;
  leaks.growth[0].first_bytes = 9 << 20;
  leaks.growth[0].last_bytes = 1 << 20;
  const std::string text = leaks_text(leaks, 10, {});
  EXPECT_EQ(text.find("EiB"), std::string::npos) << text;
}

TEST(LeaksText, SuspectsAreLeaksAndWeightsAreNot) {
  Leaks leaks;
  Outlived outlived;
  outlived.how = Outlived::How::once;
  outlived.visits = 1;
  outlived.what.kind = Kind::dram;
  outlived.what.scope = "load";
  outlived.what.bytes_on.add(0, 4096);
  outlived.what.count = 2;
  leaks.outlived_scope = {outlived};
  EXPECT_FALSE(leaks.any());
  std::string text = leaks_text(leaks, 10, {});
  EXPECT_NE(text.find("usual for weights"), std::string::npos) << text;
  EXPECT_NE(text.find("No leaks found"), std::string::npos) << text;
  outlived.how = Outlived::How::every_time;
  outlived.visits = 5;
  leaks.outlived_scope.insert(leaks.outlived_scope.begin(), outlived);
  EXPECT_TRUE(leaks.any());
  text = leaks_text(leaks, 10, {});
  EXPECT_NE(text.find("every time, 5 visits"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(leaks_json({leaks}))["sources"][0]["outlived_scope"];
  EXPECT_EQ(json[0]["left_behind"], "every_time");
  EXPECT_EQ(json[0]["visits"], 5);
  EXPECT_EQ(json[1]["left_behind"], "once");
}

TEST(LeaksText, WithoutLeaksSaysWhatWasExamined) {
  Leaks leaks;
  leaks.looked_at = {"what dead processes held", "what grew in 30s"};
  EXPECT_EQ(leaks_text(leaks, 10, {}),
            "No leaks found. Looked at: what dead processes held; what grew in 30s\n");
}

TEST(LeaksText, ShowsNoUnknownNumber) {
  Leaks leaks = some_leaks();
  leaks.dead_process[0].count.reset();
  const std::string text = leaks_text(leaks, 10, {});
  EXPECT_NE(text.find("Held by processes when they ended: 4.00 MiB on all devices\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Left on devices that were closed: 4.00 MiB on all devices in 4 allocations"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(leaks_json({leaks}));
  EXPECT_TRUE(json["sources"][0]["dead_process"][0]["count"].is_null());
}

TEST(LeaksJson, UnknownIsNull) {
  const auto json = nlohmann::json::parse(leaks_json({some_leaks(), Leaks()}));
  EXPECT_EQ(json["schema"], "ttmem.leaks.v1");
  const auto& run = json["sources"][0];
  EXPECT_EQ(run["leaks"], true);
  EXPECT_EQ(run["dead_process"][0]["kind"], "dram");
  EXPECT_EQ(run["dead_process"][0]["killed"], true);
  EXPECT_TRUE(run["dead_process"][0]["oldest_age_ns"].is_null());
  EXPECT_TRUE(run["closed_device"][0]["kind"].is_null());
  EXPECT_EQ(run["growth"][0]["last_bytes"], 9 << 20);
  EXPECT_EQ(json["sources"][1]["leaks"], false);
  EXPECT_TRUE(json["sources"][1]["file"].is_null());
}

}  // namespace
}  // namespace ttmem::leaks
