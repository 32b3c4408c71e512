// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::viewer {

// A recording that is shown. Not thread-safe.
struct ShownRecording {
  std::string name;  // of its file, without folders, as a safe text
  std::string path;
  std::unique_ptr<recording::Reader> reader;
  report::Report report{};
};

// Called with what is being read and the part that is done, 0 to 1; may be empty.
using Progress = std::function<void(const std::string& file, double part)>;

// Opens a recording and makes its report. Fails when it is none, or damaged.
[[nodiscard]] Result<ShownRecording> open_run(const std::string& path, const Progress& progress);

// Who gets the document: a page that can ask for more, or one that has nothing else.
enum class Shown : std::uint8_t { served, in_one_file };

// Schema ttmem.view.v1 (docs/guides/page.md) in one line: one recording, or two to compare. Fails
// when a file is damaged.
[[nodiscard]] Result<std::string> view_document(const std::vector<ShownRecording>& runs,
                                                Shown shown, const Progress& progress);

}  // namespace ttmem::viewer
