// SPDX-License-Identifier: Apache-2.0
//
// Parses the metrics page and checks the result.
#include "show/views/prometheus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace ttmem::views {
namespace {

using model::Snapshot;

struct Page {
  std::map<std::string, double> samples;  // the key is the name with its labels, as printed
  std::map<std::string, std::string> types;
  std::set<std::string> helps;
  std::set<std::string> twice;
};

// Parses the part of the text format that the pages of the exporter use. Shares no code with the
// exporter.
Page parse(const std::string& text) {
  Page page;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ")) {
      page.helps.insert(line.substr(7, line.find(' ', 7) - 7));
    } else if (line.starts_with("# TYPE ")) {
      const std::size_t end = line.find(' ', 7);
      page.types[line.substr(7, end - 7)] = line.substr(end + 1);
    } else {
      const std::size_t blank = line.rfind(' ');
      const bool fresh =
          page.samples.emplace(line.substr(0, blank), std::stod(line.substr(blank + 1))).second;
      if (!fresh) page.twice.insert(line);
    }
  }
  return page;
}

model::Device wormhole_in_use(std::uint32_t id) {
  model::Device device;
  device.id = id;
  device.uid = 0x1f000 + id;
  device.arch = "wormhole_b0";
  device.board = "n300";
  device.grid_x = 8;
  device.grid_y = 7;
  device.kinds[Kind::dram].set(&KindFigures::used_bytes, 111);
  device.kinds[Kind::l1].set(&KindFigures::used_bytes, 222);
  device.kinds[Kind::l1_small].set(&KindFigures::used_bytes, 0);
  device.kinds[Kind::cb].set(&KindFigures::used_bytes, 30408704);
  device.cb_resident_bytes = 333;
  device.kinds[Kind::cb].set(&KindFigures::logical_bytes, 1ULL << 52);
  device.dram_capacity_bytes = 12ULL << 30;
  device.headroom_bytes_per_core = -192;
  device.kinds[Kind::l1].set(&KindFigures::unsized, 0);
  device.lockstep_bytes[Kind::l1] = 22;
  device.free[Kind::l1] = {640, 512};
  model::Process& process = device.processes.emplace_back();
  process.pid = 4711;
  process.name = "python3";
  process.user = "alice";
  process.kinds[Kind::dram].set(&KindFigures::used_bytes, 111);
  process.kinds[Kind::cb].set(&KindFigures::used_bytes, 5);
  return device;
}

Page page_of(const Snapshot& snapshot, const MetricsInput& input = {}) {
  const Page page = parse(prometheus_text(snapshot, input));
  EXPECT_EQ(page.twice, std::set<std::string>());
  return page;
}

TEST(Prometheus, HasTheFiguresOfADevice) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  const auto samples = page_of(snapshot).samples;
  const std::string device = R"(device="0",uid="0x1f000",arch="wormhole_b0")";
  EXPECT_EQ(samples.at("ttmem_memory_used_bytes{" + device + R"(,kind="dram"})"), 111);
  EXPECT_EQ(samples.at("ttmem_memory_used_bytes{" + device + R"(,kind="l1"})"), 222);
  EXPECT_EQ(samples.at("ttmem_memory_used_bytes{" + device + R"(,kind="cb"})"), 30408704);
  EXPECT_EQ(samples.at("ttmem_memory_capacity_bytes{" + device + R"(,memory="dram"})"),
            12.0 * (1 << 30));
  EXPECT_EQ(samples.at("ttmem_l1_headroom_bytes{" + device + "}"), -192);
  EXPECT_EQ(samples.at("ttmem_l1_data_bytes{" + device + R"(,kind="l1"})"), 200);
  EXPECT_FALSE(samples.contains("ttmem_l1_data_bytes{" + device + R"(,kind="l1_small"})"));
  EXPECT_EQ(samples.at("ttmem_memory_free_bytes_per_bank{" + device + R"(,kind="l1"})"), 640);
  EXPECT_EQ(samples.at("ttmem_memory_largest_free_bytes_per_bank{" + device + R"(,kind="l1"})"),
            512);
  EXPECT_FALSE(samples.contains("ttmem_memory_free_bytes_per_bank{" + device + R"(,kind="dram"})"));
  const std::string cb = R"(ttmem_cb_bytes{device="0",uid="0x1f000",view=)";
  EXPECT_EQ(samples.at(cb + R"("physical"})"), 30408704);
  EXPECT_EQ(samples.at(cb + R"("resident"})"), 333);
  EXPECT_EQ(samples.at(cb + R"("logical"})"), static_cast<double>(1ULL << 52));
  EXPECT_EQ(samples.at("ttmem_device_info{" + device + R"(,board="n300",grid_x="8",grid_y="7"})"),
            1);
  EXPECT_EQ(samples.at("ttmem_up"), 1);
  EXPECT_EQ(samples.at("ttmem_complete"), 1);
}

TEST(Prometheus, MarksIncompleteFiguresAndEstimates) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  snapshot.devices[0].kernels_estimated_bytes = 4096;
  snapshot.unread.emplace_back("cannot read");
  const auto samples = page_of(snapshot).samples;
  EXPECT_EQ(samples.at("ttmem_complete"), 0);
  const auto estimate = std::find_if(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.first.starts_with("ttmem_kernels_estimated_bytes{");
  });
  ASSERT_NE(estimate, samples.end());
  EXPECT_EQ(estimate->second, 4096);
  snapshot.devices[0].cb_estimate = true;
  EXPECT_TRUE(std::ranges::any_of(page_of(snapshot).samples, [](const auto& sample) {
    return sample.first.starts_with("ttmem_cb_estimate{") && sample.second == 1;
  }));
}

TEST(Prometheus, AMeasuredZeroIsASampleAndAnUnknownFigureIsNot) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  const auto samples = page_of(snapshot).samples;
  const std::string device = R"(device="0",uid="0x1f000",arch="wormhole_b0")";
  EXPECT_EQ(samples.at("ttmem_memory_used_bytes{" + device + R"(,kind="l1_small"})"), 0);
  EXPECT_FALSE(samples.contains("ttmem_memory_used_bytes{" + device + R"(,kind="kernel"})"));
  EXPECT_FALSE(samples.contains("ttmem_memory_used_bytes{" + device + R"(,kind="trace"})"));
  EXPECT_FALSE(samples.contains("ttmem_memory_capacity_bytes{" + device + R"(,memory="l1"})"));
}

TEST(Prometheus, NamesProcessesUnlessDisabled) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  const std::string sample =
      R"(ttmem_process_memory_used_bytes{device="0",pid="4711",process="python3",user="alice",)"
      R"(kind="cb"})";
  EXPECT_EQ(page_of(snapshot).samples.at(sample), 5);
  MetricsInput input;
  input.process_labels = false;
  const std::string text = prometheus_text(snapshot, input);
  EXPECT_EQ(text.find("4711"), std::string::npos);
  EXPECT_EQ(text.find("python3"), std::string::npos);
  EXPECT_NE(text.find("ttmem_processes{"), std::string::npos);
}

TEST(Prometheus, CountsDeadProcessesSeparately) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  const std::string dead = R"(ttmem_dead_owner_bytes{device="0",uid="0x1f000"})";
  EXPECT_EQ(page_of(snapshot).samples.at(dead), 0);
  snapshot.devices[0].processes[0].state = model::State::dead;
  const auto samples = page_of(snapshot).samples;
  EXPECT_EQ(samples.at(dead), 116);
  EXPECT_EQ(samples.at(R"(ttmem_processes{device="0",uid="0x1f000"})"), 0);
  EXPECT_FALSE(std::any_of(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.first.starts_with("ttmem_process_memory_used_bytes");
  }));
}

TEST(Prometheus, ADeadRowOfTtMetalIsNotCountedAsReapable) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  snapshot.devices[0].processes[0].state = model::State::dead;
  snapshot.devices[0].processes[0].source = model::Source::tt_metal;
  EXPECT_EQ(page_of(snapshot).samples.at(R"(ttmem_dead_owner_bytes{device="0",uid="0x1f000"})"), 0);
}

TEST(Prometheus, EscapesHostileNames) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  snapshot.devices[0].processes[0].name = "a\"} 1\nttmem_up 0\\\xff";
  const Page page = page_of(snapshot);
  EXPECT_EQ(page.samples.at("ttmem_up"), 1);
  EXPECT_TRUE(page.samples.contains(
      R"(ttmem_process_memory_used_bytes{device="0",pid="4711",process="a\"} 1\nttmem_up 0\\)"
      "\xef\xbf\xbd"
      R"(",user="alice",kind="cb"})"));
}

TEST(Prometheus, AddsUpSamplesWithEqualLabels) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  auto& processes = snapshot.devices[0].processes;
  processes.push_back(processes[0]);  // again, as if from the proxy segment of a server
  const auto samples = page_of(snapshot).samples;
  EXPECT_EQ(samples.at(R"(ttmem_process_memory_used_bytes{device="0",pid="4711",process="python3",)"
                       R"(user="alice",kind="cb"})"),
            10);
}

TEST(Prometheus, TheSamePidInTwoContainersIsTwoSeries) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  auto& processes = snapshot.devices[0].processes;
  processes.resize(4, processes[0]);
  for (model::Process& process : processes) process.foreign_pid = true;
  processes[0].host_pid = 81234;
  processes[1].host_pid = 81235;
  processes[2].pid_namespace = 4026532001;
  processes[3].pid_namespace = 4026532002;
  const auto samples = page_of(snapshot).samples;
  const std::string family = "ttmem_process_memory_used_bytes{device=\"0\",";
  const std::string who = R"(,process="python3",user="alice",)";
  for (const std::string& sample : {
           family + R"(pid="81234")" + who + R"(kind="cb"})",
           family + R"(pid="81235")" + who + R"(kind="cb"})",
           family + R"(pid="4711")" + who + R"(pid_namespace="4026532001",kind="cb"})",
           family + R"(pid="4711")" + who + R"(pid_namespace="4026532002",kind="cb"})",
       }) {
    ASSERT_TRUE(samples.contains(sample)) << sample;
    EXPECT_EQ(samples.at(sample), 5);
  }
}

TEST(Prometheus, AProcessOnTwoChipsOfOneNumberHasASeriesForEach) {
  Snapshot snapshot;
  for (const std::uint32_t i : {0U, 1U}) {
    snapshot.devices.push_back(wormhole_in_use(i));
    snapshot.devices[i].id = 0;
    snapshot.devices[i].shares_number = true;
  }
  const auto samples = page_of(snapshot).samples;
  for (const std::string uid : {"0x1f000", "0x1f001"}) {
    EXPECT_EQ(samples.at(R"(ttmem_process_memory_used_bytes{device="0",pid="4711",)"
                         R"(process="python3",user="alice",uid=")" +
                         uid + R"(",kind="cb"})"),
              5);
  }
}

TEST(Prometheus, EveryFamilyHasHelpAndCountersEndInTotal) {
  Snapshot snapshot;
  snapshot.devices.push_back(wormhole_in_use(0));
  MetricsInput input;
  input.counters.push_back(
      {.id = 0, .uid = 0x1f000, .arch = "wormhole_b0", .allocations = 9, .frees = 4});
  input.events_dropped = 2;
  const ServerFigure figure = {.name = "ttmem_server_http_responses_total",
                               .help = "Responses.",
                               .counter = true,
                               .labels = {{"code", "200"}},
                               .value = 3};
  const Page page = parse(prometheus_text(snapshot, input) + prometheus_text({figure}));
  EXPECT_EQ(
      page.samples.at(R"(ttmem_allocations_total{device="0",uid="0x1f000",arch="wormhole_b0"})"),
      9);
  EXPECT_EQ(page.samples.at("ttmem_events_dropped_total"), 2);
  EXPECT_EQ(page.samples.at(R"(ttmem_server_http_responses_total{code="200"})"), 3);
  EXPECT_GE(page.types.size(), 12U);
  for (const auto& [name, type] : page.types) {
    EXPECT_TRUE(page.helps.contains(name)) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
    EXPECT_TRUE(name.starts_with("ttmem_")) << name;
  }
}

TEST(Prometheus, ReportsUpAsZero) {
  MetricsInput input;
  input.up = false;
  EXPECT_EQ(page_of(Snapshot{}, input).samples.at("ttmem_up"), 0);
}

}  // namespace
}  // namespace ttmem::views
