// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/explanation_json.hpp"

#include <nlohmann/json.hpp>

#include "base/safe_text.hpp"

namespace ttmem::explain {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the schema

Json value_of(const Bytes& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }
Json text_of(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json holder_json(const BufferHolder& holder) {
  return {{"kind", ttmem::name_of(holder.kind)},
          {"label", holder.label},
          {"scope", holder.scope},
          {"pid", holder.pid != 0 ? Json(holder.pid) : Json(nullptr)},
          {"address", holder.address},
          {"bytes", holder.bytes},
          {"bytes_per_bank", holder.bytes_per_bank},
          {"age_ns", value_of(holder.age_ns)}};
}

Json suggestion_json(const Suggestion& suggestion) {
  Json json = {{"action", suggestion.action},
               {"tried", suggestion.tried},
               {"text", suggestion.text},
               {"bytes", value_of(suggestion.bytes)},
               {"buffers", Json::array()}};
  for (const BufferHolder& holder : suggestion.buffers)
    json["buffers"].push_back(holder_json(holder));
  return json;
}

}  // namespace

Json to_json(const Explanation& explanation) {
  Json json = {
      {"schema", "ttmem.explanation.v1"},
      {"cause", name_of(explanation.cause)},
      {"sentence", explanation.sentence},
      {"place", text_of(explanation.place)},
      {"asked",
       {{"kind", explanation.kind ? Json(ttmem::name_of(*explanation.kind)) : Json(nullptr)},
        {"bytes", value_of(explanation.bytes)},
        {"bytes_per_bank", value_of(explanation.bytes_per_bank)}}},
      {"available",
       {{"free_bytes_per_bank", value_of(explanation.free_per_bank)},
        {"largest_free_bytes_per_bank", value_of(explanation.largest_free_per_bank)}}},
      {"short_by_bytes", value_of(explanation.short_by)},
      {"in_the_way", Json::array()},
      {"more_in_the_way", explanation.more_in_the_way},
      {"suggestions", Json::array()},
      {"unknown", explanation.unknown}};
  for (const BufferHolder& holder : explanation.in_the_way) {
    json["in_the_way"].push_back(holder_json(holder));
  }
  for (const Suggestion& suggestion : explanation.suggestions) {
    json["suggestions"].push_back(suggestion_json(suggestion));
  }
  return json;
}

std::string explanation_json(const Explanation& explanation) {
  // json_text() replaces bytes that are not UTF-8. Labels from other processes may contain such
  // bytes.
  return json_text(to_json(explanation), 2) + "\n";
}

}  // namespace ttmem::explain
