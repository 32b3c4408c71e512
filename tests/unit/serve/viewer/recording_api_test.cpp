// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/recording_api.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "read/recording/file/writer.hpp"
#include "serve/viewer/single_file.hpp"
#include "show/web/assets.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::viewer {
namespace {

using Json = nlohmann::json;
using serve::HttpRequest;
using serve::HttpResponse;

class RecordingApiTest : public ::testing::Test {
 protected:
  RecordingApiTest() {
    const std::string path = directory_.path() + "/a run\".ttmem";
    {
      auto writer = recording::Writer::create(path, {}, false);
      const recording::RandomHistory history(**writer, 1, 50);
      EXPECT_TRUE((*writer)->commit());
    }
    auto run = open_run(path, {});
    std::vector<viewer::ShownRecording> runs;
    runs.push_back(std::move(*run));
    api_.emplace(std::move(runs), "the document", "secret", "");
  }

  HttpResponse get(const std::string& target, const std::string& host = "localhost") {
    HttpRequest request;
    request.target = target;
    request.hosts = {host};
    return ask(request);
  }
  HttpResponse ask(const HttpRequest& request) {
    HttpResponse response = api_->answer(request, {});
    return response.later ? response.later() : response;
  }

 private:
  TemporaryDirectory directory_;
  std::optional<RecordingApi> api_;
};

TEST_F(RecordingApiTest, AnswersOnlyUnderTheSecretAddress) {
  EXPECT_EQ(get("/secret/api/v1/recording").body, "the document");
  const HttpResponse page = get("/secret/");
  EXPECT_EQ(page.status, 200U);
  EXPECT_NE(page.body.find(R"(name="ttmem-source" content="recording")"), std::string::npos);
  EXPECT_EQ(get("/secret/app.js").body, web::plain(*web::find("/app.js")));
  for (const char* path : {"/", "/api/v1/recording", "/secret", "/secretapi", "/other/"}) {
    EXPECT_EQ(get(path).status, 404U) << path;
  }
  EXPECT_EQ(get("/secret/nothing").status, 404U);
  EXPECT_EQ(get("/secret/", "evil.example").status, 403U);
}

TEST_F(RecordingApiTest, ReadsAPartOfTheRecording) {
  const Json part = Json::parse(get("/secret/api/v1/timeline?run=0&from=0&to=60").body);
  EXPECT_EQ(part["schema"], "ttmem.timeline.v1");
  EXPECT_EQ(part["from_ns"], 0);
  EXPECT_EQ(part["to_ns"], 60);
  // The requested range ends after the end of the recording. The answer ends at the end of the
  // recording.
  const Json all = Json::parse(get("/secret/api/v1/timeline?to=99999999999").body);
  EXPECT_EQ(all["to_ns"], all["end_ns"]);
  for (const char* query :
       {"run=1", "run=-1", "from=60&to=20", "from=99999999999", "from=x", "a=1"}) {
    EXPECT_EQ(get(std::string("/secret/api/v1/timeline?") + query).status, 400U) << query;
  }
}

TEST_F(RecordingApiTest, SendsExports) {
  const HttpResponse trace = get("/secret/api/v1/export?run=0&format=perfetto");
  EXPECT_EQ(trace.status, 200U);
  EXPECT_EQ(trace.body, "");
  EXPECT_GT(::lseek(trace.file->get(), 0, SEEK_END), 100);
  // No character of the file's name can end the header line of the answer.
  EXPECT_EQ(trace.headers.front().second, "attachment; filename=\"a_run_.pftrace\"");
  EXPECT_EQ(get("/secret/api/v1/export?format=csv").status, 200U);
  for (const char* query : {"", "format=", "format=ttnn-visualizer", "format=../etc", "run=7"}) {
    EXPECT_EQ(get(std::string("/secret/api/v1/export?") + query).status, 400U) << query;
  }
}

TEST_F(RecordingApiTest, AcceptsOnlyGet) {
  HttpRequest post;
  post.method = "POST";
  post.target = "/secret/api/v1/recording";
  post.hosts = {"localhost"};
  EXPECT_EQ(ask(post).status, 405U);
}

// Without a nonce, a text that the browser parses as an element could run its own script.
TEST(SingleFile, RunsOnlyScriptsWithItsNonce) {
  const std::string page = single_file("{}");
  const std::size_t begin = page.find("script-src ");
  ASSERT_NE(begin, std::string::npos);
  const std::string allowed = page.substr(begin, page.find(';', begin) - begin);
  EXPECT_TRUE(allowed.starts_with("script-src 'nonce-"));
  EXPECT_EQ(allowed.find(' ', allowed.find('\'')), std::string::npos) << allowed;
}

TEST(SingleFile, HasEverythingInIt) {
  const std::string page = single_file(R"({"schema":"ttmem.view.v1"})");
  EXPECT_NE(page.find(R"(name="ttmem-source" content="file")"), std::string::npos);
  EXPECT_NE(page.find("id=\"recording\">H4sI"), std::string::npos);  // the gzip data in base64
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* outside : {"src=\"", "href=\"app", "href=\"uplot", "href=\"icon", "from './"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  for (const web::Asset& asset : web::all()) {
    const std::string name(asset.path.substr(1));
    if (name.ends_with(".js")) {
      EXPECT_NE(page.find('"' + name + "\":\"data:text/javascript;base64,"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ttmem::viewer
