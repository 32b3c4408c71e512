// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_failure.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "analyse/explain/explain.hpp"
#include "analyse/explain/explanation_text.hpp"
#include "analyse/explain/failure_message.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "cli/commands.hpp"
#include "read/collector/failures.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

void print_explanation(const collector::Failure& failure, const text::TextOptions& options) {
  say_failed(failure);
  const std::vector<explain::FailureMessage> said = explain::find_failures(failure.text);
  // Explains nothing if the text contains no message of the runtime.
  if (said.empty()) return;
  const explain::Explanation explanation =
      explain::explain({.failure = said.front(),
                        .state = &failure.snapshot,
                        .pid = failure.pid,
                        .source = failure.not_kept.empty() ? explain::StateSource::failure
                                                           : explain::StateSource::bystander});
  const std::string text = explain::explanation_text(explanation, options);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void say_failed(const collector::Failure& failure) {
  const std::string pid = text::format_pid(failure.pid, failure.pid_namespace.has_value(), {});
  const std::string line = failure.text.substr(0, failure.text.find('\n'));
  say(fmt::format("{} failed: {}", pid, line));
  if (!failure.not_kept.empty()) say(failure.not_kept);
}

void say_failed_command(const collector::Failure& failure) {
  const std::uint64_t now = clock_ns(CLOCK_REALTIME);
  const std::uint64_t age = now - std::min(now, failure.time_unix_ns);
  const std::string& command = failure.command.empty() ? failure.name : failure.command;
  say(fmt::format("{} ago: {} of {}", text::format_age(age), command, failure.user));
}

void explain_failure(const std::string& run, const text::TextOptions& options) {
  collector::Failures found = collector::failures(segment_directory());
  // Does not print `found.denied`, because it is about processes of other users.
  print_warnings(found.warnings);
  std::erase_if(found.list, [&](const collector::Failure& one) { return one.run != run; });
  if (found.list.empty()) return;
  print_explanation(found.list.back(),
                    // Explains only the first failure, because it may have caused the other
                    // failures.
                    options);
  const std::size_t more = found.list.size() - 1;
  if (more > 0) {
    say(fmt::format("and {} more failed after it", text::plural(more, "process", "processes")));
  }
}

}  // namespace ttmem::cli
