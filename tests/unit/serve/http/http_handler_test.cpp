// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_handler.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/http/http_query.hpp"
#include "serve/http/request_rules.hpp"
#include "support/fixed_machine.hpp"

namespace ttmem::serve {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kNow = 1'700'000'000'000'000'000;

class HttpHandlerTest : public ::testing::Test {
 protected:
  HttpHandlerTest() {
    snapshot_.time_unix_ns = kNow;
    snapshot_.host = "here";
    for (const std::uint32_t id : {0U, 3U}) {
      model::Device device;
      device.id = id;
      device.uid = 0x100 + id;
      device.kinds[Kind::dram].set(&KindFigures::used_bytes, 1000 + id);
      model::Process& process = device.processes.emplace_back();
      process.pid = 4711;
      process.name = "python3";
      snapshot_.devices.push_back(device);
      model::Allocation allocation;
      allocation.device = static_cast<std::uint32_t>(snapshot_.devices.size() - 1);
      allocation.pid = 4711;
      allocation.kind = id == 0 ? Kind::dram : Kind::l1;
      allocation.bytes = 64;
      snapshot_.allocations.push_back(allocation);
    }
    machine_.recorded.record(snapshot_);
  }

  [[nodiscard]] HttpResponse ask(HttpRequest request) {
    if (request.hosts.empty()) request.hosts = {"localhost:9488"};
    HttpResponse response = handler_.answer(request, {.address = "127.0.0.1", .port = 9488});
    if (response.later) response = response.later();
    return response;
  }
  [[nodiscard]] HttpResponse get(const std::string& target) {
    HttpRequest request;
    request.target = target;
    return ask(request);
  }
  [[nodiscard]] std::string error_of(const std::string& target, unsigned status) {
    const HttpResponse response = get(target);
    EXPECT_EQ(response.status, status) << target;
    return Json::parse(response.body).at("error");
  }

  FixedMachine machine_;
  model::Snapshot& snapshot_ = machine_.state;
  HttpHandler handler_{machine_, {}, kNow / 1000};
};

TEST_F(HttpHandlerTest, ReportsThatAListIsCut) {
  snapshot_.allocations[1].bytes = 128;
  const Json cut = Json::parse(get("/api/v1/allocations?limit=1").body);
  ASSERT_EQ(cut["allocations"].size(), 1U);
  EXPECT_EQ(cut["allocations"][0]["bytes"], 128) << "the largest come first";
  EXPECT_EQ(cut["total"], 2);
  EXPECT_EQ(cut["truncated"], true);
  const Json whole = Json::parse(get("/api/v1/allocations?limit=2").body);
  EXPECT_EQ(whole["allocations"].size(), 2U);
  EXPECT_EQ(whole["truncated"], false);
  const Json one = Json::parse(get("/api/v1/allocations?limit=1&device=0").body);
  EXPECT_EQ(one["allocations"].size(), 1U);
  EXPECT_EQ(one["total"], 1);
  EXPECT_EQ(Json::parse(get("/api/v1/programs").body)["total"], 0);
  EXPECT_NE(error_of("/api/v1/allocations?limit=100001", 400).find("limit"), std::string::npos);
}

TEST_F(HttpHandlerTest, ReportsThatTheListsOfASnapshotAreCut) {
  snapshot_.allocations.resize(100'001, snapshot_.allocations.front());
  // Counts labels in the text instead of parsing it, because parsing such a long list takes a
  // minute under sanitizers.
  const std::string body = get("/api/v1/snapshot?lists=1").body;
  constexpr std::string_view label = "\"label\":";
  std::size_t listed = 0;
  for (std::size_t at = body.find("\"allocations\":["); (at = body.find(label, at)) != body.npos;
       at += label.size()) {
    ++listed;
  }
  EXPECT_EQ(listed, 100'000U);
  EXPECT_NE(body.find("100000 of 100001"), std::string::npos);
}

TEST_F(HttpHandlerTest, ReturnsTheSnapshot) {
  const HttpResponse response = get("/api/v1/snapshot");
  EXPECT_EQ(response.status, 200U);
  EXPECT_EQ(response.content_type, "application/json");
  const Json json = Json::parse(response.body);
  EXPECT_EQ(json["schema"], "ttmem.snapshot.v1");
  EXPECT_EQ(json["devices"].size(), 2U);
}

TEST_F(HttpHandlerTest, ReturnsOnlyTheRequestedDevices) {
  const Json json = Json::parse(get("/api/v1/snapshot?device=3").body);
  ASSERT_EQ(json["devices"].size(), 1U);
  EXPECT_EQ(json["devices"][0]["id"], 3);
  EXPECT_EQ(Json::parse(get("/api/v1/snapshot?device=0%2C3").body)["devices"].size(), 2U);
  EXPECT_NE(error_of("/api/v1/snapshot?device=0-3", 404).find("no device 1-2"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/snapshot?device=7", 404).find("no device 7"), std::string::npos);
}

TEST_F(HttpHandlerTest, FiltersAllocations) {
  const auto count = [&](const std::string& query) {
    return Json::parse(get("/api/v1/allocations" + query).body)["allocations"].size();
  };
  EXPECT_EQ(count(""), 2U);
  EXPECT_EQ(count("?kind=l1"), 1U);
  EXPECT_EQ(count("?kind=l1,dram&pid=4711"), 2U);
  EXPECT_EQ(count("?pid=1"), 0U);
  EXPECT_EQ(count("?device=0"), 1U);
}

TEST_F(HttpHandlerTest, ReturnsHistoryPostmortemsMetricsHealthAndAnIndex) {
  EXPECT_EQ(Json::parse(get("/api/v1/history?device=3&seconds=60").body)["points"].size(), 1U);
  EXPECT_EQ(Json::parse(get("/api/v1/history?device=3").body)["schema"], "ttmem.history.v1");
  EXPECT_EQ(Json::parse(get("/api/v1/postmortems").body)["schema"], "ttmem.postmortems.v1");
  EXPECT_EQ(get("/metrics").body, "ttmem_up 1\n");
  EXPECT_EQ(get("/metrics").content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(get("/healthz").status, 200U);
  EXPECT_NE(get("/api").body.find("/api/v1/postmortems"), std::string::npos);
}

TEST_F(HttpHandlerTest, ReturnsNoPointsForANewDevice) {
  model::Device device;
  device.id = 9;
  snapshot_.devices.push_back(device);
  const Json json = Json::parse(get("/api/v1/history?device=9").body);
  EXPECT_EQ(json["device"], 9);
  EXPECT_EQ(json["points"], Json::array());
  EXPECT_NE(error_of("/api/v1/history?device=10", 404).find("no device 10"), std::string::npos);
}

// Requests the history with the device key from /api/v1/changes, as the page does.
TEST_F(HttpHandlerTest, ReturnsTheHistoryOfOneOfSeveralChipsWithOneNumber) {
  for (const std::uint64_t bytes : {4096U, 8192U}) {
    model::Device& device = snapshot_.devices.emplace_back();
    device.id = 9;
    device.arch = bytes == 4096 ? "blackhole" : "wormhole_b0";
    device.kinds[Kind::dram].set(&KindFigures::used_bytes, bytes);
  }
  machine_.recorded.record(snapshot_);
  const Json keys = Json::parse(get("/api/v1/changes").body)["present"];
  ASSERT_EQ(keys.size(), 4U);
  EXPECT_NE(keys[2], keys[3]);
  for (std::size_t i = 2; i < 4; ++i) {
    const std::string key = keys[i];
    const Json points = Json::parse(get("/api/v1/history?device=" + key).body)["points"];
    ASSERT_EQ(points.size(), 1U) << key;
    EXPECT_EQ(points[0]["dram_bytes"], i == 2 ? 4096 : 8192);
    EXPECT_EQ(Json::parse(get("/api/v1/snapshot?device=" + key).body)["devices"].size(), 1U);
  }
  EXPECT_NE(error_of("/api/v1/history?device=9", 400).find("several"), std::string::npos);
}

// A driver that reports no uids still reports PCI addresses.
TEST_F(HttpHandlerTest, ReturnsTheHistoryOfAChipWithoutUid) {
  model::Device& device = snapshot_.devices.emplace_back();
  device.id = 9;
  device.bus_id = "0000:01:00.0";
  device.other_uids = {0x1f00a};
  for (const std::uint64_t bytes : {4096U, 8192U}) {
    device.kinds[Kind::dram].set(&KindFigures::used_bytes, bytes);
    snapshot_.time_unix_ns += 1'000'000'000;
    machine_.recorded.record(snapshot_);
  }
  for (const char* name : {"0000:01:00.0", "9", "0x1f00a"}) {
    const HttpResponse response = get(std::string("/api/v1/history?device=") + name);
    ASSERT_EQ(response.status, 200U) << name;
    EXPECT_EQ(Json::parse(response.body)["points"].size(), 2U) << name;
  }
}

TEST_F(HttpHandlerTest, IsNotHealthyWhenItCannotSeeTheSegments) {
  machine_.is_up = false;
  EXPECT_EQ(get("/healthz").status, 503U);
}

TEST_F(HttpHandlerTest, NamesTheWrongParameterAndItsValidValues) {
  EXPECT_NE(error_of("/api/v1/snapshot?device=x", 400).find("device=x"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/snapshot?devise=0", 400).find("devise; it takes device"),
            std::string::npos);
  EXPECT_NE(error_of("/metrics?device=0", 400).find("it takes none"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/allocations?pid=-1", 400).find("pid=-1"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/allocations?kind=sram", 400).find("kind=sram"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/history", 400).find("device=0"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/history?device=0,3", 400).find("exactly one"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/history?device=0&seconds=0", 400).find("seconds=0"),
            std::string::npos);
  EXPECT_NE(error_of("/api/v1/history?device=0&device=3", 400).find("twice"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/snapshot?device=%zz", 400).find("%"), std::string::npos);
  EXPECT_NE(error_of("/api/v1/history?device=9", 404).find("there are 0,3"), std::string::npos);
}

TEST_F(HttpHandlerTest, RefusesOtherPathsMethodsAndBodies) {
  EXPECT_NE(error_of("/nope", 404).find("/nope"), std::string::npos);
  EXPECT_EQ(get("/api/v1/snapshot/").status, 404U);
  EXPECT_EQ(get("metrics").status, 400U);
  HttpRequest post;
  post.method = "POST";
  post.target = "/metrics";
  post.has_body = true;
  EXPECT_EQ(ask(post).status, 405U);
  EXPECT_EQ(ask(post).allow, "GET, HEAD");
  HttpRequest body;
  body.target = "/metrics";
  body.has_body = true;
  EXPECT_EQ(ask(body).status, 413U);
}

TEST_F(HttpHandlerTest, RefusesForeignHostNames) {
  HttpRequest request;
  request.target = "/metrics";
  request.hosts = {"evil.example:9488"};
  EXPECT_EQ(ask(request).status, 403U);
  request.hosts = {"localhost", "evil.example"};
  EXPECT_EQ(ask(request).status, 400U);
  request.hosts = {"localhost"};
  request.target = "http://evil.example/metrics";
  EXPECT_EQ(ask(request).status, 403U);
  request.target = "http://127.0.0.1:9488/metrics";
  EXPECT_EQ(ask(request).status, 200U);
}

TEST_F(HttpHandlerTest, RequiresAHostHeaderFromHttp11Only) {
  HttpRequest request;
  request.target = "/healthz";
  const HostRule rule{.address = "127.0.0.1", .port = 9488};
  EXPECT_EQ(handler_.answer(request, rule).status, 400U);
  request.version = 10;
  EXPECT_EQ(handler_.answer(request, rule).status, 200U);
}

TEST_F(HttpHandlerTest, PostmortemsAreSortedLatestFirstAndBounded) {
  for (std::int32_t pid = 1; pid <= 300; ++pid) {
    Postmortem postmortem;
    postmortem.process.pid = pid;
    postmortem.process.name = "a\"b\xff";
    postmortem.process.kinds[Kind::dram].set(&KindFigures::used_bytes, 7);
    collector::HeldAllocation& held = postmortem.process.largest.emplace_back();
    held.bytes = 5;
    held.used_bytes = 6;
    machine_.dead.add(postmortem);
  }
  const Json json = Json::parse(get("/api/v1/postmortems").body);
  EXPECT_EQ(json["total"], 300);
  ASSERT_EQ(json["postmortems"].size(), Postmortems::kMax);
  EXPECT_EQ(json["postmortems"][0]["pid"], 300);
  EXPECT_EQ(json["postmortems"][0]["dram_bytes"], 7);
  EXPECT_EQ(json["postmortems"][0]["largest"][0]["used_bytes"], 6);
}

TEST(HostRule, AllowsTheBoundAddressAndThisMachine) {
  const HostRule rule{.address = "192.0.2.7", .port = 9488};
  for (const char* host : {"192.0.2.7", "192.0.2.7:9488", "localhost", "LocalHost:9488",
                           "127.0.0.1", "127.0.0.1:9488", "[::1]", "[::1]:9488"}) {
    EXPECT_TRUE(rule.allows(host)) << host;
  }
  for (const char* host :
       {"", "192.0.2.8", "192.0.2.7:80", "localhost:80", "localhost.evil.example", "evil.example",
        "127.0.0.1.evil.example", "::1", "[::1", "[::1]x", "[localhost]", "[127.0.0.1]",
        "127.0.0.1:", "127.0.0.1:94888", "127.0.0.1:9488x", "0x7f000001", "localhost:+9488"}) {
    EXPECT_FALSE(rule.allows(host)) << host;
  }
}

TEST(HostRule, AllowsTheNameOfThisMachineWhenBoundToItsAddress) {
  const HostRule rule{.address = "0.0.0.0", .port = 9488, .name = "node1.cluster.example"};
  for (const char* host : {"node1.cluster.example", "Node1:9488", "node1", "localhost"}) {
    EXPECT_TRUE(rule.allows(host)) << host;
  }
  for (const char* host :
       {"node1.evil.example", "node2", "node1:80", "cluster.example", "evil.example"}) {
    EXPECT_FALSE(rule.allows(host)) << host;
  }
}

TEST(HostRule, AllowsEveryHostToClientsWithAToken) {
  const HostRule rule{.address = "127.0.0.1", .port = 9488, .any = true};
  EXPECT_TRUE(rule.allows("ttmem.monitoring.svc:80"));
}

TEST(HttpToken, OnlyTheWholeTokenIsAccepted) {
  HttpRequest request;
  EXPECT_FALSE(refused_token(request, ""));
  for (const char* sent : {"", "Bearer ", "Bearer secre", "Bearer secret2", "Bearer Secret",
                           "secret", "Basic secret", "Bearersecret", "Bearer secretsecret"}) {
    request.authorization = sent;
    const auto refused = refused_token(request, "secret");
    ASSERT_TRUE(refused) << sent;
    EXPECT_EQ(refused->status, 401U);
    EXPECT_EQ(refused->body.find("secret"), std::string::npos);
  }
  for (const char* sent : {"Bearer secret", "bearer secret", "BEARER secret", "bEaReR   secret"}) {
    request.authorization = sent;
    EXPECT_FALSE(refused_token(request, "secret")) << sent;
  }
  request.has_more_authorizations = true;
  EXPECT_EQ(refused_token(request, "secret")->status, 400U);
}

TEST(HostRule, AllowsEveryAddressButNoForeignNameWhenBoundToAllAddresses) {
  for (const char* all : {"0.0.0.0", "::"}) {
    const HostRule rule{.address = all, .port = 9488};
    EXPECT_TRUE(rule.allows("192.0.2.8:9488"));
    EXPECT_TRUE(rule.allows("[2001:db8::1]:9488"));
    EXPECT_TRUE(rule.allows("localhost:9488"));
    EXPECT_FALSE(rule.allows("192.0.2.8:80"));
    EXPECT_FALSE(rule.allows("node1:9488"));
  }
}

}  // namespace
}  // namespace ttmem::serve
