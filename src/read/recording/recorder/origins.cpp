// SPDX-License-Identifier: Apache-2.0
#include "read/recording/recorder/origins.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/safe_text.hpp"
#include "segment/reader/segment_map.hpp"
#include "segment/reader/text_reader.hpp"

namespace ttmem::recording {
namespace {

using segment::AllocationDetails;

// Clears the unused bytes, which may be left from an earlier allocation in the slot.
AllocationDetails without_leftovers(std::uint8_t flags, const AllocationDetails& details) {
  AllocationDetails clean = details;
  if ((flags & segment::kNoCores) != 0) clean.cores = {};
  if ((flags & segment::kLongLabel) != 0) {
    constexpr std::size_t number = sizeof(std::uint32_t);
    const std::size_t end =
        sizeof clean.label - ((flags & segment::kScoped) != 0 ? number : std::size_t{0});
    std::memset(clean.label + number, 0, end - number);
  }
  return clean;
}

}  // namespace

Origin Origins::of(std::uint8_t flags, const AllocationDetails& details) {
  const AllocationDetails clean = without_leftovers(flags, details);
  Key key{};
  std::memcpy(key.data(), &clean, sizeof clean);
  key.back() = flags & (segment::kNoCores | segment::kLongLabel | segment::kScoped);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_[key] = read(flags, clean);
}

Origin Origins::read(std::uint8_t flags, const AllocationDetails& details) {
  const segment::OriginNumbers numbers = segment::origin_numbers(flags, details.label);
  Origin origin;
  origin.label = numbers.label_number != 0 ? name(numbers.label_number)
                                           : writer_.text(safe_text(numbers.label));
  origin.scope = scope(numbers.scope_number);
  if ((flags & segment::kNoCores) == 0) origin.cores = writer_.core_set(details.cores);
  return origin;
}

std::string Origins::text(std::uint64_t number) const {
  std::string text;
  const auto map = segment::map_segment(source_);
  if (map) {
    segment::TextReader texts(source_, *map);
    if (!texts.read(static_cast<std::uint32_t>(number), text)) text.clear();
  }
  return text;
}

std::uint32_t Origins::name(std::uint64_t number) {
  if (number == 0) return 0;
  const auto known = names_.find(number);
  if (known != names_.end()) return known->second;
  return names_[number] = writer_.text(text(number));
}

std::uint32_t Origins::scope(std::uint64_t number) {
  if (number == 0) return 0;
  const auto known = scopes_.find(number);
  if (known != scopes_.end()) return known->second;
  std::string path;
  const auto map = segment::map_segment(source_);
  if (map) {
    segment::TextReader texts(source_, *map);
    if (!texts.read_scope(static_cast<std::uint32_t>(number), path)) path.clear();
  }
  return scopes_[number] = writer_.scope(path);
}

std::map<std::uint32_t, ScopeVisits> Origins::visits() const {
  std::map<std::uint32_t, ScopeVisits> all;
  const auto map = segment::map_segment(source_);
  if (!map) return all;
  segment::TextReader texts(source_, *map);
  for (const auto& [number, row] : scopes_) {
    const ScopeVisits one = texts.visits(static_cast<std::uint32_t>(number));
    if (row == 0 || one.entered == 0) continue;
    // Visits with the same path are added up. Two scope numbers may have one path, because a name
    // may contain a slash.
    ScopeVisits& sum = all[row];
    sum.entered += std::min(one.entered, UINT32_MAX - sum.entered);
    sum.open += std::min(one.open, UINT32_MAX - sum.open);
    sum.last_ns = std::max(sum.last_ns, one.last_ns);
    sum.before_ns = std::max(sum.before_ns, one.before_ns);
  }
  return all;
}

}  // namespace ttmem::recording
