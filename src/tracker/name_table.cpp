// SPDX-License-Identifier: Apache-2.0
#include "tracker/name_table.hpp"

#include <atomic>
#include <cstring>

#include "tracker/clock.hpp"

namespace ttmem::tracker {
namespace {

using segment::TextRecord;

// As much of a name as a record holds.
std::string_view truncated(const char* name) noexcept {
  return {name, ::strnlen(name, sizeof TextRecord::text)};
}

}  // namespace

bool NameTable::is(std::uint32_t number, const char* name) const noexcept {
  if (number == 0) return *name == '\0';
  const TextRecord& record = segment_.text(number - 1);
  return truncated(name) == std::string_view(record.text, record.length);
}

std::uint32_t NameTable::number_of(const char* name) {
  const std::string_view text = truncated(name);
  if (text.empty()) return 0;
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  const std::uint32_t index = segment_.acquire_text(now());
  if (index == segment::kNoSlot) {
    segment::store(segment_.header().dropped_names, segment_.header().dropped_names + 1);
    return 0;
  }
  TextRecord& record = segment_.text(index);
  std::memcpy(record.text, text.data(), text.size());
  // Stores the text before its length, and the length before a program refers to it.
  std::atomic_ref<std::uint64_t>(record.length).store(text.size(), std::memory_order_release);
  numbers_.emplace(std::string_view(record.text, text.size()), index + 1);
  return index + 1;
}

}  // namespace ttmem::tracker
