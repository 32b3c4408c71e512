// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kHelpExamples = R"(
Examples:
  ttmem help          the options of ttmem itself, and all commands
  ttmem help allocs   the same as: ttmem allocs --help)";

constexpr const char* kVersionExamples = R"(
Examples:
  ttmem version       the same as: ttmem --version, ttmem -V)";

int help(const Command& app, const std::string& command) {
  if (command.empty()) return print(app.help());
  if (app.has_subcommand(command)) return print(app.help(command));
  return complain(unknown_command(command, app.subcommands()), kUsage);
}

}  // namespace

void add_help(Command& app) {
  auto name = std::make_shared<std::string>();
  Command command =
      app.add_subcommand("help", "Show what a command does, and its options", kHelpExamples);
  command.add_option("COMMAND", "", *name, "The command; without it, all commands are listed");
  command.does([app, name] { return help(app, *name); });
}

void add_version(Command& app, const std::string& text) {
  app.add_subcommand("version", "The version of ttmem", kVersionExamples).does([text] {
    return print(text + "\n");
  });
}

}  // namespace ttmem::cli
