// SPDX-License-Identifier: Apache-2.0
#include "show/web/assets.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace ttmem::web {

const Asset* find(std::string_view path) {
  const auto assets = all();
  const auto found = std::find_if(assets.begin(), assets.end(),
                                  [&](const Asset& asset) { return asset.path == path; });
  return found != assets.end() ? &*found : nullptr;
}

std::string plain(const Asset& asset) {
  constexpr int gzip_header = 16;  // makes zlib expect a gzip header instead of a zlib header
  z_stream stream{};
  if (inflateInit2(&stream, MAX_WBITS + gzip_header) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(asset.gzip.data()));
  stream.avail_in = static_cast<uInt>(asset.gzip.size());
  std::string text;
  std::array<char, 1 << 15> buffer;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = buffer.size();
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return text;
}

std::string page_over(std::string index, std::string_view source) {
  constexpr std::string_view before = R"(name="ttmem-source" content=")";
  constexpr std::string_view live = "live";
  const std::size_t at = index.find(before);
  if (at != std::string::npos) index.replace(at + before.size(), live.size(), source);
  return index;
}

std::string_view content_type_of(std::string_view name) {
  const std::string_view ending = name.substr(std::min(name.rfind('.'), name.size()));
  for (const Asset& asset : all()) {
    if (asset.path.ends_with(ending) && !ending.empty()) return asset.content_type;
  }
  return "application/octet-stream";
}

}  // namespace ttmem::web
