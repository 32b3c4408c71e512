// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace ttmem::cli {

void Option::type_name(const std::string& name) { option_->type_name(name); }

void Option::capture_default_str() { option_->capture_default_str(); }

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(*app_->add_subcommand(name, help));
}

bool Command::has_subcommand(const std::string& name) const {
  const auto named =
      app_->get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return !named.empty();
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

void Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  app_->add_flag(names, value, help);
}

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::callback(std::function<void()> chosen) { app_->callback(std::move(chosen)); }

}  // namespace ttmem::cli
