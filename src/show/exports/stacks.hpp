// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::exports {

// Text with U+FFFD in place of what is no UTF-8, which readers of other formats refuse.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// Where memory comes from, as if its scopes called each other; the outermost first: "device
// blackhole", "l1", the process, the scopes, the label. No number of a chip, a process or a program
// is in it, so that two runs can be compared.
using Stack = std::vector<std::string>;

[[nodiscard]] Stack stack_of(const recording::Tables& tables, recording::RowId device,
                             const recording::RecordedRequest& request);
// Of the circular buffers of a program.
[[nodiscard]] Stack stack_of(const recording::Tables& tables, recording::RowId device,
                             std::uint32_t name, std::uint32_t scope);

}  // namespace ttmem::exports
