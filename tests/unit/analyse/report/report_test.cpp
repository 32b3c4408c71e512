// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyse/report/free_blocks.hpp"
#include "analyse/report/holders.hpp"
#include "analyse/report/make_report.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/playback/playback.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::report {
namespace {

using recording::Playback;
using recording::RandomHistory;
using recording::Reader;
using recording::RowId;
using recording::Writer;

class File {
 public:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  [[nodiscard]] std::unique_ptr<Writer> writer(bool aggregate = false) const {
    recording::Run run;
    run.command = "model";
    run.aggregate = aggregate;
    auto made = Writer::create(path(), run, false);
    return std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Reader> reader() const {
    auto opened = Reader::open(path());
    return std::move(*opened);
  }
  [[nodiscard]] Report report() const {
    const auto reader = this->reader();
    auto made = make_report(*reader, {});
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }

 private:
  TemporaryDirectory directory_;
};

RC_GTEST_PROP(FreeBlocks, KnowsTheSameLargestBlockAsTheCollector, ()) {
  const collector::BankRegion region{{100, 1000}, 10};
  FreeBlocks blocks(region);
  std::vector<collector::AddressRange> taken;
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    if (!taken.empty() && random() % 2 == 0) {
      const std::size_t which = random() % taken.size();
      blocks.give_back(taken[which].begin, taken[which].end);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const std::uint64_t begin = 100 + random() % 890;
      const std::uint64_t end = std::min<std::uint64_t>(1000, begin + 1 + random() % 200);
      blocks.take(begin, end);
      taken.push_back({begin, end});
    }
    PerKind<std::optional<collector::BankRegion>> regions{};
    regions[Kind::dram] = region;
    collector::Taken all{};
    for (const Kind kind : kBankKinds) all[kind].emplace();
    all[Kind::dram] = taken;
    collector::join(*all[Kind::dram]);
    const auto free = collector::free_space(regions, all);
    RC_ASSERT(free[Kind::dram].largest_per_bank == blocks.largest());
    RC_ASSERT(free[Kind::dram].bytes_per_bank == blocks.total());
  }
}

// The highest and lowest figures of a chip. The test finds these figures by examining every moment.
struct Seen {
  PerKind<std::optional<Extreme>> peak{};
  std::optional<Extreme> l1_peak;
  PerKind<std::optional<Extreme>> free{};
  std::optional<Extreme> headroom;
  // Bytes of each label at the time of the DRAM peak.
  std::map<std::string, std::uint64_t> dram_labels;
};

template <typename T>
void extend(std::optional<Extreme>& extreme, const std::optional<T>& now, Time time, bool higher) {
  if (!now) return;
  const auto bytes = static_cast<std::int64_t>(*now);
  const bool beyond = !extreme || (higher ? bytes > extreme->bytes : bytes < extreme->bytes);
  if (beyond) extreme = Extreme{bytes, time};
}

std::map<std::string, std::uint64_t> labels_of(const model::Snapshot& snapshot,
                                               std::uint32_t device) {
  std::map<std::string, std::uint64_t> labels;
  for (const model::Allocation& allocation : snapshot.allocations) {
    if (allocation.kind != Kind::dram || !model::is_on(allocation, device)) continue;
    labels[allocation.label] += *allocation.physical_bytes;
  }
  return labels;
}

void look(const model::Snapshot& snapshot, Time time, std::map<std::uint64_t, Seen>& seen) {
  for (std::uint32_t i = 0; i < snapshot.devices.size(); ++i) {
    const model::Device& device = snapshot.devices[i];
    Seen& chip = seen[*device.uid];
    const auto before = chip.peak[Kind::dram];
    for (const Kind kind : kDeviceKinds) extend(chip.peak[kind], device.used(kind), time, true);
    if (chip.peak[Kind::dram] != before) chip.dram_labels = labels_of(snapshot, i);
    extend(chip.l1_peak, device.l1_used_bytes, time, true);
    for (const Kind kind : kBankKinds) {
      extend(chip.free[kind], device.free[kind].largest_per_bank, time, false);
    }
    extend(chip.headroom, device.headroom_bytes_per_core, time, false);
  }
}

std::uint64_t sum_of(const std::vector<Holder>& holders) {
  std::uint64_t sum = 0;
  for (const Holder& holder : holders) sum += holder.bytes;
  return sum;
}

RC_GTEST_PROP(Report, ExtremesAgreeWithEveryMoment, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const File file;
  const auto writer = file.writer();
  const RandomHistory history(*writer, seed, 80);
  RC_ASSERT(writer->commit().has_value());
  const auto reader = file.reader();
  Playback playback(*reader);
  std::map<std::uint64_t, Seen> seen;
  for (const Time time : history.times) {
    RC_ASSERT(playback.advance_to(time).has_value());
    look(playback.snapshot(), time, seen);
  }
  const Report report = file.report();
  RC_ASSERT(report.devices.size() == seen.size());
  for (const DeviceReport& device : report.devices) {
    const Seen& chip = seen[device.uid];
    for (const Kind kind : kDeviceKinds) RC_ASSERT(device.peak[kind] == chip.peak[kind]);
    for (const Kind kind : kBankKinds) {
      RC_ASSERT(device.least_largest_free[kind] == chip.free[kind]);
    }
    RC_ASSERT(device.l1_peak == chip.l1_peak);
    RC_ASSERT(device.least_headroom == chip.headroom);
    RC_ASSERT(sum_of(device.at_dram_peak) ==
              static_cast<std::uint64_t>(chip.peak[Kind::dram]->bytes));
    RC_ASSERT(sum_of(device.at_l1_peak) == static_cast<std::uint64_t>(chip.l1_peak->bytes));
    std::map<std::string, std::uint64_t> labels;
    for (const Holder& holder : device.at_dram_peak) labels[holder.label] += holder.bytes;
    RC_ASSERT(labels == chip.dram_labels);
  }
}

// A recording of one process on one device.
class OneDevice : public ::testing::Test {
 protected:
  explicit OneDevice(bool aggregate = false) : writer_(file_.writer(aggregate)) {
    process_.name = "model";
    process_.id = writer_->begin(process_);
    device_ = recording::small_wormhole(process_.id, 0, 1);
    device_.id = writer_->begin(device_);
    set_ = writer_->device_set(std::vector<RowId>{device_.id});
  }

  RowId allocate(Kind kind, std::uint64_t bytes, const std::string& label, Time time,
                 std::uint8_t role = 0) {
    recording::RecordedRequest request;
    request.kind = kind;
    request.bytes = bytes;
    request.role = role;
    request.label = writer_->text(label);
    return writer_->begin(recording::RecordedAllocation{.devices = set_,
                                                        .request = writer_->request(request),
                                                        .number = ++number_,
                                                        .begin_ns = time});
  }
  void free(RowId row, Time time) { writer_->end_allocation(row, time, recording::Ending::freed); }
  void place(std::uint32_t address, std::uint32_t bytes, const std::string& name, Time time) {
    recording::RecordedCb cb;
    cb.address = address;
    cb.bytes = bytes;
    cb.cores = CoreMask::first(2);
    writer_->begin(recording::RecordedProgram{.device = device_.id,
                                              .layout = writer_->layout({cb}),
                                              .number = ++number_,
                                              .name = writer_->text(name),
                                              .begin_ns = time});
  }
  void mark(Time time) { writer_->add(recording::Mark{.time_ns = time, .name = "step"}); }
  [[nodiscard]] Report report() {
    EXPECT_TRUE(writer_->commit());
    return file_.report();
  }

  File file_;
  std::unique_ptr<Writer> writer_;
  recording::RecordedProcess process_;
  recording::RecordedDevice device_;
  RowId set_ = 0;
  std::uint64_t number_ = 0;
};

TEST_F(OneDevice, CircularBuffersBelongToANameOrAreShared) {
  place(200'000, 100, "matmul", 1);
  place(200'060, 100, "matmul", 2);
  place(200'140, 100, "add", 3);
  const Report made = report();
  const DeviceReport& device = made.devices.at(0);
  EXPECT_EQ(device.peak[Kind::cb], (Extreme{480, 3}));
  const std::vector<Holder> holders = by_name(device.at_l1_peak);
  ASSERT_EQ(holders.size(), 3U);
  EXPECT_EQ(holders[0].label, "matmul");
  EXPECT_EQ(holders[0].bytes, 280U);
  EXPECT_EQ(holders[0].count, 2U);
  EXPECT_EQ(holders[1].label, "add");
  EXPECT_EQ(holders[1].bytes, 160U);
  EXPECT_TRUE(holders[2].shared);
  EXPECT_EQ(holders[2].bytes, 40U);
  EXPECT_EQ(made.leak_bytes(), 0U) << "programs are cached";
}

TEST_F(OneDevice, AnAllocationThatWasNotFreedIsALeak) {
  free(allocate(Kind::dram, 1000, "freed", 1), 2);
  const RowId left = allocate(Kind::dram, 300, "left", 3);
  allocate(Kind::kernel, 50, "dispatch", 4, 2);
  writer_->end_allocation(left, 9, recording::Ending::process_ended);
  process_.end_ns = device_.end_ns = 9;
  writer_->change(process_);
  writer_->change(device_);
  const Report made = report();
  EXPECT_EQ(made.leak_bytes(), 300U);
  EXPECT_EQ(made.leak_count(), 1U);
  const DeviceReport& device = made.devices.at(0);
  EXPECT_EQ(device.end[Kind::dram], 300U);
  EXPECT_EQ(device.end[Kind::kernel], 50U);
  ASSERT_EQ(device.held_at_end.size(), 2U);
}

TEST_F(OneDevice, NamesTheHoldersThatGrowFromMarkToMark) {
  allocate(Kind::dram, 10, "once", 1);
  for (Time time = 10; time < 50; time += 10) {
    mark(time);
    allocate(Kind::dram, 100, "cache", time + 1);
    free(allocate(Kind::dram, 500, "scratch", time + 2), time + 3);
  }
  mark(50);
  const Report made = report();
  EXPECT_EQ(made.marks, 5U);
  ASSERT_EQ(made.growth.size(), 1U);
  EXPECT_EQ(made.growth[0].label, "cache");
  EXPECT_EQ(made.growth[0].first_bytes, 0U);
  EXPECT_EQ(made.growth[0].last_bytes, 400U);
  EXPECT_EQ(made.growth[0].grew, 4U);
  ASSERT_FALSE(made.churn.empty());
  EXPECT_EQ(made.churn[0].allocations, 4U);
}

TEST_F(OneDevice, NamesBuffersAllocatedWhileATraceWasLive) {
  allocate(Kind::l1, 10, "before", 1);
  const RowId trace = allocate(Kind::trace, 1000, "trace", 2);
  allocate(Kind::l1, 20, "during", 3);
  free(trace, 4);
  allocate(Kind::l1, 30, "after", 5);
  const Report made = report();
  ASSERT_EQ(made.while_trace_live.size(), 1U);
  EXPECT_EQ(made.while_trace_live[0].label, "during");
  EXPECT_EQ(made.while_trace_live[0].count, 1U);
}

class OneAggregate : public OneDevice {
 protected:
  OneAggregate() : OneDevice(true) {}
};

TEST_F(OneAggregate, TakesThePeaksFromTheTimeline) {
  allocate(Kind::dram, 100, "weights", 1);
  const auto sample = [&](Time time, Kind kind, std::uint64_t used, std::uint64_t peak) {
    writer_->add(recording::RecordedSample{.time_ns = time,
                                           .device = device_.id,
                                           .kind = kind,
                                           .used_bytes = used,
                                           .peak_bytes = peak});
  };
  sample(10, Kind::dram, 150, 200);
  sample(10, Kind::l1, 70, 80);
  sample(10, Kind::cb, 40, 40);
  sample(20, Kind::dram, 100, 200);
  const Report made = report();
  EXPECT_TRUE(made.aggregate);
  const DeviceReport& device = made.devices.at(0);
  EXPECT_EQ(device.peak[Kind::dram], (Extreme{200, 10}));
  EXPECT_EQ(device.l1_peak, (Extreme{110, 10}));
  EXPECT_EQ(device.end[Kind::dram], 100U);
  EXPECT_FALSE(device.least_headroom);
  EXPECT_TRUE(device.at_dram_peak.empty());
}

}  // namespace
}  // namespace ttmem::report
