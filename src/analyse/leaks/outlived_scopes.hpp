// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyse/leaks/leaks.hpp"
#include "base/scope_visits.hpp"

namespace ttmem::leaks {

// Collects what outlived its scope, and judges how often each scope left something behind. Scopes
// are judged one by one, and then added up when their names differ only in numbers. Pure; not
// thread-safe.
class OutlivedScopes {
 public:
  using Of = Outlived::Of;

  // `process` tells processes apart. `one` is an allocation or a program, with its scope; `visit`
  // is the one of that scope in which it was taken. What is in no scope or in that of an operation
  // is ignored: a result outlives its operation.
  void add(std::uint64_t process, Of of, const ScopeVisit& visit, const Leak& one);

  // Of what was added: suspects first, then the largest.
  [[nodiscard]] std::vector<Outlived> take();
  // A sentence, when of some it is not known whether their scope was left.
  [[nodiscard]] std::optional<std::string> unknown() const;

 private:
  // The last is the path of the scope.
  using Key = std::tuple<std::uint64_t, Of, std::optional<Kind>, std::string>;
  struct Scope {
    std::uint32_t visits = 0;
    bool is_last = false;  // something is of the last visit that is over
    Leak sum;
  };

  std::map<Key, Scope> scopes_;
  std::uint64_t unknown_ = 0;  // allocations and programs
};

// Whether it is that of an operation of TT-Metal (`ttmem run --ops`).
[[nodiscard]] bool is_operation(std::string_view scope);

}  // namespace ttmem::leaks
