// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "text/nearest.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kVersion = "ttmem " TTMEM_VERSION_TEXT;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options({})) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Returns "ttmem" for the root, and for example "ttmem allocs" for a command.
std::string title_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "ttmem" : "ttmem " + app.get_name();
}

// Returns the name of an option: "--device" for "--device=0", "-i" for "-i0".
std::string name_in(const std::string& argument) {
  return argument.starts_with("--") ? argument.substr(0, argument.find('='))
                                    : argument.substr(0, 2);
}

// Returns advice for a user who typed `option` after `command`, which does not have this option.
std::string advice_on(const CLI::App& command, const std::string& option) {
  if (command.get_name() == "record" && name_in(option) == "--server") {
    return "record on that machine: ssh HOST ttmem record -- CMD";
  }
  const bool is_option = option.starts_with("-");
  const std::string near = is_option ? text::nearest(option, option_names(command)) : "";
  return near.empty() ? fmt::format("see {} --help", title_of(command))
                      : "did you mean " + near + "?";
}

// Reports an option or argument that `command` does not know.
int reject(const CLI::App& command, const std::string& argument) {
  const bool option = argument.starts_with("-");
  return complain(
      fmt::format("{} '{}' for `{}`; {}", option ? "unknown option" : "unexpected argument",
                  argument, title_of(command), advice_on(command, argument)),
      kUsage);
}

// Reports unknown options and arguments. Also reports options before a command's name that
// move_behind_command() has left there, because the command does not have these options.
int check(const CLI::App& app, const Command& root) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.back();
  if (const auto extras = app.remaining(); !extras.empty()) {
    if (extras.front().starts_with("-")) return reject(app, extras.front());
    return complain(unknown_command(extras.front(), root.subcommands()), kUsage);
  }
  if (chosen.empty()) return kSuccess;
  if (const auto extras = command.remaining(); !extras.empty()) {
    return reject(command, extras.front());
  }
  for (const CLI::Option* option : app.get_options({})) {
    const std::string name = option->get_name();
    if (option->count() == 0) continue;
    return complain(fmt::format("{} is not an option of `{}`; {}", name, title_of(command),
                                advice_on(command, name)),
                    kUsage);
  }
  return kSuccess;
}

// Returns true if `argument` is an option whose value is the next argument.
bool takes_next(const CLI::App& app, const std::string& argument) {
  // Finds no option for "--device=0", because this argument contains the value.
  const CLI::Option* option = app.get_option_no_throw(argument);
  return option != nullptr && option->get_items_expected_min() > 0;
}

using Arguments = std::vector<std::string>::iterator;

// Returns the first argument from `at` on that is neither an option of `app` nor an option's value.
Arguments after_options(const CLI::App& app, Arguments at, Arguments end) {
  while (at != end && at->starts_with("-") && *at != "--") {
    const bool skip = takes_next(app, *at) && at + 1 != end;
    at += skip ? 2 : 1;
  }
  return at;
}

// Moves options before a command's name to the place after the name, if the command has these
// options. CLI11 would take options before the name for options of `ttmem`, which may have another
// meaning.
void move_behind_command(const CLI::App& app, std::vector<std::string>& all) {
  const Arguments name = after_options(app, all.begin(), all.end());
  if (name == all.end()) return;
  const auto commands =
      app.get_subcommands([&](const CLI::App* one) { return one->check_name(*name); });
  if (commands.empty()) return;
  std::vector<std::string> before;
  std::vector<std::string> behind;
  for (Arguments at = all.begin(); at != name;) {
    const Arguments next = at + (takes_next(app, *at) ? 2 : 1);
    const bool has_it = commands.front()->get_option_no_throw(name_in(*at)) != nullptr;
    std::vector<std::string>& to = has_it ? behind : before;
    to.insert(to.end(), at, next);
    at = next;
  }
  before.push_back(*name);
  before.insert(before.end(), behind.begin(), behind.end());
  std::move(before.begin(), before.end(), all.begin());
}

// Returns the first argument that ttmem must not parse: the name of the command that `run` or
// `record` starts, or the first word that `complete` completes. Returns `all.end()` if there is no
// such argument, for example because the word `run` is the value of an option or an argument of
// another command.
Arguments command_to_run(const CLI::App& app, std::vector<std::string>& all) {
  const Arguments command = after_options(app, all.begin(), all.end());
  if (command == all.end()) return command;
  if (!ends_with_command(*command) && *command != "complete") return all.end();
  return after_options(*app.get_subcommand(*command), command + 1, all.end());
}

int run(std::vector<std::string> arguments) {
  CLI::App app("The memory of Tenstorrent devices: who holds DRAM, L1, circular buffers, kernels");
  app.name("ttmem");
  // Makes CLI11 accept unknown arguments, because check() rejects them with better messages.
  // Commands that are added later inherit this setting.
  app.allow_extras();
  app.set_version_flag("-V,--version", kVersion, "The version of ttmem");
  CommonOptions common;
  Chosen chosen;
  std::vector<std::string> to_run;
  Command root(app, chosen);
  add_show(root, common);
  add_top(root, common);
  add_allocs(root, common);
  add_programs(root, common);
  add_fleet(root, common);
  add_run(root, to_run);
  add_record(root, to_run);
  add_report(root, common);
  add_view(root);
  add_diff(root, common);
  add_explain(root, common);
  add_leaks(root, common);
  add_fit(root, common);
  add_export(root);
  add_import(root);
  add_doctor(root, common);
  add_clean(root);
  add_demo(root);
  add_replay(root);
  add_serve(root);
  add_adapter(root, common);
  add_help(root);
  add_version(root, kVersion);
  add_complete(root, to_run);
  add_manual(root);
  app.require_subcommand(0, 1);
  move_behind_command(app, arguments);
  const auto end = command_to_run(app, arguments);
  to_run.assign(end, arguments.end());
  arguments.erase(end, arguments.end());
  for (const std::string& argument : arguments) {
    const bool empty = argument.empty() || (argument[0] == '-' && argument.back() == '=');
    if (empty) {
      return complain("an argument is empty (an unset variable?); see ttmem --help", kUsage);
    }
  }
  try {
    // Reverses the arguments, because CLI11 expects them in reverse order.
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    return complain(fmt::format("{}; see ttmem --help", error.what()), kUsage);
  }
  if (const int checked = check(app, root); checked != kSuccess) return checked;
  if (common.json && common.csv) {
    return complain("--json and --csv exclude each other; choose one", kUsage);
  }
  if (chosen.wrong) return complain(chosen.wrong->message, kUsage);
  return chosen.action();
}

// Returns the command that replaces the original tool with this program name. Returns an empty text
// for other program names, such as `ttmem`.
std::string_view command_of_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "tt_smi_umd" ? "top" : name == "allocation_server" ? "serve" : "";
}

// Opens /dev/null for each closed standard descriptor. Otherwise a recording or socket could get
// the number of this descriptor, and messages would be written into it. Reading from or writing to
// the descriptor still fails, and a started command finds it closed.
void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // open() returns the lowest free descriptor, which is `fd`.
    (void)::open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

}  // namespace
}  // namespace ttmem::cli

int main(int argc, char** argv) try {
  using namespace ttmem::cli;
  occupy_standard_descriptors();
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (const std::string_view command = command_of_name(argc > 0 ? argv[0] : ""); !command.empty()) {
    arguments.insert(arguments.begin(), std::string(command));
  }
  return run(std::move(arguments));
} catch (const std::exception& error) {  // most likely this process is out of memory
  return ttmem::cli::complain(error.what(), ttmem::cli::kFailure);
}
