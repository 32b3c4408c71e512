// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyse/explain/causes.hpp"
#include "analyse/explain/match.hpp"
#include "analyse/explain/tightest.hpp"
#include "analyse/explain/wording.hpp"

namespace ttmem::explain {
namespace {

using What = FailureMessage::What;

// The memory that the explanation uses, and how well it agrees with the message.
struct Choice {
  std::optional<DeviceMemory> memory{};  // nullopt: no candidate may be used
  Match match = Match::no;               // the best match among the candidates
  std::vector<MemoryRef> candidates{};
};

// Returns true if a state from `source` may be used. `match` says how well it agrees with the
// message.
bool may_be_used(StateSource source, Match match) {
  switch (source) {
    case StateSource::bystander:
      return match == Match::yes;
    case StateSource::recording:
      return match != Match::no;
    default:
      return true;
  }
}

Match match_at(const FailureMessage& failure, const model::Snapshot& state, const MemoryRef& ref) {
  if (!has_figures_to_match(failure)) return Match::unknown;
  if (!can_match(failure, outline(state, ref))) return Match::no;
  return match(failure, device_memory(state, ref));
}

// Picks the memory that the failure is certainly about. If there is none, or if nothing has failed,
// picks the tightest memory among the candidates that match best.
Choice choose(const Question& question) {
  const model::Snapshot& state = *question.state;
  Choice choice{.candidates = memory_refs(state, question.pid)};
  std::optional<MemoryRef> best;
  double least = 2;
  for (const MemoryRef& ref : choice.candidates) {
    const Match here = question.failure ? match_at(*question.failure, state, ref) : Match::unknown;
    if (here < choice.match) continue;
    if (here > choice.match) best.reset();
    choice.match = here;
    if (question.failure && !may_be_used(question.source, here)) continue;
    if (here == Match::yes) {
      best = ref;
      break;
    }
    const double room = room_of(state, ref);
    if (best && room >= least) continue;
    least = room;
    best = ref;
  }
  if (best) choice.memory = device_memory(state, *best);
  // True if the state of the failure has only one memory. The failure is then about this memory.
  const bool is_alone = question.source == StateSource::failure && choice.candidates.size() == 1;
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

// Adds a sentence if it is not certain that the failure and the state belong together.
void say_how_certain(const Question& question, Match match, Explanation& result) {
  if (match == Match::yes) return;
  if (match == Match::no) {
    result.unknown.emplace_back(
        "Whether this is how it was: the state is of another moment or another process than the "
        "message, because their figures differ. `ttmem run -- CMD` keeps the state of the "
        "failure.");
  } else if (question.source == StateSource::failure) {
    result.unknown.emplace_back(
        "Which device it was: the message and the state say too little to tell.");
  } else {
    result.unknown.emplace_back(
        "Whether this is how it was: the message and the state say too little to tell. `ttmem run "
        "-- CMD` keeps the state of the failure.");
  }
}

// Returns the processes of the candidates, each once. Returns dead processes only if no process is
// alive.
std::vector<const model::Process*> processes_of(const model::Snapshot& state,
                                                const std::vector<MemoryRef>& candidates) {
  std::vector<const model::Process*> found;
  const auto add_all = [&](model::State wanted) {
    for (const MemoryRef& ref : candidates) {
      const model::Process& process = state.devices[ref.device].processes[ref.process];
      const bool is_known = std::any_of(found.begin(), found.end(), [&](const auto* other) {
        return model::key_of(*other) == model::key_of(process);
      });
      if (process.state == wanted && !is_known) found.push_back(&process);
    }
  };
  add_all(model::State::alive);
  if (found.empty()) add_all(model::State::dead);
  return found;
}

// Returns for example "4711, 4712 and 3 more".
std::string pids_of(const std::vector<const model::Process*>& processes) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, processes.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", processes[i]->pid);
  }
  if (processes.size() > most) text += fmt::format(" and {} more", processes.size() - most);
  return text;
}

// Names the processes of this machine whose state was not used, and the option `--pid`, which
// selects one of them.
void say_bystanders(const Question& question, const Choice& choice, Explanation& result) {
  const auto processes = processes_of(*question.state, choice.candidates);
  if (processes.empty()) return;
  const char* why = choice.match == Match::no
                        ? "differs from the message in its figures"
                        : "may be another one, because the message says too little to tell";
  if (processes.size() == 1) {
    const model::Process& process = *processes.front();
    const bool is_alive = process.state == model::State::alive;
    result.unknown.push_back(fmt::format("A process {} here ({}, {}) and {}; `--pid {}` uses it.",
                                         is_alive ? "runs" : "died", process.pid, process.name, why,
                                         process.pid));
    return;
  }
  result.unknown.push_back(fmt::format(
      "{} processes {} here ({}), and each {}; `--pid N` uses one.", processes.size(),
      processes.front()->state == model::State::alive ? "run" : "died", pids_of(processes), why));
}

// Adds sentences that say why no state was used.
void say_no_state(const Question& question, const Choice& choice, Explanation& result) {
  result.unknown.emplace_back(
      "Who held the memory: there is no state of that moment. `ttmem run -- CMD` keeps it and "
      "explains the failure when CMD ends.");
  if (question.state == nullptr) return;
  if (question.pid && choice.candidates.empty()) {
    result.unknown.push_back(
        fmt::format("What process {} held: no process with this pid is tracked.", *question.pid));
  } else if (question.source == StateSource::recording && !choice.candidates.empty()) {
    result.unknown.emplace_back(
        "What the recording has to do with it: the figures of the message occur at no moment of "
        "the recording. `--at MOMENT` uses a moment of it all the same.");
  } else if (question.source == StateSource::bystander) {
    say_bystanders(question, choice, result);
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
    if (question.failure) say_no_state(question, choice, result);
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
  // The changes were tried on a state that is not the state of the failure. They do not count as
  // tried.
  if (question.failure && choice.match == Match::no) {
    for (Suggestion& suggestion : result.suggestions) suggestion.tried = false;
  }
  if (result.suggestions.size() > kMaxSuggestions) result.suggestions.resize(kMaxSuggestions);
  return result;
}

}  // namespace ttmem::explain
