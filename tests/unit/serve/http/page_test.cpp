// SPDX-License-Identifier: Apache-2.0
#include "serve/http/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "show/web/assets.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::serve {
namespace {

std::string header(const HttpResponse& response, const std::string& name) {
  const auto found = std::find_if(response.headers.begin(), response.headers.end(),
                                  [&](const auto& one) { return one.first == name; });
  return found != response.headers.end() ? found->second : "";
}

HttpResponse get(const std::string& path, const std::string& encoding = {},
                 const std::string& tag = {}, const std::string& folder = {}) {
  HttpRequest request;
  request.accept_encoding = encoding;
  request.if_none_match = tag;
  auto response = page_response(request, path, folder);
  if (response) return std::move(*response);
  HttpResponse none;
  none.status = 404;
  return none;
}

TEST(Page, IsSentCompressedToClientsThatAcceptGzip) {
  const web::Asset& asset = *web::find("/index.html");
  for (const char* encoding :
       {"gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.5", "*", "*;q=0, gzip", "GZip"}) {
    const HttpResponse response = get("/", encoding);
    EXPECT_EQ(header(response, "Content-Encoding"), "gzip") << encoding;
    EXPECT_EQ(response.body.size(), asset.gzip.size());
  }
  for (const char* encoding : {"", "identity", "deflate, br", "gzip;q=0", "gzip;q=0.0",
                               "*, gzip; q=0", "*;Q=0", "gzipped"}) {
    const HttpResponse response = get("/", encoding);
    EXPECT_EQ(header(response, "Content-Encoding"), "") << encoding;
    EXPECT_EQ(response.body, web::plain(asset));
  }
  EXPECT_EQ(get("/").content_type, "text/html; charset=utf-8");
  EXPECT_EQ(header(get("/"), "Cache-Control"), "no-cache");
  EXPECT_EQ(header(get("/"), "Vary"), "Accept-Encoding");
  EXPECT_EQ(get("/nothing.js").status, 404U);
}

TEST(Page, AllowsNoContentFromOtherOrigins) {
  const std::string policy = header(get("/"), "Content-Security-Policy");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self';")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST(Page, IsNotSentAgainToClientsThatHaveIt) {
  const std::string tag = header(get("/app.js"), "ETag");
  EXPECT_EQ(get("/app.js", "gzip", tag).status, 304U);
  EXPECT_EQ(get("/app.js", "gzip", tag).body, "");
  EXPECT_EQ(get("/app.js", "gzip", "W/" + tag + ", \"other\"").status, 304U);
  EXPECT_EQ(get("/app.js", "gzip", "\"other\"").status, 200U);
}

TEST(Page, ComesFromAFolderFirst) {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() + "/app.js") << "changed";
  std::ofstream(folder.path() + "/.secret.js") << "hidden";
  EXPECT_EQ(get("/app.js", "gzip", "*", folder.path()).body, "changed");
  EXPECT_EQ(get("/app.js", "gzip", "*", folder.path()).content_type,
            "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/", "", "", folder.path()).body, web::plain(*web::find("/index.html")));
  EXPECT_EQ(get("/.secret.js", "", "", folder.path()).status, 404U);
  EXPECT_EQ(get("/../app.js", "", "", folder.path()).status, 404U);
}

}  // namespace
}  // namespace ttmem::serve
