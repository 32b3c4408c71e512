// SPDX-License-Identifier: Apache-2.0
#include "read/remote/read_snapshot.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "show/views/json.hpp"
#include "show/views/snapshot_text.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::remote {
namespace {

using model::Device;
using model::Process;
using model::Snapshot;
using views::JsonLayout;

std::string written(const Snapshot& snapshot) {
  return views::snapshot_with_lists_json(snapshot, JsonLayout::line);
}

Snapshot read(const std::string& json) {
  Answer<Snapshot> answer = read_snapshot(json);
  EXPECT_FALSE(answer.failed) << answer.fault.reason;
  return std::move(answer.value);
}

// Compares two snapshots. The documents contain every field, so their comparison finds each field
// that the reader does not read. The other comparisons check values that the reader computes.
void expect_same(const Snapshot& now, const Snapshot& then) {
  EXPECT_EQ(written(now), written(then));
  ASSERT_EQ(now.devices.size(), then.devices.size());
  for (std::size_t i = 0; i < now.devices.size(); ++i) {
    const Device& read_back = now.devices[i];
    const Device& device = then.devices[i];
    EXPECT_EQ(read_back.shares_number, device.shares_number);
    EXPECT_EQ(read_back.idle, device.idle);
    EXPECT_EQ(read_back.in_reset, device.in_reset);
    EXPECT_EQ(read_back.holders_known, device.holders_known);
    EXPECT_TRUE(read_back.kinds == device.kinds);
    EXPECT_TRUE(read_back.cores == device.cores);
    ASSERT_EQ(read_back.processes.size(), device.processes.size());
    for (std::size_t p = 0; p < device.processes.size(); ++p) {
      EXPECT_TRUE(read_back.processes[p].kinds == device.processes[p].kinds);
    }
  }
}

// Returns a process in which no field has its default value. The values differ, so that exchanged
// fields are noticed.
Process full_process() {
  Process p;
  p.pid = 4711;
  p.segment = 0xffff'ffff'ffff'fff1;
  p.foreign_pid = true;
  p.pid_namespace = 4'026'531'836;
  p.host_pid = 81'234;
  p.supposed_device = true;
  p.name = "py\"thon";
  p.command = "python3 serve.py";
  p.user = "alice";
  p.state = model::State::dead;
  p.source = model::Source::tt_metal;
  std::uint64_t value = 100;
  for (const Kind kind : kDeviceKinds) {
    p.kinds[kind].set(&KindFigures::used_bytes, ++value);
    if (kind != Kind::cb) p.kinds[kind].set(&KindFigures::live, 0);
  }
  // Only one kind has this figure, because the document has only the sum over all kinds.
  p.kinds[Kind::dram].set(&KindFigures::live, 17);
  p.kernels_estimated_bytes = 201;
  p.cb_estimate = true;
  p.not_tracked = "it has no adapter";
  p.may_hold = false;
  p.job = {.id = "4711",
           .step = "2",
           .partition = "galaxy",
           .rank = "3",
           .ranks = "8",
           .pod = "decode-0",
           .pod_uid = "0b1e",
           .pod_namespace = "serving",
           .container = "llm"};
  return p;
}

Device full_device() {
  Device d;
  d.id = 3;
  d.ids = {3, 9};
  d.uid = 0xffff'ffff'ffff'fff2;
  d.arch = "wormhole_b0";
  d.board = "n300";
  d.grid_x = 2;
  d.grid_y = 1;
  d.dram_channels = 12;
  d.driver_number = 3;
  d.bus_id = "0000:01:00.0";
  d.temperature_c = 41.5;
  d.power_w = 75.25;
  d.aiclk_mhz = 1000;
  d.in_reset = true;
  d.holders_known = true;
  d.holders = {0, 4711};
  d.other_uids = {0x77, 0x78};
  d.card_chips = 2;
  d.capacities_from = Device::Statement::card;
  d.complete = false;
  std::uint64_t value = 1000;
  for (const Kind kind : kAllKinds) {
    for (const FigureInfo& figure : kFigures) d.kinds[kind].set(figure.value, ++value);
  }
  for (const Kind kind : {Kind::l1, Kind::l1_small}) d.lockstep_bytes[kind] = ++value;
  for (const Kind kind : kBankKinds) d.free[kind] = {value + 1, value + 2}, value += 2;
  for (const auto figure :
       {&Device::dram_capacity_bytes, &Device::trace_capacity_bytes, &Device::l1_capacity_bytes,
        &Device::l1_used_bytes, &Device::l1_peak_bytes, &Device::l1_bytes_per_core,
        &Device::l1_base, &Device::l1_small_region_bytes, &Device::cb_resident_bytes,
        &Device::kernels_persistent_bytes, &Device::kernels_estimated_bytes}) {
    d.*figure = ++value;
  }
  d.headroom_bytes_per_core = -5;
  d.cb_estimate = true;
  d.programs = 60;
  d.anomalies = {1, 2, 3, 4, 5, 6, 7};
  d.processes = {full_process()};
  d.cores = {{0, 0, 11, 12, 13, 14, -15}, {1, 0, 21, 22, 23, 24, 25}};
  return d;
}

Snapshot full() {
  Snapshot s;
  s.time_unix_ns = 1'787'400'005'000'000'000;
  s.host = "galaxy-17";
  s.devices = {full_device(), full_device()};
  s.devices[1].uid = 0x5;
  s.devices[1].ids = {9};
  for (Device& device : s.devices) device.shares_number = true;
  s.warnings = {"one", "two"};
  s.unread = {"two"};
  model::Allocation a;
  a.device = 0;
  a.devices = {0, 1};
  a.pid = 4711;
  a.state = model::State::dead;
  a.segment = 0xffff'ffff'ffff'fff1;
  a.kind = Kind::l1_small;
  a.id = 0xffff'ffff'ffff'fff3;
  a.address = 0xffff'ffff'ffff'fff4;
  a.bytes = 1;
  a.bytes_per_bank = 2;
  a.physical_bytes = 3;
  a.banks = 4;
  a.cores.emplace().set(1);
  a.own_banks = true;
  a.age_ns = 5;
  a.persistent = true;
  a.estimate = true;
  a.left_out = true;
  a.label = "kv";
  a.scope = "decoder.0/attention";
  s.allocations = {a};
  model::Program p;
  p.device = 1;
  p.pid = 4711;
  p.state = model::State::dead;
  p.segment = 0xffff'ffff'ffff'fff1;
  p.program = 0xffff'ffff'ffff'fff5;
  p.name = "matmul";
  p.scope = "decoder.0";
  p.cbs = {{6, 7, CoreMask::first(2), true}};
  p.cores = 8;
  p.bytes_per_core = 9;
  p.physical_bytes = 10;
  p.logical_bytes = 11;
  p.exclusive_bytes = 12;
  p.resident_cores = 13;
  p.age_ns = 14;
  s.programs = {p};
  return s;
}

TEST(ReadSnapshot, EveryFieldComesBack) {
  const Snapshot snapshot = full();
  expect_same(read(written(snapshot)), snapshot);
}

TEST(ReadSnapshot, UnknownFiguresStayUnknown) {
  Snapshot snapshot;
  snapshot.devices.resize(2);
  snapshot.devices[0].processes.resize(1);
  snapshot.allocations.resize(1);
  snapshot.programs.resize(1);
  expect_same(read(written(snapshot)), snapshot);
}

TEST(ReadSnapshot, EveryStateOfADeviceComesBack) {
  Snapshot snapshot = full();
  snapshot.devices[0].in_reset = false;
  snapshot.devices[0].idle = true;
  snapshot.devices[1].holders_known = false;
  snapshot.devices[1].capacities_from = Device::Statement::chip;
  snapshot.devices[1].processes[0].source = model::Source::driver;
  snapshot.devices[1].processes[0].state = model::State::alive;
  expect_same(read(written(snapshot)), snapshot);
}

// Makes random figures unknown. The other figures stay known.
RC_GTEST_PROP(ReadSnapshot, AnyFigureMayBeUnknown, ()) {
  Snapshot snapshot = full();
  Device& device = snapshot.devices[0];
  for (const Kind kind : kAllKinds) {
    for (const FigureInfo& figure : kFigures) {
      if (*rc::gen::arbitrary<bool>()) device.kinds[kind].set(figure.value, std::nullopt);
    }
  }
  for (const auto figure :
       {&Device::dram_capacity_bytes, &Device::trace_capacity_bytes, &Device::l1_capacity_bytes,
        &Device::l1_used_bytes, &Device::l1_peak_bytes, &Device::l1_base,
        &Device::l1_small_region_bytes, &Device::cb_resident_bytes,
        &Device::kernels_persistent_bytes, &Device::kernels_estimated_bytes}) {
    if (*rc::gen::arbitrary<bool>()) (device.*figure).reset();
  }
  const Answer<Snapshot> answer = read_snapshot(written(snapshot));
  RC_ASSERT(!answer.failed);
  RC_ASSERT(written(answer.value) == written(snapshot));
}

TEST(ReadSnapshot, ViewsShowTheSame) {
  for (const Snapshot& snapshot :
       {views::fixtures::mesh(8), views::fixtures::troubled(), views::fixtures::with_lists()}) {
    const Snapshot again = read(written(snapshot));
    EXPECT_EQ(written(again), written(snapshot));
    EXPECT_EQ(views::snapshot_json(again, JsonLayout::pretty),
              views::snapshot_json(snapshot, JsonLayout::pretty));
    EXPECT_EQ(views::snapshot_text(again, {}, {}), views::snapshot_text(snapshot, {}, {}));
  }
}

// Entries have hostile values in fields that views use as indexes.
TEST(ReadSnapshot, ImpossibleEntriesAreLeftOut) {
  nlohmann::json json = nlohmann::json::parse(written(full()));
  json["allocations"].push_back(json["allocations"][0]);
  json["allocations"][0]["device_index"] = 2;
  json["allocations"][1]["device_indexes"] = {0, 2};
  json["programs"][0]["cbs"][0]["cores"] = {{0, 0, 4'000'000'000U, 0}};
  json["devices"][0]["per_core"][1]["x"] = 0;
  json["devices"][1]["grid"] = {{"x", 60'000}, {"y", 60'000}};
  json["devices"][1]["l1"]["headroom_bytes_per_core"] = INT64_MIN;
  const Snapshot read_back = read(json.dump());
  EXPECT_TRUE(read_back.allocations.empty());
  EXPECT_TRUE(read_back.programs[0].cbs[0].cores.empty());
  EXPECT_TRUE(read_back.devices[0].cores.empty());
  EXPECT_EQ(read_back.devices[1].grid_x, 0);
  EXPECT_TRUE(read_back.devices[1].cores.empty());
  EXPECT_FALSE(read_back.devices[1].headroom_bytes_per_core);
}

TEST(ReadSnapshot, LateOrRepeatedDevicesKeepIndexesInRange) {
  const std::string devices = R"("devices":[{"id":0}])";
  const std::string lists = R"("allocations":[{"device_index":0,"kind":"dram"}])";
  const auto document = [](const std::string& content) {
    return R"({"schema":"ttmem.snapshot.v1",)" + content + "}";
  };
  EXPECT_EQ(read(document(devices + "," + lists)).allocations.size(), 1U);
  EXPECT_TRUE(read(document(lists + "," + devices)).allocations.empty());
  EXPECT_TRUE(read(document(devices + "," + lists + R"(,"devices":[])")).allocations.empty());
}

TEST(ReadSnapshot, OtherDocumentsAreRefusedWithAReason) {
  const auto kind_of = [](std::string_view text) { return read_snapshot(text).fault.kind; };
  EXPECT_EQ(kind_of(""), Fault::Kind::not_ttmem);
  EXPECT_EQ(kind_of("<html>"), Fault::Kind::not_ttmem);
  EXPECT_EQ(kind_of("[]"), Fault::Kind::not_ttmem);
  EXPECT_EQ(kind_of(R"({"schema":7})"), Fault::Kind::not_ttmem);
  EXPECT_EQ(kind_of(R"({"schema":"ttmem.allocations.v1"})"), Fault::Kind::not_ttmem);
  EXPECT_EQ(kind_of(R"({"schema":"ttmem.snapshot.v2"})"), Fault::Kind::newer);
  const std::string whole = written(full());
  EXPECT_TRUE(read_snapshot(std::string_view(whole).substr(0, whole.size() / 2)).failed);
}

TEST(ReadSnapshot, DeepAndUnknownMembersAreSkippedCheaply) {
  const std::string deep(1'000'000, '[');
  EXPECT_TRUE(read_snapshot(deep).failed);
  const std::string nested = R"({"schema":"ttmem.snapshot.v1","devices":)" +
                             std::string(5000, '[') + std::string(5000, ']') +
                             R"(,"later":{"x":[1,2]}})";
  EXPECT_TRUE(read(nested).devices.empty());
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(times * text.size());
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// An entry takes three characters in a document, but two kilobytes in a snapshot.
TEST(ReadSnapshot, MoreEntriesThanAnyMachineHasAreRefused) {
  const auto reason_of = [](const std::string& before, const std::string& entry, std::size_t times,
                            const std::string& after) {
    const auto answer = read_snapshot(R"({"schema":"ttmem.snapshot.v1","devices":[{"id":0)" +
                                      before + repeated(entry + ",", times - 1) + entry + after);
    EXPECT_EQ(answer.failed, answer.fault.kind == Fault::Kind::too_large);
    return answer.fault.reason;
  };
  const std::string processes = R"(,"processes":[)";
  EXPECT_EQ(reason_of(processes, "{}", 65'536, "]}]}"), "");
  EXPECT_EQ(reason_of(processes, "{}", 65'537, "]}]}"), "the answer has more than 65536 processes");
  EXPECT_EQ(reason_of("},", "{}", 5000, "]}"), "the answer has more than 4096 devices");
  const std::string cbs = R"(}],"programs":[{"device_index":0,"cbs":[)";
  EXPECT_EQ(reason_of(cbs, "0", 1'100'000, "]}]}"), "the answer has more than 1048576 cbs");
  EXPECT_EQ(reason_of(R"(,"ids":[)", "0", 2'200'000, "]}]}"),
            "the answer has more than 2097152 values");
}

// The lists of allocations and warnings have no maximum length. If the reader compared each entry
// with all earlier entries, reading would take minutes.
TEST(ReadSnapshot, LongListsAreReadQuickly) {
  const std::string head = R"({"schema":"ttmem.snapshot.v1","devices":[{"id":0}],)";
  const Snapshot listed = read(head + R"("allocations":[)" +
                               repeated(R"({"device_index":0,"kind":"dram"},)", 300'000) + "0]}");
  EXPECT_EQ(listed.allocations.size(), 300'000U);
  const Snapshot warned = read(head + R"("warnings":[)" + repeated("{},", 300'000) + R"("one"]})");
  EXPECT_EQ(warned.warnings, std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace ttmem::remote
