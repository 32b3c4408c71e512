// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

// Escapes the characters that have a meaning for scdoc.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\_*#[]").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// Returns the names of an option and the name of its value in the format of scdoc, for example
// "*-i*, *--device* _LIST_".
std::string term_of(const OptionInfo& option) {
  std::string term;
  for (const std::string& name : option.names) {
    term += fmt::format("{}*{}*", term.empty() ? "" : ", ", escaped(name));
  }
  if (option.value.empty()) return term;
  return fmt::format("{}{}_{}_", term, term.empty() ? "" : " ", escaped(option.value));
}

std::string options_section(const Command& command) {
  std::string arguments;
  std::string options;
  for (const OptionInfo& option : command.options()) {
    (option.names.empty() ? arguments : options) +=
        fmt::format("{}\n\t{}\n\n", term_of(option), escaped(option.help));
  }
  return (arguments.empty() ? "" : "# ARGUMENTS\n\n" + arguments) + "# OPTIONS\n\n" + options;
}

std::string commands_section(const Command& root) {
  std::string text = "# COMMANDS\n\n";
  for (const std::string& name : root.subcommands()) {
    text +=
        fmt::format("*ttmem-{}*(1)\n\t{}\n\n", name, escaped(root.subcommand(name).description()));
  }
  return text;
}

// Returns a section with the part of the footer between "Examples:" and the next empty line.
std::string examples_section(const Command& command) {
  constexpr std::string_view kBegin = "Examples:\n";
  constexpr std::size_t kIndent = 2;  // blanks at the begin of a line in the footer
  const std::string footer = command.footer();
  const std::size_t begin = footer.find(kBegin);
  if (begin == std::string::npos) return {};
  const std::size_t first = begin + kBegin.size();
  std::string text = "# EXAMPLES\n\n```";
  for (std::size_t at = first; at < footer.size() && footer[at] != '\n';) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    text += "\n" + footer.substr(at + kIndent, end - at - kIndent);
    at = end + 1;
  }
  return text + "\n```\n\n";
}

int manual(const Command& root, const std::string& name) {
  if (name.empty()) {
    return print(options_section(root) + commands_section(root) + examples_section(root));
  }
  if (!root.has_subcommand(name))
    return complain(unknown_command(name, root.subcommands()), kUsage);
  const Command command = root.subcommand(name);
  return print(options_section(command) + examples_section(command));
}

}  // namespace

void add_manual(Command& app) {
  auto name = std::make_shared<std::string>();
  Command command = app.add_hidden("manual");
  command.add_option("COMMAND", "", *name, "");
  command.does([app, name] { return manual(app, *name); });
}

}  // namespace ttmem::cli
