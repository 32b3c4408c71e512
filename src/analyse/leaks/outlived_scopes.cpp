// SPDX-License-Identifier: Apache-2.0
#include "analyse/leaks/outlived_scopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyse/leaks/leak_sums.hpp"
#include "analyse/report/name_pattern.hpp"
#include "base/plural.hpp"
#include "base/saturating.hpp"

namespace ttmem::leaks {
namespace {

using How = Outlived::How;

// Adds `one` to `sum`. Names that differ only in numbers become their common pattern; other
// different names become empty.
void add_with_names(const Leak& one, Leak& sum) {
  const auto common = [](std::string& name, const std::string& other) {
    if (name == other) return;
    const std::string pattern = report::name_pattern(other);
    name = report::name_pattern(name) == pattern ? pattern : std::string();
  };
  common(sum.scope, one.scope);
  common(sum.label, one.label);
  add_up(one, sum);
}

How how_often(std::uint64_t count, std::uint64_t visits, bool is_last) {
  if (visits < 2) return How::once;
  return count >= visits && is_last ? How::every_time : How::sometimes;
}

}  // namespace

bool is_operation(std::string_view scope) {
  const std::size_t slash = scope.rfind('/');
  const std::string_view innermost = slash == scope.npos ? scope : scope.substr(slash + 1);
  return innermost.starts_with("ttnn::");
}

void OutlivedScopes::add(std::uint64_t process, Of of, const ScopeVisit& visit, const Leak& one) {
  if (one.scope.empty() || is_operation(one.scope)) return;
  if (visit.state == ScopeVisit::State::unknown) ++unknown_;
  if (visit.state != ScopeVisit::State::over) return;
  const auto [known, fresh] = scopes_.try_emplace({process, of, one.kind, one.scope});
  Scope& scope = known->second;
  scope.visits = visit.visits;
  scope.is_last = scope.is_last || visit.is_last;
  if (fresh) {
    scope.sum = one;
  } else {
    add_with_names(one, scope.sum);
  }
}

std::vector<Outlived> OutlivedScopes::take() {
  std::map<std::pair<Key, How>, Outlived> groups;
  for (auto& [key, scope] : scopes_) {
    const auto& [process, of, kind, path] = key;
    const How how = how_often(scope.sum.count.value_or(0), scope.visits, scope.is_last);
    if (of == Of::programs && how != How::every_time) continue;
    const Key alike(process, of, kind, report::name_pattern(path));
    const auto [group, fresh] = groups.try_emplace({alike, how});
    Outlived& sum = group->second;
    sum.how = how;
    sum.of = of;
    sum.visits = saturating_add(sum.visits, scope.visits);
    if (fresh) {
      sum.what = std::move(scope.sum);
    } else {
      add_with_names(scope.sum, sum.what);
    }
  }
  scopes_.clear();
  std::vector<Outlived> list;
  list.reserve(groups.size());
  for (auto& [key, group] : groups) list.push_back(std::move(group));
  std::stable_sort(list.begin(), list.end(), [](const Outlived& a, const Outlived& b) {
    return a.how != b.how ? a.how < b.how
                          : a.what.bytes_on.per_device() > b.what.bytes_on.per_device();
  });
  return list;
}

std::optional<std::string> OutlivedScopes::unknown() const {
  if (unknown_ == 0) return std::nullopt;
  return fmt::format(
      "of {} it is not known whether {} scope was left: an older ttmem, or one that was killed, or "
      "a scope with a name of more than 96 bytes",
      plural(unknown_, "allocation or program", "allocations and programs"),
      unknown_ == 1 ? "its" : "their");
}

}  // namespace ttmem::leaks
