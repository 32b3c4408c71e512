// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyse/report/make_report.hpp"
#include "analyse/report/report_json.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/playback/playback.hpp"
#include "serve/viewer/document.hpp"
#include "show/views/json.hpp"
#include "support/recorded_history.hpp"
#include "support/temporary_directory.hpp"

namespace ttmem::viewer {
namespace {

using Json = nlohmann::json;
using recording::Reader;
using recording::Writer;

class File {
 public:
  [[nodiscard]] std::string path() const { return directory_.path() + "/run.ttmem"; }
  [[nodiscard]] std::unique_ptr<Writer> writer(bool aggregate = false) const {
    recording::Run run;
    run.host = "box";
    run.aggregate = aggregate;
    auto made = Writer::create(path(), run, false);
    return std::move(*made);
  }

 private:
  TemporaryDirectory directory_;
};

struct RecordingAndReport {
  explicit RecordingAndReport(const File& file) {
    auto opened = Reader::open(file.path());
    reader = std::move(*opened);
    report = *report::make_report(*reader, {});
  }

  [[nodiscard]] Json timeline(const TimeRange& range) const {
    const Result<std::string> text = timeline_json(*reader, report, range, {});
    EXPECT_TRUE(text) << text.error().message;
    return Json::parse(*text);
  }

  std::unique_ptr<Reader> reader;
  report::Report report;
};

Json highest(const Json& line, const std::vector<std::string>& kinds) {
  Json most;
  for (std::size_t i = 0; i < line["time_ns"].size(); ++i) {
    Json sum;
    for (const std::string& kind : kinds) {
      if (line[kind][i].is_null()) continue;
      sum = (sum.is_null() ? 0 : sum.get<std::uint64_t>()) + line[kind][i].get<std::uint64_t>();
    }
    if (most.is_null() || (!sum.is_null() && sum > most)) most = sum;
  }
  return most;
}

void expect_peaks_of_report(const Json& timeline, const report::Report& report) {
  const Json devices = Json::parse(report::report_json(report, 10))["devices"];
  ASSERT_EQ(timeline["lines"].size(), devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Json& line = timeline["lines"][i];
    const auto peak = [&](const char* name) { return devices[i][name]["peak_bytes"]; };
    EXPECT_EQ(line["id"], devices[i]["id"]);
    EXPECT_EQ(highest(line, {"dram"}), peak("dram"));
    EXPECT_EQ(highest(line, {"cb"}), peak("cb"));
    EXPECT_EQ(highest(line, {"l1"}), peak("l1_buffers"));
    EXPECT_EQ(highest(line, {"trace"}), peak("trace"));
    EXPECT_EQ(highest(line, {"l1", "l1_small", "cb", "kernel"}), peak("l1"));
  }
}

// Returns the rows of a list that are live at the moment `moment`. Chooses the rows as the page
// does.
Json rows_at(const Json& timeline, const char* list, std::size_t moment) {
  Json rows = Json::array();
  const auto now = timeline["moments"][moment]["time_ns"].get<Time>();
  for (const Json& entry : timeline[list]) {
    if (moment < entry["first"] || moment > entry["last"]) continue;
    Json row = entry["row"];
    row["age_ns"] = now - entry["begin_ns"].get<Time>();
    if (entry.contains("cbs")) {
      row["cbs"] = timeline["layouts"][entry["cbs"].get<std::size_t>()];
      row.erase("physical_share");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json sorted(Json list) {
  std::sort(list.begin(), list.end());
  return list;
}

// Compares every moment of the timeline with the playback of the recording at the same time.
void expect_moments_as_played(const Json& timeline, const Reader& reader) {
  recording::Playback playback(reader);
  for (std::size_t i = 0; i < timeline["moments"].size(); ++i) {
    const Json& moment = timeline["moments"][i];
    ASSERT_TRUE(playback.advance_to(moment["time_ns"].get<Time>()));
    const model::Snapshot snapshot = playback.snapshot();
    const auto layout = views::JsonLayout::line;
    Json played = Json::parse(views::snapshot_json(snapshot, layout))["devices"];
    ASSERT_EQ(moment["devices"].size(), played.size());
    for (std::size_t k = 0; k < played.size(); ++k) {
      const Json& device = moment["devices"][k];
      EXPECT_EQ(device[0], played[k]["uid"]);
      EXPECT_EQ(timeline["cores"][device[2].get<std::size_t>()], played[k]["per_core"]);
      played[k].erase("per_core");
      EXPECT_EQ(timeline["figures"][device[1].get<std::size_t>()], played[k]);
    }
    EXPECT_EQ(sorted(rows_at(timeline, "allocations", i)),
              sorted(Json::parse(
                  views::allocations_json(snapshot, snapshot.allocations, layout))["allocations"]));
    Json programs =
        Json::parse(views::programs_json(snapshot, snapshot.programs, layout))["programs"];
    for (Json& program : programs) program.erase("physical_share");
    EXPECT_EQ(sorted(rows_at(timeline, "programs", i)), sorted(programs));
  }
}

class TimelineOf : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(TimelineOf, AgreesWithTheReportAndThePlayback) {
  const File file;
  {
    const auto writer = file.writer();
    const recording::RandomHistory history(*writer, GetParam(), 80);
    ASSERT_TRUE(writer->commit());
  }
  const RecordingAndReport told(file);
  const TimeRange all = whole(*told.reader);
  const Json timeline = told.timeline(all);
  EXPECT_GT(timeline["moments"].size(), 40U);
  EXPECT_EQ(timeline["thinned"], false);
  EXPECT_EQ(timeline["moments_thinned"], false);
  expect_peaks_of_report(timeline, told.report);
  expect_moments_as_played(timeline, *told.reader);
}

TEST_P(TimelineOf, AgreesForAPartOfTheRecording) {
  const File file;
  {
    const auto writer = file.writer();
    const recording::RandomHistory history(*writer, GetParam(), 80);
    ASSERT_TRUE(writer->commit());
  }
  const RecordingAndReport told(file);
  const TimeRange part{50, 120};
  const Json timeline = told.timeline(part);
  expect_moments_as_played(timeline, *told.reader);
  for (const Json& moment : timeline["moments"]) {
    EXPECT_GE(moment["time_ns"], part.from_ns);
    EXPECT_LE(moment["time_ns"], part.to_ns);
  }
  for (const Json& line : timeline["lines"]) {
    EXPECT_EQ(line["time_ns"].front(), part.from_ns);
    EXPECT_EQ(line["time_ns"].back(), part.to_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, TimelineOf, ::testing::Range(0U, 8U));

TEST(Timeline, NamesTheReasonForAMoment) {
  const File file;
  {
    const auto writer = file.writer();
    const auto process = writer->begin(recording::RecordedProcess{.pid = 7, .name = "model"});
    recording::RecordedDevice device = recording::small_wormhole(process, 0, 0xa0);
    device.begin_ns = 10;
    device.id = writer->begin(device);
    writer->add(recording::Mark{.time_ns = 20, .process = process, .name = "step \x1b[1m"});
    writer->add(recording::RecordedFailure{.time_ns = 30, .process = process, .text = "no room"});
    device.end_ns = 40;
    writer->change(device);
    ASSERT_TRUE(writer->commit());
  }
  const Json timeline = RecordingAndReport(file).timeline({0, 100});
  std::map<Time, Json> why;
  for (const Json& moment : timeline["moments"]) why[moment["time_ns"]] = moment["why"];
  EXPECT_EQ(why.at(30), Json::array({"failure"}));
  ASSERT_EQ(why.at(20).size(), 1U);
  EXPECT_EQ(why.at(20)[0].get<std::string>().find('\x1b'), std::string::npos);
  EXPECT_EQ(timeline["marks"][0]["pid"], 7);
  EXPECT_EQ(timeline["failures"][0]["text"], "no room");
  // The first value is from before the device is opened, and the last value is from after its
  // close. Both are unknown.
  const Json& line = timeline["lines"][0];
  EXPECT_EQ(line["dram"].front(), nullptr);
  EXPECT_EQ(line["dram"][1], 0);
  EXPECT_EQ(line["dram"].back(), nullptr);
}

// Two processes have chips with the same number. The processes are in two containers and have the
// same pid.
TEST(Timeline, NamesChipsAndProcessOfARow) {
  const File file;
  std::vector<recording::RowId> processes;
  {
    const auto writer = file.writer();
    for (const auto& uids : {std::vector{0xa0, 0xa1}, std::vector{0xc0, 0xc1}}) {
      processes.push_back(writer->begin(recording::RecordedProcess{.pid = 1, .name = "python3"}));
      std::vector<recording::RowId> mesh;
      for (std::uint32_t i = 0; i < 2; ++i) {
        mesh.push_back(writer->begin(
            recording::small_wormhole(processes.back(), i, static_cast<std::uint64_t>(uids[i]))));
      }
      writer->begin(recording::RecordedAllocation{.devices = writer->device_set(mesh),
                                                  .request = writer->request({.bytes = 64}),
                                                  .begin_ns = 10});
    }
    ASSERT_TRUE(writer->commit());
  }
  const Json timeline = RecordingAndReport(file).timeline({0, 30});
  std::map<std::uint64_t, Json> keys;
  for (const Json& entry : timeline["allocations"]) keys[entry["segment"]] = entry["keys"];
  EXPECT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[static_cast<std::uint64_t>(processes[0])], Json({"0xa0", "0xa1"}));
  EXPECT_EQ(keys[static_cast<std::uint64_t>(processes[1])], Json({"0xc0", "0xc1"}));
  const Json& held = timeline["figures"].back()["processes"];
  EXPECT_EQ(held[0]["segment"], processes[1]);
}

TEST(Timeline, OfAnAggregateHasItsSamples) {
  const File file;
  {
    const auto writer = file.writer(true);
    const auto process = writer->begin(recording::RecordedProcess{.pid = 7, .name = "model"});
    recording::RecordedDevice device = recording::small_wormhole(process, 0, 0xa0);
    device.id = writer->begin(device);
    writer->add(recording::RecordedSample{10, device.id, Kind::dram, 500, 900});
    writer->add(recording::RecordedSample{10, device.id, Kind::l1, 70, 70});
    writer->add(recording::RecordedSample{20, device.id, Kind::dram, 300, 900});
    ASSERT_TRUE(writer->commit());
  }
  const Json line = RecordingAndReport(file).timeline({0, 30})["lines"][0];
  EXPECT_EQ(line["time_ns"], Json({0, 10, 20, 30}));
  EXPECT_EQ(line["dram"], Json({nullptr, 500, 300, 300}));
  EXPECT_EQ(line["l1"], Json({nullptr, 70, 70, 70}));
  EXPECT_EQ(line["cb"][1], nullptr);
}

// The per-core figures of several devices at hundreds of moments exceed the size limit of the
// document.
TEST(Timeline, ReportsProgressOnceWhenItRetriesWithFewerMoments) {
  constexpr std::uint64_t devices = 8;
  constexpr std::uint64_t steps = 620;
  const File file;
  {
    const auto writer = file.writer();
    const auto process = writer->begin(recording::RecordedProcess{.pid = 7, .name = "model"});
    std::vector<recording::RowId> sets;
    for (std::uint32_t number = 0; number < devices; ++number) {
      recording::RecordedDevice device = recording::small_wormhole(process, number, 0xa0 + number);
      device.grid_x = 13;
      device.grid_y = 10;
      sets.push_back(writer->device_set(std::vector{writer->begin(device)}));
    }
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (std::uint64_t device = 0; device < devices; ++device) {
        const std::uint64_t bytes = 32 * (1 + step * devices + device);
        const recording::RecordedRequest request{.kind = Kind::l1,
                                                 .has_bytes_per_bank = true,
                                                 .banks = 130,
                                                 .bytes = 130 * bytes,
                                                 .bytes_per_bank = bytes};
        const auto time = static_cast<Time>(10 + 10 * step);
        const auto row =
            writer->begin(recording::RecordedAllocation{.devices = sets[device],
                                                        .request = writer->request(request),
                                                        .number = step * devices + device,
                                                        .begin_ns = time});
        writer->end_allocation(row, time + 25, recording::Ending::freed);
      }
    }
    ASSERT_TRUE(writer->commit());
  }
  const RecordingAndReport told(file);
  std::vector<double> parts;
  const auto text = timeline_json(*told.reader, told.report, whole(*told.reader),
                                  [&](double part) { parts.push_back(part); });
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("\"moments_thinned\":true"), std::string::npos);
  EXPECT_TRUE(std::is_sorted(parts.begin(), parts.end()));
  EXPECT_EQ(parts.back(), 1);
}

TEST(ViewDocument, HasBothRunsAndTheirDifferences) {
  const File old;
  const File now;
  for (const File* file : {&old, &now}) {
    const auto writer = file->writer();
    const recording::RandomHistory history(*writer, 1, 50);
    ASSERT_TRUE(writer->commit());
  }
  std::vector<viewer::ShownRecording> runs;
  for (const File* file : {&old, &now}) {
    auto run = open_run(file->path(), {});
    runs.push_back(std::move(*run));
  }
  std::string told;
  const auto text =
      view_document(runs, Shown::served, [&](const std::string& name, double) { told = name; });
  ASSERT_TRUE(text);
  EXPECT_EQ(text->find('\n'), std::string::npos);
  const Json document = Json::parse(*text);
  EXPECT_EQ(document["schema"], "ttmem.view.v1");
  ASSERT_EQ(document["runs"].size(), 2U);
  EXPECT_EQ(document["runs"][1]["name"], "run.ttmem");
  EXPECT_EQ(document["runs"][0]["leaks"]["schema"], "ttmem.leaks.v1");
  EXPECT_EQ(document["diff"]["schema"], "ttmem.diff.v1");
  EXPECT_EQ(document["exports"][0], "perfetto");
  EXPECT_EQ(told, "run.ttmem");
  const auto alone = Json::parse(*view_document({}, Shown::in_one_file, {}));
  EXPECT_EQ(alone["exports"], Json::array());
  EXPECT_EQ(alone["diff"], nullptr);
}

}  // namespace
}  // namespace ttmem::viewer
