// SPDX-License-Identifier: Apache-2.0
#include "analyse/report/holders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/safe_text.hpp"
#include "read/collector/program_figures.hpp"

namespace ttmem::report {
namespace {

using recording::RecordedRequest;

// The maximum work to compute the bytes of programs. This work takes a few seconds. Real workloads
// need far less.
constexpr std::uint64_t kMaxWork = 1ULL << 27;

// Returns how many of the devices belong to the chip. The number is 0 or 1 except in unusual
// recordings.
std::uint64_t on_chip(const std::vector<RowId>& devices, const Chips& chips, std::uint32_t chip,
                      Openings openings) {
  return static_cast<std::uint64_t>(std::count_if(devices.begin(), devices.end(), [&](RowId row) {
    return chips.of(row) == chip && counts(chips, row, openings);
  }));
}

Holder holder_of(const Tables& tables, RowId device, const RecordedRequest& request) {
  Holder holder;
  holder.kind = request.kind;
  holder.scope = safe_text(tables.scope(request.scope));
  holder.label = safe_text(tables.text(request.label));
  holder.process = safe_text(tables.process(tables.device(device).process).name);
  holder.size = request.used_bytes();
  holder.persistent = request.is_persistent();
  return holder;
}

void add_cbs(const ledger::Footprint& footprint, segment::LiveFootprint& to) {
  for (const ledger::Cb& cb : footprint.cbs) {
    to.push_back({cb.range.begin, cb.range.length(), cb.global, cb.cores});
  }
}

// The circular buffers of all programs with one name. If several of these programs share a
// footprint, `cbs` contains the footprint once.
struct OfName {
  segment::LiveFootprint cbs;
  std::vector<const ledger::Footprint*> known;
  std::uint64_t programs = 0;
};

std::map<std::uint32_t, OfName> by_name_of(ledger::DeviceLedger& ledger) {
  std::map<std::uint32_t, OfName> names;
  ledger.for_each_program([&](const ledger::Placement& placement) {
    OfName& name = names[placement.name];
    ++name.programs;
    name.known.push_back(placement.footprint.get());
  });
  for (auto& [index, name] : names) {
    std::sort(name.known.begin(), name.known.end());
    name.known.erase(std::unique(name.known.begin(), name.known.end()), name.known.end());
    for (const ledger::Footprint* footprint : name.known) add_cbs(*footprint, name.cbs);
  }
  return names;
}

}  // namespace

bool counts(const Chips& chips, RowId device, Openings openings) {
  const auto index = static_cast<std::size_t>(device - 1);
  if (openings == Openings::last) return chips.is_last[index];
  if (openings == Openings::at_end) return chips.is_at_end[index];
  return true;
}

std::vector<Holder> allocation_holders(const Tables& tables, const Chips& chips, std::uint32_t chip,
                                       const LiveCounts& counts, std::span<const Kind> kinds,
                                       Openings openings) {
  std::vector<Holder> holders;
  counts.for_each([&](RowId set, RowId row, std::uint64_t count) {
    const RecordedRequest& request = tables.request(row);
    if (std::find(kinds.begin(), kinds.end(), request.kind) == kinds.end()) return;
    const bool one = counts.by() == LiveCounts::By::device;
    const std::vector<RowId> devices = one ? std::vector<RowId>{set} : tables.device_set(set);
    const std::uint64_t times = on_chip(devices, chips, chip, openings) * count;
    if (times == 0) return;
    Holder& holder = holders.emplace_back(holder_of(tables, devices.front(), request));
    holder.bytes = holder.size * times;
    holder.count = times;
  });
  return holders;
}

std::vector<Holder> program_holders(const Tables& tables, RowId device,
                                    ledger::DeviceLedger& ledger, const RowPrograms& programs) {
  const std::map<std::uint32_t, OfName> names = by_name_of(ledger);
  std::vector<collector::FootprintUse> uses;
  uses.reserve(names.size());
  for (const auto& [index, name] : names) uses.push_back({&name.cbs, 1});
  collector::WorkBudget budget(kMaxWork);
  const auto exclusive = collector::exclusive_bytes(uses, budget);
  std::vector<Holder> holders;
  std::uint64_t shared = ledger.physical_bytes();
  std::size_t use = 0;
  const std::string process = safe_text(tables.process(tables.device(device).process).name);
  for (const auto& [index, name] : names) {
    const std::uint64_t bytes = exclusive ? (*exclusive)[use] : 0;
    ++use;
    if (bytes == 0) continue;
    const RowPrograms::Named& named = programs.named(index);
    Holder& holder = holders.emplace_back();
    holder.kind = Kind::cb;
    holder.scope = safe_text(tables.scope(named.scope));
    holder.label = safe_text(tables.text(named.name));
    holder.process = process;
    holder.bytes = bytes;
    holder.count = name.programs;
    shared -= std::min(shared, bytes);
  }
  if (shared == 0) return holders;
  Holder& rest = holders.emplace_back();
  rest.kind = Kind::cb;
  rest.process = process;
  rest.bytes = shared;
  rest.count = ledger.programs();
  rest.shared = true;
  return holders;
}

bool HolderRoom::take(const std::vector<Holder>& list) {
  std::size_t bytes = 0;
  for (const Holder& holder : list) {
    bytes += sizeof(Holder) + holder.scope.size() + holder.label.size() + holder.process.size();
  }
  if (bytes > left_) return false;
  left_ -= bytes;
  return true;
}

Error too_many_holders(const std::string& path) {
  return {
      fmt::format("{} is damaged, or made to be slow: what its devices held has too many or too "
                  "long names",
                  path)};
}

std::vector<Holder> by_name(std::vector<Holder> holders) {
  using Key = std::tuple<Kind, std::string, std::string, std::string, bool, bool>;
  std::map<Key, Holder> merged;
  for (Holder& holder : holders) {
    const Key key(holder.kind, holder.scope, holder.label, holder.process, holder.shared,
                  holder.persistent);
    const auto [known, fresh] = merged.try_emplace(key, holder);
    if (fresh) continue;
    known->second.bytes += holder.bytes;
    known->second.count += holder.count;
    if (known->second.size != holder.size) known->second.size = 0;
  }
  std::vector<Holder> result;
  result.reserve(merged.size());
  for (auto& [key, holder] : merged) result.push_back(std::move(holder));
  std::stable_sort(result.begin(), result.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return result;
}

}  // namespace ttmem::report
