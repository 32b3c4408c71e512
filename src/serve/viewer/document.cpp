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

namespace ttmem::viewer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongLists = 1000;
// Of the time that it takes to show a recording; the rest is the time line.
constexpr double kReportPart = 0.4;
constexpr double kLeaksPart = 0.1;

std::function<void(double)> part_of(const Progress& progress, const std::string& file, double from,
                                    double share) {
  if (!progress) return {};
  return [&progress, file, from, share](double part) { progress(file, from + part * share); };
}

// On one line, as the documents of which this is made have more.
std::string minified(const std::string& json) { return json_text(Json::parse(json)); }

Result<std::string> run_json(const Run& run, const Progress& progress) {
  Result<leaks::Leaks> leaks =
      leaks::recorded_leaks(*run.reader, {}, part_of(progress, run.name, kReportPart, kLeaksPart));
  if (!leaks) return leaks.error();
  leaks->file = run.name;
  const double done = kReportPart + kLeaksPart;
  const Result<std::string> timeline = timeline_json(*run.reader, run.report, whole(*run.reader),
                                                     part_of(progress, run.name, done, 1 - done));
  if (!timeline) return timeline.error();
  return fmt::format(R"({{"name":{},"report":{},"leaks":{},"timeline":{}}})",
                     serve::json_string(run.name), report::report_json(run.report, kLongLists, -1),
                     minified(leaks::leaks_json({*leaks})), *timeline);
}

std::string diff_of(const std::vector<Run>& runs) {
  if (runs.size() < 2) return "null";
  const report::Diff diff = report::make_diff(runs[0].report, runs[1].report);
  return minified(report::diff_json(diff, {runs[0].name, runs[1].name, kLongLists, {}}));
}

// A folder cannot be downloaded.
Json export_names() {
  Json names = Json::array();
  for (const exports::Format& format : exports::kFormats) {
    if (format.write != nullptr) names.push_back(format.name);
  }
  return names;
}

}  // namespace

Result<Run> open_run(const std::string& path, const Progress& progress) {
  auto reader = recording::Reader::open(path);
  if (!reader) return reader.error();
  Run run{safe_text(path.substr(path.rfind('/') + 1)), path, std::move(*reader)};
  auto report = report::make_report(*run.reader, part_of(progress, run.name, 0, kReportPart));
  if (!report) return report.error();
  run.report = std::move(*report);
  return run;
}

Result<std::string> view_document(const std::vector<Run>& runs, Shown shown,
                                  const Progress& progress) {
  std::vector<std::string> texts;
  for (const Run& run : runs) {
    Result<std::string> text = run_json(run, progress);
    if (!text) return text.error();
    texts.push_back(std::move(*text));
  }
  return fmt::format(R"({{"schema":"ttmem.view.v1","exports":{},"diff":{},"runs":[{}]}})",
                     shown == Shown::served ? export_names().dump() : "[]", diff_of(runs),
                     fmt::join(texts, ","));
}

}  // namespace ttmem::viewer
