// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyse/leaks/leaks_json.hpp"
#include "analyse/leaks/leaks_text.hpp"
#include "analyse/leaks/live_leaks.hpp"
#include "analyse/leaks/recorded_leaks.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/recordings.hpp"
#include "cli/server_options.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

using leaks::Filter;
using leaks::Leaks;
using recording::Reader;

constexpr const char* kLeaksExamples = R"(
Examples:
  ttmem leaks                       leaks of dead processes, closed devices and left scopes, now
  ttmem leaks --for 30s             also growth: takes samples for 30 seconds
  ttmem leaks run.ttmem             the leaks of a recording, from mark to mark and at its end
  ttmem leaks run.ttmem --fail      for CI: exit status 3 if there are leaks
  ttmem leaks *.ttmem --kind l1 --json

--fail counts allocations of ended processes and closed devices, growth, and scopes that left
allocations behind every time they were entered, at least twice. A scope that was entered once, for
example to load weights, does not count. docs/guides/leaks.md explains the leaks.)";

constexpr std::uint32_t kLooks = 20;

struct LeaksOptions {
  std::vector<std::string> files;
  Filter filter;
  std::optional<recording::Time> look_for;
  std::uint64_t top = 10;
  bool fail = false;
};

Result<Leaks> load(const std::string& file, const Filter& filter) {
  auto reader = Reader::open(file);
  if (!reader) return reader.error();
  const auto missing = leaks::missing_devices((*reader)->tables(), filter);
  if (!missing.empty()) {
    return Error{fmt::format("no device {} in {}", text::format_names(missing), file)};
  }
  Result<Leaks> found = leaks::recorded_leaks(**reader, filter, progress_for(**reader, file));
  if (found) found->file = file;
  return found;
}

// Finds leaks in one snapshot of all processes. If `look_for` is set, takes several snapshots
// during this time, and also finds memory that grows.
Result<Leaks> look(const LeaksOptions& options, const CommonOptions& common) {
  leaks::LiveGrowth growth(options.filter);
  Result<model::Snapshot> snapshot = current_snapshot(common);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t i = 1; options.look_for && snapshot && i <= kLooks; ++i) {
    growth.look(*snapshot);
    if (i == kLooks) break;
    std::this_thread::sleep_until(start +
                                  std::chrono::nanoseconds(*options.look_for) * i / (kLooks - 1));
    snapshot = current_snapshot(common);
  }
  if (!snapshot) return snapshot.error();
  if (!common.json) print_warnings(snapshot->warnings);
  Leaks found = leaks::live_leaks(*snapshot, options.filter);
  if (options.look_for) {
    found.growth = growth.growth();
    found.looked_at.push_back(fmt::format(
        "what grew in {}", text::format_age(static_cast<std::uint64_t>(*options.look_for))));
  } else {
    found.unknown.emplace_back("what grows is not known: one sample does not show it (--for 30s)");
  }
  return found;
}

Result<std::vector<Leaks>> find_all(const LeaksOptions& options, const CommonOptions& common) {
  std::vector<Leaks> all;
  for (const std::string& file : options.files) {
    Result<Leaks> found = load(file, options.filter);
    if (!found) return found.error();
    all.push_back(std::move(*found));
  }
  if (!options.files.empty()) return all;
  Result<Leaks> found = look(options, common);
  if (!found) return found.error();
  all.push_back(std::move(*found));
  return all;
}

int leaks_command(LeaksOptions options, const CommonOptions& common) {
  options.filter.devices = common.devices;
  if (options.look_for && !options.files.empty()) {
    return complain("--for looks at processes that run, not at recordings; leave one out", kUsage);
  }
  const Result<std::vector<Leaks>> all = find_all(options, common);
  if (!all) return complain(all.error().message, kFailure);
  std::string text;
  int code = kSuccess;
  for (const Leaks& found : *all) {
    if (!common.json) text += leaks::leaks_text(found, options.top, text_options(common));
    if (options.fail && found.any()) code = kLimit;
    if (found.saw == leaks::Leaks::Saw::nothing) code = kFailure;
  }
  const int printed = print(common.json ? leaks::leaks_json(*all) : text);
  return code != kSuccess ? code : printed;
}

}  // namespace

void add_leaks(Command& app, CommonOptions& common) {
  auto options = std::make_shared<LeaksOptions>();
  Command command = app.add_subcommand(
      "leaks", "Find memory that should have been freed: now, or in recordings", kLeaksExamples);
  const auto any_file = [](const std::string& text) -> Result<std::string> { return text; };
  command.add_list("files", "FILE...", options->files, any_file,
                   "Recordings of `ttmem record`; without a file, the running processes");
  add_common(command, common);
  command.add_option("--pid", "PID", options->filter.pid, parse_pid, "Only leaks of this process");
  command.add_option("--kind", "LIST", options->filter.kinds, parse_kinds,
                     "Only these kinds: dram, l1, l1_small, trace, kernel, cb, system");
  command.add_option("--for", "TIME", options->look_for, parse_for("--for", parse_duration),
                     "Take samples for this time, and show what grew: 30s, 2m");
  command.add_option("--top", "N", options->top, std::bind_front(parse_count, "--top"),
                     "Lines of each list (10); --json has all");
  command.add_flag("--fail", options->fail, "Exit status 3 if there is a leak, as defined below");
  command.does([options, &common] { return leaks_command(*options, common); });
}

}  // namespace ttmem::cli
