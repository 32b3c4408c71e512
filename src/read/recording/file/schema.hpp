// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// The SQL that creates the tables and views of an empty file. docs/guides/recording.md explains the
// tables and views.
extern const char* const kCreateTables;

// Convert between values and the texts in the columns `spread` and `direction`. The text of
// Spread::unknown and of Direction::usual is empty. A text that names no value is converted to
// Spread::unknown or Direction::usual.
[[nodiscard]] std::string_view name_of(BufferLayout::Spread spread);
[[nodiscard]] std::string_view name_of(BufferLayout::Direction direction);
[[nodiscard]] BufferLayout::Spread spread_named(std::string_view name);
[[nodiscard]] BufferLayout::Direction direction_named(std::string_view name);

// Convert between values and the texts in the columns `ending`. An empty text is stored as null.
[[nodiscard]] std::string_view name_of(Ending ending);
[[nodiscard]] std::optional<Ending> ending_named(std::string_view name);

}  // namespace ttmem::recording
