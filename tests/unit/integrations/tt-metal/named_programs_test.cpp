// SPDX-License-Identifier: Apache-2.0
//
// Tests programs that track_program or a scope has named. Their circular buffers, dispatches and
// ends are known exactly.
#include <optional>

#include "hooks_fixture.hpp"

namespace {

using namespace ttmem::hooks;
using ttmem::Kind;
using ttmem::tt_metal::ProgramScope;

class NamedProgramsTest : public HooksTest {};

TEST_F(NamedProgramsTest, ATrackedProgramIsPlacedAndDispatched) {
  auto large = workload(program_of(8192));
  auto small = workload(program_of(4096));
  run_tracked(large);
  expect_cbs(kCores * 8192, kCores * 8192, 1, false);
  EXPECT_EQ(device(3).cb_resident_bytes, kCores * 8192);
  run_tracked(small);
  EXPECT_EQ(device(3).cb_resident_bytes, kCores * 4096);
  run_tracked(large);  // the program is in the program cache, so its CBs are not reported again
  EXPECT_EQ(device(3).cb_resident_bytes, kCores * 8192);
  expect_cbs(kCores * 8192, kCores * 12288, 2, false);
  expect_no_anomalies();
}

TEST_F(NamedProgramsTest, ItsCbsAreShownWithoutAnotherHook) {
  auto work = workload(program_of(4096));
  begin_tracked(work);
  EXPECT_EQ(ttmem::tracked_process::device(0).used(Kind::cb), kCores * 4096);
  EXPECT_EQ(ttmem::tracked_process::device(7).used(Kind::cb), kCores * 4096);
}

TEST_F(NamedProgramsTest, ANewLayoutReplacesTheOldLayout) {
  auto other = workload(program_of(4096));
  run_tracked(other);
  auto work = workload(program_of(4096));
  tt::tt_metal::Program& program = work.get_programs().begin()->second;
  run_tracked(work);
  tt::tt_metal::UpdateCircularBufferTotalSize(program, program.circular_buffers().front()->id(),
                                              16384);
  run_tracked(work);
  expect_cbs(kCores * 16384, kCores * (4096 + 16384), 2, false);
  EXPECT_EQ(device(0).cb_resident_bytes, kCores * 16384);
  tt::tt_metal::UpdateCircularBufferTotalSize(program, program.circular_buffers().front()->id(),
                                              2048);
  run_tracked(work);
  expect_cbs(kCores * 4096, kCores * (4096 + 2048), 2, false);
}

TEST_F(NamedProgramsTest, TheProgramThatDiesIsRemoved) {
  std::vector<std::optional<MeshWorkload>> cache;
  for (std::uint32_t i = 0; i < 6; ++i) {
    cache.emplace_back(workload(program_of(4096 * (i + 1))));
    run_tracked(*cache.back());
  }
  cache[1].reset();
  expect_cbs(kCores * 6 * 4096, kCores * 19 * 4096, 5, false);
  cache[5].reset();
  expect_cbs(kCores * 5 * 4096, kCores * 13 * 4096, 4, false);
  cache.clear();
  expect_cbs(0, 0, 0, false);
  expect_no_anomalies();
}

TEST_F(NamedProgramsTest, ScopedProgramsBehaveTheSame) {
  auto first = std::make_optional(workload(program_of(8192)));
  auto second = workload(program_of(4096));
  for (MeshWorkload* work : {&*first, &second}) {
    const ProgramScope scope(work->get_programs().begin()->second, mesh_.get());
    run(*work);
  }
  first.reset();
  expect_cbs(kCores * 4096, kCores * 4096, 1, false);
}

TEST_F(NamedProgramsTest, AProgramThatDiesOnAnotherThreadIsNoticed) {
  auto work = std::make_optional(workload(program_of(8192)));
  run_tracked(*work);
  // No hook reports the end of the program, because the processor is not attached to this thread.
  std::thread([&] { work.reset(); }).join();
  auto next = workload(program_of(4096));
  run_tracked(next);
  expect_cbs(kCores * 4096, kCores * 4096, 1, false);
}

TEST_F(NamedProgramsTest, AProgramOfViewsEndsLikeAnyOther) {
  const auto buffer = l1_buffer();
  auto first = std::make_optional(workload(program_on(*buffer)));
  auto second = std::make_optional(workload(program_of(4096)));
  run_tracked(*first);
  run_tracked(*second);
  expect_cbs(kCores * 4096, kCores * 4096, 2, false);
  first.reset();
  expect_cbs(kCores * 4096, kCores * 4096, 1, false);
  second.reset();
  expect_cbs(0, 0, 0, false);
}

TEST_F(NamedProgramsTest, AProgramWithoutCircularBuffersCountsAndEnds) {
  {
    tt::tt_metal::Program program;
    tt::tt_metal::CreateKernel(program, "kernels/reader.cpp", kLeft,
                               tt::tt_metal::DataMovementConfig{});
    auto work = workload(std::move(program));
    run_tracked(work);
    EXPECT_EQ(device(0).programs, 1u);
    // The figure is an estimate, because the runtime does not say which cores have the kernel.
    EXPECT_EQ(device(0).kernels_estimated_bytes, kCores * 50 * kKiB);
  }
  expect_cbs(0, 0, 0, false);
  EXPECT_EQ(device(0).used(Kind::kernel), 0u);
}

// The mesh's own threads report the circular buffers.
TEST_F(NamedProgramsTest, TheProgramsOfOneWorkloadAreFoundByTheirDeclaredCbs) {
  ttmem::tt_metal::attach_workers(*mesh_);
  auto work = std::make_optional<MeshWorkload>();
  for (std::uint32_t row = 0; row < 2; ++row) {
    work->add_program(MeshCoordinateRange(MeshCoordinate(row, 0), MeshCoordinate(row, 3)),
                      program_of(row == 0 ? 4096 : 8192));
  }
  run_tracked(*work);
  const auto programs = [] { return ttmem::tracked_process::device(7).programs; };
  EXPECT_TRUE(becomes([&] { return programs() == 2u; })) << "they are shown soon";
  // The resident figure is an estimate, because the runtime does not say to which chips it sent a
  // program.
  expect_cbs(kCores * 8192, kCores * 12288, 2, true);
  auto other = workload(program_of(16384));
  run_tracked(other);
  work.reset();
  EXPECT_EQ(device(0).logical(Kind::cb), kCores * 16384);
  EXPECT_EQ(device(0).programs, 1u);
}

TEST_F(NamedProgramsTest, KernelsStayOnCoresThatNoOtherProgramUsed) {
  const auto with_kernel = [&](const tt::tt_metal::CoreRange& cores) {
    tt::tt_metal::Program program = program_of(4096, cores);
    tt::tt_metal::CreateKernel(program, "kernels/reader.cpp", cores,
                               tt::tt_metal::DataMovementConfig{});
    return workload(std::move(program));
  };
  auto all = with_kernel(kAll);
  auto left = with_kernel(kLeft);
  run_tracked(all);
  EXPECT_EQ(device(2).used(Kind::kernel), kCores * 50 * kKiB);
  EXPECT_EQ(device(2).kernels_estimated_bytes, kCores * 50 * kKiB);
  run_tracked(left);
  EXPECT_EQ(device(2).used(Kind::kernel), kCores * 50 * kKiB) << "half of each";
  left = {};
  EXPECT_EQ(device(2).used(Kind::kernel), kCores / 2 * 50 * kKiB);
  run_tracked(all);
  EXPECT_EQ(device(2).used(Kind::kernel), kCores * 50 * kKiB);
}

}  // namespace
