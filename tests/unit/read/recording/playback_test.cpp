// SPDX-License-Identifier: Apache-2.0
#include "read/recording/playback/playback.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "read/recording/file/writer.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::recording {
namespace {

class File {
 public:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  [[nodiscard]] std::unique_ptr<Writer> writer() const {
    recording::Run run;
    run.host = "box";
    run.started_unix_ns = 1'000'000'000'000;
    auto made = Writer::create(path(), run, false);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Reader> reader() const {
    auto opened = Reader::open(path());
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

 private:
  TemporaryDirectory directory_;
};

template <typename Item>
bool is_live(const Item& item, Time time) {
  return item.begin <= time && (!item.end || time < *item.end);
}

// Returns the bytes of a core that CBs take. Marks every 64 bytes that are taken and counts the
// marks.
std::uint64_t union_on(const std::vector<const Layout*>& layouts, std::uint32_t core) {
  std::set<std::uint32_t> taken;
  for (const Layout* layout : layouts) {
    for (const RecordedCb& cb : *layout) {
      if (cb.global || !cb.cores.test(core)) continue;
      for (std::uint32_t at = 0; at < cb.bytes; at += 64) taken.insert(cb.address + at);
    }
  }
  return taken.size() * 64;
}

// The memory that a process holds on a device, computed from the history that the test wrote.
struct Held {
  PerKind<std::uint64_t> used{};
  std::vector<std::uint64_t> core_cbs = std::vector<std::uint64_t>(12);
  std::uint64_t programs = 0;
  std::uint64_t resident = 0;

  [[nodiscard]] std::uint64_t l1() const {
    return used[Kind::l1] + used[Kind::l1_small] + used[Kind::cb] + used[Kind::kernel];
  }
};

Held held_at(const RandomHistory& history, RowId device, Time time) {
  Held held;
  for (const WrittenAllocation& allocation : history.allocations) {
    const bool on_it = std::find(allocation.devices.begin(), allocation.devices.end(), device) !=
                       allocation.devices.end();
    if (on_it && is_live(allocation, time)) {
      held.used[allocation.request.kind] += allocation.request.used_bytes();
    }
  }
  std::vector<const Layout*> layouts;
  std::map<std::uint64_t, const Layout*> live;
  for (const WrittenProgram& program : history.programs) {
    if (program.device != device || !is_live(program, time)) continue;
    layouts.push_back(&program.layout);
    live[program.number] = &program.layout;
    ++held.programs;
  }
  for (std::uint32_t core = 0; core < 12; ++core) {
    held.core_cbs[core] = union_on(layouts, core);
    held.used[Kind::cb] += held.core_cbs[core];
    const Layout* last = nullptr;
    for (const WrittenDispatch& dispatch : history.dispatches) {
      if (dispatch.device != device || dispatch.time > time) continue;
      const auto of_it = [&](const WrittenProgram& program) {
        return program.device == device && program.number == dispatch.program;
      };
      const auto program = std::find_if(history.programs.begin(), history.programs.end(), of_it);
      const bool covers = std::any_of(program->layout.begin(), program->layout.end(),
                                      [&](const RecordedCb& cb) { return cb.cores.test(core); });
      if (covers) last = live.contains(dispatch.program) ? &program->layout : nullptr;
    }
    if (last != nullptr) held.resident += union_on({last}, core);
  }
  return held;
}

bool is_open(const RecordedDevice& device, Time time) {
  return device.begin_ns <= time && (!device.end_ns || time < *device.end_ns);
}

void expect_equal(const RandomHistory& history, Time time, const model::Snapshot& snapshot) {
  std::map<std::uint64_t, std::vector<RowId>> chips;
  for (const auto& [row, written] : history.devices) {
    if (is_open(written.device, time)) chips[written.device.uid].push_back(row);
  }
  RC_ASSERT(snapshot.devices.size() == chips.size());
  for (const model::Device& device : snapshot.devices) {
    Held sum;
    bool relaid = false;
    PerKind<std::uint64_t> peaks{};
    for (const RowId row : chips[*device.uid]) {
      const Held held = held_at(history, row, time);
      for (const Kind kind : kDeviceKinds) sum.used[kind] += held.used[kind];
      for (std::size_t i = 0; i < 12; ++i) sum.core_cbs[i] += held.core_cbs[i];
      sum.programs += held.programs;
      sum.resident += held.resident;
      relaid = relaid || history.devices.at(row).relaid;
      for (const Time before : history.times) {
        if (before > time || before < history.devices.at(row).device.begin_ns) continue;
        const Held then = held_at(history, row, before);
        for (const Kind kind : kDeviceKinds) {
          peaks[kind] = std::max(peaks[kind], then.used[kind]);
        }
      }
    }
    for (const Kind kind : kDeviceKinds) {
      RC_ASSERT(device.used(kind) == sum.used[kind]);
      RC_ASSERT(device.peak(kind) == std::max(peaks[kind], sum.used[kind]));
    }
    RC_ASSERT(device.l1_used_bytes == sum.l1());
    RC_ASSERT(device.programs == sum.programs);
    if (!relaid) RC_ASSERT(device.cb_resident_bytes == sum.resident);
    for (std::size_t i = 0; i < 12; ++i) RC_ASSERT(device.cores[i].cb_bytes == sum.core_cbs[i]);
    RC_ASSERT(device.headroom_bytes_per_core.has_value());
  }
  const auto live = std::count_if(history.programs.begin(), history.programs.end(),
                                  [&](const auto& program) { return is_live(program, time); });
  RC_ASSERT(snapshot.programs.size() == static_cast<std::size_t>(live));
  std::set<RowId> allocations;  // without the parts that allocations have in the history
  for (const WrittenAllocation& allocation : history.allocations) {
    if (is_live(allocation, time)) allocations.insert(allocation.row);
  }
  RC_ASSERT(snapshot.allocations.size() == allocations.size());
}

RC_GTEST_PROP(Playback, EveryMomentAgreesWithEverythingWritten, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const File file;
  const auto writer = file.writer();
  const RandomHistory history(*writer, seed, 40);
  RC_ASSERT(writer->commit().has_value());
  const auto reader = file.reader();
  Playback playback(*reader);
  for (const Time time : history.times) {
    if (time % 8 != 0) continue;
    RC_ASSERT(playback.advance_to(time).has_value());
    expect_equal(history, time, playback.snapshot());
  }
  const Time middle = history.times[history.times.size() / 2];
  RC_ASSERT(playback.advance_to(middle).has_value());  // goes back in time
  expect_equal(history, middle, playback.snapshot());
}

CoreMask cores(std::uint32_t count) { return CoreMask::first(count); }

TEST(Playback, AProgramStaysResidentWithItsNewLayout) {
  const File file;
  const auto writer = file.writer();
  const RowId process = writer->begin(RecordedProcess{.pid = 7, .name = "model"});
  const RowId device = writer->begin(small_wormhole(process, 0, 1));
  const RowId set = writer->device_set(std::vector<RowId>{device});
  RecordedCb cb;
  cb.address = 105'664;
  cb.bytes = 100;
  cb.cores = cores(2);
  const RowId small = writer->layout({cb});
  cb.bytes = 300;
  const RowId large = writer->layout({cb});
  const RowId first =
      writer->begin(RecordedProgram{.device = device, .layout = small, .number = 9});
  writer->add(Dispatch{.time_ns = 1, .devices = set, .launch = writer->launch({false, {9}})});
  writer->end_program(first, 2, Ending::changed);
  const RowId second =
      writer->begin(RecordedProgram{.device = device, .layout = large, .number = 9, .begin_ns = 2});
  writer->end_program(second, 5, Ending::changed);  // no row continues the program
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback playback(*reader);
  ASSERT_TRUE(playback.advance_to(1));
  EXPECT_EQ(playback.snapshot().devices.at(0).cb_resident_bytes, 200U);
  ASSERT_TRUE(playback.advance_to(2));
  EXPECT_EQ(playback.snapshot().devices.at(0).cb_resident_bytes, 600U);
  EXPECT_EQ(playback.snapshot().devices.at(0).peak(Kind::cb), 600U);
  ASSERT_TRUE(playback.advance_to(6));
  EXPECT_EQ(playback.snapshot().devices.at(0).used(Kind::cb), 0U);
  EXPECT_TRUE(playback.snapshot().programs.empty());
}

TEST(Playback, AReplayedTraceTakesTheMaximumOfItsPrograms) {
  const File file;
  const auto writer = file.writer();
  const RowId process = writer->begin(RecordedProcess{.pid = 7, .name = "model"});
  const RowId device = writer->begin(small_wormhole(process, 0, 1));
  RecordedCb cb;
  cb.address = 105'664;
  cb.cores = cores(1);
  for (const std::uint32_t bytes : {100U, 300U}) {
    cb.bytes = bytes;
    writer->begin(
        RecordedProgram{.device = device, .layout = writer->layout({cb}), .number = bytes});
  }
  writer->add(Dispatch{.time_ns = 1,
                       .devices = writer->device_set(std::vector<RowId>{device}),
                       .launch = writer->launch({true, {100, 300}})});
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback playback(*reader);
  ASSERT_TRUE(playback.advance_to(3));
  EXPECT_EQ(playback.snapshot().devices.at(0).cb_resident_bytes, 300U);
}

TEST(Playback, AnUnreportedKindIsUnknown) {
  const File file;
  const auto writer = file.writer();
  const RowId process = writer->begin(RecordedProcess{.pid = 7, .name = "model"});
  RecordedDevice device = small_wormhole(process, 0, 1);
  device.known_kinds = 1;  // DRAM only
  device.resident_known = false;
  writer->begin(device);
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback playback(*reader);
  ASSERT_TRUE(playback.advance_to(3));
  const model::Snapshot snapshot = playback.snapshot();
  EXPECT_EQ(snapshot.devices.at(0).used(Kind::dram), 0U);
  EXPECT_FALSE(snapshot.devices.at(0).used(Kind::cb));
  EXPECT_FALSE(snapshot.devices.at(0).cb_resident_bytes);
  EXPECT_FALSE(snapshot.devices.at(0).l1_used_bytes);
  EXPECT_FALSE(snapshot.devices.at(0).anomalies);
  EXPECT_EQ(snapshot.time_unix_ns, 1'000'000'000'003U);
  EXPECT_EQ(snapshot.host, "box");
}

TEST(Playback, ShowsTheLastStateOfAClosedDevice) {
  const File file;
  const auto writer = file.writer();
  RecordedProcess process{.pid = 7, .name = "model"};
  process.id = writer->begin(process);
  RecordedDevice device = small_wormhole(process.id, 0, 1);
  device.id = writer->begin(device);
  RecordedRequest request;
  request.bytes = 640;
  const RowId allocation =
      writer->begin(RecordedAllocation{.devices = writer->device_set(std::vector<RowId>{device.id}),
                                       .request = writer->request(request),
                                       .number = 1,
                                       .begin_ns = 2});
  writer->end_allocation(allocation, 5, Ending::process_ended);
  device.end_ns = process.end_ns = 5;
  writer->change(device);
  writer->change(process);
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback living(*reader);
  ASSERT_TRUE(living.advance_to(9));
  EXPECT_TRUE(living.snapshot().devices.empty());
  Playback left(*reader, AfterClose::kept);
  ASSERT_TRUE(left.advance_to(9));
  EXPECT_EQ(left.snapshot().devices.at(0).used(Kind::dram), 640U);
}

// The devices of a mesh are closed one by one. A buffer of the mesh stays live on the devices that
// are still open.
TEST(Playback, ABufferOfAMeshIsLeftOnEachDevice) {
  const File file;
  const auto writer = file.writer();
  const RowId process = writer->begin(RecordedProcess{.pid = 7, .name = "model"});
  std::vector<RecordedDevice> devices = {small_wormhole(process, 0, 1),
                                         small_wormhole(process, 1, 2)};
  for (RecordedDevice& device : devices) device.id = writer->begin(device);
  RecordedRequest request;
  request.bytes = 640;
  RecordedAllocation allocation{
      .devices = writer->device_set(std::vector<RowId>{devices[0].id, devices[1].id}),
      .request = writer->request(request),
      .number = 1,
      .begin_ns = 2};
  writer->end_allocation(writer->begin(allocation), 5, Ending::changed);
  allocation.devices = writer->device_set(std::vector<RowId>{devices[1].id});
  allocation.begin_ns = 5;
  writer->end_allocation(writer->begin(allocation), 6, Ending::device_closed);
  devices[0].end_ns = 5;
  devices[1].end_ns = 6;
  for (const RecordedDevice& device : devices) writer->change(device);
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback left(*reader, AfterClose::kept);
  ASSERT_TRUE(left.advance_to(9));
  const model::Snapshot snapshot = left.snapshot();
  ASSERT_EQ(snapshot.devices.size(), 2U);
  for (const model::Device& device : snapshot.devices) {
    EXPECT_EQ(device.used(Kind::dram), 640U);
  }
  EXPECT_EQ(snapshot.allocations.size(), 2U);
}

TEST(Playback, ABufferOfAMeshIsCountedOnceOnEachDevice) {
  const File file;
  const auto writer = file.writer();
  const RowId process = writer->begin(RecordedProcess{.pid = 7, .name = "model"});
  std::vector<RowId> devices;
  for (std::uint32_t number = 0; number < 3; ++number) {
    devices.push_back(writer->begin(small_wormhole(process, number, number + 1)));
  }
  const RowId buffer = writer->begin(RecordedAllocation{.devices = writer->device_set(devices),
                                                        .request = writer->request({.bytes = 640}),
                                                        .number = 1,
                                                        .begin_ns = 2});
  writer->end_part(buffer, {.devices = writer->device_set(std::vector{devices[1]}),
                            .rest = writer->device_set(std::vector{devices[0], devices[2]}),
                            .end_ns = 5,
                            .ending = Ending::freed});
  ASSERT_TRUE(writer->commit());
  const auto reader = file.reader();
  Playback playback(*reader);
  ASSERT_TRUE(playback.advance_to(9));
  const model::Snapshot snapshot = playback.snapshot();
  ASSERT_EQ(snapshot.devices.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& figures = snapshot.devices[i].kinds[Kind::dram];
    EXPECT_EQ(snapshot.devices[i].used(Kind::dram), i == 1 ? 0U : 640U);
    EXPECT_EQ(figures.allocations, 1U);
    EXPECT_EQ(figures.frees, i == 1 ? 1U : 0U);
  }
  EXPECT_EQ(snapshot.allocations.size(), 1U);
}

}  // namespace
}  // namespace ttmem::recording
