// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace ttsl {

// Holds one object of any movable type. MaxSize and Alignment are TT-Metal's limits for the object.
// The constructor checks them, so that a program that works here also works with TT-Metal.
template <std::size_t MaxSize, std::size_t Alignment>
class unique_any {
 public:
  template <typename T, typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, unique_any>>>
  unique_any(T&& object)
      : holder_(std::make_unique<Holder<std::decay_t<T>>>(std::forward<T>(object))) {
    static_assert(sizeof(std::decay_t<T>) <= MaxSize);
    static_assert(alignof(std::decay_t<T>) <= Alignment);
  }

  unique_any(unique_any&&) noexcept = default;
  unique_any& operator=(unique_any&&) noexcept = default;
  unique_any(const unique_any&) = delete;
  unique_any& operator=(const unique_any&) = delete;

  // Throws std::bad_cast if the object has another type.
  template <typename T>
  T& get() {
    return dynamic_cast<Holder<T>&>(*holder_).object;
  }
  template <typename T>
  const T& get() const {
    return dynamic_cast<const Holder<T>&>(*holder_).object;
  }

 private:
  struct Base {
    virtual ~Base() = default;
  };
  template <typename T>
  struct Holder final : Base {
    template <typename U>
    explicit Holder(U&& value) : object(std::forward<U>(value)) {}
    T object;
  };

  std::unique_ptr<Base> holder_;
};

}  // namespace ttsl
