// SPDX-License-Identifier: Apache-2.0
#include "read/collector/run_id.hpp"

#include <fmt/core.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "read/collector/process_info.hpp"
#include "segment/layout/layout.hpp"

namespace ttmem::collector {
namespace {

constexpr std::string_view kReads = ".r";

std::uint64_t random_number() {
  std::uint64_t number = 0;
  const bool known = ::getrandom(&number, sizeof number, 0) == ssize_t{sizeof number};
  constexpr unsigned unused_bits = 16;  // shortens ids, which must fit into FailureRecord::run
  return (known ? number : clock_ns(CLOCK_REALTIME)) >> unused_bits;
}

// Takes the number up to the next dot from the front of `rest`.
template <typename Number>
std::optional<Number> take_number(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find('.'));
  rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  return parse_number<Number>(word);
}

}  // namespace

// Makes an id such as "4711.4026531836.88123.9f3a01bc77d2.r": pid, pid namespace, start time,
// random number, and ".r" for a reader.
std::string name_this_run(RunRole role) {
  const auto facts = process_facts(::getpid());
  std::string id = fmt::format("{}.{}.{}.{:012x}{}", ::getpid(), own_pid_namespace(),
                               facts ? facts->start_time_ticks : 0, random_number(),
                               role == RunRole::reads ? kReads : "");
  const std::string outer = environment("TTMEM_RUN");
  const std::string all = outer.empty() ? id : id + segment::kRunSeparator + outer;
  ::setenv("TTMEM_RUN", all.c_str(), 1);
  return id;
}

Owner owner_of_run(std::string_view id) {
  const auto pid = take_number<std::int32_t>(id);
  const auto space = take_number<std::uint32_t>(id);
  const auto start = take_number<std::uint64_t>(id);
  if (!pid || !space || !start || *space != own_pid_namespace()) return Owner::unknown;
  const auto facts = process_facts(*pid);
  const bool lives = facts && facts->start_time_ticks == *start && !facts->is_ending;
  return lives ? Owner::alive : Owner::gone;
}

bool is_reader_id(std::string_view id) { return id.ends_with(kReads); }

bool has_reader(const std::vector<std::string>& ids) {
  return std::any_of(ids.begin(), ids.end(), [](const std::string& id) {
    return is_reader_id(id) && owner_of_run(id) == Owner::alive;
  });
}

}  // namespace ttmem::collector
