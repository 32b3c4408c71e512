// SPDX-License-Identifier: Apache-2.0
//
// Compares the Collector with collect() after every step of a random history.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "analyse/selection/select.hpp"
#include "base/unique_fd.hpp"
#include "read/collector/collector.hpp"
#include "read/collector/event_totals.hpp"
#include "show/views/json.hpp"
#include "support/device_calls.hpp"
#include "support/segment_builder.hpp"
#include "support/temporary_directory.hpp"
#include "track/tracker/id_tracker.hpp"

namespace ttmem::collector {
namespace {

using model::Snapshot;
using tracker::IdTracker;

using ttmem::fixtures::kGrid;
using ttmem::fixtures::wormhole;

ttmem_buffer buffer(ttmem_buffer_type type, std::uint64_t id, std::uint64_t bytes) {
  ttmem_buffer result = ttmem::fixtures::buffer(type, id, 1048640 + id * 4096, bytes, 1024);
  result.label = "tensor";
  return result;
}

std::string text_of_figures(Snapshot snapshot) {
  snapshot.time_unix_ns = 0;
  return views::snapshot_json(snapshot, views::JsonLayout::line);
}

// Returns a text of a snapshot without its times and ages.
std::string text_of(Snapshot snapshot) {
  snapshot.time_unix_ns = 0;
  for (auto& allocation : snapshot.allocations) allocation.age_ns = 0;
  for (auto& program : snapshot.programs) program.age_ns = 0;
  selection::AllocationFilter everything;
  everything.kinds.assign(kAllKinds.begin(), kAllKinds.end());
  constexpr auto line = views::JsonLayout::line;
  return text_of_figures(snapshot) +
         views::allocations_json(snapshot, selection::select_allocations(snapshot, everything),
                                 line) +
         views::programs_json(snapshot, selection::select_programs(snapshot, std::nullopt), line);
}

// Returns the parts of `a` and `b` around their first difference, or "" if the texts are equal.
std::string difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t from = at < 80 ? 0 : at - 80;
  return a.substr(from, 160) + "\n" + b.substr(from, 160);
}

// A directory with the segment of this process and other files, in which a test writes, replaces
// and removes files.
class Machine {
 public:
  explicit Machine(std::string directory) : directory_(std::move(directory)) {}

  IdTracker& tracker() {
    if (!tracker_) {
      auto started = IdTracker::start({.directory = directory_, .mode = 0600, .event_chunks = 1});
      if (!started) throw std::runtime_error(started.error().message);
      tracker_ = std::move(*started);
    }
    return *tracker_;
  }

  void die() { tracker_.reset(); }
  void end_well() {
    tracker().segment().finish();
    tracker_.reset();
  }

  // Writes a new file. The file system may give the new file the inode number of a removed file.
  void put(const std::string& name, const std::vector<std::byte>& bytes) const {
    remove(name);
    std::ofstream(directory_ + "/" + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  void remove(const std::string& name) const { std::filesystem::remove(directory_ + "/" + name); }

 private:
  std::string directory_;
  std::unique_ptr<IdTracker> tracker_;
};

// Writes the segment of a dead process under the name that its header gives.
void put_dead(const Machine& machine, std::uint64_t bytes) {
  static std::uint64_t now_ns = 0;
  testing::SegmentBuilder builder;
  builder.header().created_ns = ++now_ns;
  builder.header().pid = 0x7ffffff0;
  builder.header().uid = ::geteuid();
  builder.header().start_time_ticks = 7;
  auto& device = builder.add_device(1, 0x1001);
  device.figures.kinds[Kind::dram].used_bytes = bytes;
  builder.add_allocation(0, Kind::dram, 4096, bytes, bytes);
  machine.put("ttmem." + std::to_string(::geteuid()) + ".2147483632.7", builder.bytes());
}

void step(Machine& machine, unsigned what, std::uint32_t device, std::uint64_t id) {
  const ttmem_cb cb = {105664 + id * 64, 2048 * (id + 1), &kGrid, 1, 0};
  const std::vector<std::uint64_t> programs = {id, id + 1};
  switch (what) {
    case 0:
      return machine.tracker().device_open(wormhole(device));
    case 1:
      return machine.tracker().device_close(device);
    case 2:
      return machine.tracker().buffer_alloc(device, buffer(TTMEM_DRAM, id, 8192 * id));
    case 3:
      return machine.tracker().buffer_alloc(device, buffer(TTMEM_L1, id, 2048));
    case 4:
      return machine.tracker().buffer_free(device, TTMEM_DRAM, id);
    case 5:
      return machine.tracker().buffer_free(device, TTMEM_L1, id);
    case 6:
      machine.tracker().program_place(
          device, id, {&cb, 1}, std::array{"a", "b", static_cast<const char*>(nullptr)}[id % 3]);
      return;
    case 7:
      return machine.tracker().program_dispatch(device, id);
    case 8:
      return machine.tracker().trace_replay(device, programs);
    case 9:
      return machine.tracker().program_destroy(id);
    case 10:
      machine.tracker().kernel_load(device, id % 3, 100 + id, TTMEM_KERNEL_APP, id % 2 == 0);
      return;
    case 11:
      return machine.tracker().kernel_unload(device, id % 3);
    case 12:
      machine.tracker().cb_alloc(device, id, 512 * id);
      return;
    case 13:
      return machine.tracker().cb_free(device, id);
    case 14:
      return machine.tracker().count_dropped_calls(1);
    case 15:
      return machine.die();
    case 16:
      return machine.end_well();
    case 17:
      return put_dead(machine, 4096 * (id + 1));
    case 18:
      return machine.remove("ttmem." + std::to_string(::geteuid()) + ".2147483632.7");
    case 19:
      return machine.put("ttmem.0.1.1", std::vector<std::byte>(id * 100, std::byte{7}));
    case 20:
      return machine.remove("ttmem.0.1.1");
    default:
      return;
  }
}
constexpr unsigned kSteps = 24;

RC_GTEST_PROP(Collector, EqualsAFreshPassAfterEveryStepOfAHistory, ()) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  Collector collector(directory.path());
  const auto length = *rc::gen::inRange(1, 60);
  for (int i = 0; i < length; ++i) {
    step(machine, *rc::gen::inRange(0U, kSteps), *rc::gen::inRange(0U, 3U),
         *rc::gen::inRange<std::uint64_t>(0, 6));
    const Snapshot fresh = collect(directory.path());
    if (*rc::gen::arbitrary<bool>()) {
      const std::string figures = text_of_figures(collector.collect_figures());
      RC_ASSERT(difference(figures, text_of_figures(fresh)) == "");
    }
    if (*rc::gen::arbitrary<bool>()) continue;  // `collector` skips this pass
    RC_ASSERT(difference(text_of(collector.collect()), text_of(fresh)) == "");
  }
}

TEST(Collector, DoesNotReadUnchangedSegmentsAgain) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  machine.tracker().device_open(wormhole(0));
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  Collector collector(directory.path());
  (void)collector.collect();
  EXPECT_TRUE(collector.evidence().changed);
  (void)collector.collect();  // a new segment is read again in the second pass
  (void)collector.collect();
  EXPECT_FALSE(collector.evidence().changed);
  // The dispatch of an unknown program counts an anomaly, but makes no event.
  machine.tracker().program_dispatch(0, 77);
  EXPECT_EQ(collector.collect().devices.at(0).anomalies->unknown_programs, 1U);
  EXPECT_TRUE(collector.evidence().changed);
}

TEST(Collector, LetsAgesGrowWhenNothingElseChanges) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  Collector collector(directory.path());
  std::uint64_t before = 0;
  for (int i = 0; i < 5; ++i) {
    const Snapshot& snapshot = collector.collect();
    ASSERT_EQ(snapshot.allocations.size(), 1U);
    EXPECT_GT(snapshot.allocations[0].age_ns, before);
    before = snapshot.allocations[0].age_ns;
  }
  EXPECT_LE(before, collect(directory.path()).allocations.at(0).age_ns);
}

TEST(Collector, NoticesADeathThatChangedNoByte) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  Collector collector(directory.path());
  for (int i = 0; i < 3; ++i) (void)collector.collect();
  machine.die();
  EXPECT_EQ(collector.collect().devices.at(0).processes.at(0).state, model::State::dead);
}

// A writer is interrupted between two steps of an allocation: after it has updated the figures and
// before it updates the slot. The writer continues later. Neither the header nor the sequence
// number of a device shows that the call was interrupted.
TEST(Collector, ReadsASegmentAgainThatWasInTheMiddleOfACall) {
  const TemporaryDirectory directory;
  const Machine machine(directory.path());
  testing::SegmentBuilder builder;
  builder.header().pid = 0x7ffffff0;
  builder.header().uid = ::geteuid();
  builder.header().start_time_ticks = 7;
  auto& device = builder.add_device(0, 0x1000);
  device.figures.kinds[Kind::dram].live = 2;
  device.figures.kinds[Kind::dram].logical_bytes = 8192;
  builder.add_allocation(0, Kind::dram, 4096, 4096, 4096);
  builder.add_allocation(0, Kind::dram, 8192, 4096, 4096).live = 0;
  const std::string name = "ttmem." + std::to_string(::geteuid()) + ".2147483632.7";
  machine.put(name, builder.bytes());
  const UniqueFd owner(::open((directory.path() + "/" + name).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(owner.get(), LOCK_EX | LOCK_NB), 0);

  Collector collector(directory.path());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(collector.collect().allocations.size(), 1U);
  builder.allocation(1).live = 1;
  const std::vector<std::byte> bytes = builder.bytes();
  ASSERT_EQ(::pwrite(owner.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(collector.collect().allocations.size(), 2U);
  EXPECT_FALSE(collector.evidence().changed) << "now it agrees with its figures";
}

TEST(EventTotals, DoNotGoDownWhenAProcessEnds) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  Collector collector(directory.path());
  EventTotals totals;
  (void)collector.collect_figures();
  totals.add(collector.evidence());
  for (int process = 0; process < 3; ++process) {
    machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
    machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 2, 8192));
    machine.tracker().buffer_free(0, TTMEM_DRAM, 1);
    machine.tracker().count_dropped_calls(1);
    (void)collector.collect_figures();
    totals.add(collector.evidence());
    totals.add(collector.evidence());  // a pass that is added twice counts once
    machine.end_well();
    (void)collector.collect_figures();
    totals.add(collector.evidence());
  }
  ASSERT_EQ(totals.devices().size(), 1U);
  EXPECT_EQ(totals.devices()[0].allocations, 6U);
  EXPECT_EQ(totals.devices()[0].frees, 3U);
  EXPECT_EQ(totals.dropped(), 3U);
}

TEST(EventTotals, CountAReopenedDeviceOnce) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  Collector collector(directory.path());
  EventTotals totals;
  const auto look = [&] {
    (void)collector.collect_figures();
    totals.add(collector.evidence());
  };
  look();
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  look();
  machine.tracker().device_close(0);
  look();
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  look();
  EXPECT_EQ(totals.devices().at(0).allocations, 2U);
}

// Events before the first pass are not counted, because an earlier server may have reported them.
TEST(EventTotals, BeginWithTheFirstPass) {
  const TemporaryDirectory directory;
  Machine machine(directory.path());
  Collector collector(directory.path());
  EventTotals totals;
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  machine.tracker().count_dropped_calls(1);
  (void)collector.collect_figures();
  totals.add(collector.evidence());
  EXPECT_EQ(totals.devices().at(0).allocations, 0U);
  EXPECT_EQ(totals.dropped(), 1U) << "its figures are low now, whoever said so before";
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 2, 8192));
  machine.tracker().buffer_free(0, TTMEM_DRAM, 1);
  (void)collector.collect_figures();
  totals.add(collector.evidence());
  EXPECT_EQ(totals.devices().at(0).allocations, 1U);
  EXPECT_EQ(totals.devices().at(0).frees, 1U);
}

TEST(EventTotals, CountAProcessThatCameAfterAnEmptyFirstPass) {
  const TemporaryDirectory directory;
  Collector collector(directory.path());
  EventTotals totals;
  (void)collector.collect_figures();
  totals.add(collector.evidence());
  Machine machine(directory.path());
  machine.tracker().buffer_alloc(0, buffer(TTMEM_DRAM, 1, 8192));
  (void)collector.collect_figures();
  totals.add(collector.evidence());
  EXPECT_EQ(totals.devices().at(0).allocations, 1U);
}

}  // namespace
}  // namespace ttmem::collector
