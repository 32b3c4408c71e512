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

// The fields of one line. Each function checks the type and range of one field. A missing or wrong
// field is read as 0, false or empty. problem() describes the first such field. Read all fields
// before you call problem().
class Fields {
 public:
  // `object` must outlive this object.
  explicit Fields(const nlohmann::json& object);

  [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }
  [[nodiscard]] std::string text(const char* name);
  [[nodiscard]] bool flag(const char* name);
  [[nodiscard]] std::vector<std::uint16_t> grid(const char* name);   // two numbers of at least 1
  [[nodiscard]] std::vector<std::uint32_t> chips(const char* name);  // any number of chips
  [[nodiscard]] std::vector<ttmem_core_range> cores(const char* name);

  template <typename Number>
  [[nodiscard]] Number number(const char* name) {
    return whole<Number>(name, at(name));
  }

  // Rejects the line. Only the first reason is kept.
  void refuse(std::string reason);

  // Returns the reason why the line is not valid; nullopt if it is valid.
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
