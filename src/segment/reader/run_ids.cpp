// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/run_ids.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "segment/layout/layout.hpp"

namespace ttmem::segment {
namespace {

template <std::size_t kBytes>
std::string text_of(const char (&field)[kBytes]) {
  return {field, std::find(field, field + kBytes, '\0')};
}

}  // namespace

std::vector<std::string> split_run_ids(const std::string& text) {
  std::vector<std::string> ids;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view id = rest.substr(0, rest.find(kRunSeparator));
    rest.remove_prefix(std::min(id.size() + 1, rest.size()));
    if (!id.empty()) ids.emplace_back(id);
  }
  return ids;
}

std::vector<std::string> read_run_ids(const ByteSource& source) {
  RunRecord run{};
  if (read_value(source, kRunOffset, run) && run.ids[0] != '\0') {
    return split_run_ids(text_of(run.ids));
  }
  // Reads FailureRecord::run, where an older library stores the beginning of $TTMEM_RUN.
  FailureRecord failure{};
  if (!read_value(source, kFailureOffset, failure)) return {};
  return split_run_ids(text_of(failure.run));
}

}  // namespace ttmem::segment
