// SPDX-License-Identifier: Apache-2.0
#include "analyse/fit/scale.hpp"

#include <charconv>
#include <cmath>

#include "read/placement/align.hpp"

namespace ttmem::fit {

Result<SizeScale> parse_scale(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  SizeScale scale;
  if (equals != std::string::npos && equals > 0) {
    scale.scope = text.substr(0, equals);
    const char* const begin = text.data() + equals + 1;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, scale.factor);
    const bool possible = std::isfinite(scale.factor) && scale.factor > 0 && scale.factor <= 1e6;
    if (error == std::errc{} && stop == end && possible) return scale;
  }
  return Error{"give a scope and a factor above 0, such as decoder.0/attention=2"};
}

std::string path_of(const recording::Tables& tables, const recording::RecordedRequest& request) {
  std::string path(tables.scope(request.scope));
  const std::string_view label = tables.text(request.label);
  if (!path.empty() && !label.empty()) path += '/';
  return path.append(label);
}

bool lies_under(std::string_view path, std::string_view scope) {
  return path.starts_with(scope) && (path.size() == scope.size() || path[scope.size()] == '/');
}

double factor_for(std::string_view path, std::span<const SizeScale> scales) {
  double factor = 1;
  for (const SizeScale& scale : scales) {
    if (lies_under(path, scale.scope)) factor *= scale.factor;
  }
  return factor;
}

std::uint64_t scaled(std::uint64_t bytes, double factor, std::uint64_t unit) {
  if (factor == 1) return bytes;
  constexpr long double most = 1ull << 60;  // maximum result in bytes, more than any memory has
  const long double wanted = static_cast<long double>(bytes) * factor;
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::min(wanted, most)));
  return placement::align_up(whole, unit);
}

}  // namespace ttmem::fit
