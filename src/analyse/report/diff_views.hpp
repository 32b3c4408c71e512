// SPDX-License-Identifier: Apache-2.0
//
// A Diff for people, for pull requests and for programs. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyse/report/diff.hpp"
#include "text/json_layout.hpp"
#include "text/text.hpp"

namespace ttmem::report {

struct DiffNames {
  std::string before;  // of the files
  std::string now;
  std::size_t top = 10;             // lines of each list
  std::vector<std::string> failed;  // limits that are exceeded, as sentences
};

[[nodiscard]] std::string diff_text(const Diff& diff, const DiffNames& names,
                                    const text::TextOptions& options);
// Tables that GitHub shows.
[[nodiscard]] std::string diff_markdown(const Diff& diff, const DiffNames& names);
// Schema ttmem.diff.v1 (docs/guides/recording.md), with all changes. Ends with a newline.
[[nodiscard]] std::string diff_json(const Diff& diff, const DiffNames& names,
                                    text::JsonLayout layout = text::JsonLayout::pretty);

}  // namespace ttmem::report
