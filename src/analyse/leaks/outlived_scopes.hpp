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

// Collects allocations and programs that outlived their scope, and determines for each scope how
// often memory outlived the scope. Then adds up the scopes whose names differ only in numbers.
// Pure; not thread-safe.
class OutlivedScopes {
 public:
  using Of = Outlived::Of;

  // Adds an allocation or a program, with its scope. `process` identifies the process. `visit` is
  // the visit of the scope during which `one` was allocated. Ignores `one` if it has no scope, or
  // if its scope is an operation, because the result of an operation outlives the operation.
  void add(std::uint64_t process, Of of, const ScopeVisit& visit, const Leak& one);

  // Returns the sums, sorted by How with the suspects first, then by size with the largest first.
  [[nodiscard]] std::vector<Outlived> take();
  // Returns a sentence with the number of allocations and programs of which it is unknown whether
  // their scope was left. Returns nullopt if the number is 0.
  [[nodiscard]] std::optional<std::string> unknown() const;

 private:
  // Process, `Of`, kind, path of the scope.
  using Key = std::tuple<std::uint64_t, Of, std::optional<Kind>, std::string>;
  struct Scope {
    std::uint32_t visits = 0;
    bool is_last = false;  // true: something was allocated during the last finished visit
    Leak sum;
  };

  std::map<Key, Scope> scopes_;
  std::uint64_t unknown_ = 0;  // number of allocations and programs with an unknown visit
};

// Returns true if the scope belongs to an operation of TT-Metal (`ttmem run --ops`).
[[nodiscard]] bool is_operation(std::string_view scope);

}  // namespace ttmem::leaks
