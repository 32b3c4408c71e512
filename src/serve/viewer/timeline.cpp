// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/safe_text.hpp"
#include "serve/viewer/choose_moments.hpp"
#include "serve/viewer/device_key.hpp"
#include "serve/viewer/lines.hpp"
#include "serve/viewer/moments.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::viewer {
namespace {

using Json = nlohmann::ordered_json;
using recording::Tables;

// The first Room is tried for a recording with at most kShort rows, the second Room for a longer
// recording. As long as the tables exceed kMaxBytes or kMaxDeviceRows, the next Room is tried. The
// last Room has no limit.
constexpr std::uint64_t kShort = 20'000;  // rows
constexpr std::size_t kMaxBytes = 48'000'000;
// The maximum of PlayLimits::device_rows, enough for 128 devices at 1000 moments.
constexpr std::size_t kMaxDeviceRows = 128'000;
constexpr std::array<Room, 8> kRooms = {{{.others = 600, .marks = 300},
                                         {.others = 200, .marks = 100},
                                         {.others = 100, .marks = 50},
                                         {.others = 50, .marks = 25},
                                         {.others = 20, .marks = 10},
                                         {.others = 0, .marks = 0},
                                         {.others = 50, .marks = 25, .every_device = false},
                                         {.others = 0, .marks = 0, .every_device = false}}};

struct Played {
  Moments moments;
  MomentTables tables;
};

// Returns a function that calls `progress` only with a value above all earlier values. Each retry
// starts at 0 again, but the shown progress must not go back.
std::function<void(double)> only_forward(const std::function<void(double)>& progress) {
  if (!progress) return {};
  return [&progress, most = 0.0](double part) mutable {
    if (part <= most) return;
    most = part;
    progress(part);
  };
}

// Returns the details of as many moments of the range as there is room for.
Result<Played> play_range(const recording::Reader& reader, const report::Report& report,
                          const Lines& lines, const TimeRange& range,
                          const std::function<void(double)>& progress) {
  const std::function<void(double)> forward = only_forward(progress);
  PlayLimits limits{.bytes = kMaxBytes, .device_rows = kMaxDeviceRows};
  for (std::size_t i = reader.rows() <= kShort ? 0 : 1;; ++i) {
    Moments moments = choose_moments(reader.tables(), report, lines, range, kRooms[i]);
    if (i + 1 == kRooms.size()) {
      constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
      limits = {.bytes = any, .device_rows = any};
    }
    auto tables = play(reader, moments.chosen, limits, forward);
    if (!tables) return tables.error();
    if (*tables) return Played{std::move(moments), std::move(**tables)};
  }
}

Json text_or_null(std::string_view text) {
  return text.empty() ? Json(nullptr) : Json(safe_text(text));
}

Json head_of(const recording::Reader& reader, const TimeRange& range) {
  const recording::Run& run = reader.tables().run;
  return {{"schema", "ttmem.timeline.v1"},
          {"host", safe_text(run.host)},
          {"command", text_or_null(run.command)},
          {"started_unix_ns", run.started_unix_ns == 0 ? Json(nullptr) : Json(run.started_unix_ns)},
          {"begin_ns", 0},
          {"end_ns", whole(reader).to_ns},
          {"from_ns", range.from_ns},
          {"to_ns", range.to_ns},
          {"lost_events", run.lost_events},
          {"complete", run.ended_ns.has_value()},
          {"aggregate", run.aggregate}};
}

// Returns the time and the process of a row as JSON.
template <typename Row>
Json happening(const Tables& tables, const Row& row, Time time) {
  Json json = {{"time_ns", time}, {"pid", nullptr}, {"process", nullptr}};
  if (row.process == 0) return json;
  const recording::RecordedProcess& process = tables.process(row.process);
  json["pid"] = process.pid;
  json["process"] = safe_text(process.name);
  return json;
}

void add_happenings(const Tables& tables, Json& head) {
  for (const char* list : {"marks", "failures", "gaps"}) head[list] = Json::array();
  for (const recording::Mark& mark : tables.marks) {
    Json json = happening(tables, mark, mark.time_ns);
    json["name"] = safe_text(mark.name);
    head["marks"].push_back(std::move(json));
  }
  for (const recording::RecordedFailure& failure : tables.failures) {
    Json json = happening(tables, failure, failure.time_ns);
    json["text"] = failure.text.empty() ? Json(nullptr) : Json(safe_lines(failure.text));
    head["failures"].push_back(std::move(json));
  }
  for (const recording::Gap& gap : tables.gaps) {
    Json json = happening(tables, gap, gap.begin_ns);
    json["begin_ns"] = gap.begin_ns;
    json["end_ns"] = gap.end_ns;
    json["lost_events"] = gap.lost_events;
    head["gaps"].push_back(std::move(json));
  }
}

Json value_of(const Bytes& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

std::string line_json(const report::DeviceReport& device, const std::vector<Point>& points) {
  const Json about = {{"key", key_of(device)},
                      {"id", device.id},
                      {"arch", text_or_null(device.arch)},
                      {"board", text_or_null(device.board)},
                      {"dram_capacity_bytes", value_of(device.dram_capacity)},
                      {"l1_capacity_bytes", value_of(device.l1_capacity)}};
  std::string text = json_text(about);
  text.pop_back();
  const auto add = [&](std::string_view name, auto&& value) {
    fmt::format_to(std::back_inserter(text), ",\"{}\":[", name);
    for (const Point& point : points) {
      if (const Bytes one = value(point)) {
        fmt::format_to(std::back_inserter(text), "{},", *one);
      } else {
        text += "null,";
      }
    }
    if (!points.empty()) text.pop_back();
    text += ']';
  };
  add("time_ns",
      [](const Point& point) { return Bytes(static_cast<std::uint64_t>(point.time_ns)); });
  for (const Kind kind : kDeviceKinds) {
    add(name_of(kind), [&](const Point& point) { return point.used[kind]; });
  }
  return text + '}';
}

}  // namespace

TimeRange whole(const recording::Reader& reader) { return {0, std::max<Time>(reader.end_ns(), 1)}; }

Result<std::string> timeline_json(const recording::Reader& reader, const report::Report& report,
                                  const TimeRange& range,
                                  const std::function<void(double)>& progress) {
  const Tables& tables = reader.tables();
  const exports::Selection selection(tables, {});
  const Result<Lines> lines = read_lines(reader, selection, range);
  if (!lines) return lines.error();
  const Result<Played> played = play_range(reader, report, *lines, range, progress);
  if (!played) return played.error();
  Json head = head_of(reader, range);
  head["events"] = report.events;
  head["thinned"] = lines->is_thinned;
  head["stretches"] = lines->stretches;
  head["moments_thinned"] = played->moments.is_thinned;
  head["rows_left_out"] = played->tables.left_out();
  add_happenings(tables, head);
  std::string text = json_text(head);
  text.pop_back();
  text += ",\"lines\":[";
  for (std::size_t chip = 0; chip < lines->of_chip.size(); ++chip) {
    if (chip > 0) text += ',';
    text += line_json(report.devices[chip], lines->of_chip[chip]);
  }
  return text + "]," + played->tables.json() + "}";
}

}  // namespace ttmem::viewer
