// SPDX-License-Identifier: Apache-2.0
//
// Runs host code on the dry run that fails as users reported, with one scenario for each cause of a
// failure. The explanation must name the cause and the buffer that is in the way, if there is one.
// Every suggestion marked `tried` must let the same program run.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <ttmem_tt_metal.hpp>
#include <tuple>
#include <vector>

#include "analyse/explain/explain.hpp"
#include "analyse/explain/explanation_json.hpp"
#include "failing_host.hpp"
#include "read/collector/collector.hpp"
#include "support/tracked_environment.hpp"

namespace ttmem::explain {
namespace {

using Type = tm::BufferType;

struct Scenario {
  const char* name;
  Cause cause;
  const char* culprit;  // label of the buffer that is in the way; empty if there is none
  const char* first;    // action of the first suggestion of the explanation
  Settings settings;
  std::function<void(Host&)> run;

  friend void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }
};

constexpr std::uint32_t kKiB = 1024;

std::uint32_t l1_bank(const Host& host) {
  return static_cast<std::uint32_t>(host.bank_bytes(Type::L1));
}

// Returns the size of circular buffers that overlap an L1 buffer by `over` bytes. The L1 buffer is
// at the top of L1 and takes `taken` bytes of each core.
std::uint32_t cbs_into(Host& host, std::uint32_t taken, std::uint32_t over) {
  return l1_bank(host) - taken + over;
}

void conv_beyond_l1(Host& host) {
  host.failing_call_is_next();
  host.run({1000 * kKiB, 750 * kKiB}, host.all_cores());
}

void conv_clash(Host& host) {
  host.sharded("activations", Type::L1, 600 * kKiB, host.all_cores());
  host.failing_call_is_next();
  host.run({64 * kKiB, cbs_into(host, 600 * kKiB, 71 * kKiB) - 64 * kKiB}, host.all_cores());
}

// Fails because of a prefetcher's global circular buffer. This buffer has its bytes on two cores,
// but its address range is taken on all cores.
void clash_with_other_cores(Host& host) {
  host.sharded("prefetcher.global_cb", Type::L1, 900 * kKiB, {{0, 0}, {1, 0}});
  host.failing_call_is_next();
  host.run({cbs_into(host, 900 * kKiB, 5 * kKiB)}, {{4, 4}, {5, 5}});
}

void op_grew_a_little(Host& host) {
  host.sharded("residual", Type::L1, 640 * kKiB, host.all_cores());
  host.run({cbs_into(host, 640 * kKiB, 0)}, host.all_cores());
  host.failing_call_is_next();
  host.run({cbs_into(host, 640 * kKiB, 1792)}, host.all_cores());
}

// Fails because the buffer "halo" has a low address. It was allocated below the buffer "input",
// which has been freed since.
void clash_that_reallocate_mends(Host& host) {
  host.tensor("input", Type::L1, 300 * kKiB);
  host.tensor("halo", Type::L1, 300 * kKiB);
  host.free("input");
  host.failing_call_is_next();
  host.run({cbs_into(host, 600 * kKiB, 4 * kKiB)}, host.all_cores());
}

void l1_small_full(Host& host) {
  for (int i = 0; i < 16; ++i) {
    host.sharded("conv.config." + std::to_string(i), Type::L1_SMALL, 2 * kKiB, host.all_cores());
  }
  host.failing_call_is_next();
  host.sharded("conv.config.16", Type::L1_SMALL, 2 * kKiB, host.all_cores());
}

void l1_small_none(Host& host) {
  host.failing_call_is_next();
  host.sharded("conv.config", Type::L1_SMALL, 2 * kKiB, host.all_cores());
}

void trace_region(Host& host) {
  host.failing_call_is_next();
  host.capture(131);
}

void traces_never_released(Host& host) {
  host.capture(60);
  host.capture(60);
  host.failing_call_is_next();
  host.capture(60);
}

void dram_fragmentation(Host& host) {
  const std::uint64_t whole = host.bank_bytes(Type::DRAM);
  for (int i = 0; i < 8; ++i) {
    host.tensor("temporary." + std::to_string(i), Type::DRAM, whole / 10);
    host.tensor("weights." + std::to_string(i), Type::DRAM, whole / 64);
  }
  for (int i = 0; i < 8; ++i) host.free("temporary." + std::to_string(i));
  host.failing_call_is_next();
  host.tensor("gathered", Type::DRAM, whole / 20 * 3);
}

void l1_fragmentation(Host& host) {
  host.tensor("input", Type::L1, 500 * kKiB);
  host.tensor("residual", Type::L1, 64 * kKiB);
  host.free("input");
  host.failing_call_is_next();
  host.tensor("output", Type::L1, 900 * kKiB);
}

void kv_cache(Host& host) {
  const std::uint64_t whole = host.bank_bytes(Type::DRAM);
  host.tensor("weights", Type::DRAM, whole / 10 * 7);
  host.failing_call_is_next();
  host.tensor("kv_cache", Type::DRAM, whole / 2);
}

void never_fits_l1(Host& host) {
  host.failing_call_is_next();
  host.tensor("activations", Type::L1, 2048 * kKiB);
}

void just_too_large_for_l1(Host& host) {
  host.failing_call_is_next();
  host.tensor("activations", Type::L1, l1_bank(host) + 8 * kKiB);
}

// Fails because the trace region takes the DRAM that the last tensor needs.
void dram_beside_a_trace_region(Host& host) {
  const std::uint64_t whole = host.bank_bytes(Type::DRAM);
  host.tensor("weights", Type::DRAM, whole - 2048 * kKiB);
  host.failing_call_is_next();
  host.tensor("kv_cache", Type::DRAM, 3072 * kKiB);
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"conv_beyond_l1", Cause::beyond_l1, "", "shrink_cbs", {}, conv_beyond_l1},
      {"conv_clash", Cause::clash, "activations", "shrink_cbs", {}, conv_clash},
      {"clash_with_other_cores",
       Cause::clash,
       "prefetcher.global_cb",
       "l1_small_size",
       {},
       clash_with_other_cores},
      {"op_grew_a_little", Cause::clash, "residual", "l1_small_size", {}, op_grew_a_little},
      {"clash_that_reallocate_mends",
       Cause::clash,
       "halo",
       "reallocate",
       {},
       clash_that_reallocate_mends},
      {"l1_small_full",
       Cause::l1_small_region,
       "conv.config.3",
       "l1_small_size",
       {},
       l1_small_full},
      {"l1_small_none",
       Cause::l1_small_region,
       "",
       "l1_small_size",
       {.l1_small_size = 0},
       l1_small_none},
      {"trace_region",
       Cause::trace_region,
       "",
       "trace_region_size",
       {.trace_region_size = 500'000},
       trace_region},
      {"traces_never_released",
       Cause::trace_region,
       "trace",
       "trace_region_size",
       {.trace_region_size = 500'000},
       traces_never_released},
      {"dram_fragmentation",
       Cause::fragmentation,
       "weights.0",
       "reallocate",
       {},
       dram_fragmentation},
      {"l1_fragmentation", Cause::fragmentation, "residual", "reallocate", {}, l1_fragmentation},
      {"kv_cache", Cause::capacity, "weights", "smaller_type", {}, kv_cache},
      {"never_fits_l1", Cause::capacity, "", "move_to_dram", {}, never_fits_l1},
      {"just_too_large_for_l1", Cause::capacity, "", "move_to_dram", {}, just_too_large_for_l1},
      {"dram_beside_a_trace_region",
       Cause::capacity,
       "weights",
       "trace_region_size",
       {.trace_region_size = 128 * kKiB * kKiB},
       dram_beside_a_trace_region},
  };
  return all;
}

// The message of the failed program, and its explanation with the state at the time of the failure.
struct Outcome {
  std::string message;
  std::optional<Explanation> explanation;
};

Outcome outcome_of(const std::string& system, const Scenario& scenario,
                   const Suggestion* suggestion) {
  Host host(system, scenario.settings, suggestion);
  try {
    scenario.run(host);
    return {};
  } catch (const std::exception& error) {
    tt_metal::flush();
    Outcome outcome{error.what(), std::nullopt};
    const auto failures = find_failures(outcome.message);
    if (failures.size() != 1) return outcome;
    const model::Snapshot state = collector::collect(tracked_directory());
    outcome.explanation =
        explain({.failure = failures.front(), .state = &state, .source = StateSource::failure});
    return outcome;
  }
}

class OnTheDryRun : public testing::TestWithParam<std::tuple<Scenario, const char*>> {};

TEST_P(OnTheDryRun, TheCulpritIsNamedAndEveryTriedSuggestionMakesTheProgramRun) {
  ASSERT_TRUE(kIsTracked);
  const Scenario& scenario = std::get<0>(GetParam());
  const std::string system = std::get<1>(GetParam());
  const Outcome outcome = outcome_of(system, scenario, nullptr);
  ASSERT_TRUE(outcome.explanation) << outcome.message;
  const Explanation& explanation = *outcome.explanation;
  const std::string said = outcome.message + "\n" + explanation_json(explanation);
  EXPECT_EQ(explanation.cause, scenario.cause) << said;
  EXPECT_TRUE(explanation.short_by) << said;
  for (const std::string& line : explanation.unknown) {
    EXPECT_EQ(line.find("figures differ"), std::string::npos) << said;
  }
  const bool is_named =
      std::any_of(explanation.in_the_way.begin(), explanation.in_the_way.end(),
                  [&](const BufferHolder& holder) { return holder.label == scenario.culprit; });
  EXPECT_EQ(is_named, *scenario.culprit != '\0') << said;

  ASSERT_FALSE(explanation.suggestions.empty()) << said;
  EXPECT_EQ(explanation.suggestions.front().action, scenario.first) << said;
  EXPECT_TRUE(explanation.suggestions.front().tried) << said;
  for (const Suggestion& suggestion : explanation.suggestions) {
    if (!suggestion.tried || suggestion.action == "allocate_earlier") continue;
    EXPECT_EQ(outcome_of(system, scenario, &suggestion).message, "") << suggestion.text << "\n"
                                                                     << said;
  }
}

std::string name_of_case(const testing::TestParamInfo<OnTheDryRun::ParamType>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(Failures, OnTheDryRun,
                         testing::Combine(testing::ValuesIn(scenarios()),
                                          testing::Values("n150", "p150")),
                         name_of_case);

}  // namespace

}  // namespace ttmem::explain
