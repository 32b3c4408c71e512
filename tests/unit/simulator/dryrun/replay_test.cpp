// SPDX-License-Identifier: Apache-2.0
//
// Tests that the replay reads captures correctly and detects differences.
#include "replay.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace dryrun_test {
namespace {

// Returns the capture line of a Wormhole chip with an 8x7 grid and without L1_SMALL and trace
// region.
std::string wormhole(int id) {
  return R"({"ev": "device", "device": )" + std::to_string(id) +
         R"(, "arch": "wormhole_b0", "grid": [8, 7], "l1_bytes_per_core": 1499136,
 "l1_base": 105664, "dram_channels": 12, "dram_bytes_per_channel": 1073741824,
 "dram_base": 1048640, "dram_banks": 12, "dram_bank_bytes": 1072693184, "dram_alignment": 32,
 "l1_banks": 56, "l1_bank_bytes": 1393472, "l1_alignment": 16, "l1_small_banks": 0,
 "l1_small_bank_bytes": 0, "l1_small_alignment": 16, "trace_banks": 12, "trace_bank_bytes": 0,
 "trace_alignment": 32})";
}

std::string layout(int device) {
  return R"({"t_ns": 0, "thread": 0, "ev": "program_layout", "program": 7, "device": )" +
         std::to_string(device) + "}";
}
std::string registered(int device) {
  return R"({"t_ns": 0, "thread": 0, "ev": "program_register", "program": 7, "device": )" +
         std::to_string(device) + "}";
}
std::string cb(int device, int address, int size, bool global = false) {
  return R"({"t_ns": 0, "thread": 0, "ev": "cb_alloc", "program": 7, "cores": [[0, 0, 7, 6]], "device": )" +
         std::to_string(device) + R"(, "addr": )" + std::to_string(address) + R"(, "size": )" +
         std::to_string(size) + R"(, "globally_allocated": )" + (global ? "true}" : "false}");
}
// Returns the capture line of an L1 buffer that has 4096 bytes in each of the 56 banks.
std::string l1_buffer(int id, int address) {
  return R"({"t_ns": 0, "thread": 0, "ev": "buffer_alloc", "mesh_id": 0, "chips": [0, 1], "type": "L1", "size": 229376,
 "page_size": 4096, "pages": 56, "bytes_per_bank": 4096, "banks": 56, "layout": "interleaved",
 "bottom_up": false, "cores": [], "id": )" +
         std::to_string(id) + R"(, "addr": )" + std::to_string(address) + "}";
}

class ReplayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "replay.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Returns a capture of an n300 that has one mesh and the given events.
  Capture capture(const std::vector<std::string>& events) const {
    std::ofstream file(folder_ / "capture.jsonl");
    std::vector<std::string> lines{wormhole(0), wormhole(1),
                                   R"({"ev": "mesh", "mesh_id": 0, "chips": [0, 1]})"};
    lines.insert(lines.end(), events.begin(), events.end());
    for (std::string& line : lines) {
      std::replace(line.begin(), line.end(), '\n', ' ');
      file << line << "\n";
    }
    file.close();
    return read_capture((folder_ / "capture.jsonl").string());
  }

  void expect_refused(const std::string& event, const std::string& reason) const {
    try {
      capture({l1_buffer(1, 1495040), event});
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  }

  std::filesystem::path folder_;
};

TEST_F(ReplayTest, NamesTheLineOfTheFirstDifferentAddress) {
  const auto report = replay(capture({l1_buffer(1, 1495040), l1_buffer(2, 1490000)}));
  EXPECT_FALSE(report.same());
  EXPECT_EQ(report.text(),
            "1 of 2 answers are the same\n"
            "  line 5: buffer 2: address 1490000 in the capture, 1490944 here");
}

TEST_F(ReplayTest, DetectsACircularBufferAtAnotherAddress) {
  const auto report = replay(capture({layout(0), cb(0, 105664, 2048), cb(0, 107712, 64), layout(1),
                                      cb(1, 105664, 2048), cb(1, 107744, 64)}));
  EXPECT_EQ(report.equal, 3u);
  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_NE(report.differences[0].find("program 7 chip 1: CB at 107744"), std::string::npos);
}

TEST_F(ReplayTest, DetectsADifferentFigureOfTheDevice) {
  Capture other = capture({l1_buffer(1, 1495040)});
  other.devices[1].dram_base += 32;
  const auto report = replay(other);
  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_EQ(report.differences[0], "device 1: DRAM base is 1048672 in the capture, 1048640 here");
}

TEST_F(ReplayTest, FollowsAProgramThatRunsOnAnotherChipLater) {
  const auto report =
      replay(capture({layout(0), cb(0, 105664, 100), registered(0), l1_buffer(1, 1495040),
                      layout(1), cb(1, 105664, 100), registered(1)}));
  EXPECT_TRUE(report.same()) << report.text();
}

TEST_F(ReplayTest, LaysAProgramOutAgainEvenWithoutAChangedSize) {
  const std::vector<std::string> once{layout(0), layout(1), cb(0, 105664, 100), cb(1, 105664, 100)};
  std::vector<std::string> twice = once;
  twice.push_back(registered(0));
  twice.push_back(registered(1));
  twice.insert(twice.end(), once.begin(), once.end());
  const auto report = replay(capture(twice));
  EXPECT_TRUE(report.same()) << report.text();
  EXPECT_EQ(report.equal, 4u);
}

TEST_F(ReplayTest, FindsTheL1BufferOfAGlobalCircularBufferAndMovesIt) {
  const auto report =
      replay(capture({l1_buffer(1, 1495040), l1_buffer(2, 1490944), layout(0), layout(1),
                      cb(0, 1495040 + 1024, 2048, true), cb(1, 1495040 + 1024, 2048, true),
                      cb(0, 105664, 64), cb(1, 105664, 64), registered(0), registered(1), layout(0),
                      layout(1), cb(0, 1490944, 1024, true), cb(1, 1490944, 1024, true),
                      cb(0, 105664, 128), cb(1, 105664, 128)}));
  EXPECT_TRUE(report.same()) << report.text();
  EXPECT_EQ(report.equal, 10u);
}

TEST_F(ReplayTest, AnUnusualL1BaseIsTakenFromTheDeviceLine) {
  Capture other = capture({layout(0), cb(0, 205664, 64), layout(1), cb(1, 205664, 64)});
  for (CapturedDevice& device : other.devices) {
    device.l1_base += 100000;
    device.l1.bytes -= 100000;
  }
  const auto report = replay(other);
  EXPECT_TRUE(report.same()) << report.text();
}

TEST_F(ReplayTest, AnInvalidLineIsAnErrorWithItsNumber) {
  expect_refused(R"({"ev": "teleport"})",
                 "capture.jsonl:5: field 'ev': there is no event 'teleport'");
}

// A replay on the dry run repeats the request of each buffer, so it refuses a capture without the
// requests. `ttmem replay` accepts such a capture.
TEST_F(ReplayTest, ABufferWithoutItsRequestIsAnErrorWithItsLine) {
  expect_refused(R"({"t_ns": 0, "thread": 0, "ev": "buffer_alloc", "chips": [0], "type": "L1",
 "id": 2, "addr": 4096, "size": 64, "bytes_per_bank": 64, "cores": []})",
                 "capture.jsonl:5: field 'page_size' is missing");
}

TEST_F(ReplayTest, AnUnknownMachineIsAnError) {
  Capture other = capture({l1_buffer(1, 1495040)});
  other.devices[1].id = 99;
  EXPECT_THROW(replay(other), std::runtime_error);
}

}  // namespace
}  // namespace dryrun_test
