// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace ttmem::cli {
namespace {

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.help = option.get_description();
  if (option.get_type_size() != 0) {
    info.value = option.get_type_name();
    if (const std::string& value = option.get_default_str(); !value.empty()) {
      info.value += "=" + value;
    }
  }
  if (info.names.empty() && info.value.empty()) info.value = option.get_name(true);
  return info;
}

}  // namespace

Command Command::add_subcommand(const std::string& name, const std::string& help,
                                const std::string& examples) {
  Command command(*app_->add_subcommand(name, help), *chosen_);
  command.footer(examples);
  return command;
}

Command Command::add_hidden(const std::string& name) {
  CLI::App& hidden = *app_->add_subcommand(name);
  hidden.group("");
  return {hidden, *chosen_};
}

bool Command::has_subcommand(const std::string& name) const {
  const std::vector<std::string> names = subcommands();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> Command::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_->get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

Command Command::subcommand(const std::string& name) const {
  return {*app_->get_subcommand(name), *chosen_};
}

std::vector<OptionInfo> Command::options() const {
  std::vector<OptionInfo> all;
  for (const CLI::Option* option : app_->get_options({})) all.push_back(info_of(*option));
  return all;
}

std::string Command::description() const { return app_->get_description(); }

std::string Command::footer() const { return app_->get_footer(); }

// Does not call App::help(), because that function returns the help of the command that the user
// typed.
std::string Command::help() const {
  return app_->get_formatter()->make_help(app_, app_->get_name(), CLI::AppFormatMode::Normal);
}

std::string Command::help(const std::string& subcommand) const {
  return app_->get_subcommand(subcommand)->help(app_->get_name());
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::add_option(const std::string& names, const std::string& type, std::string& value,
                         const std::string& help) {
  app_->add_option(names, value, help)->type_name(type);
}

void Command::add_option(const std::string& names, const std::string& type, std::uint64_t& value,
                         const std::string& help) {
  app_->add_option(names, value, help)->type_name(type)->capture_default_str();
}

void Command::add_function(const std::string& names, const std::string& type,
                           const std::function<void(const std::string&)>& take,
                           const std::string& help) {
  app_->add_option_function(names, take, help)->type_name(type);
}

void Command::add_repeated(const std::string& names, const std::string& type,
                           const std::function<void(const std::string&)>& take,
                           const std::string& help) {
  const auto take_all = [take](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) take(text);
  };
  app_->add_option_function<std::vector<std::string>>(names, take_all, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

void Command::does(Action action) {
  if (app_->get_parent() == nullptr) {
    chosen_->action = std::move(action);
  } else {
    app_->callback([chosen = chosen_, action = std::move(action)] { chosen->action = action; });
  }
}

}  // namespace ttmem::cli
