// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/fit_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttmem::fit {
namespace {

using report::DeviceReport;
using report::Extreme;

// Returns a report of a device. `dram` bytes are left in a DRAM bank, and `l1` bytes are left in
// the L1 of a core.
DeviceReport device(std::uint32_t id, std::int64_t dram, std::int64_t l1) {
  DeviceReport device;
  device.id = id;
  device.peak[Kind::dram] = Extreme{4096, 0};
  device.least_largest_free[Kind::dram] = Extreme{dram, 0};
  device.least_headroom = Extreme{l1, 0};
  return device;
}

std::string text_of(const std::vector<DeviceReport>& devices) {
  BoardFit board;
  board.board = *placement::find_board("n150");
  board.devices = devices;
  return fit_text(board, "run.ttmem", "", {});
}

TEST(FitText, ShowsTheDeviceWithTheLeastMemoryLeft) {
  const DeviceReport plenty = device(0, 1 << 30, 1 << 20);
  const auto shows = [](const std::string& text, const char* which) {
    EXPECT_NE(text.find(std::string(which) + ", which has least left"), std::string::npos) << text;
  };
  shows(text_of({plenty, device(1, 1 << 10, 1 << 20)}), "Device 1");
  shows(text_of({plenty, device(1, 1 << 30, 1 << 10)}), "Device 1");
  // Device 1 has less left than device 0, because 1 MiB is a smaller share of a DRAM bank than 64
  // KiB is of a core's L1.
  shows(text_of({device(0, 1 << 30, 64 << 10), device(1, 1 << 20, 1 << 20)}), "Device 1");
  DeviceReport traced = device(1, 1 << 30, 1 << 20);
  traced.trace_region = 4096;
  traced.peak[Kind::trace] = Extreme{4096, 0};
  shows(text_of({plenty, traced}), "Device 1");
}

}  // namespace
}  // namespace ttmem::fit
