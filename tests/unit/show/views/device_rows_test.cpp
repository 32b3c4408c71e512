// SPDX-License-Identifier: Apache-2.0
#include "show/views/device_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "support/views_fixtures.hpp"

namespace ttmem::views {
namespace {

using namespace fixtures;
using What = DeviceRow::What;

std::vector<std::string_view> names_of(const DeviceRows& rows) {
  std::vector<std::string_view> names;
  for (const DeviceRow& row : rows) names.push_back(row.name);
  return names;
}

std::string note_of(const model::Device& device, What what) {
  return notes_to_fit(row_of(device_rows(device), what).notes, 1000);
}

TEST(DeviceRows, AreMemoriesWithPartsOfL1ThenHeadroomThenAnomalies) {
  EXPECT_EQ(names_of(device_rows(troubled().devices[0])),
            (std::vector<std::string_view>{"DRAM", "L1", "L1 buffers", "L1_SMALL", "CB", "Kernels",
                                           "Trace", "Headroom", "Anomalies"}));
}

TEST(DeviceRows, LeaveOutEmptyRows) {
  model::Device device = wormhole(0);
  device.kinds[Kind::l1_small].set(&KindFigures::used_bytes, 0);
  device.kinds[Kind::trace].set(&KindFigures::used_bytes, 0);
  device.kinds[Kind::trace].set(&KindFigures::peak_bytes, 0);
  device.trace_capacity_bytes = 0;
  EXPECT_EQ(
      names_of(device_rows(device)),
      (std::vector<std::string_view>{"DRAM", "L1", "L1 buffers", "CB", "Kernels", "Headroom"}));
}

TEST(DeviceRows, ShowUnknownFiguresAsNotAvailable) {
  for (const DeviceRow& row : device_rows({})) {
    EXPECT_EQ(row.size, "n/a") << row.name;
    EXPECT_FALSE(row.share()) << row.name;
    EXPECT_TRUE(row.notes.empty()) << row.name;
    EXPECT_TRUE(row.tone == text::Tone::none || row.is_part()) << row.name;
  }
}

TEST(DeviceRows, ASizeWithoutACapacityHasNoShare) {
  const DeviceRows rows = device_rows(unannounced(3));
  const DeviceRow& dram = row_of(rows, What::dram);
  EXPECT_EQ(dram.size, "700.0 MiB");
  EXPECT_FALSE(dram.share());
  EXPECT_EQ(notes_to_fit(dram.notes, 80), "physical n/a, of n/a, peak n/a, logical n/a");
}

TEST(DeviceRows, ShowTheBytesThatLockstepWastes) {
  model::Device device = wormhole(0);
  device.lockstep_bytes[Kind::l1] = 0;
  EXPECT_EQ(note_of(device, What::buffers), "logical 15.0 MiB");
  EXPECT_EQ(note_of(device, What::small), "");
  device.lockstep_bytes[Kind::l1] = 3 * kMiB;
  device.lockstep_bytes[Kind::l1_small] = kMiB / 16;
  EXPECT_EQ(note_of(device, What::buffers), "logical 15.0 MiB, lockstep wastes 3.00 MiB");
  EXPECT_EQ(note_of(device, What::small), "lockstep wastes 64.0 KiB");
}

TEST(DeviceRows, ShowTheFreeBytesOfAllBanksAndTheLargestBlock) {
  model::Device device = wormhole(0);
  device.dram_channels = 12;
  device.free[Kind::dram] = {870 * kMiB, 858 * kMiB};
  device.free[Kind::l1] = {412 * 1024, 412 * 1024};
  const DeviceRows rows = device_rows(device);
  const std::vector<Note>& notes = row_of(rows, What::free).notes;
  EXPECT_EQ(notes_to_fit(notes, 130),
            "DRAM 10.2 GiB (12 banks x 870.0 MiB, largest block 858.0 MiB), "
            "L1 25.8 MiB (64 banks x 412.0 KiB, largest block 412.0 KiB)");
  EXPECT_EQ(notes_to_fit(notes, 80),
            "DRAM 10.2 GiB (12 x 870.0 MiB, max 858.0 MiB), L1 25.8 MiB (64 x 412.0 KiB)");
}

TEST(DeviceRows, ShowFreeBytesPerBankIfTheNumberOfBanksIsUnknown) {
  model::Device device = wormhole(0);
  device.dram_channels = 0;
  device.free[Kind::dram] = {870 * kMiB, 858 * kMiB};
  const DeviceRows rows = device_rows(device);
  const std::vector<Note>& notes = row_of(rows, What::free).notes;
  EXPECT_EQ(notes_to_fit(notes, 100), "DRAM 870.0 MiB per bank (largest block 858.0 MiB)");
  EXPECT_EQ(notes_to_fit(notes, 40), "DRAM 870.0 MiB/bank (max 858.0 MiB)");
}

TEST(DeviceRows, NotesInLinesLeaveOutNoNoteAndBreakNone) {
  const std::vector<Note> notes = {
      {"one of four", ""}, {"a long second note", "second"}, {"third", ""}};
  EXPECT_EQ(notes_in_lines(notes, 80),
            (std::vector<std::string>{"one of four, a long second note, third"}));
  EXPECT_EQ(notes_in_lines(notes, SIZE_MAX), notes_in_lines(notes, 80)) << "a file has no width";
  EXPECT_EQ(notes_in_lines(notes, 20), (std::vector<std::string>{"one of four, second,", "third"}));
  EXPECT_EQ(notes_in_lines(notes, 5),
            (std::vector<std::string>{"one of four,", "second,", "third"}));
}

TEST(DeviceRows, SayThatSumsOfSeveralProcessesMayOverlap) {
  model::Device device = wormhole(0);
  EXPECT_EQ(sharing_text(device), "");
  device.processes.push_back(process(4712, "python3", ""));
  const std::string words = "2 processes share this chip; sums may overlap";
  EXPECT_EQ(sharing_text(device), words);
  EXPECT_EQ(note_of(device, What::shared), words);
  device.processes.back().state = model::State::dead;
  EXPECT_EQ(sharing_text(device), "");
}

TEST(DeviceRows, EachPartOfL1BeginsWhereThePartBeforeEnds) {
  const std::vector<text::BarPiece> pieces = l1_pieces(device_rows(wormhole(0)));
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_EQ(pieces[0].begin, 0);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    EXPECT_DOUBLE_EQ(pieces[i].begin, pieces[i - 1].end);
  }
  EXPECT_EQ(pieces[2].tone, text::Tone::cbs);
}

TEST(DeviceRows, AFullMemoryIsBad) {
  model::Device device = wormhole(0);
  device.kinds[Kind::dram].set(&KindFigures::used_bytes, 11 * kGiB);
  EXPECT_EQ(row_of(device_rows(device), What::dram).tone, text::Tone::bad);
  EXPECT_EQ(row_of(device_rows(wormhole(0)), What::dram).tone, text::Tone::good);
}

TEST(DeviceRows, AClashIsBadAndNamesItsCores) {
  const DeviceRows rows = device_rows(troubled().devices[0]);
  const DeviceRow& headroom = row_of(rows, What::headroom);
  EXPECT_EQ(headroom.tone, text::Tone::bad);
  EXPECT_FALSE(headroom.minor);
  EXPECT_EQ(headroom.size, "-112.5 KiB");
  EXPECT_EQ(notes_to_fit(headroom.notes, 80),
            "clash: CBs overrun L1 buffers on 12 cores, first (0,0)");
  EXPECT_EQ(notes_to_fit(headroom.notes, 40), "clash on 12 cores, first (0,0)");
  EXPECT_EQ(headroom_in_brief(troubled().devices[0]), "CLASH -112.5 KiB per core");
}

TEST(DeviceRows, TheTightestCoresHaveOneWording) {
  model::Device device = wormhole(0);
  EXPECT_EQ(note_of(device, What::headroom), "between CBs and L1 buffers on 32 cores, (0,0)-(7,3)");
  device.cores[9].headroom_bytes = 1024;
  device.headroom_bytes_per_core = 1024;
  EXPECT_EQ(note_of(device, What::headroom), "between CBs and L1 buffers on core (1,1)");
  for (model::Core& core : device.cores) core.headroom_bytes = 1024;
  EXPECT_EQ(note_of(device, What::headroom), "between CBs and L1 buffers on every core");
  device.cores.clear();
  EXPECT_EQ(note_of(device, What::headroom), "between CBs and L1 buffers on the tightest core");
}

TEST(DeviceRows, AnomaliesAreAWarningOnlyWhenThereAreAny) {
  EXPECT_EQ(device_rows(troubled().devices[0]).back().tone, text::Tone::warn);
  EXPECT_EQ(device_rows(wormhole(0)).back().what, What::headroom);
}

TEST(DeviceRows, BuffersOfUnknownSizePerBankAreMarked) {
  model::Device device = wormhole(0);
  EXPECT_EQ(note_of(device, What::buffers), "logical 15.0 MiB");
  device.kinds[Kind::l1].set(&KindFigures::unsized, 1);
  EXPECT_EQ(note_of(device, What::buffers), "physical n/a, logical 15.0 MiB");
}

TEST(NotesToFit, DropTheLeastImportantAndNeverCut) {
  const DeviceRows rows = device_rows(wormhole(0));
  const std::vector<Note>& notes = row_of(rows, What::cb).notes;
  const std::vector<std::string> allowed = {
      "resident 10.0 MiB, logical 300.0 MiB, peak 30.0 MiB",
      "resident 10.0 MiB, logical 300.0 MiB",
      "res 10.0 MiB, log 300.0 MiB",
      "res 10.0 MiB",
      "",
  };
  for (std::size_t width = 0; width < 60; ++width) {
    const std::string text = notes_to_fit(notes, width);
    EXPECT_LE(text.size(), width);
    const auto longest = std::find_if(allowed.begin(), allowed.end(),
                                      [&](const auto& form) { return form.size() <= width; });
    EXPECT_EQ(text, *longest) << width;
  }
}

TEST(DeviceTitle, NamesModelGridProcessesAndPrograms) {
  const DeviceTitle title = device_title(wormhole(2));
  EXPECT_EQ(title.name, "Device 2");
  EXPECT_EQ(title.board, "n300");
  EXPECT_EQ(title.facts, (std::vector<std::string>{"n300 (wormhole_b0)", "8x8 cores"}));
  EXPECT_EQ(title.counts, (std::vector<std::string>{"1 process", "30 programs"}));
  EXPECT_EQ(title.uid, "uid 0x1f00c");
}

TEST(DeviceTitle, ShowsUnknownPartsAsUnknown) {
  const DeviceTitle title = device_title({});
  EXPECT_EQ(title.facts, (std::vector<std::string>{"model n/a"}));
  EXPECT_EQ(title.counts, (std::vector<std::string>{"no living process"}));
  EXPECT_EQ(title.uid, "");
}

}  // namespace
}  // namespace ttmem::views
