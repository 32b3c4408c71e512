// SPDX-License-Identifier: Apache-2.0
#include "cli/recordings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyse/report/make_report.hpp"
#include "analyse/report/select.hpp"
#include "cli/terminal.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

// The number of rows from which on a progress bar is shown. Reading this number of rows takes about
// half a second.
constexpr std::uint64_t kLongFile = 500'000;

void draw_progress(const std::string& file, double part) {
  constexpr int kCells = 40;
  const int filled = static_cast<int>(part * kCells);
  fmt::print(stderr, "\r{} [{:#<{}}{:.<{}}] {:3.0f}%", text::printable(file, true), "", filled, "",
             kCells - filled, part * 100);
  if (part >= 1) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

// Returns a function that draws a progress bar whenever the percentage has changed.
viewer::Progress progress_bar() {
  return [last = std::make_shared<int>(-1)](const std::string& file, double part) {
    const int now = static_cast<int>(part * 100);
    if (now != std::exchange(*last, now)) draw_progress(file, part);
  };
}

// Returns the progress bar for a page. The bar is shown even for short recordings, because a page
// takes several passes over the recording. Returns an empty function if standard error is not a
// terminal.
viewer::Progress page_progress() {
  return ::isatty(STDERR_FILENO) == 0 ? viewer::Progress() : progress_bar();
}

Result<recording::Time> time_of_peak(const std::string& at, const report::Report& report) {
  const report::DeviceReport* const device = report::fullest(report);
  std::optional<report::Extreme> peak;
  if (device != nullptr && at == "peak") {
    peak = report::fullest_peak(*device);
  } else if (device != nullptr) {
    peak = report::peak_named(*device, at.substr(0, at.size() - std::string(".peak").size()));
  }
  if (peak) return peak->time_ns;
  return Error{fmt::format("the recording does not tell the moment of --at {}", at)};
}

}  // namespace

Result<recording::Time> parse_moment(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 7> units = {
      {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9}}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  for (const auto& [unit, ns] : units) {
    const bool valid = parsed.ec == std::errc() && number >= 0 && number * ns < 9e18;
    if (valid && unit == rest) return static_cast<recording::Time>(number * ns);
  }
  return Error{"must be a time since the beginning, as 12.5s, 300ms or 2m, or peak or end"};
}

Result<std::optional<recording::Time>> parse_duration(const std::string& text) {
  const Result<recording::Time> time = parse_moment(text);
  if (time && *time > 0) return std::optional(*time);
  return Error{"must be a time above 0, as 30s, 500ms or 2m"};
}

Result<std::optional<std::string>> check_moment(const std::string& text) {
  const bool named = text == "peak" || text == "end" || report::is_peak_name(text);
  if (!named) {
    if (const auto time = parse_moment(text); !time) return time.error();
  }
  return std::optional(text);
}

Result<void> check_not_itself(const std::string& file, const std::string& out) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(file, out, ignored)) return {};
  return Error{fmt::format("{} is the recording itself; name another file to write", out)};
}

std::function<void(double)> progress_for(const recording::Reader& reader, const std::string& file) {
  if (::isatty(STDERR_FILENO) == 0 || reader.rows() < kLongFile) return {};
  return [draw = progress_bar(), file](double part) { draw(file, part); };
}

Result<std::vector<viewer::ShownRecording>> open_runs(const std::vector<std::string>& files) {
  std::vector<viewer::ShownRecording> runs;
  const viewer::Progress progress = page_progress();
  for (const std::string& file : files) {
    auto run = viewer::open_run(file, progress);
    if (!run) return run.error();
    runs.push_back(std::move(*run));
  }
  return runs;
}

Result<std::string> view_document_of(const std::vector<viewer::ShownRecording>& runs,
                                     viewer::Shown shown) {
  return viewer::view_document(runs, shown, page_progress());
}

Result<report::Report> load_report(const std::string& file,
                                   const std::vector<model::DeviceName>& devices,
                                   recording::Reader& reader) {
  Result<report::Report> made = report::make_report(reader, progress_for(reader, file));
  if (!made || devices.empty()) return made;
  const auto missing = report::missing_devices(*made, devices);
  if (missing.empty()) return report::select_devices(std::move(*made), devices);
  return Error{fmt::format("no device {} in {}", text::format_names(missing), file)};
}

Result<recording::Time> moment_of(const std::string& at, const std::string& file,
                                  const std::vector<model::DeviceName>& devices,
                                  recording::Reader& reader) {
  if (at == "end") return reader.end_ns();
  if (reader.tables().run.aggregate) {
    return Error{
        fmt::format("{} was recorded with --aggregate: what was held is known at its end "
                    "only; try --at end",
                    file)};
  }
  if (at.ends_with("peak")) {
    const Result<report::Report> report = load_report(file, devices, reader);
    return report ? time_of_peak(at, *report) : Result<recording::Time>(report.error());
  }
  const recording::Time time = *parse_moment(at);
  if (time <= reader.end_ns()) return time;
  return Error{fmt::format("--at {}: the recording ends at {}", at,
                           text::format_age(static_cast<std::uint64_t>(reader.end_ns())))};
}

int judge(const std::vector<report::Limit>& limits, const report::Report* before,
          const report::Report& now) {
  int code = kSuccess;
  for (const report::Limit& limit : limits) {
    switch (report::judge(limit, before, now)) {
      case report::Judgement::kept:
        break;
      case report::Judgement::exceeded:
        code = complain(report::exceeded(limit, before, now), kLimit);
        break;
      case report::Judgement::unknown:
        complain(fmt::format("--fail-on {}: it cannot be checked: {}", limit.text,
                             report::why_unknown(limit, before, now)),
                 kFailure);
        if (code == kSuccess) code = kFailure;
    }
  }
  return code;
}

}  // namespace ttmem::cli
