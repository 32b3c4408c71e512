// SPDX-License-Identifier: Apache-2.0
//
// Tests that the dry run places buffers as the real runtime does. Each test repeats the requests of
// a capture through the dry run's own interface. The addresses and sizes must equal those in the
// capture.
//
// The environment variable TTMEM_CAPTURES names more captures. Its value is a list of files or
// folders, separated by colons.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "replay.hpp"

namespace dryrun_test {
namespace {

namespace fs = std::filesystem;

void add_captures(const fs::path& path, std::vector<fs::path>& files) {
  if (!fs::is_directory(path)) {
    files.push_back(path);
    return;
  }
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
}

std::vector<fs::path> all_captures() {
  std::vector<fs::path> files;
  add_captures(TTMEM_CAPTURES_DIR, files);
  add_captures(TTMEM_DERIVED_CAPTURES_DIR, files);
  std::sort(files.begin(), files.end());
  return files;
}

// The physical bytes of circular buffers on the first device of each capture, just before the first
// program ends. They were calculated without the dry run. See the README of the captures.
const std::map<std::string, std::uint64_t>& known_physical_cb_bytes() {
  static const std::map<std::string, std::uint64_t> known{
      {"basic_wh1", 671744},     {"basic_bh1", 860160},   {"mesh_wh8", 638976},
      {"relayout_wh1", 4194304}, {"submesh_wh8", 245760}, {"model_wh1", 13643776}};
  return known;
}

class CaptureReplay : public ::testing::TestWithParam<fs::path> {};

TEST_P(CaptureReplay, GetsTheAddressesAndSizesOfTheRealRuntime) {
  const Capture capture = read_capture(GetParam().string());
  const ReplayReport report = replay(capture);
  EXPECT_TRUE(report.same()) << GetParam().string() << ": " << report.text();
  EXPECT_GT(report.answers, 0u);
  const auto known = known_physical_cb_bytes().find(GetParam().stem().string());
  if (known != known_physical_cb_bytes().end()) {
    EXPECT_EQ(report.cb_bytes, known->second);
  }
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& tested) {
  std::string name = tested.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, CaptureReplay, ::testing::ValuesIn(all_captures()), test_name);

TEST(CaptureReplayFiles, NamedByTheEnvironmentAreReplayedToo) {
  const char* const named = std::getenv("TTMEM_CAPTURES");
  std::vector<fs::path> files;
  std::istringstream paths(named == nullptr ? "" : named);
  for (std::string path; std::getline(paths, path, ':');) {
    if (!path.empty()) add_captures(path, files);
  }
  for (const fs::path& file : files) {
    const ReplayReport report = replay(read_capture(file.string()));
    EXPECT_TRUE(report.same()) << file.string() << ": " << report.text();
  }
}

// Fails if the folder of captures has lost files. The other tests would pass without any capture.
TEST(CaptureReplayFiles, IncludeTheKnownCaptures) {
  std::set<std::string> names;
  for (const auto& file : all_captures()) names.insert(file.stem().string());
  for (const auto& [name, bytes] : known_physical_cb_bytes()) EXPECT_TRUE(names.contains(name));
}

}  // namespace
}  // namespace dryrun_test
