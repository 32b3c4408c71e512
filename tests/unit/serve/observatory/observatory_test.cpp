// SPDX-License-Identifier: Apache-2.0
#include "serve/observatory/observatory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::serve {
namespace {

using std::chrono::seconds;

// What is kept of a process that failed for lack of memory.
class KeptOfAFailure : public ::testing::Test {
 protected:
  KeptOfAFailure() {
    process_->report_failure("no room");
    EXPECT_TRUE(is_there());
  }
  [[nodiscard]] bool is_there() const {
    return std::filesystem::exists(process_->segment().path() + ".failed");
  }
  // Two passes: the first one sees it.
  void look(Observatory& observatory) const {
    observatory.tick();
    EXPECT_TRUE(is_there());
    observatory.tick();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<tracker::IdTracker> process_ =
      tracker::IdTracker::start(segment::SegmentWriter::Options{directory_.path()}).value();
};

TEST_F(KeptOfAFailure, StaysWhileItsProcessLives) {
  Observatory observatory(directory_.path(), {.failed = seconds(0)});
  look(observatory);
  EXPECT_TRUE(is_there());
  process_->segment().finish();
  look(observatory);
  EXPECT_FALSE(is_there());
}

// However long ago the failure was: its process may have ended this moment.
TEST_F(KeptOfAFailure, StaysForAnHourAfterItWasSeen) {
  process_->segment().finish();
  Observatory observatory(directory_.path());
  look(observatory);
  EXPECT_TRUE(is_there());
}

TEST_F(KeptOfAFailure, StaysWhereNothingIsReaped) {
  process_->segment().finish();
  Observatory observatory(directory_.path(), {.reap = false, .failed = seconds(0)});
  look(observatory);
  EXPECT_TRUE(is_there());
}

}  // namespace
}  // namespace ttmem::serve
