// SPDX-License-Identifier: Apache-2.0
//
// How a command declares its options and its help. CLI11 does the work; only command.cpp and
// main.cpp include it, because each file that does takes five seconds more to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace ttmem::cli {

using Action = std::function<int()>;  // returns the exit code

// What the command line asks for.
struct Chosen {
  Action action;
  std::optional<Error> wrong;  // the first value that is not valid
};

// An option, or an argument by its position, as the help shows it.
struct OptionInfo {
  std::vector<std::string> names;  // "-i", "--device"; none: by its position
  std::string value;               // "LIST", "UINT=86400"; empty: it takes none
  std::string help;
};

// A view of a CLI::App, which outlives it, as do `chosen` and the values that are handed over.
class Command {
 public:
  Command(CLI::App& app, Chosen& chosen) : app_(&app), chosen_(&chosen) {}

  // `examples` is what its help ends with.
  Command add_subcommand(const std::string& name, const std::string& help,
                         const std::string& examples);
  // Neither in any help nor in subcommands().
  Command add_hidden(const std::string& name);
  [[nodiscard]] bool has_subcommand(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> subcommands() const;
  [[nodiscard]] Command subcommand(const std::string& name) const;  // which must exist

  // What was declared, in its order.
  [[nodiscard]] std::vector<OptionInfo> options() const;
  [[nodiscard]] std::string description() const;  // one line
  [[nodiscard]] std::string footer() const;
  // What --help prints: of this command, or of the subcommand with this name, which must exist.
  [[nodiscard]] std::string help() const;
  [[nodiscard]] std::string help(const std::string& subcommand) const;
  void footer(const std::string& text);

  // `names` as in "-r,--interval"; without dashes it is an argument by its position. `type` is what
  // the help calls the value.
  void add_option(const std::string& names, const std::string& type, std::string& value,
                  const std::string& help);
  // The help also shows the value that is there now.
  void add_option(const std::string& names, const std::string& type, std::uint64_t& value,
                  const std::string& help);
  // The value is what parse(text) gives; its Error goes to Chosen::wrong.
  template <typename Value, typename Parse>
  void add_option(const std::string& names, const std::string& type, Value& value, Parse parse,
                  const std::string& help) {
    const auto take = [&value, parse, chosen = chosen_](const std::string& text) {
      auto parsed = parse(text);
      if (parsed) {
        value = std::move(*parsed);
      } else if (!chosen->wrong) {
        chosen->wrong = parsed.error();
      }
    };
    add_function(names, type, take, help);
  }
  // May be given again and again; parse(text) of each goes to the end of `values`.
  template <typename Value, typename Parse>
  void add_list(const std::string& names, const std::string& type, std::vector<Value>& values,
                Parse parse, const std::string& help) {
    const auto take = [&values, parse, chosen = chosen_](const std::string& text) {
      auto parsed = parse(text);
      if (parsed) {
        values.push_back(std::move(*parsed));
      } else if (!chosen->wrong) {
        chosen->wrong = parsed.error();
      }
    };
    add_repeated(names, type, take, help);
  }
  void add_flag(const std::string& names, bool& value, const std::string& help);

  // What to do when the command line names this command; of the root, when it names none.
  void does(Action action);

 private:
  void add_function(const std::string& names, const std::string& type,
                    const std::function<void(const std::string&)>& take, const std::string& help);
  void add_repeated(const std::string& names, const std::string& type,
                    const std::function<void(const std::string&)>& take, const std::string& help);

  CLI::App* app_;
  Chosen* chosen_;
};

}  // namespace ttmem::cli
