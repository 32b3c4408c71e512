// SPDX-License-Identifier: Apache-2.0
//
// Tests the counts of entered and left scopes. Uses the C interface of the real library. Each
// process reads its own segment.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "support/tracked_environment.hpp"

namespace ttmem {
namespace {

using State = ScopeVisit::State;

// Returns the scope visits in which this process made its allocations. The key is the label of the
// allocation.
std::map<std::string, ScopeVisit> visits() {
  const std::string mine =
      "ttmem." + std::to_string(::geteuid()) + "." + std::to_string(::getpid()) + ".";
  std::map<std::string, ScopeVisit> found;
  for (const auto& entry : std::filesystem::directory_iterator(tracked_directory())) {
    if (entry.path().filename().string().rfind(mine, 0) != 0) continue;
    const UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    const auto image = segment::read_segment(segment::FdSource(fd.get()));
    if (!image) continue;
    for (const auto& allocation : image->allocations) found[allocation.label] = allocation.visit;
  }
  return found;
}

// Opens a device before each test and closes the device afterwards.
class ScopeVisitsOfAProcess : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { ttmem_device_close(kDevice); }

  static void open() {
    const ttmem_device_info info = fixtures::wormhole(kDevice);
    ttmem_device_open(&info);
  }
  static void take(std::uint64_t id, const char* label) {
    ttmem_buffer buffer = fixtures::buffer(TTMEM_DRAM, id, id << 20, 64, 64);
    buffer.label = label;
    ttmem_buffer_alloc(kDevice, &buffer);
  }
  static constexpr std::uint32_t kDevice = 77;
};

TEST_F(ScopeVisitsOfAProcess, CountsNestedAndDeepScopes) {
  for (int i = 0; i < 3; ++i) {
    ttmem_scope_push("visits.outer");
    ttmem_scope_push("inner");
    if (i == 0) take(1, "inner");
    ttmem_scope_pop();  // this pop takes no lock
    if (i == 0) take(2, "outer");
    ttmem_scope_pop();  // this pop takes a lock
  }
  for (int i = 0; i < 70; ++i) ttmem_scope_push("visits.deep");
  take(3, "deep");
  for (int i = 0; i < 70; ++i) ttmem_scope_pop();
  ttmem_scope_pop();
  auto found = visits();
  for (const char* label : {"inner", "outer"}) {
    EXPECT_EQ(found[label].state, State::over) << label;
    EXPECT_EQ(found[label].visits, 3U) << label;
  }
  EXPECT_EQ(found["deep"].state, State::over);
  EXPECT_EQ(found["deep"].visits, 1U);
}

TEST_F(ScopeVisitsOfAProcess, CountsManyThreadsInOneScope) {
  ttmem_scope_push("visits.threads");
  take(1, "shared");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) {
        ttmem_scope_push("visits.threads");
        ttmem_scope_pop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(visits()["shared"].state, State::lasts);
  ttmem_scope_pop();
  EXPECT_EQ(visits()["shared"].state, State::over);
  EXPECT_EQ(visits()["shared"].visits, 4001U);
}

TEST_F(ScopeVisitsOfAProcess, AThreadThatEndsInsideAScopeLeavesItOpen) {
  std::thread([] {
    ttmem_scope_push("visits.ended");
    take(1, "kept");
  }).join();
  EXPECT_EQ(visits()["kept"].state, State::lasts);
}

TEST_F(ScopeVisitsOfAProcess, AForkedChildCountsItsOwnVisits) {
  ttmem_scope_push("visits.fork");
  ttmem_scope_push("inner");
  take(1, "parent");
  const pid_t child = ::fork();
  if (child == 0) {
    ttmem_scope_pop();  // at this time the child has no segment
    open();
    ttmem_scope_push("again");
    take(2, "child");
    const bool lasts = visits()["child"].state == State::lasts;
    ttmem_scope_pop();
    ttmem_scope_pop();
    ttmem_scope_pop();
    const ScopeVisit after = visits()["child"];
    ::_exit(lasts && after.state == State::over && after.visits == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(visits()["parent"].state, State::lasts);
  ttmem_scope_pop();
  EXPECT_EQ(visits()["parent"].state, State::over);
  ttmem_scope_pop();
}

}  // namespace
}  // namespace ttmem
