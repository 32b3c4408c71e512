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

// Tests with the state that was saved for a process that ran out of memory.
class SavedFailure : public ::testing::Test {
 protected:
  SavedFailure() {
    process_->report_failure("no room");
    EXPECT_TRUE(exists());
  }
  [[nodiscard]] bool exists() const {
    return std::filesystem::exists(process_->segment().path() + ".failed");
  }
  // Runs two passes of the observatory. The first pass finds the saved state, and the second pass
  // may remove it.
  void look(Observatory& observatory) const {
    observatory.tick();
    EXPECT_TRUE(exists());
    observatory.tick();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<tracker::IdTracker> process_ =
      tracker::IdTracker::start(segment::SegmentWriter::Options{directory_.path()}).value();
};

TEST_F(SavedFailure, StaysWhileItsProcessLives) {
  Observatory observatory(directory_.path(), {.failed = seconds(0)});
  look(observatory);
  EXPECT_TRUE(exists());
  process_->segment().finish();
  look(observatory);
  EXPECT_FALSE(exists());
}

// The hour starts when the observatory first sees the saved state, not at the time of the failure.
// A process may end long after its failure.
TEST_F(SavedFailure, StaysForAnHourAfterItWasSeen) {
  process_->segment().finish();
  Observatory observatory(directory_.path());
  look(observatory);
  EXPECT_TRUE(exists());
}

TEST_F(SavedFailure, StaysWhereNothingIsReaped) {
  process_->segment().finish();
  Observatory observatory(directory_.path(), {.reap = false, .failed = seconds(0)});
  look(observatory);
  EXPECT_TRUE(exists());
}

}  // namespace
}  // namespace ttmem::serve
