// SPDX-License-Identifier: Apache-2.0
//
// Parses lists as people type them, in an option or a URL. An Error states the mistake and the
// correct form, without naming the option. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::text {

// Splits `text` at commas. Returns one empty part for an empty text.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text);

// Parses numbers, ranges, uids and PCI addresses: "0,3", "0-3,6", "0x1f00a". Returns the names in
// ascending order, without duplicates.
[[nodiscard]] Result<std::vector<model::DeviceName>> parse_devices(std::string_view text);

// Parses like parse_devices(), and also accepts one key from key_of(), such as "0:wormhole_b0",
// which names one of several chips with the same number.
[[nodiscard]] Result<std::vector<model::DeviceName>> parse_device_keys(std::string_view text);

// Parses kinds by their names: "dram,l1".
[[nodiscard]] Result<std::vector<Kind>> parse_kinds(std::string_view text);

}  // namespace ttmem::text
