// SPDX-License-Identifier: Apache-2.0
//
// The declaration of a command's options and help. CLI11 does the work. Only command.cpp and
// main.cpp include CLI11, because a file that includes it takes five more seconds to compile.
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

// The result of parsing the command line.
struct Chosen {
  Action action;
  std::optional<Error> wrong;  // error of the first invalid value, if any
};

// An option or a positional argument, with the texts that the help shows.
struct OptionInfo {
  std::vector<std::string> names;  // "-i", "--device"; empty for a positional argument
  std::string value;               // "LIST", "UINT=86400"; empty: takes no value
  std::string help;
};

// Declares the options of a CLI::App. The app, `chosen` and all values that are passed by reference
// must outlive this object.
class Command {
 public:
  Command(CLI::App& app, Chosen& chosen) : app_(&app), chosen_(&chosen) {}

  // `examples` is the last part of the help.
  Command add_subcommand(const std::string& name, const std::string& help,
                         const std::string& examples);
  // Adds a command that appears neither in the help nor in subcommands().
  Command add_hidden(const std::string& name);
  [[nodiscard]] bool has_subcommand(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> subcommands() const;
  [[nodiscard]] Command subcommand(const std::string& name) const;  // the subcommand must exist

  // Returns the declared options in their order.
  [[nodiscard]] std::vector<OptionInfo> options() const;
  [[nodiscard]] std::string description() const;  // one line
  [[nodiscard]] std::string footer() const;
  // Returns the text of --help for this command, or for a subcommand, which must exist.
  [[nodiscard]] std::string help() const;
  [[nodiscard]] std::string help(const std::string& subcommand) const;
  void footer(const std::string& text);

  // Adds an option with a text. `names` is for example "-r,--interval"; a name without dashes makes
  // a positional argument. `type` is the name of the value in the help.
  void add_option(const std::string& names, const std::string& type, std::string& value,
                  const std::string& help);
  // Adds an option with a number. The help shows the present `value` as the default.
  void add_option(const std::string& names, const std::string& type, std::uint64_t& value,
                  const std::string& help);
  // Stores the result of parse(text) in `value`, or the Error in Chosen::wrong.
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
  // Adds an option that may be repeated. Each result of parse(text) is appended to `values`.
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

  // Sets the action of this command. The action of the root runs if the command line names no
  // command.
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
