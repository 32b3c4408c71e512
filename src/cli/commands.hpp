// SPDX-License-Identifier: Apache-2.0
//
// The commands, one file each. add_...() declares a command's options, help and action.
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

// Options of every command that shows a snapshot. Users may write them before or after the name of
// the command, so all commands share one copy.
struct CommonOptions {
  bool json = false;
  bool csv = false;                        // for commands that declare --csv
  std::vector<model::DeviceName> devices;  // empty: all devices
  ColorWhen color = ColorWhen::automatic;
  std::optional<text::Units> units;  // for commands that declare --units
  // The server to read from, for commands that declare --server. nullopt: read this machine.
  std::optional<remote::Address> server;
  std::string token_file;      // for commands with --server; empty: TTMEM_TOKEN_FILE
  double timeout_seconds = 2;  // for commands with --server: maximum wait for an answer
};

void add_common(Command& app, CommonOptions& common);
void add_color(Command& app, CommonOptions& common);
// Returns the layout of text on standard output with these options.
[[nodiscard]] text::TextOptions text_options(const CommonOptions& common);

// Declares the options of `ttmem` when it is called without a command.
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
// Prints to standard error that an adapter for this library is being built.
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
// `to_run` is the rest of the command line after `run` and its options: an optional "--" and a
// command. The caller fills `to_run` before parsing. The action runs the command with tracking on
// and the adapter attached, and returns its exit code. With --no-explain and without --summary, the
// command replaces this process. Other exit codes: 127 if the command does not exist, 126 if it
// cannot be started, 2 if no command was given.
void add_run(Command& app, const std::vector<std::string>& to_run);
// Like add_run(), but records all events of the command.
void add_record(Command& app, const std::vector<std::string>& to_run);

// A hidden command. `words` is the text that the user has typed after `ttmem`, up to the cursor;
// the caller fills it before parsing. Prints the possible completions of the last word
// (docs/reference/completion.md). Never prints errors, because they would appear in the middle of
// the command line.
void add_complete(Command& app, const std::vector<std::string>& words);
// A hidden command. Prints the parts of a command's manual page that can be made from its
// declaration, in the format of scdoc.
void add_manual(Command& app);

// Returns true for commands whose arguments end with another command, which is not parsed here.
[[nodiscard]] constexpr bool ends_with_command(std::string_view name) {
  return name == "run" || name == "record";
}

// Prints `text`, which describes `snapshot`. Returns the exit code, which is a failure if no data
// could be read for the snapshot.
[[nodiscard]] int print_of(const model::Snapshot& snapshot, std::string_view text);

}  // namespace ttmem::cli
