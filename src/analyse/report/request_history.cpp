// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/request_history.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/safe_text.hpp"

namespace ttmem::report {
namespace {

using recording::Tables;
using Name = std::tuple<Kind, std::string, std::string>;

Name name_of(const Tables& tables, const recording::RecordedRequest& request) {
  return {request.kind, safe_text(tables.scope(request.scope)),
          safe_text(tables.text(request.label))};
}

template <typename Item>
void set_name(const Name& name, Item& item) {
  std::tie(item.kind, item.scope, item.label) = name;
}

template <typename Item, typename Value>
void sort_by(std::vector<Item>& items, Value value) {
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return value(a) > value(b); });
}

}  // namespace

void RequestHistory::allocate(const recording::RecordedAllocation& allocation, bool trace_is_live) {
  Request& request = requests_[static_cast<std::size_t>(allocation.request - 1)];
  ++request.allocations;
  const Kind kind = tables_.request(allocation.request).kind;
  const bool placed = kind == Kind::dram || kind == Kind::l1 || kind == Kind::l1_small;
  if (trace_is_live && placed) ++request.while_trace_live;
}

std::vector<Churn> RequestHistory::churn() const {
  std::map<std::pair<Name, std::uint64_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].allocations < 2) continue;
    const recording::RecordedRequest& request = tables_.requests[i];
    counts[{name_of(tables_, request), request.used_bytes()}] += requests_[i].allocations;
  }
  std::vector<Churn> list;
  for (const auto& [key, count] : counts) {
    Churn& churn = list.emplace_back();
    set_name(key.first, churn);
    churn.size = key.second;
    churn.allocations = count;
  }
  sort_by(list, [](const Churn& churn) { return churn.allocations; });
  return list;
}

std::vector<Holder> RequestHistory::while_trace_live() const {
  std::map<Name, Holder> names;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const std::uint64_t count = requests_[i].while_trace_live;
    if (count == 0) continue;
    const Name name = name_of(tables_, tables_.requests[i]);
    Holder& holder = names[name];
    set_name(name, holder);
    holder.count += count;
    holder.bytes += count * tables_.requests[i].used_bytes();
  }
  std::vector<Holder> list;
  list.reserve(names.size());
  for (auto& [name, holder] : names) list.push_back(std::move(holder));
  sort_by(list, [](const Holder& holder) { return holder.bytes; });
  return list;
}

}  // namespace ttmem::report
