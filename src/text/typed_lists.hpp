// SPDX-License-Identifier: Apache-2.0
//
// Lists as people type them: after an option, or in a URL. An Error says what is wrong and what
// would be right, without naming the option. Pure, safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/model/device_name.hpp"

namespace ttmem::text {

// The parts between the commas. An empty text has one part, which is empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text);

// "0,3", "0-3,6" or "0x1f00a", a uid: ascending, each once.
[[nodiscard]] Result<std::vector<model::DeviceName>> parse_devices(std::string_view text);

// The same, or one key as key_of() makes it: "0:wormhole_b0" is one of several chips of a number.
[[nodiscard]] Result<std::vector<model::DeviceName>> parse_device_keys(std::string_view text);

// "dram,l1": see Kind.
[[nodiscard]] Result<std::vector<Kind>> parse_kinds(std::string_view text);

}  // namespace ttmem::text
