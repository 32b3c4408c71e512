// SPDX-License-Identifier: Apache-2.0
//
// Runs the benchmarks, then prints the figures that the project promises, one `ratio NAME VALUE`
// line each, and writes them as JSON. Ratios compare things measured in the same run; every
// benchmark runs several times and its fastest run counts, which a busy machine disturbs least.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "workload.hpp"

namespace {

// CPU nanoseconds per item, the fastest repetition of each benchmark. CPU time, because a
// neighbour on the same core is not our cost.
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
  [[nodiscard]] double ns(const std::string& name) const { return ns_.at(name); }
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

// Tracking is decided once per process: the disabled call is measured in one that is not tracked.
double disabled_call_ns() {
  constexpr int kRounds = 20;
  constexpr int kCalls = 1'000'000;
  double fastest = 1e9;
  const ttmem_buffer buffer = ttmem::bench::dram_buffer(1);
  for (int round = 0; round < kRounds; ++round) {
    timespec before{};
    timespec after{};
    ::clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < kCalls; ++i) ttmem_buffer_alloc(0, &buffer);
    ::clock_gettime(CLOCK_MONOTONIC, &after);
    const double ns = static_cast<double>(after.tv_sec - before.tv_sec) * 1e9 +
                      static_cast<double>(after.tv_nsec - before.tv_nsec);
    fastest = std::min(fastest, ns / kCalls);
  }
  return fastest;
}

double in_untracked_child(double (*measure)()) {
  int result[2];
  if (::pipe(result) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) {
    ::unsetenv("TT_ALLOC_TRACKING_ENABLED");
    const double value = measure();
    ::_exit(::write(result[1], &value, sizeof value) == sizeof value ? 0 : 1);
  }
  double value = 0;
  if (::read(result[0], &value, sizeof value) != sizeof value) value = 0;
  ::waitpid(child, nullptr, 0);
  return value;
}

nlohmann::ordered_json promised(const Fastest& measured, double disabled_ns) {
  const auto ns = [&](const char* name) { return measured.ns(name); };
  return {
      {"place_flatness", ns("place_with_live/10000") / ns("place_with_live/10")},
      {"place_flatness_shared", ns("place_shared_layout/10000") / ns("place_shared_layout/64")},
      {"place_vs_recompute_200", ns("recompute_with_live/200") / ns("place_with_live/200")},
      {"place_vs_recompute_2000", ns("recompute_with_live/2000") / ns("place_with_live/2000")},
      {"place_mesh32_us", ns("place_mesh32") / 1e3},
      {"redispatch_ns", ns("redispatch")},
      {"dispatch_in_turn_ns", ns("dispatch_in_turn")},
      {"alloc_free_pair_ns", ns("alloc_free_pair")},
      {"alloc_free_labelled_pair_ns", ns("alloc_free_labelled_pair")},
      {"pair_vs_shared_counters", ns("alloc_free_pair") / ns("shared_counters_pair")},
      {"disabled_call_ns", disabled_ns},
      {"collect_32x8_ms", ns("collect_32x8") / 1e6},
      {"frame_compose_32_ms",  // the slowest of the four views
       std::max({ns("frame_compose_32/1"), ns("frame_compose_32/2"), ns("frame_compose_32/3"),
                 ns("frame_compose_32/4")}) /
           1e6},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const double disabled_ns = in_untracked_child(disabled_call_ns);
  std::string directory = "/dev/shm/ttmem-bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) return 1;
  ::setenv("TTMEM_DIR", directory.c_str(), 1);
  ::setenv("TT_ALLOC_TRACKING_ENABLED", "1", 1);

  const std::string output = argc > 1 && argv[1][0] != '-' ? argv[1] : "bench.json";
  benchmark::Initialize(&argc, argv);
  Fastest measured;
  benchmark::RunSpecifiedBenchmarks(&measured);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);

  if (measured.failed()) return 1;
  for (const auto& [name, ns] : measured.all()) fmt::print("{:32}{:14.1f} ns\n", name, ns);
  const nlohmann::ordered_json figures = promised(measured, disabled_ns);
  fmt::print("\n");
  for (const auto& [name, value] : figures.items()) {
    fmt::print("ratio {} {:.3f}\n", name, value.get<double>());
  }
  nlohmann::ordered_json report = {{"ratios", figures}, {"fastest_ns", measured.all()}};
  std::ofstream(output) << report.dump(2) << '\n';
  return 0;
}
