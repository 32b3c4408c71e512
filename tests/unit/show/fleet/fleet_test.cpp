// SPDX-License-Identifier: Apache-2.0
//
// Tests the sums of snapshots over a fleet, and the views of a fleet.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "read/remote/mirror.hpp"
#include "serve/http/changes.hpp"
#include "show/fleet/fleet_json.hpp"
#include "show/fleet/fleet_text.hpp"
#include "show/fleet/host_of.hpp"
#include "show/fleet/sum_up.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::fleet {
namespace {

using remote::Fault;
using views::fixtures::kGiB;
using views::fixtures::kMiB;

constexpr std::uint64_t kL1OfProcess = 45 * kMiB + kMiB / 8 + 204'800;

// Returns a snapshot of a machine with one chip and one process.
model::Snapshot machine(std::string name, std::uint64_t segment, std::string job = "") {
  model::Snapshot snapshot;
  snapshot.host = std::move(name);
  snapshot.devices.push_back(views::fixtures::wormhole(0));
  snapshot.devices[0].processes[0].segment = segment;
  snapshot.devices[0].processes[0].job.id = std::move(job);
  return snapshot;
}

Host answering(const std::string& name, std::int64_t headroom, std::string job = "") {
  static std::uint64_t segment = 100;
  model::Snapshot snapshot = machine(name, ++segment, std::move(job));
  snapshot.devices[0].headroom_bytes_per_core = headroom;
  return host_of(name, snapshot, 0);
}

Host silent(const std::string& name) {
  Host host;
  host.address = name;
  host.fault = Fault{Fault::Kind::timeout, "no answer within 2 s", "wait"};
  return host;
}

std::vector<std::string> order_of(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const Host& host : fleet.hosts) names.push_back(host.address);
  return names;
}

TEST(HostOf, AddsUpDevicesAndNamesTheTightest) {
  model::Snapshot snapshot = machine("node7", 1);
  snapshot.devices.push_back(views::fixtures::wormhole(1));
  snapshot.devices[1].headroom_bytes_per_core = 4096;
  snapshot.devices[1].processes = snapshot.devices[0].processes;
  snapshot.warnings = {"one", "two"};
  const Host host = host_of("10.0.0.7", snapshot, 3);
  EXPECT_EQ(host.name, "node7");
  EXPECT_EQ(host.devices, 2U);
  EXPECT_EQ(host.dram_used.bytes, 5 * kGiB / 2);
  EXPECT_EQ(host.dram_capacity.bytes, 24 * kGiB);
  EXPECT_EQ(host.headroom.bytes, 4096);
  EXPECT_EQ(host.headroom.device, "1");
  EXPECT_EQ(host.processes, 1U) << "a process on two devices is one";
  EXPECT_EQ(host.dead, 0U);
  EXPECT_EQ(host.died, 3U);
  EXPECT_EQ(host.warning_count, 2U);
  ASSERT_EQ(host.jobs.size(), 1U);
  EXPECT_EQ(host.jobs[0].dram.bytes, 5 * kGiB / 2);
  EXPECT_EQ(host.jobs[0].l1.bytes, 2 * kL1OfProcess);
  EXPECT_TRUE(host.complete && host.dram_used.complete);
}

TEST(HostOf, ADeadProcessIsCountedAndHoldsNothing) {
  model::Snapshot snapshot = machine("node7", 1, "4711");
  snapshot.devices[0].processes[0].state = model::State::dead;
  const Host host = host_of("node7", snapshot, 0);
  EXPECT_EQ(host.processes, 0U);
  EXPECT_EQ(host.dead, 1U);
  EXPECT_TRUE(host.jobs.empty());
}

TEST(HostOf, AnUnknownFigureMakesSumsLowerBounds) {
  model::Snapshot snapshot = machine("node7", 1);
  snapshot.devices.push_back(views::fixtures::wormhole(1));
  snapshot.devices[1].kinds = {};
  snapshot.devices[1].processes.clear();
  const Host host = host_of("node7", snapshot, 0);
  EXPECT_EQ(host.dram_used.bytes, 5 * kGiB / 4);
  EXPECT_FALSE(host.dram_used.complete);
  EXPECT_TRUE(host.dram_capacity.complete);
  snapshot.devices.erase(snapshot.devices.begin());
  EXPECT_EQ(host_of("node7", snapshot, 0).dram_used.bytes, std::nullopt);
}

TEST(HostOf, ShareUsesOnlyDevicesWithKnownCapacity) {
  model::Snapshot snapshot = machine("node7", 1);
  snapshot.devices.push_back(views::fixtures::wormhole(1));
  snapshot.devices[1].kinds[Kind::dram].used_bytes = 10 * kGiB;
  snapshot.devices[1].dram_capacity_bytes = std::nullopt;
  snapshot.devices[1].l1_capacity_bytes = std::nullopt;
  const Host host = host_of("node7", snapshot, 0);
  EXPECT_EQ(host.dram_used.bytes, 45 * kGiB / 4);
  EXPECT_DOUBLE_EQ(host.dram_fill.share().value(), 1.25 / 12);
  EXPECT_EQ(host.l1_fill.capacity_bytes, host.l1_capacity.bytes);
  EXPECT_EQ(host.l1_fill.used_bytes, snapshot.devices[0].l1_used_bytes);
  const std::string text = fleet_text(sum_up({host}, Order::headroom), 0, {});
  EXPECT_NE(text.find("DRAM  11.2 GiB of >=12.0 GiB  10%"), std::string::npos) << text;
  snapshot.devices.erase(snapshot.devices.begin());
  EXPECT_EQ(host_of("node7", snapshot, 0).dram_fill.share(), std::nullopt);
}

TEST(HostOf, AnUntrackedProcessMakesTheSumsOfItsJobLowerBounds) {
  model::Snapshot snapshot = machine("node7", 1, "4711");
  model::Process silent_one;
  silent_one.pid = 9;
  silent_one.job.id = "4711";
  silent_one.not_tracked = "not started with tracking";
  snapshot.devices[0].processes.push_back(silent_one);
  Host host = host_of("node7", snapshot, 0);
  EXPECT_EQ(host.untracked, 1U);
  EXPECT_FALSE(host.dram_used.complete);
  EXPECT_EQ(host.jobs[0].dram.bytes, 5 * kGiB / 4);
  EXPECT_FALSE(host.jobs[0].dram.complete);
  snapshot.devices[0].processes[1].may_hold = false;
  host = host_of("node7", snapshot, 0);
  EXPECT_TRUE(host.jobs[0].dram.complete);
  EXPECT_EQ(host.jobs[0].processes, 2U);
}

TEST(HostOf, ForeignTextsAreShortened) {
  model::Snapshot snapshot = machine(std::string(100'000, 'n'), 1, std::string(100'000, 'j'));
  snapshot.warnings.assign(1000, std::string(100'000, 'w'));
  const Host host = host_of("node7", snapshot, 0);
  EXPECT_LE(host.name.size(), 256U);
  EXPECT_LE(host.jobs[0].job.size(), 256U);
  EXPECT_EQ(host.warning_count, 1000U);
  EXPECT_LE(host.warnings.size(), 10U);
}

// The brief answer of a server makes the same row as the full answer of the same server.
TEST(HostOf, ABriefAnswerSuffices) {
  model::Snapshot snapshot = views::fixtures::mesh(3);
  snapshot.devices.push_back(views::fixtures::unannounced(9));
  snapshot.devices[0].processes[0].job.id = "4711";
  snapshot.devices[1].processes[0].job.pod = "decode-0";
  snapshot.devices[1].processes[0].job.pod_namespace = "serving";
  snapshot.devices[1].cb_estimate = true;
  snapshot.devices[2].complete = false;
  snapshot.devices[2].processes[0].state = model::State::dead;
  model::Process silent_one;
  silent_one.not_tracked = "why";
  snapshot.devices[2].processes.push_back(silent_one);
  silent_one.may_hold = false;
  silent_one.pid = 7;
  snapshot.devices[2].processes.push_back(silent_one);
  snapshot.warnings = snapshot.unread = {"cannot read one"};
  serve::Changes changes(1000);
  changes.update(snapshot, {});
  remote::Mirror mirror(remote::Mirror::Detail::brief);
  EXPECT_EQ(mirror.target(), "/api/v1/changes?brief=1");
  const std::string answer = changes.since({.brief = true});
  EXPECT_LT(answer.size(), changes.since({}).size() / 3);
  ASSERT_FALSE(mirror.take(answer));
  EXPECT_EQ(mirror.target().substr(0, 22), "/api/v1/changes?after=");
  const auto written = [](const model::Snapshot& of) {
    return fleet_json(sum_up({host_of("node7", of, 0)}, Order::headroom),
                      views::JsonLayout::pretty);
  };
  EXPECT_EQ(written(mirror.snapshot()), written(snapshot));
}

TEST(SumUp, TheTightestHostIsFirstAndSilentHostsAreLast) {
  Host unknown = answering("unknown", 0);
  unknown.headroom = {};
  Host fuller = answering("fuller", 500);
  fuller.dram_left.bytes = 1;
  const Fleet fleet = sum_up({silent("dead"), unknown, answering("roomy", 9000),
                              answering("tight", -5), answering("same", 500), fuller},
                             Order::headroom);
  EXPECT_EQ(order_of(fleet),
            (std::vector<std::string>{"tight", "fuller", "same", "roomy", "unknown", "dead"}));
  EXPECT_EQ(fleet.total.answered, 5U);
}

TEST(SumUp, SortingByNameComparesNumbers) {
  const Fleet fleet =
      sum_up({answering("node10", 1), answering("node9", 2), silent("node1")}, Order::host);
  EXPECT_EQ(order_of(fleet), (std::vector<std::string>{"node9", "node10", "node1"}));
}

// A device with unknown capacity is ignored, even if it uses more bytes than the other devices.
TEST(SumUp, TheFullestHostIsFoundByDevicesWithKnownCapacity) {
  model::Snapshot odd = machine("odd", 1);
  odd.devices.push_back(views::fixtures::wormhole(1));
  odd.devices[1].kinds[Kind::dram].used_bytes = 10 * kGiB;
  odd.devices[1].dram_capacity_bytes = std::nullopt;
  model::Snapshot full = machine("full", 2);
  full.devices[0].kinds[Kind::dram].used_bytes = 2 * kGiB;
  const Fleet fleet = sum_up({host_of("odd", odd, 0), host_of("full", full, 0)}, Order::dram);
  EXPECT_EQ(order_of(fleet), (std::vector<std::string>{"full", "odd"}));
  EXPECT_DOUBLE_EQ(fleet.total.dram_fill.share().value(), 3.25 / 24);
}

TEST(SumUp, JobsAreAddedUpOverHosts) {
  const Fleet fleet = sum_up({answering("a", 900, "4711"), answering("b", 700, "4711"),
                              answering("c", 100, "12"), answering("d", 50)},
                             Order::headroom);
  ASSERT_EQ(fleet.jobs.size(), 3U);
  const FleetJob& job = fleet.jobs[0];
  EXPECT_EQ(job.job, "4711");
  EXPECT_EQ(job.hosts, 2U);
  EXPECT_EQ(job.processes, 2U);
  EXPECT_EQ(job.dram.bytes, 5 * kGiB / 2);
  EXPECT_EQ(job.l1.bytes, 2 * kL1OfProcess);
  EXPECT_TRUE(job.dram.complete);
  EXPECT_EQ(job.headroom.bytes, 700);
  EXPECT_EQ(job.headroom_host, "b");
  EXPECT_EQ(fleet.jobs[1].job, "12");
  EXPECT_EQ(fleet.jobs[2].job, "") << "what is of no job is at the end";
  EXPECT_TRUE(fleet.complete());
}

TEST(SumUp, ASilentHostMakesAllSumsLowerBounds) {
  const Fleet fleet = sum_up({answering("a", 900, "4711"), silent("b")}, Order::headroom);
  EXPECT_FALSE(fleet.complete());
  EXPECT_FALSE(fleet.jobs[0].dram.complete);
  EXPECT_FALSE(fleet.total.dram_used.complete);
  ASSERT_EQ(fleet.unread.size(), 1U);
  EXPECT_EQ(fleet.unread[0], "b is not known: no answer within 2 s; wait");
}

TEST(SumUp, AMachineUnderTwoNamesCountsOnce) {
  const model::Snapshot snapshot = machine("node7", 42, "4711");
  const Fleet fleet =
      sum_up({host_of("node7", snapshot, 0), host_of("10.0.0.7", snapshot, 0)}, Order::headroom);
  EXPECT_EQ(fleet.total.answered, 1U);
  EXPECT_EQ(fleet.jobs[0].dram.bytes, 5 * kGiB / 4);
  EXPECT_TRUE(fleet.jobs[0].dram.complete);
  ASSERT_TRUE(fleet.hosts[1].fault);
  EXPECT_EQ(fleet.hosts[1].fault->kind, Fault::Kind::twice);
  EXPECT_EQ(fleet.hosts[1].fault->reason, "it is the machine that node7 names too");
  EXPECT_EQ(fleet.hosts[1].address, "10.0.0.7");
  EXPECT_EQ(fleet.hosts[1].name, "node7");
  const auto json = nlohmann::json::parse(fleet_json(fleet, views::JsonLayout::line))["hosts"][1];
  EXPECT_EQ(json["answer"], "twice");
  for (const char* figure : {"devices", "processes", "headroom_bytes_per_core", "warnings_count"}) {
    EXPECT_TRUE(json[figure].is_null()) << figure << " is counted with node7";
  }
  EXPECT_TRUE(json["dram"]["used_bytes"].is_null());
  // A process on another machine is another process, even if its pid and segment number are equal.
  const model::Snapshot other = machine("node8", 42, "4711");
  EXPECT_EQ(sum_up({host_of("node7", snapshot, 0), host_of("node8", other, 0)}, Order::headroom)
                .total.answered,
            2U);
}

TEST(SumUp, AnIdleMachineUnderTwoNamesCountsOnce) {
  model::Snapshot idle = machine("node7", 0);
  idle.devices[0].uid = 0x1f00a;
  idle.devices[0].processes.clear();
  const auto answered = [](const model::Snapshot& a, const model::Snapshot& b) {
    return sum_up({host_of("a", a, 0), host_of("b", b, 0)}, Order::headroom).total.answered;
  };
  EXPECT_EQ(answered(idle, idle), 1U);
  model::Snapshot busy = machine("node7", 42);
  busy.devices[0].uid = 0x1f00a;
  EXPECT_EQ(answered(idle, busy), 1U);
  EXPECT_EQ(
      sum_up({host_of("a", idle, 0), host_of("b", busy, 0)}, Order::headroom).hosts[0].address, "b")
      << "the one that knows more counts";
  model::Snapshot other_directory = machine("node7", 43);
  other_directory.devices[0].uid = 0x1f00a;
  EXPECT_EQ(answered(busy, other_directory), 2U) << "other processes are not counted yet";
  model::Snapshot other = idle;
  other.host = "node8";
  EXPECT_EQ(answered(idle, other), 2U);
  other = idle;
  other.devices[0].uid = 0x1f00b;
  EXPECT_EQ(answered(idle, other), 2U);
  idle.devices[0].uid = std::nullopt;
  EXPECT_EQ(answered(idle, idle), 2U) << "nothing tells";
}

TEST(SumUp, AnEmptyFleetHasNoRows) {
  const Fleet fleet = sum_up({}, Order::headroom);
  EXPECT_EQ(fleet.total.answered, 0U);
  EXPECT_FALSE(fleet_text(fleet, 0, {}).empty());
}

TEST(ParseOrder, NamesTheValidOrders) {
  EXPECT_EQ(*parse_order("l1"), Order::l1);
  EXPECT_EQ(*parse_order("host"), Order::host);
  EXPECT_EQ(parse_order("size").error().message,
            "must be one of headroom, dram, l1, processes, host");
}

TEST(FleetText, NoLineIsTooWideAndNoEscapeCodeIsPrinted) {
  std::vector<Host> hosts = {answering("a\x1b[31m", 900, "j\x1b]0;x\a"), silent("s\n\x1b[2J"),
                             answering(std::string(300, 'x'), 5)};
  const Fleet fleet = sum_up(hosts, Order::headroom);
  for (const std::size_t width : {20U, 40U, 80U, 200U}) {
    text::TextOptions options;
    options.width = width;
    const std::string text = fleet_text(fleet, 0, options);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      EXPECT_LE(text::display_width(text.substr(begin, end - begin)), width);
      begin = end + 1;
    }
  }
}

TEST(FleetText, MarksLowerBoundsAndLeavesOutEmptyColumns) {
  text::TextOptions options;
  options.width = 200;
  Fleet fleet = sum_up({answering("a", 900, "4711")}, Order::headroom);
  std::string text = fleet_text(fleet, 0, options);
  EXPECT_EQ(text.find(">="), std::string::npos);
  EXPECT_EQ(text.find("DEAD"), std::string::npos);
  EXPECT_EQ(text.find("NO ANSWER"), std::string::npos);
  Host host = answering("b", 900, "4711");
  host.dead = 2;
  fleet = sum_up({host, silent("c")}, Order::headroom);
  text = fleet_text(fleet, 0, options);
  EXPECT_NE(text.find(">=1.25 GiB"), std::string::npos) << text;
  EXPECT_NE(text.find("DEAD"), std::string::npos);
  EXPECT_NE(text.find("no answer within 2 s"), std::string::npos);
}

TEST(FleetText, FitsTheRowsOfATerminal) {
  std::vector<Host> hosts;
  for (int i = 0; i < 50; ++i) hosts.push_back(answering("node" + std::to_string(i), i, "j"));
  for (int i = 0; i < 50; ++i) hosts.push_back(silent("dead" + std::to_string(i)));
  const std::string text = fleet_text(sum_up(hosts, Order::headroom), 24, {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 24);
  EXPECT_NE(text.find("node0"), std::string::npos);
  EXPECT_NE(text.find("JOB"), std::string::npos);
}

TEST(FleetJson, IsValidWhateverTheTextsHold) {
  Host broken = silent("b");
  broken.fault->reason = "\xff\xfe\x1b";
  const std::string text = fleet_json(sum_up({answering("a\xff", 1, "\xc3"), broken}, Order::host),
                                      views::JsonLayout::line);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "ttmem.fleet.v1");
  EXPECT_EQ(json["complete"], false);
  EXPECT_EQ(json["hosts"][1]["answer"], "timeout");
  EXPECT_TRUE(json["hosts"][1]["dram"]["used_bytes"].is_null());
  EXPECT_TRUE(json["hosts"][0]["reason"].is_null());
}

}  // namespace
}  // namespace ttmem::fleet
