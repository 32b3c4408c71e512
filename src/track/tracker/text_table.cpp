// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/text_table.hpp"

#include <array>
#include <atomic>
#include <cstring>

#include "base/shorten.hpp"
#include "track/tracker/clock.hpp"

namespace ttmem::tracker {
namespace {

using segment::TextRecord;

// A text, shortened to the size of TextRecord::text.
class Fitted {
 public:
  explicit Fitted(const char* text) noexcept : size_(shorten(text, bytes_)) {}
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, sizeof TextRecord::text> bytes_;
  std::size_t size_;
};

}  // namespace

bool TextTable::has_text(std::uint32_t number, const char* text) const noexcept {
  if (number == 0) return *text == '\0';
  return Fitted(text).view() == name_of(number);
}

std::uint32_t TextTable::parent_of(std::uint32_t scope) const noexcept {
  return texts_[scope - 1].parent;
}

std::string_view TextTable::name_of(std::uint32_t scope) const noexcept {
  return {segment_.text(scope - 1).text, texts_[scope - 1].length};
}

std::uint32_t* TextTable::open_visits(std::uint32_t scope) const noexcept {
  TextRecord& record = segment_.text(scope - 1);
  const bool has_room = texts_[scope - 1].length <= sizeof record.scope.name;
  return has_room ? &record.scope.open : nullptr;
}

std::uint32_t* TextTable::enter_scope(std::uint32_t scope) noexcept {
  std::uint32_t* const place = open_visits(scope);
  if (place == nullptr) return nullptr;
  segment::ScopeRecord& figures = segment_.text(scope - 1).scope;
  const std::atomic_ref<std::uint32_t> open(*place);
  // Relaxed suffices, because meanwhile other threads can only leave the scope. If the last thread
  // leaves the scope after this load, the visit of that thread and the new visit count as one.
  if (open.load(std::memory_order_relaxed) == 0) {
    segment::store(figures.before_ns, figures.last_ns);
    segment::store(figures.last_ns, now());
  }
  if (figures.entered != UINT32_MAX) segment::store(figures.entered, figures.entered + 1);
  open.fetch_add(1, std::memory_order_release);
  return place;
}

std::uint32_t TextTable::number_of(const Wanted& wanted, std::uint32_t maximum) {
  const Fitted fitted(wanted.text);
  if (fitted.view().empty()) return 0;
  const auto known = numbers_.find({wanted.parent, fitted.view()});
  if (known != numbers_.end()) return known->second;
  // Adds the text to texts_ before changing the segment: push_back() may throw, and the records
  // must always match texts_.
  texts_.push_back({wanted.parent, static_cast<std::uint32_t>(fitted.view().size())});
  const bool full = segment_.text_count() >= maximum;
  const std::uint32_t index = full ? segment::kNoSlot : segment_.acquire_text(now());
  if (index == segment::kNoSlot) {
    texts_.pop_back();
    return 0;
  }
  TextRecord& record = segment_.text(index);
  const std::size_t size = fitted.view().copy(record.text, sizeof record.text);
  // Stores the text before its length, and the length before a record refers to the text.
  std::atomic_ref<std::uint64_t>(record.length)
      .store(std::uint64_t{wanted.parent} << segment::kParentShift | size,
             std::memory_order_release);
  numbers_.emplace(std::pair(wanted.parent, std::string_view(record.text, size)), index + 1);
  return index + 1;
}

}  // namespace ttmem::tracker
