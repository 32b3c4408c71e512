// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "read/recording/file/rows.hpp"

namespace ttmem::recording {

// Makes the tables and views of an empty file; docs/guides/recording.md explains them.
extern const char* const kCreateTables;

// As in the columns `spread` and `direction`; what is unknown or usual is an empty text, and so
// is a name that is not known.
[[nodiscard]] std::string_view name_of(BufferLayout::Spread spread);
[[nodiscard]] std::string_view name_of(BufferLayout::Direction direction);
[[nodiscard]] BufferLayout::Spread spread_named(std::string_view name);
[[nodiscard]] BufferLayout::Direction direction_named(std::string_view name);

// As in the columns `ending`; an empty text is stored as null.
[[nodiscard]] std::string_view name_of(Ending ending);
[[nodiscard]] std::optional<Ending> ending_named(std::string_view name);

}  // namespace ttmem::recording
