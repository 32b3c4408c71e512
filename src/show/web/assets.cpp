// SPDX-License-Identifier: Apache-2.0
#include "show/web/assets.hpp"

#include <algorithm>

#include "base/gzip/gzip.hpp"

namespace ttmem::web {

const Asset* find(std::string_view path) {
  const auto assets = all();
  const auto found = std::find_if(assets.begin(), assets.end(),
                                  [&](const Asset& asset) { return asset.path == path; });
  return found != assets.end() ? &*found : nullptr;
}

std::string plain(const Asset& asset) {
  return gunzip({reinterpret_cast<const char*>(asset.gzip.data()), asset.gzip.size()});
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
