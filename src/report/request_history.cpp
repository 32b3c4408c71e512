// SPDX-License-Identifier: Apache-2.0
#include "report/request_history.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "segment/reader/safe_text.hpp"

namespace ttmem::report {
namespace {

using recording::Tables;
using Name = std::tuple<Kind, std::string, std::string>;

Name name_of(const Tables& tables, const recording::Request& request) {
  return {request.kind, segment::safe_text(tables.scope(request.scope)),
          segment::safe_text(tables.text(request.label))};
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

RequestHistory::Request& RequestHistory::change(const recording::Allocation& allocation, bool add) {
  const auto index = static_cast<std::uint32_t>(allocation.request - 1);
  Request& request = requests_[index];
  const std::uint64_t bytes =
      tables_.requests[index].used_bytes() * tables_.device_set(allocation.devices).size();
  request.live_bytes += add ? bytes : 0 - bytes;
  if (!std::exchange(request.changed, true)) changed_.push_back(index);
  return request;
}

void RequestHistory::allocate(const recording::Allocation& allocation, bool trace_is_live) {
  Request& request = change(allocation, true);
  ++request.allocations;
  const Kind kind = tables_.request(allocation.request).kind;
  const bool placed = kind == Kind::dram || kind == Kind::l1 || kind == Kind::l1_small;
  if (trace_is_live && placed) ++request.while_trace_live;
}

void RequestHistory::free(const recording::Allocation& allocation) { change(allocation, false); }

void RequestHistory::mark() {
  for (const std::uint32_t index : changed_) {
    Request& request = requests_[index];
    if (marks_ == 0) {
      request.first_bytes = request.live_bytes;
    } else if (request.live_bytes > request.bytes_at_mark) {
      ++request.grew;
    } else if (request.live_bytes < request.bytes_at_mark) {
      request.shrank = true;
    }
    request.bytes_at_mark = request.live_bytes;
    request.changed = false;
  }
  changed_.clear();
  ++marks_;
}

std::vector<Churn> RequestHistory::churn() const {
  std::map<std::pair<Name, std::uint64_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].allocations < 2) continue;
    const recording::Request& request = tables_.requests[i];
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

std::vector<Growth> RequestHistory::growth() const {
  std::map<Name, std::pair<Growth, bool>> names;  // false: it shrank
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    const Name name = name_of(tables_, tables_.requests[i]);
    auto& [growth, never_less] = names.try_emplace(name, Growth{}, true).first->second;
    growth.first_bytes += request.first_bytes;
    growth.last_bytes += request.bytes_at_mark;
    growth.grew = std::max(growth.grew, request.grew);
    never_less = never_less && !request.shrank;
  }
  std::vector<Growth> list;
  for (auto& [name, found] : names) {
    auto& [growth, never_less] = found;
    const bool again = growth.grew > 1 || marks_ == 2;  // once may be what it needs to run
    if (!never_less || !again || growth.last_bytes <= growth.first_bytes) continue;
    set_name(name, growth);
    list.push_back(growth);
  }
  sort_by(list, [](const Growth& growth) { return growth.last_bytes - growth.first_bytes; });
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
