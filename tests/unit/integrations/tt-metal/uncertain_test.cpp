// SPDX-License-Identifier: Apache-2.0
//
// Tests programs without a name, some of whose figures are estimates. Also tests that hooks count
// nothing during a dry capture.
#include <optional>

#include "hooks_fixture.hpp"

namespace {

using namespace ttmem::hooks;
using ttmem::Kind;

class UncertainTest : public HooksTest {};

TEST_F(UncertainTest, TheLastCbsOfAnIdleProcessAreShownSoon) {
  auto work = workload(program_of(4096));
  run(work);
  EXPECT_TRUE(
      becomes([] { return ttmem::tracked_process::device(7).used(Kind::cb) == kCores * 4096; }));
}

TEST_F(UncertainTest, ACbListEndsWithItsThread) {
  auto work = workload(program_of(4096));
  std::thread([&] {
    ttmem::tt_metal::attach();
    run(work);
  }).join();
  EXPECT_EQ(ttmem::tracked_process::device(7).used(Kind::cb), kCores * 4096);
}

TEST_F(UncertainTest, ASingleNamelessProgramIsExact) {
  {
    tt::tt_metal::Program program = program_of(4096);
    add_cb(program, kAll, 2048, 1);
    auto work = workload(std::move(program));
    run(work);
    expect_cbs(kCores * 6144, kCores * 6144, 1, false);
  }
  expect_cbs(0, 0, 0, false);
}

TEST_F(UncertainTest, APossibleNewLayoutMakesAnEstimateUntilAllProgramsEnd) {
  auto first = std::make_optional(workload(program_of(4096)));
  auto second = std::make_optional(workload(program_of(8192)));
  run(*first);
  expect_cbs(kCores * 4096, kCores * 4096, 1, false);
  run(*second);
  expect_cbs(kCores * 8192, kCores * 12288, 2, true);
  second.reset();
  expect_cbs(kCores * 4096, kCores * 4096, 1, true);
  first.reset();
  expect_cbs(0, 0, 0, false);
  expect_no_anomalies();
}

TEST_F(UncertainTest, CbsOnOtherCoresAreNoNewLayoutButMayBeTheSameProgram) {
  auto left = workload(program_of(4096, kLeft));
  auto right = workload(program_of(4096, kRight));
  run(left);
  end_operation();
  run(right);
  expect_cbs(kCores * 4096, kCores * 4096, 2, false);
  left = {};  // ends one of two different programs
  end_operation();
  EXPECT_EQ(device(0).cb_estimate, true);
}

TEST_F(UncertainTest, CbListsThatMayBeOneProgramMakeAnEstimate) {
  auto left = workload(program_of(4096, kLeft));
  auto right = workload(program_of(4096, kRight));
  run(left);
  run(right);
  EXPECT_EQ(device(0).used(Kind::cb), kCores * 4096);
  EXPECT_EQ(device(0).cb_estimate, true);
}

TEST_F(UncertainTest, ANamelessProgramMayBeFreedOnSomeChipsOnly) {
  auto work = workload(program_of(4096));
  run(work);
  end_operation();
  ttmem::tt_metal::Processor::instance()->track_deallocate_cb(mesh_->get_devices()[0]);
  const auto freed = static_cast<std::uint32_t>(mesh_->get_devices()[0]->id());
  end_operation();
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    EXPECT_EQ(device(chip).used(Kind::cb), chip == freed ? 0 : kCores * 4096) << chip;
  }
}

// If all circular buffers of a program are views of buffers, the runtime reports only the end of
// the program.
TEST_F(UncertainTest, WithPossibleViewsAFreeIsAGuessUntilTheDeviceIsClosed) {
  const auto buffer = l1_buffer();
  auto first = std::make_optional(workload(program_on(*buffer)));
  auto second = std::make_optional(workload(program_of(4096)));
  run(*first);
  end_operation();
  run(*second);
  EXPECT_EQ(device(0).used(Kind::cb), kCores * 4096);
  first.reset();
  EXPECT_EQ(device(0).cb_estimate, true);
  second.reset();
  EXPECT_EQ(device(0).cb_estimate, true);
  EXPECT_EQ(device(0).used(Kind::cb), 0u);
}

TEST_F(UncertainTest, ADryCaptureCountsNothing) {
  auto& tracker = tt::tt_metal::GraphTracker::instance();
  const tt::tt_metal::CoreRangeSet cores{kAll};
  const auto buffer = l1_buffer();  // the allocation tells the processor which chips exist
  for (const tt::tt_metal::IDevice* chip : mesh_->get_devices()) {
    tracker.track_allocate_cb(cores, 0, 4096, false, chip);
    tracker.track_allocate_dataflow_buffer(cores, 0, 4096, false, chip);
    tracker.track_allocate_dataflow_buffer(cores, 123456, 4096, false, chip);
    tracker.track_allocate_scratchpad(cores, 0, 4096, chip);
    tracker.track_allocate_scratchpad(cores, 123456, 4096, chip);
  }
  expect_cbs(0, 0, 0, false);
}

TEST_F(UncertainTest, AReopenedDeviceIsANewDevice) {
  auto named = std::make_optional(workload(program_of(4096)));
  run_tracked(*named);
  auto nameless = std::make_optional(workload(program_of(8192)));
  run(*nameless);
  expect_cbs(kCores * 8192, kCores * 12288, 2, true);

  mesh_->close();
  open();  // no hook reports the new open to the processor
  const auto again = l1_buffer();
  expect_cbs(0, 0, 0, false);
  auto next = workload(program_of(2048));
  run(next);
  named.reset();
  nameless.reset();
  expect_cbs(kCores * 2048, kCores * 2048, 1, false);
  expect_no_anomalies();
}

}  // namespace
