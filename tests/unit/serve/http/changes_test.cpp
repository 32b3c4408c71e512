// SPDX-License-Identifier: Apache-2.0
#include "serve/http/changes.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ttmem::serve {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kFirst = 1'700'000'000'000'000;

class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() {
    for (const std::uint32_t id : {0U, 1U, 2U}) {
      model::Device& device = snapshot_.devices.emplace_back();
      device.id = id;
      device.uid = 0x100 + id;
      device.cores.resize(2);
    }
    snapshot_.host = "he\"re";
    update();
  }

  void update() {
    ++snapshot_.time_unix_ns;
    changes_.update(snapshot_, lists_);
  }
  void use(std::size_t device, std::uint64_t bytes) {
    snapshot_.devices[device].kinds[Kind::dram].set(&KindFigures::used_bytes, bytes);
  }
  [[nodiscard]] Json ask(const Changes::Question& question) const {
    return Json::parse(changes_.since(question));
  }
  [[nodiscard]] Json after(std::uint64_t number) const { return ask({.after = number}); }

  model::Snapshot snapshot_;
  Changes::Lists lists_;
  Changes changes_{kFirst};
};

TEST_F(ChangesTest, SendEverythingToTheFirstRequest) {
  const Json all = ask({});
  EXPECT_EQ(all["schema"], "ttmem.changes.v1");
  EXPECT_EQ(all["all"], true);
  EXPECT_EQ(all["host"], "he\"re");
  EXPECT_EQ(all["devices"].size(), 3U);
  EXPECT_EQ(all["devices"][1]["key"], "0x101");
  EXPECT_EQ(all["devices"][1]["device"]["id"], 1);
  EXPECT_FALSE(all["devices"][1]["device"].contains("per_core"));
  EXPECT_EQ(all["present"], Json({"0x100", "0x101", "0x102"}));
  EXPECT_EQ(all["warnings"], Json::array());
  EXPECT_EQ(all["complete"], true);
}

TEST_F(ChangesTest, SendNothingWhenNothingChanged) {
  const std::uint64_t number = ask({})["number"];
  update();
  const Json none = after(number);
  EXPECT_EQ(none["all"], false);
  EXPECT_EQ(none["number"], number);
  EXPECT_EQ(none["devices"], Json::array());
  EXPECT_EQ(none["time_unix_ns"], snapshot_.time_unix_ns);
  EXPECT_FALSE(none.contains("present") || none.contains("warnings") || none.contains("cores"));
  EXPECT_LT(none.dump().size(), 300U);
}

TEST_F(ChangesTest, SendTheChangedDevices) {
  const std::uint64_t number = ask({})["number"];
  use(1, 4096);
  update();
  const Json answer = after(number);
  ASSERT_EQ(answer["devices"].size(), 1U);
  EXPECT_EQ(answer["devices"][0]["device"]["dram"]["used_bytes"], 4096);
  EXPECT_GT(answer["number"], number);
  EXPECT_EQ(after(answer["number"])["devices"].size(), 0U);
  use(2, 8192);
  update();
  EXPECT_EQ(after(number)["devices"].size(), 2U);  // a slow client gets both changes
}

TEST_F(ChangesTest, NameTheExistingDevices) {
  const std::uint64_t number = ask({})["number"];
  snapshot_.devices.erase(snapshot_.devices.begin());
  update();
  const Json gone = after(number);
  EXPECT_EQ(gone["present"], Json({"0x101", "0x102"}));
  EXPECT_EQ(gone["devices"], Json::array());
}

TEST_F(ChangesTest, DistinguishChipsWithoutUid) {
  for (std::size_t i = 0; i < 2; ++i) {
    model::Device& device = snapshot_.devices[i];
    device.id = 0;
    device.uid.reset();
    device.bus_id = i == 0 ? "0000:01:00.0" : "0000:02:00.0";
  }
  update();
  EXPECT_EQ(ask({})["present"], Json({"0000:01:00.0", "0000:02:00.0", "0x102"}));
}

TEST_F(ChangesTest, SendEverythingForANumberFromAnotherServer) {
  const std::uint64_t number = ask({})["number"];
  EXPECT_EQ(after(kFirst - 1)["all"], true);
  EXPECT_EQ(after(number + 1)["all"], true);
  Changes later(kFirst + 1'000'000);  // a server that started one second later
  later.update(snapshot_, lists_);
  EXPECT_EQ(Json::parse(later.since({.after = number}))["all"], true);
}

TEST_F(ChangesTest, SendTheChangedCoresOfOneDevice) {
  const Changes::Question first{.after = ask({})["number"], .cores = model::name_of_uid(0x101)};
  const Json cores = ask(first)["cores"];
  EXPECT_EQ(cores["key"], "0x101");
  EXPECT_EQ(cores["per_core"].size(), 2U);
  Changes::Question next = first;
  next.cores_after = cores["number"];
  EXPECT_FALSE(ask(next).contains("cores"));
  snapshot_.devices[1].cores[0].cb_bytes = 77;
  update();
  EXPECT_EQ(ask(next)["cores"]["per_core"][0]["cb_bytes"], 77);
  next.cores_after = 5;  // a number that another server gave
  EXPECT_TRUE(ask(next).contains("cores"));
  next.cores = model::name_of_uid(0x999);
  EXPECT_FALSE(ask(next).contains("cores"));
}

TEST_F(ChangesTest, NumberTheListsAndTheWarnings) {
  const Json before = ask({});
  lists_.postmortems = 1;
  snapshot_.warnings = {"a <b> \"c\""};
  update();
  const Json answer = after(before["number"]);
  EXPECT_EQ(answer["lists"]["allocations"], before["lists"]["allocations"]);
  EXPECT_GT(answer["lists"]["postmortems"], before["lists"]["postmortems"]);
  EXPECT_EQ(before["dead_processes_total"], 0);
  EXPECT_EQ(answer["dead_processes_total"], 1);
  EXPECT_EQ(answer["warnings"][0], "a <b> \"c\"");
  EXPECT_EQ(answer["devices"], Json::array());
}

}  // namespace
}  // namespace ttmem::serve
