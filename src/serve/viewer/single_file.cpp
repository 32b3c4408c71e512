// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/single_file.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <iterator>
#include <vector>

#include "base/gzip/gzip.hpp"
#include "serve/viewer/random_text.hpp"
#include "show/web/assets.hpp"

namespace ttmem::viewer {
namespace {

// Returns a policy that lets the file load nothing from a network and run only the scripts of the
// page. These scripts have a random nonce that the author of a recording cannot know, so text of a
// recording cannot become a script. The scripts import modules from data: addresses. An imported
// module takes over the nonce of the importing script, so the policy need not allow data: for
// scripts.
std::string policy(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      nonce);
}

// Returns the bytes in base64.
std::string base64(std::string_view bytes) {
  // The maximum number of bytes per call, because OpenSSL counts bytes in an int. A multiple of 3,
  // so that only the last piece ends with padding.
  constexpr std::size_t kMaxPiece = std::size_t{3} << 20;
  // Has room for one byte more, because OpenSSL appends a zero.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  for (std::size_t at = 0; at < bytes.size(); at += kMaxPiece) {
    const std::string_view piece = bytes.substr(at, kMaxPiece);
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + at / 3 * 4),
                    reinterpret_cast<const unsigned char*>(piece.data()),
                    static_cast<int>(piece.size()));
  }
  text.pop_back();
  return text;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Replaces relative addresses in imports, such as './dom.js', by names such as 'dom.js'. A module
// that is embedded in the file has no address.
std::string script(const web::Asset& asset) {
  std::string text = web::plain(asset);
  replace_all(text, "from './", "from '");
  return text;
}

// A tag or an attribute of `index.html`, and the text that replaces it.
struct Reference {
  std::string tag;
  std::string content;
};

std::string data_address(std::string_view type, std::string_view content) {
  return fmt::format("data:{};base64,{}", type, base64(content));
}

std::vector<Reference> references(const std::string& nonce) {
  std::vector<Reference> all;
  std::string modules;
  for (const web::Asset& asset : web::all()) {
    const std::string_view name = asset.path.substr(1);
    if (name.ends_with(".css")) {
      all.push_back({fmt::format(R"(<link rel="stylesheet" href="{}">)", name),
                     fmt::format("<style>{}</style>", web::plain(asset))});
    } else if (name.ends_with(".js")) {
      fmt::format_to(std::back_inserter(modules), "{}\"{}\":\"{}\"", modules.empty() ? "" : ",",
                     name, data_address("text/javascript", script(asset)));
    } else if (name.ends_with(".svg")) {
      all.push_back({fmt::format("href=\"{}\"", name),
                     fmt::format("href=\"{}\"", data_address("image/svg+xml", web::plain(asset)))});
    }
  }
  all.push_back(
      {R"(<script type="module" src="app.js"></script>)",
       fmt::format("<script type=\"importmap\" nonce=\"{0}\">{{\"imports\":{{{1}}}}}</script>\n"
                   "  <script type=\"module\" nonce=\"{0}\">import 'app.js';</script>",
                   nonce, modules)});
  return all;
}

}  // namespace

std::string single_file(std::string_view document) {
  const std::string nonce = random_text();
  std::string page = web::page_over(web::plain(*web::find("/index.html")), "file");
  for (const Reference& one : references(nonce)) replace_all(page, one.tag, one.content);
  replace_all(
      page, "<meta charset=\"utf-8\">",
      fmt::format("<meta charset=\"utf-8\">\n  <meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"{}\">",
                  policy(nonce)));
  replace_all(page, "</body>",
              fmt::format("<script type=\"application/octet-stream\" id=\"recording\">{}</script>\n"
                          "</body>",
                          base64(gzip(document))));
  return page;
}

}  // namespace ttmem::viewer
