// SPDX-License-Identifier: Apache-2.0
//
// Parses the values of options. The message of an Error says in one line what is wrong and what
// would be right. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::cli {

// Returns a parser for Command::add_option(). The parser calls `parse`. If `parse` returns an
// Error, puts the option and the typed text before its message.
template <typename Parse>
[[nodiscard]] auto parse_for(std::string_view option, Parse parse) {
  return [option, parse](const std::string& text) {
    auto value = parse(text);
    if (!value) {
      value = Error{std::string(option) + " " + text + ": " + value.error().message};
    }
    return value;
  };
}

// Parses "0,3", "0-3,6" or "0x1f00a" (a uid). The result is ascending without duplicates.
[[nodiscard]] Result<std::vector<model::DeviceName>> parse_devices(const std::string& text);

// Parses names of Kind, for example "dram,l1".
[[nodiscard]] Result<std::vector<Kind>> parse_kinds(const std::string& text);

// Parses a number above zero and at most a million. Error messages contain the name `option`.
[[nodiscard]] Result<double> parse_positive(std::string_view option, const std::string& text);

// Parses a whole number above zero.
[[nodiscard]] Result<std::uint64_t> parse_count(std::string_view option, const std::string& text);

// Parses a process id.
[[nodiscard]] Result<std::int32_t> parse_pid(const std::string& text);

// Returns for example "unknown command 'alocs'; did you mean allocs?".
[[nodiscard]] std::string unknown_command(std::string_view word,
                                          const std::vector<std::string>& commands);

}  // namespace ttmem::cli
