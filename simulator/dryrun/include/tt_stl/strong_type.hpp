// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <ostream>
#include <utility>

namespace ttsl {

// A value with a type of its own. Strong types with different tags do not convert into each other.
// `*id` returns the value of `id`.
template <typename T, typename Tag>
class StrongType {
 public:
  using value_type = T;
  using tag_type = Tag;

  constexpr StrongType() noexcept : value_() {}
  constexpr explicit StrongType(T value) noexcept : value_(std::move(value)) {}

  constexpr const T& operator*() const noexcept { return value_; }
  constexpr const T& get() const noexcept { return value_; }

  friend constexpr auto operator<=>(const StrongType&, const StrongType&) = default;

 private:
  T value_;
};

template <typename T, typename Tag>
std::ostream& operator<<(std::ostream& os, const StrongType<T, Tag>& id) {
  return os << +*id;
}

}  // namespace ttsl

template <typename T, typename Tag>
struct std::hash<ttsl::StrongType<T, Tag>> {
  std::size_t operator()(const ttsl::StrongType<T, Tag>& id) const noexcept {
    return std::hash<T>{}(*id);
  }
};
