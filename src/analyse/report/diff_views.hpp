// SPDX-License-Identifier: Apache-2.0
// Shows a Diff as text, as Markdown for pull requests, and as JSON. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyse/report/diff.hpp"
#include "text/json_layout.hpp"
#include "text/text.hpp"

namespace ttmem::report {

struct DiffNames {
  std::string before;  // names of the files
  std::string now;
  std::size_t top = 10;             // number of lines of each list
  std::vector<std::string> failed;  // exceeded limits, as sentences
};

[[nodiscard]] std::string diff_text(const Diff& diff, const DiffNames& names,
                                    const text::TextOptions& options);
// Returns tables in GitHub's Markdown.
[[nodiscard]] std::string diff_markdown(const Diff& diff, const DiffNames& names);
// Returns JSON of the schema ttmem.diff.v1 (docs/guides/recording.md), with all changes. Ends with
// a newline.
[[nodiscard]] std::string diff_json(const Diff& diff, const DiffNames& names,
                                    text::JsonLayout layout = text::JsonLayout::pretty);

}  // namespace ttmem::report
