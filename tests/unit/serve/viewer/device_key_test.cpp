// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/device_key.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyse/report/make_report.hpp"
#include "read/recording/file/reader.hpp"
#include "read/recording/file/writer.hpp"
#include "serve/viewer/timeline.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::viewer {
namespace {

// Writes a recording of two processes. Each process has a chip with the same number and without a
// uid. The chips have different architectures.
void write_two_chips_of_a_number(const std::string& path) {
  auto made = recording::Writer::create(path, {}, false);
  const auto writer = std::move(*made);
  for (const char* arch : {"blackhole", "a \"chip\""}) {
    const auto process = writer->begin(recording::RecordedProcess{.pid = 7, .name = arch});
    recording::RecordedDevice device = recording::small_wormhole(process, 0, 0);
    device.arch = arch;
    const auto row = writer->begin(device);
    writer->begin(recording::RecordedAllocation{
        .devices = writer->device_set(std::vector<recording::RowId>{row}),
        .request = writer->request({.bytes = 64}),
        .begin_ns = 10});
  }
  ASSERT_TRUE(writer->commit());
}

TEST(DeviceKey, IsTheSameInALineAndAtAMoment) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/run.ttmem";
  write_two_chips_of_a_number(path);
  const auto opened = recording::Reader::open(path);
  recording::Reader& reader = **opened;
  const report::Report report = *report::make_report(reader, {});
  const auto timeline = nlohmann::json::parse(*timeline_json(reader, report, whole(reader), {}));
  std::set<std::string> lines;
  for (const auto& line : timeline["lines"]) lines.insert(line["key"].get<std::string>());
  std::set<std::string> chips;
  for (const auto& chip : timeline["moments"].back()["devices"]) {
    chips.insert(chip[0].get<std::string>());
  }
  EXPECT_EQ(lines, (std::set<std::string>{"0:blackhole", "0:a%20%22chip%22"}));
  EXPECT_EQ(chips, lines);
}

}  // namespace
}  // namespace ttmem::viewer
