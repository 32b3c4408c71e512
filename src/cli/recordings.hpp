// SPDX-License-Identifier: Apache-2.0
//
// Functions for commands that read recordings.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyse/report/limit.hpp"
#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/model/device_name.hpp"
#include "read/recording/file/reader.hpp"
#include "serve/viewer/document.hpp"

namespace ttmem::cli {

// Parses "12.5s", "300ms", "2m", "1h" or "90" (seconds) into nanoseconds since the recording began.
[[nodiscard]] Result<recording::Time> parse_moment(const std::string& text);
// Parses a time above zero, such as "30s" or "2m", for Command::add_option().
[[nodiscard]] Result<std::optional<recording::Time>> parse_duration(const std::string& text);
// Returns the text if it is a time or the name of a moment: "peak", "end", "dram.peak".
[[nodiscard]] Result<std::optional<std::string>> check_moment(const std::string& text);

// Fails if both paths lead to the same file, because the output must not replace the input.
[[nodiscard]] Result<void> check_not_itself(const std::string& file, const std::string& out);

// Returns a function that draws a progress bar on standard error while a long file is read. Returns
// an empty function if standard error is not a terminal or the file is short.
[[nodiscard]] std::function<void(double)> progress_for(const recording::Reader& reader,
                                                       const std::string& file);

// Returns the report of a recording, for `devices` (empty: all). Fails if a device does not exist.
// Shows progress.
[[nodiscard]] Result<report::Report> load_report(const std::string& file,
                                                 const std::vector<model::DeviceName>& devices,
                                                 recording::Reader& reader);

// Returns the time of a moment that check_moment() accepted. "peak" is the peak of the fullest
// device, in L1 or DRAM, depending on which of them was fuller. Fails if the moment is after the
// end of the recording, if the peak is unknown, or if the recording was made with --aggregate and
// lacks the state.
[[nodiscard]] Result<recording::Time> moment_of(const std::string& at, const std::string& file,
                                                const std::vector<model::DeviceName>& devices,
                                                recording::Reader& reader);

// open_runs() opens the recordings for the page. view_document_of() returns the document of the
// page. Both show progress.
[[nodiscard]] Result<std::vector<viewer::ShownRecording>> open_runs(
    const std::vector<std::string>& files);
[[nodiscard]] Result<std::string> view_document_of(const std::vector<viewer::ShownRecording>& runs,
                                                   viewer::Shown shown);

// Prints each exceeded limit, and by how much it is exceeded. Returns kLimit if a limit is
// exceeded, kFailure if a limit cannot be checked, otherwise kSuccess.
[[nodiscard]] int judge(const std::vector<report::Limit>& limits, const report::Report* before,
                        const report::Report& now);

}  // namespace ttmem::cli
