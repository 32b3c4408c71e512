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

// A recording to be shown. Not thread-safe.
struct ShownRecording {
  std::string name;  // name of the file, without folders, as a safe text
  std::string path;
  std::unique_ptr<recording::Reader> reader;
  report::Report report{};
};

// Called with the file that is being read and the completed part, 0 to 1. May be empty.
using Progress = std::function<void(const std::string& file, double part)>;

// Opens a recording and makes its report. Fails if the file is damaged or not a recording.
[[nodiscard]] Result<ShownRecording> open_run(const std::string& path, const Progress& progress);

// The receiver of the document: a page from a server, which can request more, or a single-file
// page, which has only the document.
enum class Shown : std::uint8_t { served, in_one_file };

// Returns one line of JSON in the schema ttmem.view.v1 (docs/guides/page.md), about one recording,
// or about two recordings that the page compares. Fails if a file is damaged.
[[nodiscard]] Result<std::string> view_document(const std::vector<ShownRecording>& runs,
                                                Shown shown, const Progress& progress);

}  // namespace ttmem::viewer
