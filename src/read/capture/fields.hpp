// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ttmem::capture {

// The fields of one line, each with the type and range its reader asks for. A field that is
// missing or different is read as empty, and problem() has the first such error: read all fields,
// then call it.
class Fields {
 public:
  // `object` must outlive it.
  explicit Fields(const nlohmann::json& object);

  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }
  [[nodiscard]] std::string text(const char* name);
  [[nodiscard]] bool flag(const char* name);
  [[nodiscard]] std::vector<std::uint16_t> grid(const char* name);   // two numbers from 1
  [[nodiscard]] std::vector<std::uint32_t> chips(const char* name);  // any count
  [[nodiscard]] std::vector<ttmem_core_range> cores(const char* name);

  template <typename Number>
  [[nodiscard]] Number number(const char* name) {
    return whole<Number>(name, at(name));
  }

  // Rejects the line for a reason that is not one field's. The first reason counts.
  void refuse(std::string reason);

  // Why the line is not valid, as text.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 private:
  [[nodiscard]] const nlohmann::json& at(const char* name);
  [[nodiscard]] std::uint64_t whole_up_to(const char* name, const nlohmann::json& value,
                                          std::uint64_t max);

  template <typename Number>
  [[nodiscard]] Number whole(const char* name, const nlohmann::json& value) {
    return static_cast<Number>(whole_up_to(name, value, std::numeric_limits<Number>::max()));
  }

  template <typename Number>
  [[nodiscard]] std::vector<Number> list(const char* name, const nlohmann::json& value) {
    std::vector<Number> numbers;
    if (!value.is_array()) {
      refuse_field(name, "is not a list");
      return numbers;
    }
    for (const nlohmann::json& element : value) numbers.push_back(whole<Number>(name, element));
    return numbers;
  }

  void refuse_field(const char* name, const std::string& what);

  const nlohmann::json& object_;
  std::optional<std::string> problem_;
};

}  // namespace ttmem::capture
