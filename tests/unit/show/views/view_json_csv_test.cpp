// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyse/selection/select.hpp"
#include "base/safe_text.hpp"
#include "show/views/csv.hpp"
#include "show/views/json.hpp"
#include "support/views_fixtures.hpp"

namespace ttmem::views {
namespace {

using Json = nlohmann::ordered_json;
using namespace fixtures;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(CoresJson, EqualTheCoresOfTheSnapshot) {
  model::Snapshot snapshot = troubled();
  model::Device& device = snapshot.devices[0];
  device.cores[0].cb_bytes = ~std::uint64_t{0};
  device.cores[0].l1_data_bytes.reset();
  device.cores[0].headroom_bytes = -64;
  device.cores[1].headroom_bytes.reset();
  const Json root = Json::parse(snapshot_json(snapshot, JsonLayout::pretty));
  EXPECT_EQ(cores_json(device.cores), root["devices"][0]["per_core"].dump());
  EXPECT_EQ(cores_json({}), "[]");
}

TEST(SnapshotJson, HasTheKeysOfTheSchema) {
  const Json root = Json::parse(snapshot_json(troubled(), JsonLayout::pretty));
  EXPECT_EQ(keys_of(root),
            (Keys{"schema", "time_unix_ns", "host", "complete", "devices", "warnings", "unread"}));
  EXPECT_EQ(root["schema"], "ttmem.snapshot.v1");
  const Json& device = root["devices"][0];
  EXPECT_EQ(keys_of(device), (Keys{"id",
                                   "uid",
                                   "arch",
                                   "board",
                                   "grid",
                                   "dram",
                                   "l1",
                                   "trace",
                                   "system_bytes",
                                   "bus_id",
                                   "temperature_c",
                                   "power_w",
                                   "aiclk_mhz",
                                   "driver_number",
                                   "card_chips",
                                   "complete",
                                   "state",
                                   "untracked_processes",
                                   "capacities_from",
                                   "programs",
                                   "allocations_total",
                                   "frees_total",
                                   "anomalies",
                                   "sums_may_overlap",
                                   "ids",
                                   "other_uids",
                                   "open_in",
                                   "open_seen_in",
                                   "kinds",
                                   "processes",
                                   "per_core"}));
  EXPECT_EQ(keys_of(device["l1"]),
            (Keys{"used_bytes", "peak_bytes", "capacity_bytes", "bytes_per_core", "base_address",
                  "small_region_bytes_per_core", "buffers", "small_bytes", "small_data_bytes",
                  "small_lockstep_bytes", "cb", "kernels_bytes", "kernels_persistent_bytes",
                  "kernels_estimated_bytes", "headroom_bytes_per_core", "free_bytes_per_bank",
                  "largest_free_bytes_per_bank", "small_free_bytes_per_bank",
                  "small_largest_free_bytes_per_bank"}));
  EXPECT_EQ(keys_of(device["l1"]["cb"]),
            (Keys{"physical_bytes", "resident_bytes", "logical_bytes", "peak_bytes", "estimate"}));
  EXPECT_EQ(keys_of(device["processes"][0]), (Keys{"pid",           "name",
                                                   "user",          "state",
                                                   "source",        "dram_bytes",
                                                   "l1_bytes",      "l1_small_bytes",
                                                   "trace_bytes",   "cb_bytes",
                                                   "kernels_bytes", "kernels_estimated_bytes",
                                                   "cb_estimate",   "allocations",
                                                   "command",       "host_pid",
                                                   "pid_namespace", "device_supposed",
                                                   "not_tracked",   "may_hold",
                                                   "foreign_pid",   "segment",
                                                   "job",           "step",
                                                   "partition",     "rank",
                                                   "ranks",         "pod",
                                                   "pod_uid",       "namespace",
                                                   "container"}));
  EXPECT_EQ(keys_of(device["per_core"][0]), (Keys{"x", "y", "cb_bytes", "cb_resident_bytes",
                                                  "l1_bytes", "l1_data_bytes", "headroom_bytes"}));
  EXPECT_EQ(keys_of(device["l1"]["buffers"]),
            (Keys{"logical_bytes", "physical_bytes", "data_bytes", "lockstep_bytes"}));
}

TEST(SnapshotJson, HasTheFigures) {
  model::Snapshot snapshot = troubled();
  snapshot.devices[0].lockstep_bytes[Kind::l1] = 2 * kMiB;
  const Json root = Json::parse(snapshot_json(snapshot, JsonLayout::pretty));
  const Json& device = root["devices"][0];
  EXPECT_EQ(device["uid"], "0x1f00a");
  EXPECT_EQ(device["grid"], (Json{{"x", 8}, {"y", 8}}));
  EXPECT_EQ(device["l1"]["cb"]["physical_bytes"], 29 * kMiB);
  EXPECT_EQ(device["l1"]["headroom_bytes_per_core"], -115'200);
  EXPECT_EQ(device["l1"]["buffers"]["data_bytes"], 14 * kMiB);
  EXPECT_EQ(root["devices"][1]["l1"]["buffers"]["data_bytes"], nullptr);
  EXPECT_EQ(device["processes"][1]["state"], "dead");
  EXPECT_EQ(device["per_core"].size(), 64U);
  EXPECT_EQ(root["devices"][1]["processes"][0]["source"], "tt-metal");
  EXPECT_EQ(root["warnings"].size(), 1U);
}

TEST(SnapshotJson, ShowsUnknownAsNull) {
  const Json root = Json::parse(snapshot_json(snapshot_of({unannounced(3)}), JsonLayout::line));
  const Json& device = root["devices"][0];
  for (const char* key : {"uid", "arch", "board", "grid", "system_bytes", "programs"}) {
    EXPECT_TRUE(device[key].is_null()) << key;
  }
  EXPECT_TRUE(device["dram"]["capacity_bytes"].is_null());
  EXPECT_TRUE(device["l1"]["used_bytes"].is_null());
  EXPECT_TRUE(device["l1"]["buffers"]["physical_bytes"].is_null());
  EXPECT_EQ(device["per_core"], Json::array());
}

TEST(SnapshotJson, IsOneLineOnRequest) {
  const std::string line = snapshot_json(mesh(2), JsonLayout::line);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(SnapshotJson, SurvivesAnyBytesInStrings) {
  model::Snapshot snapshot = mesh(1);
  snapshot.devices[0].processes[0].name = "\xff\xfe\"\\\n\x01";
  snapshot.warnings = {"\xc3"};
  EXPECT_TRUE(Json::accept(snapshot_json(snapshot, JsonLayout::line)));
}

TEST(AllocationsJson, ListsTheLargestFirstAndCbsOnlyOnRequest) {
  const model::Snapshot snapshot = with_lists();
  const Json root = Json::parse(
      allocations_json(snapshot, selection::select_allocations(snapshot, {}), JsonLayout::pretty));
  EXPECT_EQ(root["schema"], "ttmem.allocations.v1");
  const Json& list = root["allocations"];
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(keys_of(list[0]),
            (Keys{"device",         "uid",     "pid",   "process", "state",      "host_pid",
                  "pid_namespace",  "kind",    "id",    "address", "bytes",      "physical_bytes",
                  "bytes_per_bank", "banks",   "cores", "age_ns",  "persistent", "estimate",
                  "label",          "devices", "scope", "job"}));
  EXPECT_EQ(list[0]["devices"], Json::array({list[0]["device"]}));
  EXPECT_EQ(list[0]["label"], "layers.0.attention.wqkv");
  EXPECT_TRUE(list[0]["cores"].is_null());
  EXPECT_EQ(list[1]["cores"], Json::parse("[[0,0,7,0]]"));
  EXPECT_TRUE(list[1]["label"].is_null());
  EXPECT_EQ(list[2]["persistent"], true);
  EXPECT_EQ(list[2]["estimate"], true);
  EXPECT_EQ(list[1]["estimate"], false);
  EXPECT_TRUE(list[2]["address"].is_null());
  EXPECT_EQ(list[1]["process"], "python3");
}

TEST(SelectAllocations, ListsTheCircularBuffersOfPrograms) {
  const model::Snapshot snapshot = with_lists();
  const auto cbs = selection::select_allocations(snapshot, {.pid = {}, .kinds = {Kind::cb}});
  ASSERT_EQ(cbs.size(), 6U);
  EXPECT_EQ(cbs[0].id, 102U);
  EXPECT_EQ(cbs[0].physical_bytes, 3 * 4096 * 64U);
  EXPECT_EQ(cbs[5].physical_bytes, 0U);  // a view of a buffer takes no bytes of its own
  EXPECT_TRUE(selection::select_allocations(snapshot, {.pid = 1, .kinds = {}}).empty());
}

TEST(ProgramsJson, ListsTheLargestProgramsFirst) {
  const model::Snapshot snapshot = with_lists();
  auto programs = selection::select_programs(snapshot, {});
  programs[0].name = "decoder.0.matmul";
  const Json root = Json::parse(programs_json(snapshot, programs, JsonLayout::pretty));
  EXPECT_EQ(root["schema"], "ttmem.programs.v1");
  const Json& first = root["programs"][0];
  EXPECT_EQ(first["name"], "decoder.0.matmul");
  EXPECT_EQ(first["label"], "decoder.0.matmul");
  EXPECT_TRUE(root["programs"][1]["name"].is_null());
  EXPECT_TRUE(root["programs"][1]["label"].is_null());
  EXPECT_EQ(first["program"], 102);
  EXPECT_EQ(first["exclusive_bytes"], 4096 * 64);
  EXPECT_EQ(first["cbs"][0]["cores"], Json::parse("[[0,0,7,7]]"));
  EXPECT_EQ(first["cbs"][1]["global"], true);
  EXPECT_EQ(root["programs"][2]["resident"], true);
}

TEST(SelectDevices, KeepsTheListsOfTheSelectedDevicesWithValidIndexes) {
  const model::Snapshot selected = selection::select_devices(with_lists(), {1, 9});
  ASSERT_EQ(selected.devices.size(), 1U);
  EXPECT_EQ(selected.devices[0].id, 1U);
  ASSERT_EQ(selected.allocations.size(), 1U);
  EXPECT_EQ(selected.allocations[0].device, 0U);
  ASSERT_EQ(selected.programs.size(), 1U);
  EXPECT_EQ(selected.programs[0].program, 101U);
  EXPECT_EQ(selection::missing_devices(with_lists(), {1, 9}), (std::vector<model::DeviceName>{9}));
}

TEST(SelectDevices, FindsAChipByItsUidAndByEachOfItsNumbers) {
  model::Snapshot snapshot;
  snapshot.devices.resize(3);
  snapshot.devices[0].uid = 0xa;
  snapshot.devices[0].ids = {0, 3};
  snapshot.devices[1].uid = 0xb;
  snapshot.devices[2].arch = "blackhole";
  EXPECT_EQ(selection::select_devices(snapshot, {model::name_of_uid(0xb)}).devices.at(0).uid, 0xbU);
  EXPECT_EQ(selection::select_devices(snapshot, {3}).devices.size(), 1U);
  EXPECT_EQ(selection::select_devices(snapshot, {0}).devices.size(), 3U) << "all are called 0";
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(selection::find_device(snapshot, name_of(snapshot.devices[i])), i);
  }
}

// Returns the fields of a CSV line that has no quotes.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

std::string column(const std::string& csv, const std::string& name) {
  std::istringstream stream(csv);
  std::string header;
  std::string row;
  std::getline(stream, header);
  std::getline(stream, row);
  const auto names = fields_of(header);
  const auto values = fields_of(row);
  EXPECT_EQ(names.size(), values.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return values[i];
  }
  return "no such column";
}

TEST(Csv, HasOneRowPerDeviceUnderNamedColumns) {
  const std::string csv = csv_header(CsvRows::devices) + csv_rows(mesh(3), CsvRows::devices);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_TRUE(csv.starts_with("device,uid,arch,board,dram_used_bytes,"));
  EXPECT_EQ(column(csv, "cb_physical_bytes"), std::to_string(29 * kMiB));
  EXPECT_EQ(column(csv, "headroom_bytes_per_core"), "421888");
  EXPECT_EQ(column(csv, "kernels_estimated_bytes"), "0");
}

TEST(Csv, ShowsUnknownAsNotAvailable) {
  const std::string csv =
      csv_header(CsvRows::devices) + csv_rows(snapshot_of({unannounced(3)}), CsvRows::devices);
  for (const char* name : {"uid", "arch", "grid_x", "l1_used_bytes", "kernels_bytes", "programs"}) {
    EXPECT_EQ(column(csv, name), "n/a") << name;
  }
}

TEST(Csv, HasOneRowPerCore) {
  const std::string rows = csv_rows(mesh(2), CsvRows::cores);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2 * 64);
}

TEST(Csv, QuotesFieldsThatWouldBreakTheRow) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\"\n"), "\"say \"\"hi\"\"\n\"");
}

}  // namespace
}  // namespace ttmem::views
