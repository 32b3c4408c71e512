// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ttmem {

// A failure. The message names the object, the reason and the next step.
struct Error {
  std::string message;
};

// A value or an Error, with the interface of std::expected (C++23). Not thread-safe.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  [[nodiscard]] T& value() & { return *operator->(); }
  [[nodiscard]] const T& value() const& { return *operator->(); }
  [[nodiscard]] T&& value() && { return std::move(*operator->()); }
  [[nodiscard]] T& operator*() & { return *operator->(); }
  [[nodiscard]] const T& operator*() const& { return *operator->(); }
  [[nodiscard]] T* operator->() {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  [[nodiscard]] const T* operator->() const {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  [[nodiscard]] const Error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(*-explicit-*)

  [[nodiscard]] bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const Error& error() const {
    assert(!has_value());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace ttmem
