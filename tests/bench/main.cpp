// SPDX-License-Identifier: Apache-2.0
//
// Runs the benchmarks. Then prints the figures that the project promises, one line `ratio NAME
// VALUE` for each figure, and writes the figures as JSON. A ratio compares measurements of the same
// run. Every benchmark runs several times. Only its fastest run is used, because other load
// disturbs that run least.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "empty_call.h"
#include "socket_bench.hpp"
#include "workload.hpp"

namespace {

// Keeps the CPU nanoseconds per item of the fastest repetition of each benchmark. CPU time excludes
// the time that other processes use on the same core.
class Fastest : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        fmt::print(stderr, "{}: {}\n", run.benchmark_name(), run.error_message);
        failed_ = true;
      } else if (run.run_type == Run::RT_Iteration) {
        note(run);
      }
    }
  }
  [[nodiscard]] bool failed() const { return failed_; }
  // Returns the nanoseconds per item, or NaN if a filter left the benchmark out.
  [[nodiscard]] double ns(const std::string& name) const {
    const auto found = ns_.find(name);
    return found != ns_.end() ? found->second : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] const std::map<std::string, double>& all() const { return ns_; }

 private:
  void note(const Run& run) {
    const auto items = run.counters.find("items_per_second");
    const double ns = items != run.counters.end()
                          ? 1e9 / items->second.value
                          : run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations);
    const std::string& args = run.run_name.args;
    const std::string name = run.run_name.function_name + (args.empty() ? "" : "/") + args;
    const auto [entry, is_new] = ns_.try_emplace(name, ns);
    entry->second = std::min(entry->second, ns);
  }

  std::map<std::string, double> ns_;
  bool failed_ = false;
};

struct DisabledCall {
  double ns;
  double empty_ns;  // time of a call of an empty function in another shared object
};

using BufferCall = void(std::uint32_t, const ttmem_buffer*);

// Returns the time of one call. The disabled call and the empty call are timed with this one loop.
// With two loops the result would also depend on where the compiler placed each loop.
[[gnu::noinline]] double ns_per_call(BufferCall* call) {
  const ttmem_buffer buffer = ttmem::bench::dram_buffer(1);
  constexpr int kCalls = 20'000;
  timespec before{};
  timespec after{};
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  for (int i = 0; i < kCalls; ++i) call(0, &buffer);
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  return (static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
          static_cast<double>(after.tv_nsec - before.tv_nsec)) /
         kCalls;
}

// Measures both calls in many short rounds and returns the fastest time of each call. The rounds of
// the two calls alternate, so that other load affects both calls alike.
DisabledCall measure_disabled_call() {
  DisabledCall fastest{1e9, 1e9};
  for (int round = 0; round < 1000; ++round) {
    fastest.ns = std::min(fastest.ns, ns_per_call(ttmem_buffer_alloc));
    fastest.empty_ns = std::min(fastest.empty_ns, ns_per_call(empty_call));
  }
  return fastest;
}

// Measures the disabled call in a child process, because a process decides only once whether it is
// tracked.
DisabledCall disabled_call() {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  int result[2];
  if (::pipe(result) != 0) return {unknown, unknown};
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("TT_ALLOC_TRACKING_ENABLED");
    const DisabledCall measured = measure_disabled_call();
    ::_exit(::write(result[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
  }
  DisabledCall measured{unknown, unknown};
  if (::read(result[0], &measured, sizeof measured) != sizeof measured) {
    measured = {unknown, unknown};
  }
  ::waitpid(child, nullptr, 0);
  return measured;
}

nlohmann::ordered_json promised(const Fastest& measured, const DisabledCall& disabled,
                                double socket_ns) {
  const auto ns = [&](const char* name) { return measured.ns(name); };
  return {
      {"place_flatness", ns("place_with_live/10000") / ns("place_with_live/10")},
      {"place_flatness_shared", ns("place_shared_layout/10000") / ns("place_shared_layout/64")},
      {"place_vs_recompute_200", ns("recompute_with_live/200") / ns("place_with_live/200")},
      {"place_vs_recompute_2000", ns("recompute_with_live/2000") / ns("place_with_live/2000")},
      {"place_mesh32_us", ns("place_mesh32") / 1e3},
      {"mesh_pair32_ns", ns("mesh_pair32")},
      {"mesh_place32_us", ns("mesh_place32") / 1e3},
      {"mesh_redispatch32_ns", ns("mesh_redispatch32")},
      {"redispatch_ns", ns("redispatch")},
      {"dispatch_in_turn_ns", ns("dispatch_in_turn")},
      {"alloc_free_pair_ns", ns("alloc_free_pair")},
      {"alloc_free_labelled_pair_ns", ns("alloc_free_labelled_pair")},
      {"scope_pair_ns", ns("scope_pair")},
      {"scoped_pair_vs_pair", ns("alloc_free_scoped_pair") / ns("alloc_free_pair")},
      {"pair_vs_shared_counters", ns("alloc_free_pair") / ns("shared_counters_pair")},
      {"disabled_call_ns", disabled.ns},
      {"disabled_vs_empty_call", disabled.ns / disabled.empty_ns},
      {"hooked_pair_vs_plain", ns("hooked_buffer_pair") / ns("plain_buffer_pair")},
      {"hooked_pair_added_ns", ns("hooked_buffer_pair") - ns("plain_buffer_pair")},
      {"wrapped_cb_vs_plain", ns("wrapped_cb/8") / ns("plain_cb/8")},
      {"wrapped_cb_added_ns", ns("wrapped_cb/1") - ns("plain_cb/1")},
      {"socket_pair_ns", socket_ns},
      {"collect_32x8_ms", ns("collect_32x8") / 1e6},
      {"server_ingest_vs_limit", ns("server_bare_read") / ns("server_ingest")},
      {"frame_compose_32_ms",  // the time of the slowest of the four views
       std::max({ns("frame_compose_32/1"), ns("frame_compose_32/2"), ns("frame_compose_32/3"),
                 ns("frame_compose_32/4")}) /
           1e6},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const DisabledCall disabled = disabled_call();
  const double socket_ns = ttmem::bench::socket_pair_ns();
  std::string directory = "/dev/shm/ttmem-bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  ::setenv("TTMEM_DIR", directory.c_str(), 1);
  ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);

  const std::string output = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  benchmark::Initialize(&argc, argv);
  Fastest measured;
  benchmark::RunSpecifiedBenchmarks(&measured);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);

  if (measured.failed()) return 1;
  for (const auto& [name, ns] : measured.all()) fmt::print("{:32}{:14.1f} ns\n", name, ns);
  const nlohmann::ordered_json all_figures = promised(measured, disabled, socket_ns);
  nlohmann::ordered_json figures;
  for (const auto& [name, value] : all_figures.items()) {
    if (!std::isnan(value.get<double>())) figures[name] = value;
  }
  fmt::print("\n");
  for (const auto& [name, value] : figures.items()) {
    fmt::print("ratio {} {:.3f}\n", name, value.get<double>());
  }
  if (output.empty()) return 0;
  const nlohmann::ordered_json report = {{"ratios", figures}, {"fastest_ns", measured.all()}};
  std::ofstream(output) << report.dump(2) << '\n';
  return 0;
}
