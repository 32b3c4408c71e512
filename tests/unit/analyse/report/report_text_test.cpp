// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/report_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analyse/report/report.hpp"

namespace ttmem::report {
namespace {

DeviceReport device(std::uint32_t id, std::int64_t bytes, Time time) {
  DeviceReport device;
  device.id = id;
  device.ids = {id};
  device.arch = "wormhole_b0";
  device.peak[Kind::dram] = Extreme{bytes, time};
  return device;
}

TEST(ReportText, DevicesThatDifferOnlyInTimesAreOneGroup) {
  Report report;
  report.devices = {device(0, 4096, 66'000'000), device(1, 4096, 67'000'000),
                    device(2, 8192, 67'000'000)};
  const std::string text = report_text(report, {}, {});
  EXPECT_NE(text.find("Devices 0-1: wormhole_b0, each of them"), std::string::npos) << text;
  EXPECT_NE(text.find("66ms"), std::string::npos) << "the time of the first";
  EXPECT_NE(text.find("Device 2:"), std::string::npos) << text;
}

}  // namespace
}  // namespace ttmem::report
