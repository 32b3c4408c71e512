// SPDX-License-Identifier: Apache-2.0
//
// Tests that docs/internals/segment-layout.md agrees with the code. The offsets in the document
// must equal the offsets in the structures, and the example bytes in the document must parse.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "segment/layout/layout.hpp"

namespace ttmem::segment {
namespace {

std::string document() {
  const std::ifstream file(TTMEM_SOURCE_DIR "/docs/internals/segment-layout.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the offset of each field in the table under `heading`.
std::map<std::string, std::size_t> table(const std::string& heading) {
  std::istringstream lines(document());
  std::map<std::string, std::size_t> fields;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    // A row of the table looks like "| 48 | u64 | `start_time_ticks`: ...".
    const std::size_t open = line.find('`');
    const std::size_t close = line.find('`', open + 1);
    const bool is_row = line.starts_with("| ") && line[2] >= '0' && line[2] <= '9';
    if (!inside || !is_row || close == std::string::npos) continue;
    fields[line.substr(open + 1, close - open - 1)] = std::stoul(line.substr(2));
  }
  return fields;
}

template <typename Record>
Record example(const std::string& name) {
  std::istringstream lines(document());
  std::vector<unsigned char> bytes;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```hex " + name;
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line.substr(line.find(' ')));
    for (unsigned value = 0; words >> std::hex >> value;) {
      bytes.push_back(static_cast<unsigned char>(value));
    }
  }
  Record record{};
  EXPECT_EQ(bytes.size(), sizeof record);
  std::memcpy(&record, bytes.data(), std::min(bytes.size(), sizeof record));
  return record;
}

#define EXPECT_FIELD(Record, field) \
  EXPECT_EQ(fields.count(#field) ? fields.at(#field) : ~std::size_t{0}, offsetof(Record, field))

TEST(SegmentLayoutDocument, HeaderOffsetsMatch) {
  const auto fields = table("Header");
  EXPECT_EQ(fields.size(), 40U);
  EXPECT_FIELD(Header, magic);
  EXPECT_FIELD(Header, layout_version);
  EXPECT_FIELD(Header, header_bytes);
  EXPECT_FIELD(Header, chunk_bytes);
  EXPECT_FIELD(Header, event_bytes);
  EXPECT_FIELD(Header, pid);
  EXPECT_FIELD(Header, uid);
  EXPECT_FIELD(Header, start_time_ticks);
  EXPECT_FIELD(Header, boot_id);
  EXPECT_FIELD(Header, created_unix_ns);
  EXPECT_FIELD(Header, created_ns);
  EXPECT_FIELD(Header, name);
  EXPECT_FIELD(Header, command);
  EXPECT_FIELD(Header, exit_state);
  EXPECT_FIELD(Header, chunk_count);
  EXPECT_FIELD(Header, device_count);
  EXPECT_FIELD(Header, cb_count);
  EXPECT_FIELD(Header, event_capacity);
  EXPECT_FIELD(Header, last_error);
  EXPECT_FIELD(Header, events);
  EXPECT_FIELD(Header, event_details);
  EXPECT_FIELD(Header, event_count);
  EXPECT_FIELD(Header, ended_ns);
  EXPECT_FIELD(Header, client_uid);
  EXPECT_FIELD(Header, dropped_allocations);
  EXPECT_FIELD(Header, dropped_programs);
  EXPECT_FIELD(Header, dropped_calls);
  EXPECT_FIELD(Header, dropped_names);
  EXPECT_FIELD(Header, text_bytes);
  EXPECT_FIELD(Header, pid_namespace);
  EXPECT_FIELD(Header, text_count);
  EXPECT_FIELD(Header, device_set_count);
  EXPECT_FIELD(Header, device_set_bytes);
  EXPECT_FIELD(Header, not_seen);
}

TEST(SegmentLayoutDocument, FailureOffsetsMatch) {
  const auto fields = table("Failure");
  EXPECT_EQ(fields.size(), 9U);
  EXPECT_FIELD(FailureRecord, seq);
  EXPECT_FIELD(FailureRecord, text_bytes);
  EXPECT_FIELD(FailureRecord, number);
  EXPECT_FIELD(FailureRecord, when_ns);
  EXPECT_FIELD(FailureRecord, when_unix_ns);
  EXPECT_FIELD(FailureRecord, not_kept);
  EXPECT_FIELD(FailureRecord, not_kept_error);
  EXPECT_FIELD(FailureRecord, run);
  EXPECT_FIELD(FailureRecord, text);
  EXPECT_NE(document().find("At offset 8,704"), std::string::npos);
  EXPECT_EQ(kFailureOffset, 8704U);
}

TEST(SegmentLayoutDocument, JobOffsetsMatch) {
  const auto fields = table("Job");
  EXPECT_EQ(fields.size(), 9U);
  EXPECT_FIELD(JobRecord, id);
  EXPECT_FIELD(JobRecord, step);
  EXPECT_FIELD(JobRecord, partition);
  EXPECT_FIELD(JobRecord, rank);
  EXPECT_FIELD(JobRecord, ranks);
  EXPECT_FIELD(JobRecord, pod);
  EXPECT_FIELD(JobRecord, pod_uid);
  EXPECT_FIELD(JobRecord, pod_namespace);
  EXPECT_FIELD(JobRecord, container);
  EXPECT_NE(document().find("At offset 9,856"), std::string::npos);
  EXPECT_EQ(kJobOffset, 9856U);
}

TEST(SegmentLayoutDocument, RunOffsetsMatch) {
  const auto fields = table("Runs");
  EXPECT_EQ(fields.size(), 1U);
  EXPECT_FIELD(RunRecord, ids);
  EXPECT_NE(document().find("At offset 10,560"), std::string::npos);
  EXPECT_EQ(kRunOffset, 10560U);
}

TEST(SegmentLayoutDocument, DeviceOffsetsMatch) {
  const auto fields = table("Device");
  EXPECT_FIELD(DeviceRecord, state);
  EXPECT_FIELD(DeviceRecord, id);
  EXPECT_FIELD(DeviceRecord, announced);
  EXPECT_FIELD(DeviceRecord, uid);
  EXPECT_FIELD(DeviceRecord, arch);
  EXPECT_FIELD(DeviceRecord, board);
  EXPECT_FIELD(DeviceRecord, grid_x);
  EXPECT_FIELD(DeviceRecord, l1_bytes_per_core);
  EXPECT_FIELD(DeviceRecord, dram_channels);
  EXPECT_FIELD(DeviceRecord, resident_reported);
  EXPECT_FIELD(DeviceRecord, dram_bytes_per_channel);
  EXPECT_FIELD(DeviceRecord, trace_region_bytes);
  EXPECT_FIELD(DeviceRecord, opened_ns);
  EXPECT_FIELD(DeviceRecord, programs_reported);
  EXPECT_FIELD(DeviceRecord, cb_estimate);
  EXPECT_FIELD(DeviceRecord, figures);
  EXPECT_FIELD(DeviceRecord, past_peaks);
  EXPECT_FIELD(DeviceRecord, cores_seq);
  EXPECT_FIELD(DeviceRecord, cores);
}

TEST(SegmentLayoutDocument, FigureOffsetsMatch) {
  auto fields = table("Figures");
  EXPECT_FIELD(DeviceFigures, kinds);
  EXPECT_FIELD(DeviceFigures, kernel_role_bytes);
  EXPECT_FIELD(DeviceFigures, kernel_estimated_bytes);
  EXPECT_FIELD(DeviceFigures, l1_total_bytes);
  EXPECT_FIELD(DeviceFigures, l1_total_peak_bytes);
  EXPECT_FIELD(DeviceFigures, loose_cb_bytes);
  EXPECT_FIELD(DeviceFigures, cb_resident_bytes);
  EXPECT_FIELD(DeviceFigures, programs);
  EXPECT_FIELD(DeviceFigures, anomalies);
  fields = table("Kind");
  EXPECT_FIELD(KindFigures, used_bytes);
  EXPECT_FIELD(KindFigures, peak_bytes);
  EXPECT_FIELD(KindFigures, logical_bytes);
  EXPECT_FIELD(KindFigures, live);
  EXPECT_FIELD(KindFigures, unsized);
  EXPECT_FIELD(KindFigures, allocations);
  EXPECT_FIELD(KindFigures, frees);
  EXPECT_FIELD(KindFigures, known);
}

TEST(SegmentLayoutDocument, SlotAndRecordOffsetsMatch) {
  auto fields = table("Allocation");
  EXPECT_FIELD(AllocationSlot, kind);
  EXPECT_FIELD(AllocationSlot, flags);
  EXPECT_FIELD(AllocationSlot, born);
  EXPECT_FIELD(AllocationSlot, address);
  EXPECT_FIELD(AllocationSlot, bytes_per_bank);
  EXPECT_FIELD(AllocationSlot, banks);
  EXPECT_FIELD(AllocationSlot, device);
  EXPECT_FIELD(AllocationSlot, cores);
  EXPECT_FIELD(AllocationSlot, label);
  fields = table("Program");
  EXPECT_FIELD(ProgramSlot, program);
  EXPECT_FIELD(ProgramSlot, footprint);
  EXPECT_FIELD(ProgramSlot, first_cb);
  EXPECT_FIELD(ProgramSlot, cb_count);
  EXPECT_FIELD(ProgramSlot, resident_cores);
  EXPECT_FIELD(ProgramSlot, name);
  EXPECT_FIELD(ProgramSlot, scope);
  fields = table("CB");
  EXPECT_FIELD(CbRecord, address);
  EXPECT_FIELD(CbRecord, bytes);
  EXPECT_FIELD(CbRecord, cores);
  fields = table("Text");
  EXPECT_FIELD(TextRecord, length);
  EXPECT_FIELD(TextRecord, text);
  fields = table("Scope");
  EXPECT_FIELD(ScopeRecord, name);
  EXPECT_FIELD(ScopeRecord, entered);
  EXPECT_FIELD(ScopeRecord, open);
  EXPECT_FIELD(ScopeRecord, last_ns);
  EXPECT_FIELD(ScopeRecord, before_ns);
  fields = table("Device set");
  EXPECT_FIELD(DeviceSetRecord, count);
  EXPECT_FIELD(DeviceSetRecord, devices);
  fields = table("Event");
  EXPECT_FIELD(EventRecord, when_ns);
  EXPECT_FIELD(EventRecord, type);
  EXPECT_FIELD(EventRecord, device_id);
  EXPECT_FIELD(EventRecord, flags);
  EXPECT_FIELD(EventRecord, bytes);
  EXPECT_FIELD(EventRecord, bytes_per_bank);
  EXPECT_FIELD(EventRecord, banks);
  EXPECT_FIELD(EventRecord, slot);
}

TEST(SegmentLayoutDocument, TheExampleSetHas32Devices) {
  const auto set = example<DeviceSetRecord>("device set");
  EXPECT_EQ(set.count, 32U);
  EXPECT_EQ(set.devices, DeviceMask::first(32));
}

TEST(SegmentLayoutDocument, ExampleBytesParse) {
  const auto slot = example<AllocationSlot>("allocation");
  EXPECT_EQ(slot.seq % 2, 0U);
  EXPECT_EQ(slot.live, 1U);
  EXPECT_EQ(slot.kind, 1U);
  EXPECT_EQ(slot.flags, kNoCores);
  EXPECT_EQ(slot.born, 17U);
  EXPECT_EQ(slot.id, 42U);
  EXPECT_EQ(slot.bytes, 128U << 10);
  EXPECT_EQ(slot.bytes_per_bank, 2U << 10);
  EXPECT_EQ(slot.banks, 64U);
  EXPECT_STREQ(slot.label, "decoder.0.attention");
  const auto text = example<TextRecord>("text");
  EXPECT_EQ(std::string(text.text, text.length), "decoder.0.matmul");
  const auto event = example<EventRecord>("event");
  EXPECT_EQ(event.number, slot.born);
  EXPECT_EQ(event.when_ns, slot.when_ns);
  EXPECT_EQ(event.type, static_cast<std::uint8_t>(EventType::alloc));
  EXPECT_EQ(event.device_id, 3U);
  EXPECT_EQ(event.address, slot.address);
  EXPECT_EQ(event.bytes_per_bank, slot.bytes_per_bank);
  EXPECT_EQ(event.banks, slot.banks);
}

}  // namespace
}  // namespace ttmem::segment
