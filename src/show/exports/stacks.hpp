// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/kinds.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::exports {

// Returns the text with U+FFFD in place of bytes that are not UTF-8. Programs that read exported
// files refuse invalid UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The origin of memory as a call stack, outermost first: "device blackhole", "l1", the process, the
// scopes, the label. Stacks contain no number of a chip, process or program, so that two runs can
// be compared.
using Stack = std::vector<std::string>;

[[nodiscard]] Stack stack_of(const recording::Tables& tables, recording::RowId device,
                             const recording::RecordedRequest& request);
// Returns the stack of a program's circular buffers.
[[nodiscard]] Stack stack_of(const recording::Tables& tables, recording::RowId device,
                             std::uint32_t name, std::uint32_t scope);

}  // namespace ttmem::exports
