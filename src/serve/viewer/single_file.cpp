// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/single_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <vector>

#include "serve/viewer/random_text.hpp"
#include "show/web/assets.hpp"

namespace ttmem::viewer {
namespace {

// The file loads nothing from a network. Only our own scripts run: they have a random nonce that
// the author of a recording cannot know, so text of a recording cannot become a script. Imported
// modules have the nonce of the importing module, so data: need not be allowed for all scripts.
std::string policy(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      nonce);
}

// Written here, because no linked library offers base64 in its interface.
std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto byte = i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
      three = three << 8 | byte;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t shift = 18 - 6 * k;
      text += i + k <= bytes.size() ? digits[three >> shift & 63] : '=';
    }
  }
  return text;
}

std::string gzip(std::string_view bytes) {
  constexpr int gzip_header = 16;
  constexpr int memory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_header, memory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string packed;
  std::array<char, 1 << 16> buffer;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    state = deflate(&stream, Z_FINISH);
    packed.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return packed;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Replaces relative module addresses by names: modules inside a file have no address.
std::string script(const web::Asset& asset) {
  std::string text = web::plain(asset);
  replace_all(text, "from './", "from '");
  return text;
}

// A tag in `index.html`, and the text that replaces the tag.
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
