// SPDX-License-Identifier: Apache-2.0
#include "read/remote/mirror.hpp"

#include <gtest/gtest.h>

#include "serve/http/changes.hpp"
#include "show/views/json.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::remote {
namespace {

using views::JsonLayout;

// The changes of a server, and a mirror that requests the changes.
class MirrorTest : public ::testing::Test {
 protected:
  void ask(serve::Changes& changes) {
    ++snapshot_.time_unix_ns;
    changes.update(snapshot_, {});
    serve::Changes::Question question;
    const std::string target = mirror_.target();
    if (const auto after = target.find('='); after != std::string::npos) {
      question.after = std::stoull(target.substr(after + 1));
    }
    answer_ = changes.since(question);
    const auto fault = mirror_.take(answer_);
    EXPECT_FALSE(fault) << fault->reason;
    model::Snapshot expected = snapshot_;
    for (model::Device& device : expected.devices) device.cores.clear();
    EXPECT_EQ(views::snapshot_json(mirror_.snapshot(), JsonLayout::pretty),
              views::snapshot_json(expected, JsonLayout::pretty));
  }

  model::Snapshot snapshot_ = views::fixtures::mesh(4);
  Mirror mirror_;
  std::string answer_;
};

TEST_F(MirrorTest, FollowsFiguresDevicesAndWarnings) {
  serve::Changes changes(1000);
  ask(changes);
  ask(changes);
  EXPECT_LT(answer_.size(), 300U);  // nothing changed since the previous answer
  snapshot_.devices[2].l1_used_bytes = 7;
  ask(changes);
  EXPECT_LT(answer_.size(), 10'000U);  // only one device changed
  snapshot_.devices.erase(snapshot_.devices.begin() + 1);
  snapshot_.warnings = {"one is gone"};
  snapshot_.unread = snapshot_.warnings;
  ask(changes);
  snapshot_.devices.push_back(views::fixtures::wormhole(9));
  snapshot_.warnings.clear();
  snapshot_.unread.clear();
  ask(changes);
}

TEST_F(MirrorTest, TheNumberOfDeadProcessesIsKnownIfTheServerSendsIt) {
  EXPECT_EQ(mirror_.died(), std::nullopt);
  serve::Changes changes(1000);
  ask(changes);
  EXPECT_EQ(mirror_.died(), 0U);
  EXPECT_FALSE(mirror_.take(R"({"schema":"ttmem.changes.v1"})"));
  EXPECT_EQ(mirror_.died(), std::nullopt);
}

TEST_F(MirrorTest, ARestartedServerSendsEverything) {
  serve::Changes before(1000);
  ask(before);
  snapshot_.devices.resize(2);
  snapshot_.host = "another";
  serve::Changes after(2'000'000);
  ask(after);
}

TEST_F(MirrorTest, AnInvalidAnswerChangesNothing) {
  serve::Changes changes(1000);
  ask(changes);
  EXPECT_EQ(mirror_.take("<html>")->kind, Fault::Kind::not_ttmem);
  EXPECT_EQ(mirror_.take(R"({"schema":"ttmem.changes.v9"})")->kind, Fault::Kind::newer);
  EXPECT_EQ(mirror_.snapshot().devices.size(), 4U);
}

TEST_F(MirrorTest, MoreDevicesThanAnyMachineHasAreRefused) {
  serve::Changes changes(1000);
  ask(changes);
  std::string many = R"({"schema":"ttmem.changes.v1","devices":[)";
  for (int i = 0; i < 100'000; ++i) many += "{},";
  const auto fault = mirror_.take(many + "{}]}");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Fault::Kind::too_large);
  EXPECT_EQ(fault->reason, "the answer has more than 4096 devices");
  EXPECT_EQ(mirror_.snapshot().devices.size(), 4U);
}

TEST_F(MirrorTest, ADeviceNamedTwiceIsThereOnce) {
  EXPECT_FALSE(mirror_.take(R"({"schema":"ttmem.changes.v1","present":["a","a","b"],)"
                            R"("devices":[{"key":"a","device":{"id":4}}]})"));
  ASSERT_EQ(mirror_.snapshot().devices.size(), 1U);
  EXPECT_EQ(mirror_.snapshot().devices[0].id, 4U);
}

}  // namespace
}  // namespace ttmem::remote
