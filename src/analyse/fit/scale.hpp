// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analyse/fit/fit.hpp"
#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::fit {

// Parses a scope and a factor above 0, such as "decoder.0=2".
[[nodiscard]] Result<SizeScale> parse_scale(const std::string& text);

// Returns the scope and the label of a request: "decoder.0/attention/kv".
[[nodiscard]] std::string path_of(const recording::Tables& tables,
                                  const recording::RecordedRequest& request);
// Returns true if `path` is `scope` or lies under `scope`.
[[nodiscard]] bool lies_under(std::string_view path, std::string_view scope);
// Returns the product of all factors that apply to the path.
[[nodiscard]] double factor_for(std::string_view path, std::span<const SizeScale> scales);

// Returns true if a scale applies to buffers of this kind. Traces and kernels do not grow with the
// data of a program.
[[nodiscard]] constexpr bool can_grow(Kind kind) {
  return kind == Kind::dram || kind == Kind::l1 || kind == Kind::l1_small;
}

// Returns the bytes times the factor, rounded up to a multiple of `unit`. Returns `bytes` unchanged
// for the factor 1.
[[nodiscard]] std::uint64_t scaled(std::uint64_t bytes, double factor, std::uint64_t unit);

}  // namespace ttmem::fit
