// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyse/leaks/leaks.hpp"
#include "analyse/report/name_pattern.hpp"
#include "base/saturating.hpp"

namespace ttmem::leaks {

// Adds the sizes, devices and times of `one` to `sum`. Does not change the names and the other
// fields of `sum`.
inline void add_up(const Leak& one, Leak& sum) {
  sum.bytes_on.add(one.bytes_on);
  sum.count =
      sum.count && one.count ? std::optional(saturating_add(*sum.count, *one.count)) : std::nullopt;
  if (one.age_ns) sum.age_ns = std::max(sum.age_ns.value_or(0), *one.age_ns);
  if (one.begin_ns) sum.begin_ns = std::min(sum.begin_ns.value_or(*one.begin_ns), *one.begin_ns);
}

// Adds up leaks with the same process, kind, scope and label. Names that differ only in numbers
// count as one name, such as "layers.#.w". Not thread-safe.
class LeakSums {
 public:
  // Adds `one` to the sum of its group. `process` identifies the process.
  void add(std::uint64_t process, const Leak& one) {
    Key key(process, one.kind, report::name_pattern(one.scope), report::name_pattern(one.label),
            one.killed, one.shared);
    const auto [known, fresh] = sums_.try_emplace(std::move(key), one);
    if (fresh) return;
    Leak& sum = known->second;
    if (sum.scope != one.scope) sum.scope = std::get<2>(known->first);
    if (sum.label != one.label) sum.label = std::get<3>(known->first);
    add_up(one, sum);
  }

  // Returns the sums and clears them. The sum with the most bytes on one device is the first.
  [[nodiscard]] std::vector<Leak> take() {
    std::vector<Leak> list;
    list.reserve(sums_.size());
    for (auto& [key, leak] : sums_) list.push_back(std::move(leak));
    sums_.clear();
    std::stable_sort(list.begin(), list.end(), [](const Leak& a, const Leak& b) {
      return a.bytes_on.per_device() > b.bytes_on.per_device();
    });
    return list;
  }

 private:
  using Key = std::tuple<std::uint64_t, std::optional<Kind>, std::string, std::string,
                         std::optional<bool>, bool>;

  std::map<Key, Leak> sums_;
};

}  // namespace ttmem::leaks
