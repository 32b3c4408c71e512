// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace ttmem::cli {

Command Command::add_subcommand(const std::string& name, const std::string& help,
                                const std::string& examples) {
  Command command(*app_->add_subcommand(name, help), *chosen_);
  command.footer(examples);
  return command;
}

bool Command::has_subcommand(const std::string& name) const {
  const auto named =
      app_->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return !named.empty();
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
