// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/causes.hpp"
#include "analyse/explain/tightest.hpp"
#include "analyse/explain/wording.hpp"
#include "read/placement/memory_map.hpp"

namespace ttmem::explain {
namespace {

using What = FailureMessage::What;

// Whether a state is the state at the moment of the failure.
enum class Match : std::uint8_t { no, unknown, yes };

Match match_if(bool is_that) { return is_that ? Match::yes : Match::no; }

// Returns false if the message contains no figure that differs between devices or between moments.
bool says_enough(const FailureMessage& failure) {
  switch (failure.what) {
    case What::out_of_memory:
      return failure.kind &&
             (failure.largest_free_per_bank || failure.bytes_per_bank || failure.bank_bytes == 0U);
    case What::trace_region:
      return failure.limit.has_value();
    default:
      return true;
  }
}

// Returns true if the largest free block of a bank equals the block in the message, or is too small
// for the request.
bool can_have_failed(const FailureMessage& failure, std::uint64_t largest_free) {
  if (failure.largest_free_per_bank) return largest_free == *failure.largest_free_per_bank;
  return !failure.bytes_per_bank || largest_free < *failure.bytes_per_bank;
}

Match match_request(const FailureMessage& failure, const DeviceMemory& memory) {
  if (!memory.regions[*failure.kind]) return match_if(failure.bank_bytes == 0U);
  const std::optional<Bank> bank = bank_of(memory, *failure.kind);
  if (!bank) return Match::unknown;
  return match_if(can_have_failed(failure, bank->largest_free()));
}

// Compares the trace region with the message. The region has the requested size, rounded up to
// whole pages of each bank. Before January 2026 the size was requested per bank.
Match match_trace_region(const FailureMessage& failure, const DeviceMemory& memory) {
  const std::uint64_t channels = memory.facts.dram_channels;
  if (!memory.device->trace_capacity_bytes || channels == 0) return Match::unknown;
  if (*failure.limit > kMaxBytes) return Match::no;
  const std::uint64_t region = memory.facts.trace_region_bytes;
  const auto is_in_pages = [&](std::uint64_t asked) {
    return region >= asked && region - asked < channels * placement::kMaxTracePageBytes;
  };
  return match_if(is_in_pages(*failure.limit) || is_in_pages(*failure.limit * channels));
}

// Returns whether the message is about this memory at this moment. says_enough() must be true for
// the message.
Match match(const FailureMessage& failure, const DeviceMemory& memory) {
  switch (failure.what) {
    case What::out_of_memory:
      return match_request(failure, memory);
    case What::clash: {
      const auto& buffers = memory.holders[Kind::l1];
      return match_if(!buffers.empty() && failure.l1_address == buffers.front().address &&
                      find_program(failure, memory) != nullptr);
    }
    case What::beyond_l1:
      return match_if(find_program(failure, memory) != nullptr);
    case What::trace_region:
      return match_trace_region(failure, memory);
    default:
      return Match::unknown;
  }
}

// Returns false if the figures of the device alone show that the message is about another device or
// another moment. A mesh has many devices, and looking at all buffers of each takes seconds.
bool can_match(const FailureMessage& failure, const DeviceMemory& memory) {
  if (failure.what != What::out_of_memory) return true;
  const Bytes largest = collected_largest_free(memory, *failure.kind);
  return !largest || can_have_failed(failure, *largest);
}

// A memory, and whether it is in the state in which the failure happened.
struct Choice {
  std::optional<DeviceMemory> memory{};
  Match match = Match::no;
};

// Compares the memory of one process on one device with the failure. Returns no memory if the
// figures of the device already exclude a match.
Choice look_at(const FailureMessage& failure, const model::Snapshot& state, const MemoryRef& ref) {
  if (!can_match(failure, outline(state, ref))) return {};
  DeviceMemory memory = device_memory(state, ref);
  const Match here = match(failure, memory);
  return {std::move(memory), here};
}

// Picks the memory that the failure is about, or the tightest memory among the candidates.
Choice choose(const Question& question) {
  const model::Snapshot& state = *question.state;
  const bool is_told = question.failure && says_enough(*question.failure);
  const std::vector<MemoryRef> refs = memory_refs(state, question.pid);
  Choice choice;
  std::optional<MemoryRef> tightest;
  double least = 2;
  for (const MemoryRef& ref : refs) {
    Choice here{.match = Match::unknown};
    if (is_told) here = look_at(*question.failure, state, ref);
    if (here.match == Match::yes) return here;
    const double room = room_of(state, ref);
    if (here.match < choice.match || (here.match == choice.match && room >= least)) continue;
    choice.match = here.match;
    least = room;
    tightest = ref;
  }
  if (tightest) choice.memory = device_memory(state, *tightest);
  // True: this memory is the only memory in the state of the failure, so the failure is about it.
  const bool is_alone = question.is_that_moment && refs.size() == 1;
  if (is_alone && choice.match == Match::unknown) choice.match = Match::yes;
  return choice;
}

// Returns true if the failure depends on the held buffers.
bool is_of_memory(const FailureMessage& failure) {
  switch (failure.what) {
    case What::out_of_memory:
    case What::clash:
    case What::beyond_l1:
    case What::trace_region:
      return true;
    default:
      return false;
  }
}

void explain_failure(const FailureMessage& failure, const DeviceMemory* memory,
                     Explanation& result) {
  switch (failure.what) {
    case What::out_of_memory:
      return explain_request(failure, memory, result);
    case What::clash:
      return explain_clash(failure, memory, result);
    case What::beyond_l1:
      return explain_beyond_l1(failure, memory, result);
    case What::trace_region:
      return explain_trace_region(failure, memory, result);
    default:
      return explain_limit(failure, result);
  }
}

// States whether the failure and the state belong together.
void say_how_certain(const Question& question, Match match, Explanation& result) {
  if (match == Match::yes) return;
  if (match == Match::no) {
    result.unknown.emplace_back(
        "Whether this is how it was: the state is of another moment than the message. `ttmem run "
        "-- CMD` keeps the state of the failure.");
  } else if (question.is_that_moment) {
    result.unknown.emplace_back(
        "Which device it was: the message and the state say too little to tell.");
  } else {
    result.unknown.emplace_back(
        "Whether this is how it was: the message and the state say too little to tell. `ttmem run "
        "-- CMD` keeps the state of the failure.");
  }
}

void say_what_is_unknown(const Question& question, const Choice& choice, Explanation& result) {
  if (question.failure && question.failure->text.find("{}") != std::string::npos) {
    result.unknown.emplace_back(
        "The figures for which the message has \"{}\": another line of the log may have them.");
  }
  if (question.failure && !is_of_memory(*question.failure)) return;
  if (question.state != nullptr) {
    result.unknown.insert(result.unknown.end(), question.state->unread.begin(),
                          question.state->unread.end());
  }
  if (!choice.memory) {
    if (!question.failure) return;
    result.unknown.emplace_back(
        "Who held the memory: there is no state of that moment. `ttmem run -- CMD` keeps it and "
        "explains the failure when CMD ends.");
    return;
  }
  if (question.failure) say_how_certain(question, choice.match, result);
  const auto names_missing = std::any_of(
      result.in_the_way.begin(), result.in_the_way.end(),
      [](const BufferHolder& holder) { return holder.label.empty() && holder.scope.empty(); });
  if (names_missing) {
    result.unknown.emplace_back(
        "The names of some buffers: `ttmem run --ops -- CMD` names the operations that took "
        "them, and ttmem.scope() in Python the parts of a model.");
  }
  for (const Kind kind : kBankKinds) {
    if (choice.memory->without_address[kind] == 0) continue;
    result.unknown.push_back(
        fmt::format("Where {} {} buffers lie: their addresses were not reported.",
                    choice.memory->without_address[kind], title_of(kind)));
  }
}

}  // namespace

void list_in_the_way(std::vector<BufferHolder> holders, Explanation& result) {
  sort_largest_first(holders);
  const std::size_t listed = std::min(holders.size(), kMaxHolders);
  result.more_in_the_way = holders.size() - listed;
  holders.resize(listed);
  result.in_the_way = std::move(holders);
}

Explanation explain(const Question& question) {
  Explanation result;
  Choice choice;
  const bool is_asked_for = !question.failure || is_of_memory(*question.failure);
  if (question.state != nullptr && is_asked_for) choice = choose(question);
  const DeviceMemory* const memory = choice.memory ? &*choice.memory : nullptr;
  if (memory != nullptr) result.place = place_of(*memory);
  if (question.failure) {
    explain_failure(*question.failure, memory, result);
  } else if (memory != nullptr) {
    explain_tightest(*memory, result);
  } else {
    const bool is_blind = question.state != nullptr && !question.state->complete();
    result.sentence = is_blind ? "What processes hold could not be read."
                               : "Nothing has failed, and no process is tracked.";
  }
  say_what_is_unknown(question, choice, result);
  if (result.suggestions.size() > kMaxSuggestions) result.suggestions.resize(kMaxSuggestions);
  return result;
}

}  // namespace ttmem::explain
