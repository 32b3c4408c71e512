// SPDX-License-Identifier: Apache-2.0
//
// The commands, one file each. add_...() declares a command's options and help, and what it does
// when the command line names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/address.hpp"

namespace ttmem::cli {

// Options of every command that shows a snapshot. They may stand before or after the command's
// name, so all share one copy.
struct CommonOptions {
  bool json = false;
  bool csv = false;                        // of commands that declare it
  std::vector<model::DeviceName> devices;  // empty: all
  ColorWhen color = ColorWhen::automatic;
  std::optional<text::Units> units;       // of commands that declare it
  std::optional<remote::Address> server;  // of commands that declare it; none: this machine
  std::string token_file;                 // of those; empty: TTMEM_TOKEN_FILE
  double timeout_seconds = 2;             // of those: for an answer
};

void add_common(Command& app, CommonOptions& common);
void add_color(Command& app, CommonOptions& common);
// How standard output shows text, as these options ask for it.
[[nodiscard]] text::TextOptions text_options(const CommonOptions& common);

// `ttmem` itself.
void add_show(Command& app, CommonOptions& common);
void add_allocs(Command& app, CommonOptions& common);
void add_programs(Command& app, CommonOptions& common);
void add_top(Command& app, CommonOptions& common);
void add_fleet(Command& app, CommonOptions& common);
void add_report(Command& app, CommonOptions& common);
void add_view(Command& app);
void add_leaks(Command& app, CommonOptions& common);
void add_diff(Command& app, CommonOptions& common);
void add_explain(Command& app, CommonOptions& common);
void add_fit(Command& app, CommonOptions& common);
void add_adapter(Command& app, CommonOptions& common);
// A line on standard error, when that is a terminal: an adapter for this library is being built.
void say_building(const std::string& library);
void add_doctor(Command& app, CommonOptions& common);
void add_clean(Command& app);
void add_demo(Command& app);
void add_replay(Command& app);
void add_export(Command& app);
void add_import(Command& app);
void add_serve(Command& app);
void add_help(Command& app);
void add_version(Command& app, const std::string& text);
// `to_run` is what follows the word `run` and its options; fill it before the command line is
// parsed. The action replaces this process by that command, after an optional "--", with tracking
// on and the adapter attached. It returns when that fails: 127 when there is no such command, 126
// when it cannot be started, 2 when none was named; and with --summary, the command's exit code.
void add_run(Command& app, const std::vector<std::string>& to_run);
// The same, but the command is a child, and all that happens is recorded.
void add_record(Command& app, const std::vector<std::string>& to_run);

// Hidden. `words` is what the user has typed behind `ttmem`, up to the cursor; fill it before the
// command line is parsed. Prints what the last word can become (docs/reference/completion.md); says
// nothing when something fails, because a shell is about to draw its line.
void add_complete(Command& app, const std::vector<std::string>& words);
// Hidden. Prints the parts of a command's manual page that follow from its declaration, for scdoc.
void add_manual(Command& app);

// Commands whose line ends with that of another command, which is not theirs to parse.
[[nodiscard]] constexpr bool ends_with_command(std::string_view name) {
  return name == "run" || name == "record";
}

// Prints what was made of the snapshot. A failure when nothing at all could be read.
[[nodiscard]] int print_of(const model::Snapshot& snapshot, std::string_view text);

}  // namespace ttmem::cli
