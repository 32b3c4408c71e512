// SPDX-License-Identifier: Apache-2.0
//
// Many threads call the C interface of the real library while a reader reads the segment. Under
// ThreadSanitizer this test shows that the tracker and its ring are free of races.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "base/unique_fd.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_reader.hpp"
#include "support/device_calls.hpp"
#include "support/tracked_environment.hpp"

namespace ttmem {
namespace {

using fixtures::kGrid;

constexpr std::uint32_t kThreads = 8;
constexpr std::uint64_t kRounds = 2000;

std::vector<std::string> segments() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(tracked_directory())) {
    paths.push_back(entry.path());
  }
  return paths;
}

std::string own_segment() {
  const std::string mine =
      "ttmem." + std::to_string(::geteuid()) + "." + std::to_string(::getpid());
  for (const std::string& path : segments()) {
    if (path.find(mine + ".") != std::string::npos) return path;
  }
  return {};
}

segment::SegmentImage read(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto image = segment::read_segment(segment::FdSource(fd.get()));
  if (!image) throw std::runtime_error(image.error().message);
  return *image;
}

void open_device(std::uint32_t id) {
  const ttmem_device_info info = fixtures::wormhole(id);
  ttmem_device_open(&info);
}

// Works in rounds. Each round allocates a buffer and dispatches a program on one of four devices.
// Three quarters of the buffers are freed and half of the programs are destroyed.
void work(std::uint32_t thread) {
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto device = static_cast<std::uint32_t>(round % 4);
    ttmem_buffer buffer{};
    buffer.struct_size = sizeof buffer;
    buffer.type = TTMEM_DRAM;
    buffer.id = thread * kRounds + round + 1;
    buffer.bytes = 1000;
    ttmem_buffer_alloc(device, &buffer);
    const ttmem_cb cb = {105664, 32 * (1 + round % 7), &kGrid, 1, 0};
    const std::uint64_t program = thread * kRounds + round;
    ttmem_program_place(device, program, &cb, 1);
    ttmem_program_dispatch(device, program);
    if (round % 4 != 3) ttmem_buffer_free(device, TTMEM_DRAM, buffer.id);
    if (round % 2 == 0) ttmem_program_destroy(program);
  }
}

TEST(Threads, NothingIsLostAndAReaderNeverSeesATornState) {
  ASSERT_TRUE(kIsTracked);
  ASSERT_EQ(ttmem_enabled(), 1);
  for (std::uint32_t id = 0; id < 4; ++id) open_device(id);
  const std::string path = own_segment();
  std::atomic<bool> done = false;
  std::thread reader([&] {
    std::uint64_t seen = 0;
    while (!done.load()) {
      const auto image = read(path);
      EXPECT_EQ(image.invalid_records, 0U);
      for (const auto& device : image.devices) {
        EXPECT_LE(device.kinds[Kind::cb].used_bytes, 64U * 1499136);
        EXPECT_LE(device.kinds[Kind::dram].used_bytes, kThreads * kRounds * 1000);
      }
      const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      const auto events = segment::read_events(segment::FdSource(fd.get()), seen);
      ASSERT_TRUE(events);
      for (const auto& event : events->events) {
        EXPECT_GT(event.number, seen);
        seen = event.number;
      }
    }
  });
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();

  const auto image = read(path);
  std::uint64_t live = 0;
  std::uint64_t programs = 0;
  for (const auto& device : image.devices) {
    live += device.kinds[Kind::dram].live;
    programs += device.programs;
    EXPECT_EQ(device.anomalies.unknown_frees, 0U);
    EXPECT_EQ(device.kinds[Kind::dram].used_bytes, device.kinds[Kind::dram].live * 1000);
    EXPECT_TRUE(device.coherent);
  }
  EXPECT_EQ(live, kThreads * kRounds / 4);
  EXPECT_EQ(programs, kThreads * kRounds / 2);
  EXPECT_EQ(image.allocations.size(), live);
  EXPECT_EQ(image.programs.size(), programs);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Threads, AForkedChildLeavesTheParentsSegmentAlone) {
  ASSERT_EQ(ttmem_enabled(), 1);
  open_device(20);
  const ttmem_cb cb = {105664, 4096, &kGrid, 1, 0};
  ttmem_program_place(20, 1, &cb, 1);
  const std::string before = bytes_of(own_segment());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(bytes_of(own_segment()) == before);
  ttmem_device_close(20);
}

// A thread with a pending cancellation makes calls that grow the segment. The test disables the
// cancellation at the end, because sanitizers cannot handle the unwinding of a cancelled thread.
TEST(Threads, ACancelledThreadIsNotEndedInsideACall) {
  ASSERT_EQ(ttmem_enabled(), 1);
  std::atomic<bool> finished = false;
  std::thread thread([&finished] {
    ::pthread_cancel(::pthread_self());
    for (std::uint64_t id = 1; id <= 5000; ++id) {
      ttmem_buffer buffer{};
      buffer.struct_size = sizeof buffer;
      buffer.type = TTMEM_DRAM;
      buffer.id = id;
      ttmem_buffer_alloc(21, &buffer);
    }
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    finished = true;
  });
  thread.join();
  EXPECT_TRUE(finished.load());
  ttmem_device_close(21);
}

TEST(Threads, AStructureWithoutASizeIsDropped) {
  open_device(22);
  const std::uint64_t dropped = read(own_segment()).dropped_calls;
  ttmem_device_info info{};
  info.id = 22;
  ttmem_device_open(&info);
  ttmem_buffer buffer{};
  ttmem_buffer_alloc(22, &buffer);
  ttmem_buffer_alloc(22, nullptr);
  const auto image = read(own_segment());
  EXPECT_EQ(image.dropped_calls, dropped + 3);
  EXPECT_EQ(image.devices.back().grid_x, 8U);
  EXPECT_EQ(image.devices.back().kinds[Kind::dram].live, 0U);
  ttmem_device_close(22);
}

// The child gets its own segment at its first call. The calls of the parent's other threads at the
// time of the fork do not matter.
TEST(Threads, AForkedChildGetsItsOwnSegmentWhileOtherThreadsWork) {
  ASSERT_EQ(ttmem_enabled(), 1);
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done.load()) work(50);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool none_before = own_segment().empty();
      open_device(9);
      const std::string path = own_segment();
      const bool good = none_before && !path.empty() && read(path).devices.size() == 1;
      ::unlink(path.c_str());
      ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child " << i;
  }
  done = true;
  other.join();
  EXPECT_EQ(segments().size(), 1U);
}

}  // namespace
}  // namespace ttmem
