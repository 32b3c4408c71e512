// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "analyse/explain/failure_message.hpp"

namespace ttmem::explain {
namespace {

using What = FailureMessage::What;

FailureMessage only(const std::string& text) {
  const auto found = find_failures("loading model\n\n" + text + "\nbacktrace:\n --- 0x1234\n");
  EXPECT_EQ(found.size(), 1U) << text;
  return found.empty() ? FailureMessage{} : found.front();
}

TEST(Failures, ABufferInTheWordingOfTheNewestRuntime) {
  const FailureMessage failure = only(
      "critical | Always | TT_FATAL @ bank_manager.cpp:462: false info: Out of Memory: Not enough "
      "space to allocate 552960 B L1 buffer across 64 banks, where each bank needs to store 8640 "
      "B, "
      "but bank size is 1360704 B (allocated: 448608 B, free: 912096 B, largest free block: "
      "522240 B)");
  EXPECT_EQ(failure.what, What::out_of_memory);
  EXPECT_EQ(failure.kind, Kind::l1);
  EXPECT_EQ(failure.bytes, 552960U);
  EXPECT_EQ(failure.banks, 64U);
  EXPECT_EQ(failure.bytes_per_bank, 8640U);
  EXPECT_EQ(failure.bank_bytes, 1360704U);
  EXPECT_EQ(failure.allocated_per_bank, 448608U);
  EXPECT_EQ(failure.free_per_bank, 912096U);
  EXPECT_EQ(failure.largest_free_per_bank, 522240U);
  EXPECT_TRUE(failure.text.starts_with("Out of Memory: ")) << failure.text;
}

TEST(Failures, ABufferInTheWordingOfOlderRuntimes) {
  FailureMessage failure = only(
      "RuntimeError: TT_THROW @ bank_manager.cpp:96: tt::exception info: Out of Memory: Not enough "
      "space to allocate 1024 B L1_SMALL buffer across 64 banks, where each bank needs to store 16 "
      "B, but bank size is only 0 B");
  EXPECT_EQ(failure.kind, Kind::l1_small);
  EXPECT_EQ(failure.bank_bytes, 0U);
  EXPECT_FALSE(failure.free_per_bank);
  failure = only(
      "Out of Memory: Not enough space to allocate 7 B DRAM buffer across 12 banks, where each "
      "bank needs to store 1 B");
  EXPECT_EQ(failure.kind, Kind::dram);
  EXPECT_EQ(failure.bytes_per_bank, 1U);
  EXPECT_FALSE(failure.bank_bytes);
}

TEST(Failures, AClashInBothSpellings) {
  for (const char* range : {"[(x=0,y=0) - (x=7,y=6)]", "[0-0 - 7-6]"}) {
    const FailureMessage failure =
        only(std::string("TT_THROW @ program.cpp:1: info: Statically allocated circular buffers in "
                         "program 117 clash with L1 buffers on core range ") +
             range +
             ". L1 buffer allocated at 819200 and static circular buffer region ends at 1081344");
    EXPECT_EQ(failure.what, What::clash);
    EXPECT_EQ(failure.program, 117U);
    EXPECT_EQ(failure.cores, (FailureMessage::Cores{0, 0, 7, 6}));
    EXPECT_EQ(failure.l1_address, 819200U);
    EXPECT_EQ(failure.cb_end, 1081344U);
  }
}

TEST(Failures, CircularBuffersBeyondL1) {
  const FailureMessage failure = only(
      "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1767424 B "
      "which is beyond max L1 size of 1499136 B");
  EXPECT_EQ(failure.what, What::beyond_l1);
  EXPECT_EQ(failure.cb_end, 1767424U);
  EXPECT_EQ(failure.l1_bytes, 1499136U);
}

TEST(Failures, Regions) {
  FailureMessage failure = only(
      "Creating trace buffers of size 53600256B on MeshDevice 1, but only 50331648B is allocated "
      "for trace region.");
  EXPECT_EQ(failure.what, What::trace_region);
  EXPECT_EQ(failure.needed, 53600256U);
  EXPECT_EQ(failure.limit, 50331648U);
  failure = only("Program size (71000) too large for kernel config buffer (70656) on TENSIX");
  EXPECT_EQ(failure.what, What::kernel_config);
  EXPECT_EQ(failure.needed, 71000U);
  EXPECT_EQ(failure.limit, 70656U);
}

TEST(Failures, AllocatorsThatDependOnOthers) {
  const FailureMessage failure = only(
      "TT_FATAL @ bank_manager.cpp:508: false info: Out of Memory: Not enough space after "
      "considering dependencies to allocate 552960 B L1 across 64 banks (8640 B per bank), bank "
      "size is 1360704 B (allocated: 448608 B, free: 912096 B, largest free block: 522240 B)");
  EXPECT_EQ(failure.what, What::out_of_memory);
  EXPECT_EQ(failure.kind, Kind::l1);
  EXPECT_EQ(failure.bytes, 552960U);
  EXPECT_EQ(failure.banks, 64U);
  EXPECT_EQ(failure.bytes_per_bank, 8640U);
  EXPECT_EQ(failure.bank_bytes, 1360704U);
  EXPECT_EQ(failure.largest_free_per_bank, 522240U);
}

TEST(Failures, DataflowBuffersAndServiceCores) {
  FailureMessage failure = only(
      "Statically allocated dataflow buffers in program 5 clash with L1 buffers on core range [0-0 "
      "- 1-1]. L1 buffer allocated at 819200 and static dataflow buffer region ends at 1081344");
  EXPECT_EQ(failure.what, What::clash);
  EXPECT_EQ(failure.l1_address, 819200U);
  EXPECT_EQ(failure.cb_end, 1081344U);
  failure = only(
      "Statically allocated dataflow buffers on core range [0-0 - 7-7] grow to 1767424 B which is "
      "beyond max L1 size of 1499136 B");
  EXPECT_EQ(failure.what, What::beyond_l1);
  failure = only(
      "Circular buffers on service-core range [0-0 - 0-3] in program 7 clash with "
      "ServiceCoreManager-allocated L1 (lowest service allocation at 1000, CB region ends at "
      "3000)");
  EXPECT_EQ(failure.what, What::clash);
  EXPECT_EQ(failure.program, 7U);
  EXPECT_EQ(failure.cores, (FailureMessage::Cores{0, 0, 0, 3}));
  EXPECT_EQ(failure.l1_address, 1000U);
  EXPECT_EQ(failure.cb_end, 3000U);
}

TEST(Failures, FailuresThatDoNotDependOnHolders) {
  FailureMessage failure =
      only("Out of Memory: Cannot allocate at an address below 400000. Allocation at 390000");
  EXPECT_EQ(failure.what, What::below_limit);
  EXPECT_EQ(failure.limit, 400000U);
  EXPECT_EQ(only("Trace buffer at address 1024 overlaps with DRAM activity during trace capture. "
                 "Allocation high water mark: 2048, Deletion high water mark: 0.")
                .what,
            What::trace_overlap);
  failure = only("Circular buffer size 4096 B exceeds allocated L1 buffer size 2048 B");
  EXPECT_EQ(failure.what, What::cb_beyond_buffer);
  EXPECT_EQ(failure.needed, 4096U);
  EXPECT_EQ(failure.limit, 2048U);
  failure = only(
      "Cannot set to globally allocated buffer. Circular buffer size 4096 B exceeds allocated L1 "
      "buffer bank size of 2048 B");
  EXPECT_EQ(failure.what, What::cb_beyond_buffer);
  EXPECT_EQ(failure.limit, 2048U);
  failure = only("Buffer index (33) exceeds max number of circular buffers per core (32)");
  EXPECT_EQ(failure.what, What::too_many_cbs);
  EXPECT_EQ(failure.limit, 32U);
  EXPECT_EQ(only("Allocating device buffers is potentially unsafe due to the existence of an "
                 "active trace. These buffers may be corrupted once a trace is executed")
                .what,
            What::active_trace);
}

// Messages as people paste them, with the runtime's line wrapped by hand.
TEST(Wrapped, AClash) {
  for (const char* text :
       {"TT_THROW: Statically allocated circular buffers in program 2282 clash with L1 buffers\n"
        "on core range [0-0 - 10-9]. L1 buffer allocated at 1563072 and static circular buffer\n"
        "region ends at 1563264\n",
        "> TT_THROW: Statically allocated circular buffers in program 2282 clash\n"
        "> with L1 buffers on core range [(x=0,y=0) - (x=10,y=9)].\n"
        "> L1 buffer allocated at 1563072\n"
        "> and static circular buffer region ends at\n"
        "> 1563264\n",
        "E       Statically allocated circular buffers in program 2282 clash with L1 buffers on "
        "core\nE       range [0-0 - 10-9]. L1 buffer allocated at 1563072 and static circular "
        "buffer region ends at 1563264\n",
        "[1,0]<stderr>: Statically allocated circular buffers in program\n"
        "[1,0]<stderr>: 2282 clash with L1 buffers on core range [0-0 - 10-9]. L1 buffer "
        "allocated\n"
        "[1,0]<stderr>: at 1563072 and static circular buffer region ends at 1563264"}) {
    const FailureMessage failure = only(text);
    EXPECT_EQ(failure.what, What::clash) << text;
    EXPECT_EQ(failure.program, 2282U) << text;
    EXPECT_EQ(failure.cores, (FailureMessage::Cores{0, 0, 10, 9})) << text;
    EXPECT_EQ(failure.l1_address, 1563072U) << text;
    EXPECT_EQ(failure.cb_end, 1563264U) << text;
  }
}

TEST(Wrapped, OtherMessages) {
  FailureMessage failure = only(
      "critical | Always | TT_FATAL: Out of Memory: Not enough space to allocate\n"
      "3019898880 B DRAM buffer across 8 banks, where each bank needs to store\n"
      "377487360 B, but bank size is 4272341376 B\n"
      "(allocated: 3788711296 B, free: 483630080 B, largest free block: 251658240 B)\n");
  EXPECT_EQ(failure.kind, Kind::dram);
  EXPECT_EQ(failure.bytes, 3019898880U);
  EXPECT_EQ(failure.bytes_per_bank, 377487360U);
  EXPECT_EQ(failure.bank_bytes, 4272341376U);
  EXPECT_EQ(failure.allocated_per_bank, 3788711296U);
  EXPECT_EQ(failure.largest_free_per_bank, 251658240U);
  failure = only(
      "TT_THROW: Statically allocated circular buffers on core range [0-0 - 10-7]\n"
      "grow to 1753856 B which is beyond max L1 size of 1572864 B\n(assert.hpp:104)");
  EXPECT_EQ(failure.what, What::beyond_l1);
  EXPECT_EQ(failure.cb_end, 1753856U);
  EXPECT_EQ(failure.l1_bytes, 1572864U);
  failure = only(
      "TT_FATAL: Creating trace buffers of size 53616640B on MeshDevice 0,\n"
      "          but only 50000000B is allocated for trace region.");
  EXPECT_EQ(failure.needed, 53616640U);
  EXPECT_EQ(failure.limit, 50000000U);
}

TEST(Wrapped, ArgumentsThatFollowTheMessageFillItsPlaces) {
  FailureMessage failure = only(
      "RuntimeError: TT_THROW @ tt_metal/impl/allocator/allocator.cpp:107: tt::exception\ninfo:\n"
      "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank "
      "needs to store {} B\n148897792\nDRAM\n8\n18612224");
  EXPECT_EQ(failure.bytes, 148897792U);
  EXPECT_EQ(failure.kind, Kind::dram);
  EXPECT_EQ(failure.banks, 8U);
  EXPECT_EQ(failure.bytes_per_bank, 18612224U);
  failure = only(
      "Statically allocated circular buffers in program {} clash with L1 buffers on core range {}. "
      "L1 buffer allocated at {} and static circular buffer region ends at {}\n7\n"
      "[(x=0,y=0) - (x=7,y=7)]\n974336\n1089536");
  EXPECT_EQ(failure.program, 7U);
  EXPECT_EQ(failure.cores, (FailureMessage::Cores{0, 0, 7, 7}));
  EXPECT_EQ(failure.l1_address, 974336U);
  EXPECT_EQ(failure.cb_end, 1089536U);
}

TEST(Wrapped, AnOpenPlaceIsUnknown) {
  FailureMessage failure = only(
      "Statically allocated circular buffers in program {} clash with L1 buffers on core range {}. "
      "L1 buffer allocated at {} and static circular buffer region ends at {}");
  EXPECT_EQ(failure.what, What::clash);
  EXPECT_FALSE(failure.program) << "the 1 of L1 is no number";
  EXPECT_FALSE(failure.cores);
  EXPECT_FALSE(failure.l1_address);
  EXPECT_FALSE(failure.cb_end);
  failure = only("Circular buffer size {} B exceeds allocated L1 buffer size {} B");
  EXPECT_FALSE(failure.needed);
  EXPECT_FALSE(failure.limit);
}

TEST(Wrapped, LinesBehindAMessageDoNotBelongToIt) {
  for (const char* line :
       {"free: 500 B", "(host memory, free: 500 B)", "bank size is 7 B", "500", "4096 steps", "",
        "B", "but why", "2026-01-01 12:00:00 | free: 500 B, largest free block: 400 B"}) {
    const FailureMessage failure = only(
        std::string("Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, "
                    "where each bank needs to store 64 B\n") +
        line + "\nfree: 500 B");
    EXPECT_EQ(failure.bytes_per_bank, 64U) << line;
    EXPECT_FALSE(failure.free_per_bank) << line;
    EXPECT_FALSE(failure.bank_bytes) << line;
  }
}

TEST(Wrapped, MessagesInARowAreSeparate) {
  const std::string one =
      "Statically allocated circular buffers in program 5 clash with L1 buffers on core range "
      "[0-0 - 1-1]. L1 buffer allocated at 1000 and static circular buffer region ends at 3000\n";
  EXPECT_EQ(find_failures(one + one + one).size(), 3U);
}

TEST(SameFailure, NeedsANumberThatIdentifiesIt) {
  const auto is_same = [](const std::string& a, const std::string& b) {
    return can_be_same(only(a), only(b));
  };
  const std::string start = "Out of Memory: Not enough space to allocate 4096 B L1 buffer";
  EXPECT_TRUE(is_same(start, start + " across 64 banks, where each bank needs to store 64 B"));
  EXPECT_FALSE(is_same(start, "Out of Memory: Not enough space to allocate 4096 B DRAM buffer"));
  EXPECT_FALSE(is_same(start, "Out of Memory: Not enough space to allocate 4097 B L1 buffer"));
  EXPECT_FALSE(is_same("Out of Memory: Not enough space to allocate", start));
  EXPECT_FALSE(is_same("Out of Memory: Not enough space to allocate {} B L1 buffer across 64 banks",
                       start + " across 64 banks"))
      << "the number of banks is no evidence";
  const std::string trace = "Trace buffer at address 1024 overlaps with DRAM activity";
  EXPECT_TRUE(is_same(trace, trace));
}

TEST(Failures, AbsurdNumbersAreUnknown) {
  const FailureMessage failure = only(
      "Out of Memory: Not enough space to allocate 99999999999999999999999 B L1 buffer across -1 "
      "banks, where each bank needs to store many B");
  EXPECT_EQ(failure.what, What::out_of_memory);
  EXPECT_FALSE(failure.bytes);
  EXPECT_FALSE(failure.bytes_per_bank);
}

TEST(Failures, ATextWithoutAFailureGivesNone) {
  EXPECT_TRUE(find_failures("").empty());
  EXPECT_TRUE(find_failures("\n\n\n").empty());
  EXPECT_TRUE(find_failures("all is well\nOut of patience\n").empty());
}

}  // namespace
}  // namespace ttmem::explain
