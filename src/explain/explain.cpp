// SPDX-License-Identifier: Apache-2.0
#include "explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "explain/bank.hpp"
#include "explain/causes.hpp"
#include "explain/wording.hpp"

namespace ttmem::explain {
namespace {

using What = Failure::What;

// The largest free block, if what is held is known.
Bytes largest_free(const DeviceMemory& memory, Kind kind) {
  const auto& region = memory.regions[kind];
  if (!region || memory.without_address[kind] != 0) return std::nullopt;
  const auto bank = Bank::make(kind, *region, memory.holders[kind]);
  return bank ? Bytes(bank->largest_free()) : std::nullopt;
}

// True if this can be the memory, and the moment, that the message is about.
bool is_of_failure(const Failure& failure, const DeviceMemory& memory) {
  switch (failure.what) {
    case What::out_of_memory: {
      if (!failure.kind) return true;
      const Bytes largest = largest_free(memory, *failure.kind);
      if (!largest) return failure.bank_bytes == 0U && !memory.regions[*failure.kind];
      if (failure.largest_free_per_bank) return *largest == *failure.largest_free_per_bank;
      return !failure.bytes_per_bank || *largest < *failure.bytes_per_bank;
    }
    case What::clash: {
      const auto& buffers = memory.holders[Kind::l1];
      return !buffers.empty() && failure.l1_address == buffers.front().address &&
             find_program(failure, memory) != nullptr;
    }
    case What::beyond_l1:
      return find_program(failure, memory) != nullptr;
    case What::trace_region:
      // The region is rounded up to whole pages.
      return !failure.limit || memory.facts.trace_region_bytes >= *failure.limit;
    default:
      return true;
  }
}

// The same without looking at a buffer: of a device that one living process has for itself, the
// collector has worked it out.
Bytes collected_largest_free(const DeviceMemory& memory, Kind kind) {
  const bool is_alone =
      memory.device->processes.size() == 1 && memory.process->state == model::State::alive;
  return is_alone ? memory.device->free[kind].largest_per_bank : std::nullopt;
}

// False: the figures of the device alone show that the message is about another one, or another
// moment. A mesh has many, and looking at all buffers of each takes seconds.
bool can_be_of_failure(const Failure& failure, const DeviceMemory& memory) {
  if (failure.what != What::out_of_memory || !failure.kind) return true;
  const Bytes largest = collected_largest_free(memory, *failure.kind);
  if (!largest) return true;
  if (failure.largest_free_per_bank) return *largest == *failure.largest_free_per_bank;
  return !failure.bytes_per_bank || *largest < *failure.bytes_per_bank;
}

// How much is left of what is tightest, as a share: for the choice among devices.
double room_of(const model::Snapshot& state, const MemoryRef& ref) {
  const DeviceMemory without_buffers = outline(state, ref);
  std::optional<DeviceMemory> with_buffers;
  double least = 1;
  for (const Kind kind : {Kind::dram, Kind::l1}) {
    const auto& region = without_buffers.regions[kind];
    if (!region) continue;
    Bytes largest = collected_largest_free(without_buffers, kind);
    if (!largest) {
      if (!with_buffers) with_buffers = device_memory(state, ref);
      largest = largest_free(*with_buffers, kind);
    }
    if (!largest) continue;
    const auto bytes = static_cast<double>(region->range.end - region->range.begin);
    least = std::min(least, static_cast<double>(*largest) / bytes);
  }
  return least;
}

// The memory that is meant, and whether it is that of the failure.
struct Choice {
  std::optional<DeviceMemory> memory{};
  bool is_certain = false;
};

Choice choose(const Question& question) {
  const model::Snapshot& state = *question.state;
  std::optional<MemoryRef> tightest;
  double least = 2;
  for (const MemoryRef& ref : memory_refs(state, question.pid)) {
    if (question.failure && can_be_of_failure(*question.failure, outline(state, ref))) {
      DeviceMemory memory = device_memory(state, ref);
      if (is_of_failure(*question.failure, memory)) return {std::move(memory), true};
    }
    const double room = room_of(state, ref);
    if (room >= least) continue;
    least = room;
    tightest = ref;
  }
  if (!tightest) return {};
  return {device_memory(state, *tightest), !question.failure.has_value()};
}

void explain_failure(const Failure& failure, const DeviceMemory* memory, Explanation& result) {
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

void say_what_is_unknown(const Question& question, const Choice& choice, Explanation& result) {
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
  if (!choice.is_certain && question.failure) {
    result.unknown.emplace_back(
        "Whether this is how it was: the state is of another moment than the message. `ttmem run "
        "-- CMD` keeps the state of the failure.");
  }
  const auto names_missing = std::any_of(
      result.in_the_way.begin(), result.in_the_way.end(),
      [](const Holder& holder) { return holder.label.empty() && holder.scope.empty(); });
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

void list_in_the_way(std::vector<Holder> holders, Explanation& result) {
  sort_largest_first(holders);
  const std::size_t listed = std::min(holders.size(), kMostHolders);
  result.more_in_the_way = holders.size() - listed;
  holders.resize(listed);
  result.in_the_way = std::move(holders);
}

Explanation explain(const Question& question) {
  Explanation result;
  Choice choice;
  if (question.state != nullptr) choice = choose(question);
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
  if (result.suggestions.size() > kMostSuggestions) result.suggestions.resize(kMostSuggestions);
  return result;
}

}  // namespace ttmem::explain
