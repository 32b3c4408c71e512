// SPDX-License-Identifier: Apache-2.0
//
// How a command declares its options and its help. CLI11 does the work; only command.cpp and
// main.cpp include it, because each file that does takes five seconds more to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ttmem::cli {

// Belongs to its Command.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  // What the help calls the value; empty: nothing.
  void type_name(const std::string& name);
  // The help shows the value that is there before the command line is parsed.
  void capture_default_str();

 private:
  CLI::Option* option_;
};

// A view of a CLI::App, which outlives it, as do the values that are handed over.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_subcommand(const std::string& name, const std::string& help);
  [[nodiscard]] bool has_subcommand(const std::string& name) const;

  // `names` as in "-r,--interval"; without dashes it is an argument by its position.
  Option add_option(const std::string& names, std::string& value, const std::string& help);
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  void add_flag(const std::string& names, bool& value, const std::string& help);
  // What the help ends with.
  void footer(const std::string& text);
  // Called when the command line names this command.
  void callback(std::function<void()> chosen);

 private:
  CLI::App* app_;
};

}  // namespace ttmem::cli
