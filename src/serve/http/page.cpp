// SPDX-License-Identifier: Apache-2.0
#include "serve/http/page.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "show/web/assets.hpp"

namespace ttmem::serve {
namespace {

// Forbids content from other servers, scripts and styles inside the HTML, and embedding in another
// page.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Returns false if the item has the weight 0, for example "gzip;q=0".
bool is_wanted(std::string_view item) {
  const std::size_t weight = item.find("q=");
  return weight == std::string_view::npos ||
         item.find_first_of("123456789", weight) != std::string_view::npos;
}

// Returns true if a list such as "br, gzip;q=0.8, *;q=0" accepts gzip. The item of gzip has
// precedence over the item of *.
bool accepts_gzip(std::string list) {
  std::transform(list.begin(), list.end(), list.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  bool any = false;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
    const std::string_view name = item.substr(0, item.find_first_of("; \t"));
    if (name == "gzip") return is_wanted(item);
    if (name == "*") any = is_wanted(item);
  }
  return any;
}

// Returns true if a list of tags contains `etag`. A tag may begin with "W/"; * means any tag.
bool has_tag(std::string_view list, std::string_view etag) {
  return list == "*" || list.find(etag) != std::string_view::npos;
}

HttpResponse file_response(std::string_view content_type) {
  HttpResponse response;
  response.content_type = content_type;
  response.headers = {{"Content-Security-Policy", kPolicy},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}};
  return response;
}

HttpResponse embedded_response(const HttpRequest& request, const web::Asset& asset) {
  HttpResponse response = file_response(asset.content_type);
  response.headers.emplace_back("ETag", asset.etag);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (has_tag(request.if_none_match, asset.etag)) {
    response.status = 304;
    return response;
  }
  if (accepts_gzip(request.accept_encoding)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body.assign(reinterpret_cast<const char*>(asset.gzip.data()), asset.gzip.size());
  } else {
    response.body = web::plain(asset);
  }
  return response;
}

// Returns true if the name is a plain file name, without path separators. Such a name cannot lead
// out of the folder.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
         });
}

std::optional<HttpResponse> from_folder(const std::string& folder, std::string_view name) {
  if (folder.empty() || !is_file_name(name)) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  HttpResponse response = file_response(web::content_type_of(name));
  response.body.assign(std::istreambuf_iterator<char>(file), {});
  return response;
}

}  // namespace

std::optional<HttpResponse> page_response(const HttpRequest& request, std::string_view path,
                                          const std::string& folder) {
  const std::string_view file = path == "/" ? "/index.html" : path;
  if (auto response = from_folder(folder, file.substr(1))) return response;
  const web::Asset* asset = web::find(file);
  if (asset == nullptr) return std::nullopt;
  return embedded_response(request, *asset);
}

}  // namespace ttmem::serve
