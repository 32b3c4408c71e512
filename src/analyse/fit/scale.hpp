// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyse/fit/fit.hpp"
#include "base/result.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::fit {

// "decoder.0=2": a scope, and a factor above 0.
[[nodiscard]] Result<Scale> parse_scale(const std::string& text);

// "decoder.0/attention/kv": scope and label of a request.
[[nodiscard]] std::string path_of(const recording::Tables& tables,
                                  const recording::Request& request);
// True for the path itself and for what lies under it.
[[nodiscard]] bool lies_under(std::string_view path, std::string_view scope);
// The product of all factors that concern the path.
[[nodiscard]] double factor_for(std::string_view path, std::span<const Scale> scales);

// So many bytes, in whole pieces of `unit`, rounded up.
[[nodiscard]] std::uint64_t scaled(std::uint64_t bytes, double factor, std::uint64_t unit);

}  // namespace ttmem::fit
