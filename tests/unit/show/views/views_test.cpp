// SPDX-License-Identifier: Apache-2.0
//
// Tests the text views: their exact output, and properties for any snapshot and width.
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "analyse/selection/select.hpp"
#include "show/views/allocations.hpp"
#include "show/views/brief_text.hpp"
#include "show/views/core_text.hpp"
#include "show/views/process_text.hpp"
#include "show/views/programs.hpp"
#include "show/views/snapshot_text.hpp"
#include "support/views_fixtures.hpp"
#include "text/bar.hpp"
#include "text/core_ranges.hpp"

namespace ttmem::views {
namespace {

using namespace fixtures;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t lines_starting(const std::string& text, const std::string& begin) {
  std::size_t count = 0;
  for (const std::string& line : lines_of(text)) count += line.starts_with(begin) ? 1 : 0;
  return count;
}

TEST(SnapshotText, MatchesItsScreenAt80Columns) {
  EXPECT_EQ(snapshot_text(mesh(1), {}, {.width = 80}),
            R"GOLDEN(ttmem  2026-08-22 12:00:05  1 device, 1 process  galaxy-17

Device 0: n300 (wormhole_b0), 8x8 cores, 1 process, 30 programs, uid 0x1f00a
        DRAM: 1.25 GiB  █▎░░░░░░░░░░  10%  of 12.0 GiB, peak 1.50 GiB
          L1: 45.3 MiB  ██████░░░░░░  50%  of 91.5 MiB, peak 48.0 MiB
  L1 buffers: 16.0 MiB  ██▏           17%  logical 15.0 MiB
    L1_SMALL: 128.0 KiB   ▏           <1%
          CB: 29.0 MiB    ███▉        32%  resident 10.0 MiB, logical 300.0 MiB
     Kernels: 200.0 KiB       ▏       <1%  200.0 KiB persistent
       Trace: 3.00 MiB  ▋░░░░░░░░░░░   5%  of 64.0 MiB, peak 3.00 MiB
    Headroom: 412.0 KiB between CBs and L1 buffers on 32 cores, (0,0)-(7,3)

 PID  USER   DEV      DRAM    L1 BUF        CB    KERNELS  ALLOCS  COMMAND
4711  alice  0    1.25 GiB  16.0 MiB  29.0 MiB  200.0 KiB     212  python3 serv…

L1 = L1 buffers + L1_SMALL + CB + kernels. CB counts what programs share once;
resident: dispatched last; logical: the plain sum over all live programs.
)GOLDEN");
}

TEST(SnapshotText, MatchesItsScreenAt200Columns) {
  EXPECT_EQ(snapshot_text(mesh(1), {}, {.width = 200}),
            R"GOLDEN(ttmem  2026-08-22 12:00:05  1 device, 1 process  galaxy-17

Device 0: n300 (wormhole_b0), 8x8 cores, 1 process, 30 programs, uid 0x1f00a
        DRAM: 1.25 GiB  ██████▎░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  10%  of 12.0 GiB, peak 1.50 GiB, logical 1.20 GiB
          L1: 45.3 MiB  █████████████████████████████▊░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  50%  of 91.5 MiB, peak 48.0 MiB, headroom 412.0 KiB per core
  L1 buffers: 16.0 MiB  ██████████▌                                                   17%  logical 15.0 MiB
    L1_SMALL: 128.0 KiB           ▋                                                   <1%
          CB: 29.0 MiB             ██████████████████▋                                32%  resident 10.0 MiB, logical 300.0 MiB, peak 30.0 MiB
     Kernels: 200.0 KiB                               ▏                               <1%  200.0 KiB persistent
       Trace: 3.00 MiB  ██▉░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   5%  of 64.0 MiB, peak 3.00 MiB
    Headroom: 412.0 KiB between CBs and L1 buffers on 32 cores, (0,0)-(7,3)

 PID  USER   STATE  DEV      DRAM    L1 BUF   L1_SMALL        CB    KERNELS     TRACE  ALLOCS  SOURCE  COMMAND
4711  alice  alive  0    1.25 GiB  16.0 MiB  128.0 KiB  29.0 MiB  200.0 KiB  3.00 MiB     212  ttmem   python3 serve.py --model llama-3.1-8b --batch 32

L1 = L1 buffers + L1_SMALL + CB + kernels. CB counts what programs share once; resident: dispatched last; logical: the plain sum over all live programs.
)GOLDEN");
}

TEST(SnapshotText, MatchesItsScreenInAsciiWithWarnings) {
  EXPECT_EQ(snapshot_text(troubled(), {}, {.width = 80, .unicode = false}),
            R"GOLDEN(ttmem  2026-08-22 12:00:05  2 devices, 2 processes  galaxy-17

Device 0: n300 (wormhole_b0), 8x8 cores, 1 process, 30 programs, uid 0x1f00a
        DRAM: 1.25 GiB  #...........  10%  of 12.0 GiB, peak 1.50 GiB
          L1: 80.0 MiB  ##########..  87%  of 91.5 MiB, peak 48.0 MiB
  L1 buffers: 16.0 MiB  ##            17%  logical 15.0 MiB
    L1_SMALL: 128.0 KiB   #           <1%
          CB: 29.0 MiB    ####        32%  resident 10.0 MiB, logical 300.0 MiB
     Kernels: 200.0 KiB       #       <1%  200.0 KiB persistent
       Trace: 3.00 MiB  #...........   5%  of 64.0 MiB, peak 3.00 MiB
    Headroom: -112.5 KiB  clash: CBs overrun L1 buffers on 12 cores, first (0,0)
   Anomalies: 1 live buffer overlaps another, 2 allocations with ids in use, 3
              frees of unknown ids, 4 dispatches of unplaced programs, 5 calls
              with bad arguments, 6 allocations left at close (7.00 MiB)

Device 3: model n/a, 1 process
        DRAM: 700.0 MiB               n/a  physical n/a, of n/a, peak n/a
          L1: n/a
  L1 buffers: n/a
          CB: 2.00 MiB                n/a  resident n/a, logical n/a, peak n/a
     Kernels: n/a
    Headroom: n/a

All 2 devices
  DRAM   1.93 GiB of n/a         n/a  1?  fullest: 0 (10%)
  L1          n/a of n/a         n/a  8?  fullest: 0 (87%)
  least headroom: -112.5 KiB per core, on device 0

 PID  STATE  DEV       DRAM    L1 BUF        CB    KERNELS  COMMAND
4711  alive  0     1.25 GiB  16.0 MiB  29.0 MiB  200.0 KiB  python3 serve.py --~
  99  alive  3    700.0 MiB       n/a  2.00 MiB        n/a  tt_worker
4200  dead   0     1.25 GiB  16.0 MiB  29.0 MiB  200.0 KiB  pytest
1 process is dead: what it held is not counted above; `ttmem clean` removes it.

L1 = L1 buffers + L1_SMALL + CB + kernels. CB counts what programs share once;
resident: dispatched last; logical: the plain sum over all live programs.
)GOLDEN");
}

TEST(CoreText, IsAMapWithTheTightestCoresBelow) {
  EXPECT_EQ(core_text(wormhole(0), {.width = 80}),
            R"GOLDEN(  Cores: percent of each core's L1 that CBs and L1 buffers take
    y\x    0    1    2    3    4    5    6    7
     0  ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49
     1  ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49
     2  ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49
     3  ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49
     4  ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47
     5  ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47
     6  ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47
     7  ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47 ▒ 47
   HEADROOM         CB   RESIDENT     L1 BUF  CORES  WHERE, THE TIGHTEST FIRST
  412.0 KiB  464.0 KiB  160.0 KiB  256.0 KiB     32  (0,0)-(7,3)
  444.0 KiB  432.0 KiB  160.0 KiB  256.0 KiB     32  (0,4)-(7,7)
)GOLDEN");
}

TEST(SnapshotText, IsShortWhenThereAreTooFewLines) {
  const auto in = [](std::size_t rows, bool cut) {
    return snapshot_text(mesh(8), {.rows = rows, .cut_to_rows = cut}, {.width = 80});
  };
  const auto lines = [](const std::string& text) { return lines_of(text).size(); };
  const std::string whole = snapshot_text(mesh(8), {}, {.width = 80});
  EXPECT_EQ(in(lines(whole), false), whole);
  const std::string brief = in(lines(whole) - 1, false);
  EXPECT_EQ(brief.find("Device 0:"), std::string::npos);
  EXPECT_NE(brief.find("`ttmem --long` shows all"), std::string::npos);
  for (std::size_t rows = 6; rows < lines(whole) + 2; ++rows) {
    const std::string shown = in(rows, true);
    EXPECT_LE(lines(shown), rows) << shown;
    EXPECT_NE(shown.find("\n4711 "), std::string::npos) << shown;
  }
}

TEST(SnapshotText, WritesSizesInTheRequestedUnits) {
  const text::TextOptions bytes{.width = 80, .units = text::Units::bytes};
  const std::string text = snapshot_text(mesh(1), {}, bytes);
  EXPECT_NE(text.find("          CB: 30408704 B"), std::string::npos) << text;
  EXPECT_EQ(text.find("MiB"), std::string::npos) << text;
  for (const std::string& line : lines_of(text)) EXPECT_LE(text::display_width(line), 80U) << line;
  EXPECT_NE(snapshot_text(mesh(1), {}, {.units = text::Units::gib}).find("L1: 0.04 GiB"),
            std::string::npos);
}

TEST(BriefText, MatchesItsScreensAt80And140Columns) {
  EXPECT_EQ(brief_text(troubled(), {.width = 80}),
            R"GOLDEN(DEV  BOARD       DRAM    %        L1    %        CB    HEADROOM  PROCESSES
  0  n300    1.25 GiB  10%  80.0 MiB  87%  29.0 MiB  -112.5 KiB  1 +1 dead
  3  n/a    700.0 MiB  n/a       n/a  n/a  2.00 MiB         n/a  1
)GOLDEN");
  const std::string wide = brief_text(troubled(), {.width = 140});
  EXPECT_NE(wide.find("0x1f00a"), std::string::npos);
  EXPECT_NE(wide.find("12.0 GiB"), std::string::npos);
}

TEST(BriefText, DistinguishesChipsWithTheSameNumber) {
  model::Snapshot snapshot = snapshot_of({wormhole(0), wormhole(0), wormhole(0)});
  for (model::Device& device : snapshot.devices) device.shares_number = true;
  for (const std::size_t i : {1U, 2U}) snapshot.devices[i].uid.reset();
  snapshot.devices[1].bus_id = "0000:01:00.0";
  const std::string text = brief_text(snapshot, {.width = 60});
  for (const char* name : {"0 (0x1f00a)", "0 (0000:01:00.0)", "0 (wormhole_b0)"}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

TEST(ProcessText, SortsByAColumnAndFilters) {
  const text::TextOptions options{.width = 120};
  const auto rows = [&](const ProcessChoice& choice) {
    std::vector<std::string> pids = lines_of(process_text(troubled(), choice, options));
    for (std::string& line : pids) line.resize(4);
    return pids;
  };
  EXPECT_EQ(rows({.sort = parse_process_sort("pid").value()})[1], "  99");
  EXPECT_EQ(rows({.sort = parse_process_sort("dram").value()})[1], "4711");
  // The lines are the header, one row and the total number.
  EXPECT_EQ(rows({.only = {.pid = 99, .user = {}}}).size(), 3U);
  EXPECT_TRUE(rows({.only = {.pid = 1, .user = {}}}).empty());
  EXPECT_EQ(parse_process_sort("l1").value(), parse_process_sort("l1_buf").value());
  EXPECT_FALSE(parse_process_sort("s"));  // ambiguous, because it could be state or source
}

TEST(FitRows, SaysHowManyLinesAreMissing) {
  EXPECT_EQ(fit_rows("1\n2\n3\n", 3, "less"), "1\n2\n3\n");
  EXPECT_EQ(fit_rows("1\n2\n3\n4\n", 3, "less"), "1\n2\n(2 more lines: less)\n");
}

TEST(CoreText, MarksBytesThatLockstepWastes) {
  model::Device device = wormhole(0);
  for (model::Core& core : device.cores) core.l1_data_bytes = core.x < 6 ? 262'144 : 65'536;
  const std::string text = core_text(device, {.width = 80});
  EXPECT_NE(text.find("  / a part of it is taken for buffers on other cores\n"), std::string::npos);
  EXPECT_NE(text.find("     0  ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49 ▒ 49/▒ 49/▒ 49\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("412.0 KiB  464.0 KiB  160.0 KiB  256.0 KiB  192.0 KiB      8  (6,0)-(7,3)"),
            std::string::npos)
      << text;
}

TEST(SnapshotText, KeepsTheLinesThatOtherProgramsSearchFor) {
  for (std::size_t width : {40U, 80U, 200U}) {
    for (std::uint32_t devices : {1U, 8U, 32U}) {
      const std::string text = snapshot_text(mesh(devices), {}, {.width = width});
      EXPECT_EQ(lines_starting(text, "Device "), devices);
      std::size_t found = 0;
      for (const std::string& line : lines_of(text)) {
        const bool device = line.find("Device") != std::string::npos;
        EXPECT_EQ(device, line.starts_with("Device ")) << line;
        if (line.find("CB:") == std::string::npos) continue;
        EXPECT_TRUE(line.starts_with("          CB: 29.0 MiB")) << line;
        ++found;
      }
      EXPECT_EQ(found, devices);
      EXPECT_EQ(lines_starting(text, "        DRAM: 1.25 GiB"), devices);
      EXPECT_EQ(lines_starting(text, "          L1: 45.3 MiB"), devices);
      EXPECT_EQ(lines_starting(text, "     Kernels: 200.0 KiB"), devices);
    }
  }
}

TEST(SnapshotText, SumsUpSeveralDevicesWithOneMarkForEach) {
  const std::string text = snapshot_text(mesh(32), {}, {.width = 80, .unicode = false});
  EXPECT_NE(text.find("All 32 devices\n"), std::string::npos);
  EXPECT_NE(text.find("40.0 GiB of 384.0 GiB   10%  " + std::string(32, '1') + "\n"),
            std::string::npos)
      << text;
}

TEST(SnapshotText, MarksASumWithTheMarksOfAllDevices) {
  model::Snapshot snapshot = mesh(2);
  snapshot.devices[0].complete = false;
  snapshot.devices[1].kernels_estimated_bytes = 102'400;
  EXPECT_NE(snapshot_text(snapshot, {}, {}).find("  L1    >=~"), std::string::npos)
      << snapshot_text(snapshot, {}, {});
}

TEST(SnapshotText, NeverShowsTheUnknownAsZero) {
  const std::string text = snapshot_text(snapshot_of({unannounced(3)}), {.per_core = true}, {});
  EXPECT_EQ(text.find("0.00"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0%"), std::string::npos) << text;
  EXPECT_NE(text.find("Kernels: n/a"), std::string::npos);
  EXPECT_NE(text.find("Headroom: n/a"), std::string::npos);
}

TEST(SnapshotText, ShowsAClashInWordsAndInRed) {
  const std::string plain = snapshot_text(troubled(), {}, {});
  EXPECT_NE(plain.find("-112.5 KiB  clash: CBs overrun L1 buffers on 12 cores"), std::string::npos);
  const std::string colored = snapshot_text(troubled(), {}, {.color = true});
  EXPECT_NE(colored.find("\x1b[31m-112.5 KiB"), std::string::npos);
}

TEST(SnapshotText, SaysThatDeadProcessesAreNotCounted) {
  const std::string text = snapshot_text(troubled(), {}, {});
  EXPECT_NE(text.find("4200  dead"), std::string::npos);
  EXPECT_NE(text.find("1 process is dead: what it held is not counted above; `ttmem clean`"),
            std::string::npos);
}

TEST(SnapshotText, SaysWhatToTryWhenNothingIsFound) {
  const std::string text = snapshot_text({}, {}, {.width = 200});
  EXPECT_EQ(lines_of(text).size(), 1U);
  EXPECT_NE(text.find("`ttmem demo`"), std::string::npos);
  EXPECT_NE(text.find("`ttmem run -- CMD`"), std::string::npos);
}

TEST(SnapshotText, ShowsWarningsOnlyOnRequest) {
  EXPECT_EQ(snapshot_text(troubled(), {}, {}).find("permission denied"), std::string::npos);
  EXPECT_NE(snapshot_text(troubled(), {.warnings = true}, {}).find("permission denied"),
            std::string::npos);
}

TEST(SnapshotText, MarksKernelsWhoseSizeIsAnEstimate) {
  EXPECT_EQ(snapshot_text(mesh(1), {}, {.width = 120}).find("estimated"), std::string::npos);
  model::Snapshot snapshot = mesh(1);
  snapshot.devices[0].kernels_estimated_bytes = 102'400;
  EXPECT_NE(snapshot_text(snapshot, {}, {.width = 120}).find("100.0 KiB estimated"),
            std::string::npos);
}

TEST(AllocationsText, MarksAKernelWhoseSizeIsAnEstimate) {
  model::Snapshot snapshot = with_lists();
  const auto text = [&] {
    return allocations_text(snapshot, selection::select_allocations(snapshot, {}), 0,
                            {.width = 200});
  };
  EXPECT_NE(text().find("persistent (size estimated)"), std::string::npos) << text();
  snapshot.allocations[0].estimate = false;
  EXPECT_EQ(text().find("estimated"), std::string::npos);
}

TEST(ProcessTotals, SumOverTheDevicesWhereAKindIsReported) {
  model::Snapshot snapshot = mesh(3);
  snapshot.devices[1].processes[0].kinds[Kind::kernel].known = 0;
  const auto totals = process_totals(snapshot);
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_EQ(totals[0].sum.used(Kind::cb), 3 * 29 * kMiB);
  EXPECT_EQ(totals[0].sum.used(Kind::kernel), 2 * 204'800U);
  for (model::Device& device : snapshot.devices) device.processes[0].kinds[Kind::kernel].known = 0;
  EXPECT_FALSE(process_totals(snapshot)[0].sum.used(Kind::kernel));
  EXPECT_EQ(totals[0].devices, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(ProgramsText, SaysHowManyMoreThereAre) {
  const model::Snapshot snapshot = with_lists();
  const auto programs = selection::select_programs(snapshot, {});
  const std::string cut_list = programs_text(snapshot, programs, 2, {});
  EXPECT_NE(cut_list.find("1 program more"), std::string::npos);
  EXPECT_EQ(programs_text(snapshot, programs, 3, {}).find("more,"), std::string::npos);
}

TEST(ProgramsText, ShowsNamesAlsoOnANarrowTerminal) {
  const model::Snapshot snapshot = with_lists();
  auto programs = selection::select_programs(snapshot, {});
  EXPECT_EQ(programs_text(snapshot, programs, 3, {.width = 80}).find("LABEL"), std::string::npos);
  programs[1].name = "decoder.0.matmul";
  EXPECT_NE(programs_text(snapshot, programs, 3, {.width = 80}).find("decoder.0"),
            std::string::npos);
  EXPECT_NE(programs_text(snapshot, programs, 3, {.width = 140}).find("decoder.0.matmul "),
            std::string::npos);
  EXPECT_EQ(programs_text(snapshot, programs, 1, {.width = 80}).find("LABEL"), std::string::npos);
}

TEST(AllocationsText, NamesTheAllocationsThatAreNotListed) {
  const model::Snapshot snapshot = with_lists();
  const std::string text =
      allocations_text(snapshot, selection::select_allocations(snapshot, {}), 6, {.width = 200});
  EXPECT_NE(text.find("6 circular buffers are not listed"), std::string::npos);
  EXPECT_NE(text.find("(0,0)-(7,0)"), std::string::npos);
  EXPECT_NE(text.find("1 of unknown physical size"), std::string::npos);
}

TEST(CoreRanges, CoverExactlyTheMask) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto columns = static_cast<std::uint16_t>(1 + random() % 16);
    CoreMask mask;
    for (std::uint32_t i = 0; i < kMaxCores; ++i) {
      if (random() % 3 == 0) mask.set(i);
    }
    CoreMask covered;
    for (const CoreRange& range : text::core_ranges(mask, columns)) {
      for (std::uint32_t y = range.y0; y <= range.y1; ++y) {
        for (std::uint32_t x = range.x0; x <= range.x1; ++x) {
          EXPECT_FALSE(covered.test(y * columns + x));
          covered.set(y * columns + x);
        }
      }
    }
    EXPECT_EQ(covered, mask);
  }
}

TEST(CoreRanges, UseTheFewestRangesForRectangles) {
  CoreMask mask = CoreMask::first(16);
  EXPECT_EQ(text::core_ranges(mask, 8), (std::vector<CoreRange>{{0, 0, 7, 1}}));
  mask.set(8 * 5 + 3);
  EXPECT_EQ(text::format_core_ranges(text::core_ranges(mask, 8)), "(0,0)-(7,1) +1");
  EXPECT_TRUE(text::core_ranges(mask, 0).empty());
}

TEST(Bar, TakesExactlyItsCellsAndIsNeverEmptyForANonzeroShare) {
  for (bool unicode : {true, false}) {
    const text::TextOptions options{.width = 300, .unicode = unicode};
    for (double begin : {0.0, 0.31, 0.999, 1.0}) {
      for (double size : {0.0, 1e-9, 0.2, 1.0, 5.0}) {
        text::Line line(options);
        text::add_bar(line, 20, {begin, begin + size, text::Tone::none}, true, options);
        EXPECT_EQ(line.width(), 20U) << begin << " " << size;
      }
    }
    text::Line tiny(options);
    text::add_bar(tiny, 20, {0, 1e-9, text::Tone::none}, false, options);
    EXPECT_NE(tiny.finish(), "\n");
  }
}

// Generates random snapshots. Some snapshots have only unknown figures, and some have impossible
// figures.
class RandomSnapshots {
 public:
  model::Snapshot next() {
    model::Snapshot snapshot = snapshot_of({});
    snapshot.host = text();
    const std::size_t devices = random_() % 6;
    for (std::size_t i = 0; i < devices; ++i) {
      snapshot.devices.push_back(device(static_cast<std::uint32_t>(i * (random_() % 3000))));
    }
    if (random_() % 2 == 0) snapshot.warnings.push_back(text() + " " + text());
    return snapshot;
  }

 private:
  model::Bytes bytes() {
    if (random_() % 4 == 0) return std::nullopt;
    return random_() >> (random_() % 64);
  }
  std::string text() {
    std::string result;
    const std::size_t length = random_() % 40;
    for (std::size_t i = 0; i < length; ++i) {
      switch (random_() % 4) {
        case 0:
          result += static_cast<char>(random_() % 256);
          break;
        case 1:
          result += "模";
          break;
        case 2:
          result += ' ';
          break;
        default:
          result += 'a';
      }
    }
    return result;
  }
  model::Process process() {
    model::Process p;
    p.pid = static_cast<std::int32_t>(random_() % 5'000'000);
    p.name = text();
    p.command = text();
    p.user = text();
    p.state = random_() % 2 == 0 ? model::State::alive : model::State::dead;
    p.source = random_() % 2 == 0 ? model::Source::ttmem : model::Source::tt_metal;
    for (KindFigures& kind : p.kinds) kind = figures({.used = bytes(), .live = bytes()});
    return p;
  }
  model::Device device(std::uint32_t id) {
    model::Device d = random_() % 2 == 0 ? wormhole(id) : unannounced(id);
    d.uid = bytes();
    d.board = text();
    d.arch = text();
    d.kinds[Kind::dram].set(&KindFigures::used_bytes, bytes());
    d.dram_capacity_bytes = bytes();
    d.l1_used_bytes = bytes();
    d.l1_capacity_bytes = bytes();
    d.kinds[Kind::l1].set(&KindFigures::used_bytes, bytes());
    d.kinds[Kind::cb].set(&KindFigures::used_bytes, bytes());
    d.kinds[Kind::cb].set(&KindFigures::logical_bytes, bytes());
    d.kinds[Kind::kernel].set(&KindFigures::used_bytes, bytes());
    d.headroom_bytes_per_core = static_cast<std::int64_t>(random_()) >> (random_() % 64);
    d.anomalies = {random_(), 0, random_() % 3, 0, 1, random_(), random_()};
    d.programs = bytes();
    while (random_() % 3 != 0) d.processes.push_back(process());
    for (model::Core& core : d.cores) core.cb_bytes = bytes();
    return d;
  }

  std::mt19937_64 random_{42};
};

void expect_no_line_wider(const std::string& text, std::size_t width, bool unicode) {
  for (const std::string& line : lines_of(text)) {
    EXPECT_LE(text::display_width(line), width) << line;
    EXPECT_EQ(text::printable(line, unicode), line);
  }
}

TEST(SnapshotText, NeverWritesALineWiderThanTheTerminal) {
  RandomSnapshots snapshots;
  for (std::size_t width = 40; width <= 250; width += 3) {
    const bool unicode = width % 2 == 0;
    const model::Snapshot snapshot = snapshots.next();
    const SnapshotTextOptions what{.per_core = width % 3 == 0, .warnings = true};
    expect_no_line_wider(snapshot_text(snapshot, what, {.width = width, .unicode = unicode}), width,
                         unicode);
  }
}

TEST(Lists, NeverWriteALineWiderThanTheTerminal) {
  const model::Snapshot snapshot = with_lists();
  for (std::size_t width = 40; width <= 250; ++width) {
    const text::TextOptions options{.width = width};
    expect_no_line_wider(
        allocations_text(snapshot, selection::select_allocations(snapshot, {}), 6, options), width,
        true);
    expect_no_line_wider(
        programs_text(snapshot, selection::select_programs(snapshot, {}), 1, options), width, true);
  }
}

TEST(SnapshotText, ShowsTheSameTextWithAndWithoutColour) {
  for (const model::Snapshot& snapshot : {mesh(8), troubled()}) {
    std::string colored = snapshot_text(snapshot, {}, {.color = true});
    for (std::size_t at; (at = colored.find('\x1b')) != std::string::npos;) {
      colored.erase(at, colored.find('m', at) - at + 1);
    }
    EXPECT_EQ(colored, snapshot_text(snapshot, {}, {}));
  }
}

}  // namespace
}  // namespace ttmem::views
