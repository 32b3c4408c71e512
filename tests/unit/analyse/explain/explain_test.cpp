// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explain.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/explanation_json.hpp"
#include "analyse/explain/explanation_text.hpp"

namespace ttmem::explain {
namespace {

constexpr std::uint64_t kKiB = 1024;

Explanation of_message(const std::string& text) {
  const auto failures = find_failures(text);
  EXPECT_EQ(failures.size(), 1U) << text;
  return failures.empty() ? Explanation{} : explain({.failure = failures.front()});
}

std::string out_of_memory(const std::string& kind, std::uint64_t each, const std::string& numbers) {
  return "info: Out of Memory: Not enough space to allocate " + std::to_string(each * 64) + " B " +
         kind + " buffer across 64 banks, where each bank needs to store " + std::to_string(each) +
         " B" + numbers;
}

TEST(Explain, TheMessageAloneGivesTheCause) {
  Explanation said = of_message(out_of_memory(
      "L1", 552960,
      ", but bank size is 1360704 B (allocated: 448608 B, free: 912096 B, largest free block: "
      "522240 B)"));
  EXPECT_EQ(said.cause, Cause::fragmentation);
  EXPECT_EQ(said.short_by, 552960U - 522240U);
  EXPECT_FALSE(said.unknown.empty()) << "who held it";

  said = of_message(out_of_memory(
      "DRAM", 1000,
      ", but bank size is 5000 B (allocated: 4500 B, free: 500 B, largest free block: 500 B)"));
  EXPECT_EQ(said.cause, Cause::capacity);
  EXPECT_EQ(said.short_by, 500U);

  said = of_message(out_of_memory("L1", 2000000, ", but bank size is only 1360704 B"));
  EXPECT_EQ(said.cause, Cause::capacity);
  EXPECT_EQ(said.short_by, 2000000U - 1360704U);

  said = of_message(out_of_memory("L1", 1000000, ""));
  EXPECT_EQ(said.cause, Cause::unknown) << "an old runtime says too little";
  EXPECT_FALSE(said.short_by);

  said = of_message(out_of_memory("L1_SMALL", 2000, ", but bank size is only 0 B"));
  EXPECT_EQ(said.cause, Cause::l1_small_region);
  ASSERT_FALSE(said.suggestions.empty());
  EXPECT_EQ(said.suggestions[0].action, "l1_small_size");
  EXPECT_EQ(said.suggestions[0].bytes, 2048U) << "in whole steps of both chips";
  EXPECT_FALSE(said.suggestions[0].tried);
}

TEST(Explain, AClashMessageAloneGivesTheOverlap) {
  const Explanation said = of_message(
      "Statically allocated circular buffers in program 117 clash with L1 buffers on core range "
      "[0-0 - 7-6]. L1 buffer allocated at 819200 and static circular buffer region ends at "
      "1081344");
  EXPECT_EQ(said.cause, Cause::clash);
  EXPECT_EQ(said.short_by, 262144U);
  ASSERT_FALSE(said.suggestions.empty());
  EXPECT_EQ(said.suggestions[0].action, "shrink_cbs");
  EXPECT_EQ(said.suggestions[0].bytes, 262144U);
  for (const Suggestion& suggestion : said.suggestions) {
    EXPECT_FALSE(suggestion.tried) << "nothing is known of what was held";
  }
  EXPECT_NE(said.sentence.find("program 117"), std::string::npos) << said.sentence;
}

TEST(Explain, AFailureThatDoesNotDependOnHoldersHasASentenceAndAdvice) {
  for (const char* text :
       {"Out of Memory: Cannot allocate at an address below 400000. Allocation at 390000",
        "Trace buffer at address 1024 overlaps with DRAM activity during trace capture.",
        "Program size (71000) too large for kernel config buffer (70656) on TENSIX",
        "Circular buffer size 4096 B exceeds allocated L1 buffer size 2048 B",
        "Buffer index (33) exceeds max number of circular buffers per core (32)",
        "Allocating device buffers is potentially unsafe due to the existence of an active "
        "trace."}) {
    const Explanation said = of_message(text);
    EXPECT_FALSE(said.sentence.empty()) << text;
    EXPECT_FALSE(said.suggestions.empty()) << text;
  }
}

TEST(Explain, AnAddressMissingFromTheMessageIsNotZero) {
  const Explanation said = of_message("Out of Memory: Cannot allocate at an address below");
  EXPECT_EQ(said.sentence, "An interleaved L1 buffer would have to lie lower than it may.");
}

TEST(Explain, AbsurdNumbersGiveNoTriedSuggestion) {
  const std::string most = "18446744073709551615";
  for (const std::string& text :
       {"Out of Memory: Not enough space to allocate " + most + " B L1 buffer across " + most +
            " banks, where each bank needs to store " + most + " B, but bank size is " + most +
            " B (allocated: " + most + " B, free: " + most + " B, largest free block: 0 B)",
        "Out of Memory: Not enough space to allocate " + most +
            " B L1_SMALL buffer across 0 banks, where each bank needs to store " + most + " B",
        "Statically allocated circular buffers in program " + most +
            " clash with L1 buffers on core range [0-0 - 7-6]. L1 buffer allocated at 0 and static "
            "circular buffer region ends at " +
            most,
        "Creating trace buffers of size " + most +
            "B on MeshDevice 1, but only 0B is allocated for trace region."}) {
    const Explanation said = of_message(text);
    for (const Suggestion& suggestion : said.suggestions) {
      EXPECT_FALSE(suggestion.tried) << suggestion.text;
    }
    EXPECT_FALSE(explanation_text(said, {}).empty());
    EXPECT_FALSE(explanation_json(said).empty());
  }
}

// A Wormhole chip on which one process holds L1 buffers.
struct State {
  model::Snapshot snapshot;

  explicit State(std::size_t devices = 1) {
    for (std::uint32_t i = 0; i < devices; ++i) {
      model::Device device;
      device.id = i;
      device.arch = "wormhole_b0";
      device.grid_x = device.grid_y = 8;
      device.l1_bytes_per_core = 1499136;
      device.l1_base = 105664;
      device.l1_small_region_bytes = 32768;
      device.dram_channels = 12;
      device.dram_capacity_bytes = 12ULL << 30;
      device.trace_capacity_bytes = 0;
      device.processes.emplace_back();
      device.processes.back().pid = 7;
      snapshot.devices.push_back(device);
    }
  }

  void add(std::uint32_t device, std::uint64_t address, std::uint64_t bytes, std::string label,
           Kind kind = Kind::l1) {
    model::Allocation allocation;
    allocation.device = device;
    allocation.pid = 7;
    allocation.kind = kind;
    allocation.id = snapshot.allocations.size() + 1;
    allocation.address = address;
    allocation.bytes = bytes * 64;
    allocation.bytes_per_bank = bytes;
    allocation.label = std::move(label);
    snapshot.allocations.push_back(std::move(allocation));
  }
};

Explanation of_state(const std::string& text, const State& state,
                     StateSource source = StateSource::chosen) {
  const auto failures = find_failures(text);
  return explain({.failure = failures.at(0), .state = &state.snapshot, .source = source});
}

// Returns true if the explanation has a line about an unknown fact that contains `words`.
bool is_unknown(const Explanation& said, const std::string& words) {
  return std::any_of(said.unknown.begin(), said.unknown.end(), [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

TEST(Explain, TheDeviceIsFoundByTheNumbersInTheMessage) {
  State state(3);
  state.add(0, 1400000 / 32 * 32, 32 * kKiB, "small");
  state.add(1, 500000 / 32 * 32, 900 * kKiB, "large");
  state.add(2, 1400000 / 32 * 32, 32 * kKiB, "small");
  const Explanation said = of_state(out_of_memory("L1", 1000 * kKiB, ""), state);
  EXPECT_TRUE(said.place.starts_with("Device 1 ")) << said.place;
  ASSERT_FALSE(said.in_the_way.empty());
  EXPECT_EQ(said.in_the_way[0].label, "large");
}

TEST(Explain, AStateOfAnotherMomentIsReportedAsSuch) {
  State state;
  state.add(0, 1000000 / 32 * 32, 32 * kKiB, "later");
  const Explanation said = of_state(
      out_of_memory("L1", 600 * kKiB,
                    ", but bank size is 1360704 B (allocated: 1 B, free: 700000 B, largest free "
                    "block: 500000 B)"),
      state);
  EXPECT_EQ(said.cause, Cause::fragmentation) << "the message is right";
  ASSERT_FALSE(said.unknown.empty());
  EXPECT_NE(said.unknown[0].find("another moment"), std::string::npos) << said.unknown[0];
}

// The bank of State has 1360704 B, and 100 KiB of it are held at its upper end.
State a_bystander() {
  State state;
  state.add(0, 1466368 - 100 * kKiB, 100 * kKiB, "stranger");
  return state;
}

std::string bank_figures(std::uint64_t allocated, std::uint64_t largest) {
  return ", but bank size is 1360704 B (allocated: " + std::to_string(allocated) +
         " B, free: " + std::to_string(1360704 - allocated) +
         " B, largest free block: " + std::to_string(largest) + " B)";
}

TEST(Explain, AProcessWithTheFiguresOfTheMessageIsUsed) {
  const std::uint64_t left = 1360704 - 100 * kKiB;
  const Explanation said = of_state(out_of_memory("L1", left + 32, bank_figures(100 * kKiB, left)),
                                    a_bystander(), StateSource::bystander);
  ASSERT_EQ(said.in_the_way.size(), 1U);
  EXPECT_EQ(said.in_the_way[0].label, "stranger");
  EXPECT_TRUE(said.unknown.empty());
}

TEST(Explain, AProcessWithOtherFiguresIsOnlyNamed) {
  const std::uint64_t left = 1360704 - 100 * kKiB;
  const std::vector<std::string> messages = {
      out_of_memory("L1", 1300000, bank_figures(200 * kKiB, 1000 * kKiB)),
      out_of_memory("L1", left + 32, bank_figures(132 * kKiB, left)),
      out_of_memory("L1", 1300000, ", but bank size is only 1360704 B"),
      out_of_memory("L1", 1300000, ""),
      out_of_memory("DRAM", 100 * kKiB * kKiB, bank_figures(100 * kKiB, left)),
      out_of_memory("L1_SMALL", 2000, ", but bank size is only 0 B"),
      "Out of Memory: Not enough space to allocate 4096 B L1 buffer",
      "Statically allocated circular buffers in program 7 clash with L1 buffers on core range "
      "[0-0 - 7-6]. L1 buffer allocated at 819200 and static circular buffer region ends at 983040",
      "Statically allocated circular buffers on core range [0-0 - 7-7] grow to 1767424 B which is "
      "beyond max L1 size of 1499136 B",
      "Creating trace buffers of size 90000B on MeshDevice 1, but only 50000B is allocated for "
      "trace region."};
  for (const std::string& message : messages) {
    const Explanation said = of_state(message, a_bystander(), StateSource::bystander);
    EXPECT_EQ(said.place, "") << message;
    EXPECT_TRUE(said.in_the_way.empty()) << message;
    EXPECT_FALSE(said.picture) << message;
    EXPECT_TRUE(is_unknown(said, "A process runs here (7, ")) << message;
    EXPECT_TRUE(is_unknown(said, "`--pid 7` uses it")) << message;
    for (const Suggestion& suggestion : said.suggestions) EXPECT_FALSE(suggestion.tried) << message;
  }
}

TEST(Explain, SeveralBystandersAreOneLine) {
  State state(2);
  state.snapshot.devices[1].processes[0].pid = 8;
  const Explanation said =
      of_state(out_of_memory("L1", 2000 * kKiB, ""), state, StateSource::bystander);
  EXPECT_TRUE(is_unknown(said, "2 processes run here (7, 8)"));
  EXPECT_TRUE(is_unknown(said, "`--pid N` uses one"));
}

TEST(Explain, AMeshIsOneBystander) {
  const Explanation said =
      of_state(out_of_memory("L1", 2000 * kKiB, ""), State(4), StateSource::bystander);
  EXPECT_TRUE(is_unknown(said, "A process runs here (7, "));
}

TEST(Explain, ARecordingIsUsedUnlessAFigureContradicts) {
  Explanation said =
      of_state(out_of_memory("L1", 1300000, ""), a_bystander(), StateSource::recording);
  EXPECT_EQ(said.in_the_way.size(), 1U);
  EXPECT_TRUE(is_unknown(said, "too little to tell"));
  said = of_state(out_of_memory("L1", 1000, ""), a_bystander(), StateSource::recording);
  EXPECT_TRUE(said.in_the_way.empty()) << "this request fits at that moment";
  EXPECT_TRUE(is_unknown(said, "`--at MOMENT`"));
}

TEST(Explain, AChosenStateOfAnotherMomentGivesNoTriedSuggestion) {
  const std::string message =
      "Statically allocated circular buffers in program 7 clash with L1 buffers on core range "
      "[0-0 - 7-6]. L1 buffer allocated at 1300480 and static circular buffer region ends at "
      "1464320";
  const Explanation said = of_state(message, a_bystander());
  EXPECT_EQ(said.in_the_way.size(), 1U);
  EXPECT_TRUE(is_unknown(said, "another moment or another process"));
  EXPECT_NE(said.sentence.find("begins at 1300480."), std::string::npos) << said.sentence;
  EXPECT_EQ(said.sentence.find("stranger"), std::string::npos) << "its address is another";
  ASSERT_FALSE(said.suggestions.empty());
  for (const Suggestion& suggestion : said.suggestions) {
    EXPECT_FALSE(suggestion.tried) << suggestion.text;
  }
}

TEST(Explain, AChosenProcessThatIsNotTrackedIsReported) {
  const State state;
  const FailureMessage failure = find_failures(out_of_memory("L1", 2000 * kKiB, "")).at(0);
  const Explanation said = explain(
      {.failure = failure, .state = &state.snapshot, .pid = 99, .source = StateSource::chosen});
  EXPECT_TRUE(is_unknown(said, "process 99"));
}

// ---- The message alone ----

std::vector<std::string> actions_of(const Explanation& said) {
  std::vector<std::string> actions;
  for (const Suggestion& suggestion : said.suggestions) {
    EXPECT_FALSE(suggestion.tried) << suggestion.text;
    actions.push_back(suggestion.action);
  }
  return actions;
}

using Actions = std::vector<std::string>;

// tt-mlir #8044
TEST(MessageAlone, FragmentationOfL1) {
  const Explanation said = of_message(
      "TT_FATAL: Out of Memory: Not enough space to allocate 26542080 B L1 buffer across 48 banks, "
      "where each bank needs to store 552960 B, but bank size is 1329888 B (allocated: 417792 B, "
      "free: 912096 B, largest free block: 522240 B) (assert.hpp:104)");
  EXPECT_EQ(actions_of(said), (Actions{"reallocate", "allocate_earlier", "move_to_dram",
                                       "smaller_type", "shrink_request"}));
  EXPECT_EQ(said.suggestions[3].bytes, 552960U / 32 * 17);
  EXPECT_EQ(said.suggestions[4].bytes, 522240U);
  EXPECT_NE(said.suggestions[4].text.find("94 %"), std::string::npos) << said.suggestions[4].text;
}

// tt-xla #5535: 47,535,808 B as bfloat8_b fit into the largest block.
TEST(MessageAlone, CapacityOfDram) {
  const Explanation said = of_message(
      "Out of Memory: Not enough space to allocate 1073741824 B DRAM buffer across 12 banks, where "
      "each bank needs to store 89479168 B, but bank size is 1070773184 B (allocated: 1003628544 "
      "B, free: 67144640 B, largest free block: 67140352 B)");
  EXPECT_EQ(said.cause, Cause::capacity);
  EXPECT_EQ(actions_of(said), (Actions{"smaller_type", "shrink_request", "free"}));
  EXPECT_EQ(said.suggestions[0].bytes, 89479168U / 32 * 17);
  EXPECT_NE(said.sentence.find("2,968,640 B"), std::string::npos)
      << "1 GiB less the bank: " << said.sentence;
}

TEST(MessageAlone, ATypeThatDoesNotFitEitherIsNotSuggested) {
  const Explanation said = of_message(
      "Out of Memory: Not enough space to allocate 1244659712 B DRAM buffer across 12 banks, where "
      "each bank needs to store 103723008 B, but bank size is 1070773184 B (allocated: 1054848640 "
      "B, free: 15924544 B, largest free block: 15475264 B)");
  EXPECT_EQ(actions_of(said), (Actions{"shrink_request", "free"}));
}

TEST(MessageAlone, ARegionThatIsLargeEnoughCanBeMadeSmaller) {
  // 12 MiB of each channel are missing from the bank.
  Explanation said = of_message(
      "Out of Memory: Not enough space to allocate 240000000 B DRAM buffer across 12 banks, where "
      "each bank needs to store 20000000 B, but bank size is 1060110304 B (allocated: 1050110304 "
      "B, free: 10000000 B, largest free block: 10000000 B)");
  EXPECT_EQ(actions_of(said), (Actions{"shrink_request", "trace_region_size", "free"}));
  said = of_message(
      "Out of Memory: Not enough space to allocate 86450176 B L1 buffer across 64 banks, where "
      "each "
      "bank needs to store 1350784 B, but bank size is only 1330944 B");
  EXPECT_EQ(actions_of(said).at(4), "l1_small_size") << "19,840 B are missing";
  EXPECT_NE(said.sentence.find("1,499,136 B on Wormhole and 1,572,864 B on Blackhole"),
            std::string::npos)
      << said.sentence;
}

TEST(MessageAlone, AWholeBankOfTheChipHasNothingSetApart) {
  // WH: 1 GiB less the runtime's own 1,048,640 B. The other banks belong to no known chip.
  for (const char* banks : {"12 banks, where each bank needs to store 2000000 B, but bank size is "
                            "1072693184 B",
                            "12 banks, where each bank needs to store 2000000 B, but bank size is "
                            "1073741792 B",
                            "8 banks, where each bank needs to store 2000000 B, but bank size is "
                            "1073741792 B",
                            "5 banks, where each bank needs to store 2000000 B, but bank size is "
                            "4000000000 B"}) {
    const Explanation said =
        of_message("Out of Memory: Not enough space to allocate 24000000 B DRAM buffer across " +
                   std::string(banks));
    EXPECT_EQ(said.sentence.find("set apart"), std::string::npos) << said.sentence;
  }
}

TEST(MessageAlone, ARequestLargerThanAnyChip) {
  for (const std::string& message :
       {out_of_memory("L1", 2000000, ""), out_of_memory("DRAM", 5000000000, ""),
        out_of_memory("L1_SMALL", 2000000, ", but bank size is only 65536 B"),
        out_of_memory("TRACE", 5000000000, ", but bank size is only 65536 B"),
        std::string("Out of Memory: Not enough space to allocate 549755813888 B DRAM buffer")}) {
    const Explanation said = of_message(message);
    EXPECT_EQ(said.cause, Cause::capacity) << message;
    EXPECT_NE(said.sentence.find("any chip that ttmem knows"), std::string::npos) << said.sentence;
    for (const Suggestion& suggestion : said.suggestions) {
      EXPECT_NE(suggestion.action, "l1_small_size");
      EXPECT_NE(suggestion.action, "trace_region_size");
    }
  }
  const Explanation said = of_message(out_of_memory("L1", 2000000, ""));
  EXPECT_FALSE(said.short_by) << "the size of a bank is unknown";
  EXPECT_EQ(actions_of(said), (Actions{"move_to_dram", "more_cores", "smaller_type"}));
}

// tt-inference-server #4005: 10 % above 53,616,640 B, in whole pages. The next night's trace needed
// 60,825,600 B.
TEST(MessageAlone, ATraceRegionHasAMargin) {
  Explanation said = of_message(
      "TT_FATAL: Creating trace buffers of size 53616640B on MeshDevice 0, but only 50000000B is "
      "allocated for trace region.");
  EXPECT_EQ(said.suggestions.at(0).action, "trace_region_size");
  EXPECT_EQ(said.suggestions[0].bytes, 58982400U);
  EXPECT_FALSE(said.suggestions[0].tried);
  said = of_message(
      "Out of Memory: Not enough space to allocate 1200000 B TRACE buffer across 12 banks, where "
      "each bank needs to store 100000 B, but bank size is only 400000 B");
  EXPECT_EQ(said.suggestions.at(0).action, "trace_region_size");
  EXPECT_EQ(said.suggestions[0].bytes, 6602752U) << "10 % above 12 times 500,000 B, in pages";
}

TEST(MessageAlone, CircularBuffersBeyondL1) {
  const Explanation said = of_message(
      "Statically allocated circular buffers on core range [0-0 - 10-7] grow to 1753856 B which is "
      "beyond max L1 size of 1572864 B");
  EXPECT_EQ(actions_of(said),
            (Actions{"shrink_cbs", "more_cores", "smaller_type", "slice_in_dram"}));
  EXPECT_EQ(said.suggestions[0].bytes, 180992U);
}

TEST(MessageAlone, AClash) {
  const Explanation said = of_message(
      "Statically allocated circular buffers in program 2282 clash with L1 buffers on core range "
      "[0-0 - 10-9]. L1 buffer allocated at 1563072 and static circular buffer region ends at "
      "1563264");
  EXPECT_EQ(actions_of(said),
            (Actions{"shrink_cbs", "l1_small_size", "free", "reallocate", "more_cores"}));
}

TEST(MessageAlone, AMessageWithoutItsFiguresHasAdviceWithoutFigures) {
  for (const char* message :
       {"Statically allocated circular buffers in program {} clash with L1 buffers on core range "
        "{}. L1 buffer allocated at {} and static circular buffer region ends at {}",
        "Statically allocated circular buffers on core range {} grow to {} B which is beyond max "
        "L1 "
        "size of {} B",
        "Creating trace buffers of size {}B on MeshDevice {}, but only {}B is allocated for trace "
        "region."}) {
    const Explanation said = of_message(message);
    EXPECT_FALSE(said.short_by) << said.sentence;
    EXPECT_NE(said.sentence.find("does not say by how much"), std::string::npos) << said.sentence;
    EXPECT_FALSE(actions_of(said).empty());
    EXPECT_TRUE(is_unknown(said, "{}")) << message;
  }
}

TEST(MessageAlone, TheHeadlineClaimsNoTrial) {
  Explanation said = of_message(out_of_memory("L1", 2000000, ""));
  EXPECT_EQ(explanation_text(said, {}).find("[tried]"), std::string::npos);
  said.suggestions[0].tried = true;
  EXPECT_NE(explanation_text(said, {}).find("([tried] on a model"), std::string::npos);
}

// ---- A state ----

// Messages of runtimes from before the middle of 2025 contain no figures of a bank.
TEST(Explain, AMessageWithoutFiguresMatchesNoDeviceForCertain) {
  const std::string text = "Out of Memory: Not enough space to allocate 4096 B L1 buffer";
  State state(2);
  state.add(0, 1400000 / 32 * 32, 32 * kKiB, "small");
  state.add(1, 500000 / 32 * 32, 900 * kKiB, "large");
  Explanation said = of_state(text, state);
  EXPECT_TRUE(said.place.starts_with("Device 1 ")) << "the tightest one";
  EXPECT_TRUE(is_unknown(said, "too little"));
  EXPECT_FALSE(is_unknown(said, "another moment"));

  const FailureMessage failure = find_failures(text).at(0);
  said = explain({.failure = failure, .state = &state.snapshot, .source = StateSource::failure});
  EXPECT_TRUE(is_unknown(said, "Which device it was"));
  const State one;
  said = explain({.failure = failure, .state = &one.snapshot, .source = StateSource::failure});
  EXPECT_TRUE(said.unknown.empty()) << "there is no other device";
}

TEST(Explain, AStateThatCannotBeComparedIsNotCalledAnotherMoment) {
  State state;
  state.add(0, 1400000 / 32 * 32, 32 * kKiB, "a");
  state.snapshot.allocations[0].address.reset();
  const Explanation said = of_state(out_of_memory("L1", 2000 * kKiB, ""), state);
  EXPECT_TRUE(is_unknown(said, "too little"));
  EXPECT_FALSE(is_unknown(said, "another moment"));
}

TEST(Explain, AFailureThatDoesNotDependOnHoldersNamesNoDevice) {
  State state(2);
  const Explanation said =
      of_state("Program size (71000) too large for kernel config buffer (70656) on TENSIX", state);
  EXPECT_EQ(said.place, "");
  EXPECT_TRUE(said.unknown.empty());
}

TEST(Explain, ATraceRegionIsFoundByItsSizeInWholePages) {
  const auto place_of_region = [](std::uint64_t bytes) {
    State state(2);
    state.snapshot.devices[0].trace_capacity_bytes = 24 * 8192;
    state.snapshot.devices[1].trace_capacity_bytes = bytes;
    const Explanation said = of_state(
        "Creating trace buffers of size 90000B on MeshDevice 1, but only 50000B is allocated for "
        "trace region.",
        state);
    return is_unknown(said, "another moment") ? "" : said.place.substr(0, 8);
  };
  EXPECT_EQ(place_of_region(12 * 8192), "Device 1");
  EXPECT_EQ(place_of_region(50000), "Device 1") << "as the dry run says it";
  EXPECT_EQ(place_of_region(12 * 7 * 8192), "Device 1") << "before 2026 it was that of one bank";
  EXPECT_EQ(place_of_region(12 * 8192 * 2), "");
  EXPECT_EQ(place_of_region(49999), "");
}

TEST(Explain, WithoutAFailureTheTightestMemoryIsExplained) {
  State state;
  state.add(0, 105664 + 64 * kKiB, 1360704 - 64 * kKiB, "weights");
  const Explanation said = explain({.state = &state.snapshot});
  EXPECT_EQ(said.kind, Kind::l1);
  EXPECT_EQ(said.largest_free_per_bank, 64 * kKiB);
  EXPECT_FALSE(said.short_by);
  EXPECT_NE(said.sentence.find("65,536 B"), std::string::npos) << said.sentence;
}

TEST(Explain, TheTightestMemoryMayBeASmallRegionOfAnotherDevice) {
  State state(2);
  state.add(0, 105664 + 1000 * kKiB, 100 * kKiB, "weights");
  state.add(1, 1466368, 30 * kKiB, "tables", Kind::l1_small);
  for (model::Device& device : state.snapshot.devices) {
    const bool is_second = device.id == 1;
    device.processes[0].kinds[Kind::l1_small].set(&KindFigures::used_bytes,
                                                  is_second ? 30 * kKiB * 64 : 0);
  }
  const auto check = [&] {
    const Explanation said = explain({.state = &state.snapshot});
    EXPECT_TRUE(said.place.starts_with("Device 1 ")) << said.place;
    EXPECT_EQ(said.kind, Kind::l1_small);
    EXPECT_EQ(said.largest_free_per_bank, 2 * kKiB);
  };
  check();
  // If the snapshot has the largest free blocks from the collector, the explanation uses them and
  // does not examine the buffers. It must be the same explanation.
  for (model::Device& device : state.snapshot.devices) {
    device.free[Kind::dram].largest_per_bank = 1000 << 20;
    device.free[Kind::l1].largest_per_bank = 1000 * kKiB;
    device.free[Kind::l1_small].largest_per_bank = device.id == 1 ? 2 * kKiB : 32 * kKiB;
  }
  check();
}

TEST(Explain, BuffersWithoutAnAddressAreReportedAsUnknown) {
  State state;
  state.add(0, 1400000 / 32 * 32, 32 * kKiB, "a");
  state.snapshot.allocations[0].address.reset();
  const Explanation said = of_state(out_of_memory("L1", 2000 * kKiB, ""), state);
  EXPECT_TRUE(std::any_of(said.unknown.begin(), said.unknown.end(), [](const std::string& line) {
    return line.find("addresses") != std::string::npos;
  }));
}

TEST(Explain, UnreadableSegmentsAreReported) {
  model::Snapshot nothing;
  nothing.unread = {"cannot read /dev/shm/ttmem.0.7.1: permission denied"};
  nothing.warnings = nothing.unread;
  const Explanation said = explain({.state = &nothing});
  EXPECT_EQ(said.sentence.find("no process is tracked"), std::string::npos) << said.sentence;
  EXPECT_EQ(said.unknown, nothing.unread);
}

TEST(Explain, HostileNamesArePrintedHarmlessly) {
  State state;
  state.add(0, 105664 + 64 * kKiB, 1360704 - 64 * kKiB, "\x1b[2Jgone\xff");
  const Explanation said = of_state(out_of_memory("L1", 100 * kKiB, ""), state);
  for (const bool color : {false, true}) {
    const std::string text = explanation_text(said, {.color = color});
    EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
  EXPECT_NE(explanation_json(said).find("gone"), std::string::npos);
}

TEST(Explain, AHundredThousandBuffersFitOneScreen) {
  State state;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    state.add(0, 1048640 + i * 4096, 2048, "kv." + std::to_string(i), Kind::dram);
  }
  const Explanation said = of_state(out_of_memory("DRAM", 800 * kKiB * kKiB, ""), state);
  EXPECT_EQ(said.cause, Cause::fragmentation);
  const std::string text = explanation_text(said, {.width = 80});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 45);
}

// ---- The bank ----

std::vector<BufferHolder> random_holders() {
  std::vector<BufferHolder> holders;
  std::uint64_t at = 0;
  const auto count = *rc::gen::inRange(0, 8);
  for (int i = 0; i < count; ++i) {
    at += *rc::gen::inRange<std::uint64_t>(0, 4) * 10;
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, 5) * 10;
    holders.push_back({.label = std::to_string(i), .address = at, .bytes_per_bank = bytes});
    at += bytes;
  }
  return holders;
}

// Returns the smallest number of adjacent holders that must be removed to make enough room. Tries
// every run of adjacent holders.
std::optional<std::size_t> fewest_by_trying(const std::vector<BufferHolder>& holders,
                                            std::uint64_t end, std::uint64_t request) {
  for (std::size_t count = 1; count <= holders.size(); ++count) {
    for (std::size_t first = 0; first + count <= holders.size(); ++first) {
      const std::uint64_t from = first == 0 ? 0 : holders[first - 1].end();
      const std::uint64_t to =
          first + count == holders.size() ? end : holders[first + count].address;
      if (to - from >= request) return count;
    }
  }
  return std::nullopt;
}

RC_GTEST_PROP(Bank, TheSmallestRunIsTheSmallest, ()) {
  const std::vector<BufferHolder> holders = random_holders();
  const std::uint64_t end =
      (holders.empty() ? 0 : holders.back().end()) + *rc::gen::inRange<std::uint64_t>(1, 5) * 10;
  const auto bank = Bank::make(*rc::gen::element(Kind::l1, Kind::dram), {{0, end}, 10}, holders);
  RC_ASSERT(bank.has_value());
  const std::uint64_t request = *rc::gen::inRange<std::uint64_t>(1, 30) * 10;
  RC_PRE(request > bank->largest_free());
  const auto run = bank->smallest_run(request);
  const auto expected = fewest_by_trying(holders, end, request);
  RC_ASSERT(run.has_value() == expected.has_value());
  if (run) RC_ASSERT(run->count == *expected);
}

TEST(Bank, HoldersThatOverlapAreNotModelled) {
  const std::vector<BufferHolder> holders = {{.address = 0, .bytes_per_bank = 20},
                                             {.address = 10, .bytes_per_bank = 20}};
  EXPECT_FALSE(Bank::make(Kind::l1, {{0, 100}, 10}, holders));
}

TEST(Bank, MovedBuffersGoWhereTheAllocatorPutsThem) {
  // The free ranges of the bank are [0, 30) and [70, 100). Buffers of L1 are placed from the upper
  // end.
  const std::vector<BufferHolder> holders = {{.address = 30, .bytes_per_bank = 20, .age_ns = 2},
                                             {.address = 50, .bytes_per_bank = 20, .age_ns = 1}};
  const auto bank = Bank::make(Kind::l1, {{0, 100}, 10}, holders);
  ASSERT_TRUE(bank);
  EXPECT_TRUE(bank->fits_after_moving({0, 2, 40}, 60));
  EXPECT_FALSE(bank->fits_after_moving({1, 1, 20}, 60));
  EXPECT_EQ(bank->missing_at_the_end(50), 20U);
  EXPECT_TRUE(bank->fits_with_more(20, 50));
  EXPECT_FALSE(bank->fits_with_more(10, 50));
  EXPECT_TRUE(bank->fits_when_first(60));
  EXPECT_FALSE(bank->fits_when_first(70));
}

TEST(Bank, UnknownAgesAreNotGuessed) {
  std::vector<BufferHolder> holders = {{.address = 30, .bytes_per_bank = 20, .age_ns = 2},
                                       {.address = 50, .bytes_per_bank = 20}};
  EXPECT_FALSE(Bank::make(Kind::l1, {{0, 100}, 10}, holders)->fits_when_first(60));
  holders.erase(holders.begin());
  EXPECT_TRUE(Bank::make(Kind::l1, {{0, 100}, 10}, holders)->fits_when_first(60)) << "only one";
}

}  // namespace
}  // namespace ttmem::explain
