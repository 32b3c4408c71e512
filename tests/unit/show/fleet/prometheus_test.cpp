// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "show/fleet/fleet_text.hpp"
#include "show/fleet/prometheus_hosts.hpp"
#include "show/fleet/promql.hpp"
#include "show/fleet/sum_up.hpp"

namespace ttmem::fleet {
namespace {

using remote::Fault;

PrometheusSample sample(double value, std::map<std::string, std::string> labels) {
  return {std::move(labels), value};
}

// Two hosts answer, and a third host does not answer. One of the two hosts that answer has a
// process in a job and a process without a job.
class PrometheusTest : public ::testing::Test {
 protected:
  PrometheusTest() {
    for (const char* host : {"a:9488", "b:9500"}) {
      add(Figure::up, 1, {{"instance", host}});
      add(Figure::devices, 2, {{"instance", host}});
      add(Figure::used, 700, {{"instance", host}, {"kind", "dram"}});
      add(Figure::dram_known, 2, {{"instance", host}});
      add(Figure::capacity, 1000, {{"instance", host}, {"memory", "dram"}});
      add(Figure::capacity_known, 2, {{"instance", host}, {"memory", "dram"}});
      add(Figure::users, 3, {{"instance", host}});
    }
    add(Figure::down, 0, {{"instance", "c:9488"}});
    add(Figure::headroom, -12, {{"instance", "a:9488"}, {"device", "1"}});
    add(Figure::processes, 3, {{"instance", "a:9488"}});
    add(Figure::job_processes, 2, {{"instance", "a:9488"}, {"exported_job", "4711"}});
    for (const auto& [kind, bytes] : {std::pair("dram", 500), {"l1", 30}, {"cb", 4}, {"new", 99}}) {
      add(Figure::job_held, bytes,
          {{"instance", "a:9488"}, {"exported_job", "4711"}, {"kind", kind}});
      add(Figure::held, bytes + 100, {{"instance", "a:9488"}, {"kind", kind}});
    }
    whole_ = figures_;
  }

  void add(Figure figure, double value, std::map<std::string, std::string> labels) {
    figures_.of(figure).push_back(sample(value, std::move(labels)));
  }
  Fleet fleet() { return sum_up(hosts_of(figures_, labels_, why_), Order::headroom); }
  // Lets the Prometheus server refuse the query for `figure`, and returns the resulting fleet.
  Fleet without(Figure figure) {
    figures_.refuse(figure);
    return sum_up(hosts_of(figures_, labels_, why_), Order::headroom, {"it refuses a query"});
  }

  Figures figures_{};
  Figures whole_{};  // all figures; tests remove figures from figures_
  LabelNames labels_;
  std::map<std::string, std::string> why_;
};

TEST_F(PrometheusTest, MakesTheSameTable) {
  const Fleet found = fleet();
  ASSERT_EQ(found.hosts.size(), 3U);
  const Host& host = found.hosts[0];
  EXPECT_EQ(host.address, "a");
  EXPECT_EQ(host.devices, 2U);
  EXPECT_EQ(host.dram_used.bytes, 700U);
  EXPECT_TRUE(host.dram_used.complete);
  EXPECT_EQ(host.headroom.bytes, -12);
  EXPECT_EQ(host.headroom.device, "1");
  EXPECT_EQ(host.l1_used.bytes, std::nullopt);
  EXPECT_EQ(found.hosts[1].address, "b:9500");
  EXPECT_EQ(found.hosts[2].address, "c");
  EXPECT_EQ(found.hosts[2].fault->reason, "Prometheus cannot read it");
}

TEST_F(PrometheusTest, MemoryWithoutAJobIsTheDifference) {
  const Fleet found = fleet();
  ASSERT_EQ(found.jobs.size(), 2U);
  EXPECT_EQ(found.jobs[0].job, "4711");
  EXPECT_EQ(found.jobs[0].processes, 2U);
  EXPECT_EQ(found.jobs[0].dram.bytes, 500U);
  EXPECT_EQ(found.jobs[0].l1.bytes, 34U);
  EXPECT_EQ(found.jobs[1].job, "");
  EXPECT_EQ(found.jobs[1].processes, 1U);
  EXPECT_EQ(found.jobs[1].dram.bytes, 100U);
  EXPECT_EQ(found.jobs[1].l1.bytes, 200U);
  EXPECT_FALSE(found.jobs[0].dram.complete);
}

TEST_F(PrometheusTest, AHostThatNamesNoProcessesHasAnUnknownNumber) {
  const Fleet found = fleet();
  EXPECT_EQ(found.hosts[1].processes, std::nullopt);
  figures_.of(Figure::users).clear();
  EXPECT_EQ(fleet().hosts[1].processes, 0U);
}

TEST_F(PrometheusTest, AMissingFigureOfADeviceMakesTheSumALowerBound) {
  figures_.of(Figure::dram_known)[0].value = 1;
  EXPECT_FALSE(fleet().hosts[0].dram_used.complete);
}

TEST_F(PrometheusTest, UncountedDevicesAreUnknown) {
  const Fleet found = without(Figure::devices);
  const Host& host = found.hosts[0];
  EXPECT_EQ(host.devices, std::nullopt);
  EXPECT_EQ(host.dram_used.bytes, 700U);
  EXPECT_FALSE(host.dram_used.complete) << "nobody says that this is of all devices";
  EXPECT_FALSE(host.dram_capacity.complete);
  EXPECT_EQ(found.total.devices.count, std::nullopt);
  EXPECT_FALSE(found.total.devices.complete);
  EXPECT_NE(fleet_text(found, 0, {}).find("n/a devices"), std::string::npos);
}

TEST_F(PrometheusTest, ASumWithoutTheNumberOfItsPartsIsALowerBound) {
  EXPECT_FALSE(without(Figure::dram_known).hosts[0].dram_used.complete);
  const Fleet found = without(Figure::used);
  EXPECT_EQ(found.hosts[0].dram_used.bytes, std::nullopt);
  EXPECT_FALSE(found.hosts[0].dram_used.complete);
}

TEST_F(PrometheusTest, UnknownVisibilityMakesSumsLowerBounds) {
  for (const Figure figure : {Figure::untracked, Figure::complete}) {
    figures_ = whole_;
    const Fleet found = without(figure);
    EXPECT_EQ(found.hosts[0].dram_used.bytes, 700U);
    EXPECT_FALSE(found.hosts[0].dram_used.complete);
    EXPECT_TRUE(found.hosts[0].dram_capacity.complete);
    for (const FleetJob& job : found.jobs) EXPECT_FALSE(job.dram.complete);
  }
  EXPECT_EQ(without(Figure::untracked).hosts[0].untracked, std::nullopt);
  const Fleet found = without(Figure::complete);
  EXPECT_EQ(found.hosts[0].complete, std::nullopt);
  EXPECT_EQ(found.warnings.size(), 2U) << "the host is not said to be unreadable";
}

TEST_F(PrometheusTest, UncountedProcessesAreUnknown) {
  const Fleet some = fleet();
  EXPECT_EQ(some.total.processes.count, 3U);
  EXPECT_FALSE(some.total.processes.complete) << "b does not name its processes";
  EXPECT_NE(fleet_text(some, 0, {}).find(">=3 processes"), std::string::npos);
  figures_.of(Figure::users).clear();
  EXPECT_EQ(without(Figure::users).hosts[1].processes, std::nullopt);
  const Fleet found = without(Figure::processes);
  EXPECT_EQ(found.hosts[0].processes, std::nullopt);
  EXPECT_EQ(found.total.processes.count, std::nullopt);
  ASSERT_EQ(found.jobs.size(), 1U) << "how many are of none is unknown";
  EXPECT_EQ(found.jobs[0].job, "4711");
}

TEST_F(PrometheusTest, MemoryWithoutAJobIsUnknownWithoutTheMemoryOfJobs) {
  for (const Figure figure : {Figure::held, Figure::job_held}) {
    figures_ = whole_;
    const Fleet found = without(figure);
    ASSERT_EQ(found.jobs.size(), 1U);
    EXPECT_EQ(found.jobs[0].job, "4711");
    EXPECT_FALSE(found.hosts[0].jobs_known);
  }
  EXPECT_EQ(fleet().jobs[0].dram.bytes, std::nullopt);
  EXPECT_FALSE(fleet().hosts[0].jobs[0].dram.complete);
  figures_ = whole_;
  EXPECT_TRUE(without(Figure::job_processes).jobs.empty());
}

TEST_F(PrometheusTest, APossibleEstimateIsAnEstimate) {
  add(Figure::l1_used, 50, {{"instance", "a:9488"}});
  EXPECT_FALSE(fleet().hosts[0].l1_used.estimate);
  const Fleet found = without(Figure::estimates);
  EXPECT_TRUE(found.hosts[0].l1_used.estimate);
  EXPECT_FALSE(found.hosts[1].l1_used.estimate);
}

TEST_F(PrometheusTest, ARefusedQueryMakesAllTotalsLowerBounds) {
  figures_.of(Figure::down).clear();
  EXPECT_TRUE(fleet().total.dram_used.complete);
  const Fleet found = without(Figure::warnings);
  EXPECT_FALSE(found.complete());
  EXPECT_FALSE(found.total.dram_used.complete);
  EXPECT_EQ(found.refused, found.unread);
  EXPECT_EQ(found.refused, found.warnings);
}

TEST_F(PrometheusTest, TheShareNeedsBothFigures) {
  add(Figure::dram_fill, 300, {{"instance", "a:9488"}});
  add(Figure::dram_fill_capacity, 600, {{"instance", "a:9488"}});
  EXPECT_EQ(fleet().hosts[0].dram_fill.share(), 0.5);
  EXPECT_EQ(fleet().total.dram_fill.share(), 0.5);
  EXPECT_EQ(fleet().hosts[1].dram_fill.share(), std::nullopt);
  EXPECT_EQ(without(Figure::dram_fill).hosts[0].dram_fill.share(), std::nullopt);
}

TEST_F(PrometheusTest, TheReasonWhyATargetFailsIsShown) {
  why_ = read_target_errors(
      R"({"status":"success","data":{"activeTargets":[
          {"labels":{"instance":"c:9488","job":"ttmem"},"lastError":"connection refused"},
          {"labels":{"instance":"a:9488"},"lastError":""}, 7]}})",
      "instance");
  EXPECT_EQ(fleet().hosts[2].fault->reason, "Prometheus says: connection refused");
  EXPECT_TRUE(read_target_errors("<html>", "instance").empty());
}

TEST_F(PrometheusTest, ImpossibleFiguresAreUnknown) {
  figures_.of(Figure::used) = {sample(-1, {{"instance", "a:9488"}, {"kind", "dram"}}),
                               sample(1e30, {{"instance", "b:9500"}, {"kind", "dram"}}),
                               sample(5, {{"kind", "dram"}})};
  const Fleet found = fleet();
  EXPECT_EQ(found.hosts[0].dram_used.bytes, std::nullopt);
  EXPECT_EQ(found.hosts[1].dram_used.bytes, std::nullopt);
}

TEST_F(PrometheusTest, OtherLabelNamesAreAccepted) {
  labels_ = {"node", "slurm_job"};
  EXPECT_TRUE(fleet().hosts.empty());
  add(Figure::up, 1, {{"node", "n1"}});
  add(Figure::processes, 1, {{"node", "n1"}});
  add(Figure::job_processes, 1, {{"node", "n1"}, {"slurm_job", "8"}});
  const Fleet found = fleet();
  ASSERT_EQ(found.jobs.size(), 1U);
  EXPECT_EQ(found.jobs[0].job, "8");
}

TEST(ReadSamples, ReadsAnAnswer) {
  const auto answer = read_samples(
      R"({"status":"success","data":{"resultType":"vector","result":[
          {"metric":{"instance":"a"},"value":[1794845680.4,"1699725312"]},
          {"metric":{"instance":"b"},"value":[1794845680.4,"NaN"]},
          {"metric":{"instance":"c"},"value":[1794845680.4,"+Inf"]},
          {"metric":"d","value":[1,"2"]}, {"value":[1,"2"]}, 4]}})");
  ASSERT_FALSE(answer.failed);
  ASSERT_EQ(answer.value.size(), 1U);
  EXPECT_EQ(answer.value[0].value, 1'699'725'312);
  EXPECT_EQ(answer.value[0].labels.at("instance"), "a");
}

TEST(ReadSamples, RefusesOtherTexts) {
  EXPECT_EQ(read_samples("<html>").fault.kind, Fault::Kind::not_ttmem);
  EXPECT_EQ(read_samples("{}").fault.kind, Fault::Kind::not_ttmem);
  EXPECT_EQ(read_samples(R"({"status":"success","data":{"result":7}})").fault.kind,
            Fault::Kind::not_ttmem);
  const auto refused = read_samples(R"({"status":"error","error":"query timed out"})");
  EXPECT_EQ(refused.fault.reason, "query timed out");
}

TEST(Promql, RecordingRulesAreUsedOnlyWithTheirLabels) {
  EXPECT_EQ(query_for(Figure::used, {}).rule, "ttmem:host_memory_used_bytes:sum");
  const Query query = query_for(Figure::used, {"node", "exported_job"});
  EXPECT_EQ(query.rule, "");
  EXPECT_EQ(query.plain, "sum by (node, kind) (ttmem_memory_used_bytes)");
  EXPECT_EQ(query_for(Figure::job_processes, {"n", "j"}).plain,
            R"(count by (j, n) (max by (n, pid, pid_namespace, j) (ttmem_process_info{j!=""})))");
  EXPECT_EQ(target_of("a{b=\"c\"} > 1"), "/api/v1/query?query=a%7Bb%3D%22c%22%7D%20%3E%201");
}

TEST(Promql, ALabelNameCannotEndAQuery) {
  EXPECT_EQ(*parse_label("exported_job2"), "exported_job2");
  for (const char* text : {"", "2a", "a)", "a b", "ä"}) EXPECT_FALSE(parse_label(text)) << text;
}

}  // namespace
}  // namespace ttmem::fleet
