// SPDX-License-Identifier: Apache-2.0
//
// What the commands that read recordings share.
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

// "12.5s", "300ms", "2m", "1h", "90" (seconds): nanoseconds since the recording began.
[[nodiscard]] Result<recording::Time> parse_moment(const std::string& text);
// A time above zero, as 30s or 2m; for Command::add_option().
[[nodiscard]] Result<std::optional<recording::Time>> parse_duration(const std::string& text);
// The text itself, when it is a moment or names one: "peak", "end", "dram.peak".
[[nodiscard]] Result<std::optional<std::string>> check_moment(const std::string& text);

// Fails when both are one file, by whatever names: what is written must not replace what is read.
[[nodiscard]] Result<void> check_not_itself(const std::string& file, const std::string& out);

// Draws a bar on standard error while a long file is read; empty when that is no terminal or the
// file is short.
[[nodiscard]] std::function<void(double)> progress_for(const recording::Reader& reader,
                                                       const std::string& file);

// The report of a recording, of these devices (empty: of all). Fails when there is no such device.
// Shows progress.
[[nodiscard]] Result<report::Report> load_report(const std::string& file,
                                                 const std::vector<model::DeviceName>& devices,
                                                 recording::Reader& reader);

// The time of a moment that check_moment() took. "peak" is that of L1 or DRAM, whichever was fuller
// on the fullest of the devices. Fails when it lies behind the end, is not known, or an aggregate
// does not tell what was held then.
[[nodiscard]] Result<recording::Time> moment_of(const std::string& at, const std::string& file,
                                                const std::vector<model::DeviceName>& devices,
                                                recording::Reader& reader);

// Recordings for the page, and its document of them. Show progress.
[[nodiscard]] Result<std::vector<viewer::ShownRecording>> open_runs(
    const std::vector<std::string>& files);
[[nodiscard]] Result<std::string> view_document_of(const std::vector<viewer::ShownRecording>& runs,
                                                   viewer::Shown shown);

// Says which limits are exceeded, and by how much. Returns kLimit when one is, kFailure when a
// figure is unknown that one is about, else kSuccess.
[[nodiscard]] int judge(const std::vector<report::Limit>& limits, const report::Report* before,
                        const report::Report& now);

}  // namespace ttmem::cli
