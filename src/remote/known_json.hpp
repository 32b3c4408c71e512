// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "remote/fault.hpp"

namespace ttmem::remote {

// What a parser does with a value that is complete: keeps it, or drops it because it was used.
enum class Then { keep, drop };

// JSON that anybody may have written, as a value. Members with a name that no document of ttmem has
// and what is nested deeper than in those are skipped, so that memory is in proportion to what is
// known. Calls complete(section, depth, value) for each object and list when it ends; `section` is
// the name of the member of the document that it is in. None when the text is not JSON.
template <typename Complete>
[[nodiscard]] std::optional<nlohmann::json> parse_known(std::string_view text, Complete complete);

// Whether a document of ttmem has members of this name.
[[nodiscard]] bool is_known(const std::string& name);

// Fails unless `document` has this schema, "ttmem.snapshot.v1". A later version is `newer`.
[[nodiscard]] std::optional<Fault> wrong_schema(const nlohmann::json& document,
                                                std::string_view schema);

template <typename Complete>
std::optional<nlohmann::json> parse_known(std::string_view text, Complete complete) {
  using Event = nlohmann::json::parse_event_t;
  constexpr int kDeepest = 8;
  std::string section;
  const auto keep = [&](int depth, Event event, nlohmann::json& value) {
    switch (event) {
      case Event::key: {
        const auto& name = value.get_ref<const std::string&>();
        if (depth == 1) section = name;
        return is_known(name);
      }
      case Event::object_start:
      case Event::array_start:
        return depth <= kDeepest;
      case Event::object_end:
      case Event::array_end:
        return complete(section, depth, value) == Then::keep;
      case Event::value:
        break;
    }
    return true;
  };
  nlohmann::json document = nlohmann::json::parse(text, keep, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

}  // namespace ttmem::remote
