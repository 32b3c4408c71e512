// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/document.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "analyse/leaks/leaks_json.hpp"
#include "analyse/leaks/recorded_leaks.hpp"
#include "analyse/report/diff.hpp"
#include "analyse/report/diff_views.hpp"
#include "analyse/report/make_report.hpp"
#include "analyse/report/report_json.hpp"
#include "base/safe_text.hpp"
#include "serve/http/documents.hpp"
#include "serve/viewer/timeline.hpp"
#include "show/exports/format.hpp"
#include "text/json_layout.hpp"

namespace ttmem::viewer {
namespace {

using text::JsonLayout;

constexpr std::size_t kLongLists = 1000;
// The shares of the progress, from 0 to 1, that the report and the leaks take. The timeline takes
// the rest.
constexpr double kReportPart = 0.4;
constexpr double kLeaksPart = 0.1;

std::function<void(double)> part_of(const Progress& progress, const std::string& file, double from,
                                    double share) {
  if (!progress) return {};
  return [&progress, file, from, share](double part) { progress(file, from + part * share); };
}

// Removes the newline at the end, so that the document can be a member of another document.
std::string without_newline(std::string document) {
  document.pop_back();
  return document;
}

Result<std::string> run_json(const ShownRecording& run, const Progress& progress) {
  Result<leaks::Leaks> leaks =
      leaks::recorded_leaks(*run.reader, {}, part_of(progress, run.name, kReportPart, kLeaksPart));
  if (!leaks) return leaks.error();
  leaks->file = run.name;
  const double done = kReportPart + kLeaksPart;
  const Result<std::string> timeline = timeline_json(*run.reader, run.report, whole(*run.reader),
                                                     part_of(progress, run.name, done, 1 - done));
  if (!timeline) return timeline.error();
  return fmt::format(R"({{"name":{},"report":{},"leaks":{},"timeline":{}}})",
                     serve::json_string(run.name),
                     without_newline(report::report_json(run.report, kLongLists, JsonLayout::line)),
                     without_newline(leaks::leaks_json({*leaks}, JsonLayout::line)), *timeline);
}

std::string diff_of(const std::vector<ShownRecording>& runs) {
  if (runs.size() < 2) return "null";
  const report::Diff diff = report::make_diff(runs[0].report, runs[1].report);
  return without_newline(
      report::diff_json(diff, {runs[0].name, runs[1].name, kLongLists, {}}, JsonLayout::line));
}

// Returns a JSON array with the names of the formats that can be downloaded. Omits formats that
// write a folder.
std::string export_names() {
  nlohmann::json names = nlohmann::json::array();
  for (const exports::ExportFormat& format : exports::kFormats) {
    if (format.write != nullptr) names.push_back(format.name);
  }
  return names.dump();
}

}  // namespace

Result<ShownRecording> open_run(const std::string& path, const Progress& progress) {
  auto reader = recording::Reader::open(path);
  if (!reader) return reader.error();
  ShownRecording run{safe_text(path.substr(path.rfind('/') + 1)), path, std::move(*reader)};
  auto report = report::make_report(*run.reader, part_of(progress, run.name, 0, kReportPart));
  if (!report) return report.error();
  run.report = std::move(*report);
  return run;
}

Result<std::string> view_document(const std::vector<ShownRecording>& runs, Shown shown,
                                  const Progress& progress) {
  std::vector<std::string> texts;
  for (const ShownRecording& run : runs) {
    Result<std::string> text = run_json(run, progress);
    if (!text) return text.error();
    texts.push_back(std::move(*text));
  }
  return fmt::format(R"({{"schema":"ttmem.view.v1","exports":{},"diff":{},"runs":[{}]}})",
                     shown == Shown::served ? export_names() : "[]", diff_of(runs),
                     fmt::join(texts, ","));
}

}  // namespace ttmem::viewer
