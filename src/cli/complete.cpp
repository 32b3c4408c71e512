// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "base/kinds.hpp"
#include "cli/commands.hpp"
#include "read/collector/collector.hpp"
#include "read/placement/board.hpp"
#include "show/exports/format.hpp"
#include "show/fleet/sum_up.hpp"
#include "show/views/process_text.hpp"
#include "show/views/query.hpp"
#include "simulator/demo/demo.hpp"
#include "text/format.hpp"
#include "text/typed_lists.hpp"

namespace ttmem::cli {
namespace {

struct Candidate {
  std::string text;
  std::string help;  // one line, may be empty
};
using CandidateList = std::vector<Candidate>;

template <typename Names>
CandidateList plain(const Names& names) {
  CandidateList all;
  for (const auto& name : names) all.push_back({std::string(name), ""});
  return all;
}

CandidateList commands(const Command& root) {
  CandidateList all;
  for (const std::string& name : root.subcommands()) {
    all.push_back({name, root.subcommand(name).description()});
  }
  return all;
}

CandidateList devices() {
  CandidateList all;
  for (const model::Device& device : collector::collect(segment_directory()).devices) {
    const bool by_uid = device.shares_number && device.uid;
    all.push_back({by_uid ? text::format_hex(*device.uid) : std::to_string(device.id),
                   device.board.empty() ? device.arch : device.board});
  }
  return all;
}

CandidateList pids() {
  std::map<std::int32_t, std::string> found;
  for (const model::Device& device : collector::collect(segment_directory()).devices) {
    for (const model::Process& process : device.processes) {
      found[process.host_pid.value_or(process.pid)] = process.name;
    }
  }
  CandidateList all;
  for (const auto& [pid, name] : found) all.push_back({std::to_string(pid), name});
  return all;
}

// Returns the different values that a property has among all processes, without the empty text.
template <typename Get>
CandidateList of_processes(Get&& get) {
  std::set<std::string> found;
  for (const model::Device& device : collector::collect(segment_directory()).devices) {
    for (const model::Process& process : device.processes) found.insert(get(process));
  }
  found.erase("");
  CandidateList all;
  for (const std::string& text : found) all.push_back({text, ""});
  return all;
}

CandidateList users() {
  return of_processes([](const model::Process& process) { return process.user; });
}
CandidateList jobs() {
  return of_processes([](const model::Process& process) { return text::format_job(process.job); });
}

CandidateList kinds() {
  CandidateList all;
  for (const Kind kind : kAllKinds) all.push_back({std::string(name_of(kind)), ""});
  return all;
}

CandidateList scenarios() {
  CandidateList all;
  for (const demo::ScenarioInfo& info : demo::scenarios()) {
    all.push_back({std::string(info.name), std::string(info.summary)});
  }
  return all;
}

CandidateList formats() {
  CandidateList all;
  for (const exports::ExportFormat& format : exports::kFormats) {
    all.push_back({std::string(format.name), ""});
  }
  return all;
}

CandidateList boards() { return plain(placement::board_names()); }
CandidateList columns() { return plain(views::process_sort_names()); }
CandidateList orders() { return plain(fleet::kOrderNames); }
CandidateList fields() { return plain(views::query_names()); }

// The possible values of an option or argument. Options that take a file are not listed, because
// shells complete file names themselves.
struct ArgumentValues {
  // The long name of the option, such as "--at", or the name of its value, such as "ORDER".
  std::string_view name;
  CandidateList (*values)();  // null: the values are in `words`
  std::string_view words;     // separated by commas
  bool list = false;          // true: the user may type several values, separated by commas
};
constexpr std::array kValues = {
    // The value of `ttmem fleet --sort`. This entry must stand before "--sort", because the first
    // matching entry is used.
    ArgumentValues{"ORDER", orders, ""},
    ArgumentValues{"--at", nullptr, "peak,l1.peak,dram.peak,end"},
    ArgumentValues{"--board", boards, "", true},
    ArgumentValues{"--columns", columns, "", true},
    ArgumentValues{"--color", nullptr, "auto,always,never"},
    ArgumentValues{"--device", devices, "", true},
    ArgumentValues{"--group-by", nullptr, "label,scope,kind,process,job,device"},
    ArgumentValues{"--job", jobs, ""},
    ArgumentValues{"--kind", kinds, "", true},
    ArgumentValues{"--pid", pids, ""},
    ArgumentValues{"--query", fields, "", true},
    ArgumentValues{"--sort", columns, ""},
    ArgumentValues{"--theme", nullptr, "light,terminal"},
    ArgumentValues{"--units", nullptr, "auto,bytes,MiB,GiB"},
    ArgumentValues{"--user", users, ""},
    ArgumentValues{"--view", nullptr, "1,2,3,4"},
    ArgumentValues{"ACTION", nullptr, "build,list,remove"},
    ArgumentValues{"F", formats, ""},
    ArgumentValues{"FORMAT", nullptr, "csv,noheader,nounits", true},
    ArgumentValues{"SCENARIO", scenarios, ""},
};
constexpr std::array<std::string_view, 6> kFiles = {"FILE", "FILE...", "OLD", "NEW", "OUT", "PATH"};

// The output of `ttmem complete`. If `directive` is not empty, it tells the shell to complete the
// word itself. For example, ":files" asks for file names.
struct Completion {
  CandidateList candidates{};
  std::string directive{};
};

Completion values_of(const Command& root, const OptionInfo& option, std::string_view typed) {
  if (option.value == "DIR") return {{}, ":folders"};
  if (option.value == "COMMAND") return {commands(root)};
  if (std::find(kFiles.begin(), kFiles.end(), option.value) != kFiles.end()) return {{}, ":files"};
  std::string_view name;
  if (!option.names.empty()) name = option.names.back();
  const auto* const known =
      std::find_if(kValues.begin(), kValues.end(), [&](const ArgumentValues& values) {
        return values.name == name || values.name == option.value;
      });
  if (known == kValues.end()) return {};
  Completion answer{known->values != nullptr ? known->values() : plain(text::split(known->words))};
  const std::size_t comma = typed.rfind(',');
  if (!known->list || comma == std::string_view::npos) return answer;
  const std::vector<std::string_view> before = text::split(typed.substr(0, comma));
  std::erase_if(answer.candidates, [&](const Candidate& candidate) {
    return std::find(before.begin(), before.end(), candidate.text) != before.end();
  });
  for (Candidate& candidate : answer.candidates) {
    candidate.text.insert(0, typed.substr(0, comma + 1));
  }
  return answer;
}

Completion names_of(const std::vector<OptionInfo>& options) {
  Completion answer;
  for (const OptionInfo& option : options) {
    for (const std::string& name : option.names) answer.candidates.push_back({name, option.help});
  }
  return answer;
}

// Reads the typed part of a command line from left to right.
class TypedLine {
 public:
  explicit TypedLine(const Command& root) : root_(root), command_(root), options_(root.options()) {}

  // Returns the completions of `typed` after the words `before`.
  Completion complete(const std::vector<std::string>& before, const std::string& typed) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (begins_command(before[i])) {
        return {{}, fmt::format(":command {}", before[i] == "--" ? i + 1 : i)};
      }
      read(before[i]);
    }
    if (begins_command(typed) && typed != "--") {
      return {{}, fmt::format(":command {}", before.size())};
    }
    return answer(typed);
  }

 private:
  [[nodiscard]] const OptionInfo* option_named(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(), [&](const auto& option) {
      return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
    });
    return found == options_.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool begins_command(std::string_view word) const {
    const bool option = word.starts_with("-") && word != "--";
    return ends_with_command(name_) && !asked_ && !option;
  }

  void read(const std::string& word) {
    if (asked_) {
      asked_.reset();
    } else if (word.starts_with("-")) {
      const OptionInfo* const option = option_named(word);
      if (option != nullptr && !option->value.empty()) asked_ = *option;
    } else if (name_.empty() && root_.has_subcommand(word)) {
      name_ = word;
      command_ = root_.subcommand(word);
      options_ = command_.options();
    } else {
      ++arguments_;
    }
  }

  [[nodiscard]] Completion answer(const std::string& typed) const {
    if (asked_) return values_of(root_, *asked_, typed);
    if (typed.starts_with("-")) return option_or_value(typed);
    if (name_.empty()) return {commands(root_)};
    std::vector<OptionInfo> arguments = options_;
    std::erase_if(arguments, [](const OptionInfo& option) { return !option.names.empty(); });
    if (arguments.empty()) return names_of(options_);
    return values_of(root_, arguments[std::min(arguments_, arguments.size() - 1)], typed);
  }

  [[nodiscard]] Completion option_or_value(std::string_view typed) const {
    const std::size_t equals = typed.find('=');
    if (equals == std::string_view::npos) return names_of(options_);
    const OptionInfo* const option = option_named(typed.substr(0, equals));
    if (option == nullptr) return {};
    Completion answer = values_of(root_, *option, typed.substr(equals + 1));
    for (Candidate& candidate : answer.candidates) {
      candidate.text.insert(0, typed.substr(0, equals + 1));
    }
    return answer;
  }

  const Command& root_;
  std::string name_;  // name of command_; empty if command_ is root_
  Command command_;
  std::vector<OptionInfo> options_;  // options of command_
  std::optional<OptionInfo> asked_;  // the option whose value is the next word, if any
  std::size_t arguments_ = 0;        // number of positional arguments that were read
};

int complete(const Command& root, std::vector<std::string> words) {
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  if (words.empty()) return kSuccess;
  const std::string typed = std::move(words.back());
  words.pop_back();
  const Completion answer = TypedLine(root).complete(words, typed);
  std::string text = answer.directive.empty() ? "" : answer.directive + "\n";
  for (const Candidate& candidate : answer.candidates) {
    if (!candidate.text.starts_with(typed)) continue;
    text += fmt::format("{}\t{}\n", text::printable(candidate.text, true),
                        text::printable(candidate.help, true));
  }
  return print(text);
}

}  // namespace

void add_complete(Command& app, const std::vector<std::string>& words) {
  app.add_hidden("complete").does([app, &words] { return complete(app, words); });
}

}  // namespace ttmem::cli
