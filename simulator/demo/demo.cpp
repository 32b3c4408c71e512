// SPDX-License-Identifier: Apache-2.0
#include "simulator/demo/demo.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>

#include "simulator/demo/scenario.hpp"
#include "simulator/foreground/foreground.hpp"

namespace ttmem::demo {
namespace {

struct Entry {
  ScenarioInfo info;
  double seconds;  // default duration
  std::unique_ptr<Scenario> (*make)();
};

constexpr std::array<Entry, 9> kEntries = {{
    {{"single", "one Wormhole: CB 29.0 MiB, Total L1 45.3 MiB"}, 60, make_single},
    {{"mesh8", "eight Wormholes, CB 29.0 MiB on each (the default)"}, 60, make_mesh8},
    {{"cached-programs", "30 programs at the same addresses: 300 MiB logical, 10 MiB physical"},
     60,
     make_cached_programs},
    {{"blackhole", "one Blackhole: L1 buffers, CBs and kernels, 42.67 MiB together"},
     60,
     make_blackhole},
    {{"device-init", "an opened device: only the persistent dispatch kernels"},
     60,
     make_device_init},
    {{"training", "data-parallel training: activations and gradients come and go"},
     57,  // seconds; the demo ends in the middle of an iteration
     make_training},
    {{"inference", "a large model on eight chips: DRAM nearly full"}, 60, make_inference},
    {{"leak", "a server that loses DRAM and L1 buffers, request by request"}, 60, make_leak},
    {{"galaxy", "32 Wormholes of a Galaxy"}, 60, make_galaxy},
}};

constexpr double kStepsPerSecond = 10;
constexpr double kMaxSeconds =
    1e8;  // three years; a larger value could overflow the steps and times

Result<const Entry*> find(const std::string& name) {
  const auto* found = std::find_if(kEntries.begin(), kEntries.end(),
                                   [&](const Entry& entry) { return entry.info.name == name; });
  if (found != kEntries.end()) return found;
  std::vector<std::string_view> names;
  names.reserve(kEntries.size());
  for (const Entry& entry : kEntries) names.push_back(entry.info.name);
  return Error{fmt::format("no scenario '{}'; there are {}", name, fmt::join(names, ", "))};
}

// Formats a duration in seconds as "60 s" or "0.5 s".
std::string duration_text(double seconds) { return fmt::format("{:.9g} s", seconds); }

// Prints which devices are ready. If the scenario ends by itself, also prints when.
void announce(const Entry& entry, const Scenario& scenario, std::optional<double> seconds) {
  const std::size_t devices = scenario.mesh->num_devices();
  foreground::announce(fmt::format("demo {}: {} device{} ready{}", entry.info.name, devices,
                                   devices == 1 ? "" : "s",
                                   seconds ? " for " + duration_text(*seconds) : ""));
}

// Runs one step of the scenario and then reports a mark, as a real workload should.
void take_step(Scenario& scenario, std::uint64_t number) {
  scenario.step(number);
  ttmem_mark("step");
}

// Runs the steps of the scenario, one every tenth of a second. Returns false if a signal ended the
// scenario.
bool play_in_real_time(Scenario& scenario, double seconds, foreground::StopSignals& signals) {
  using Clock = foreground::StopSignals::Clock;
  const auto after = [start = Clock::now()](double span) {
    return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(span));
  };
  const auto steps = static_cast<std::uint64_t>(std::llround(seconds * kStepsPerSecond));
  for (std::uint64_t number = 0; number < steps; ++number) {
    if (signals.came_before(after(static_cast<double>(number) / kStepsPerSecond))) return false;
    take_step(scenario, number);
  }
  return !signals.came_before(after(seconds));
}

void play_at_once(Scenario& scenario, double seconds) {
  const auto steps = static_cast<std::uint64_t>(std::llround(seconds * kStepsPerSecond));
  for (std::uint64_t number = 0; number < steps; ++number) take_step(scenario, number);
}

void run_scenario(const Entry& entry, const DemoOptions& options, double seconds,
                  foreground::StopSignals& signals) {
  const std::unique_ptr<Scenario> scenario = entry.make();
  if (options.hold && !options.seconds) {
    play_at_once(*scenario, seconds);
    announce(entry, *scenario, std::nullopt);
    signals.wait();
    return;
  }
  announce(entry, *scenario, options.hold ? std::nullopt : std::optional(seconds));
  if (!play_in_real_time(*scenario, seconds, signals)) return;
  if (options.hold) return signals.wait();
  fmt::print(stderr, "demo {}: ended after {}; --seconds N lasts longer, --hold until Ctrl-C\n",
             entry.info.name, duration_text(seconds));
}

}  // namespace

std::vector<ScenarioInfo> scenarios() {
  std::vector<ScenarioInfo> all;
  all.reserve(std::size(kEntries));
  for (const Entry& entry : kEntries) all.push_back(entry.info);
  return all;
}

Result<void> run(const DemoOptions& options) {
  const Result<const Entry*> found = find(options.scenario);
  if (!found) return found.error();
  const Entry& entry = **found;
  const double seconds = options.seconds.value_or(entry.seconds);
  if (!(seconds >= 0 && seconds <= kMaxSeconds)) {
    return Error{fmt::format("demo cannot run for {} seconds; give a number from 0 to {:.0f}",
                             seconds, kMaxSeconds)};
  }

  foreground::StopSignals signals;
  if (const auto tracking = foreground::start_tracking(); !tracking) return tracking.error();
  try {
    run_scenario(entry, options, seconds, signals);
  } catch (const std::exception& error) {
    return Error{fmt::format("demo {} ended early: {}", entry.info.name, error.what())};
  }
  return {};
}

}  // namespace ttmem::demo
