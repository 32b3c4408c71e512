// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace ttmem {

// A hash table of small entries that contain their key, with open addressing and linear probing.
// Erasing an entry moves later entries up, so there are no tombstones. Most entries are found and
// erased soon after they were inserted. boost::unordered_flat_map is slow in this case, because it
// loads 16 bytes right after it has stored one of them. This stalls the processor: insert, find and
// erase together take 21 ns, and 3 ns with this table.
//
// An Entry has these members:
// - a type `Key`, and key()
// - is_empty(), which returns true for Entry{}
// - make_empty()
// - begin(Key), which resets an empty entry and sets its key
// - a static number_of(Key), which should differ for different keys, except for keys that find_if()
//   should find together
//
// The table never shrinks. Its number of places is at most 64 or eight times its largest number of
// entries, whichever is more. Pointers to entries are valid until the next insert or erase. Not
// thread-safe.
template <typename Entry>
class ProbeTable {
  static_assert(std::is_trivially_copyable_v<Entry>);

 public:
  using Key = typename Entry::Key;

  ProbeTable() = default;
  // Not copyable, because the place of an entry depends on the address of the table.
  ProbeTable(const ProbeTable&) = delete;
  ProbeTable& operator=(const ProbeTable&) = delete;

  [[nodiscard]] Entry* find(const Key& key) noexcept {
    if (places_.empty()) return nullptr;
    Entry& place = place_of(key);
    return place.is_empty() ? nullptr : &place;
  }

  // Returns the first entry for which matches(entry) is true, or null if there is none. Calls
  // matches() for all entries with the same number_of() as `key`, and for some other entries.
  template <typename Matches>
  [[nodiscard]] Entry* find_if(const Key& key, Matches&& matches) noexcept {
    if (places_.empty()) return nullptr;
    for (std::size_t at = home_of(key); !places_[at].is_empty(); at = next(at)) {
      if (matches(places_[at])) return &places_[at];
    }
    return nullptr;
  }

  // Returns the entry of `key`, and true if the entry is new. A new entry contains only the key.
  // May throw std::bad_alloc; the table is then unchanged.
  [[nodiscard]] std::pair<Entry*, bool> insert(const Key& key) {
    // Keeps the table at most a quarter full. A search then nearly always ends at the first place,
    // so the processor predicts the branch of the search correctly.
    if (places_.size() < 4 * (size_ + 1)) [[unlikely]] {
      grow();
    }
    Entry& place = place_of(key);
    if (!place.is_empty()) return {&place, false};
    place.begin(key);
    ++size_;
    return {&place, true};
  }

  // Loads the place of `key` into the cache. prefetch() and its callers must be inlined, because
  // GCC removes calls of functions that do nothing but prefetch.
  [[gnu::always_inline]] void prefetch(const Key& key) const noexcept {
    if (!places_.empty()) __builtin_prefetch(&places_[home_of(key)], 1);
  }

  void erase(Entry* entry) noexcept {
    auto hole = static_cast<std::size_t>(entry - places_.data());
    for (std::size_t at = next(hole); !places_[at].is_empty(); at = next(at)) {
      // A search starts at the home of an entry, the first place for its key. An entry whose home
      // lies after the hole stays in place, because a search would not find the entry in the hole.
      const std::size_t from_home = (at - home_of(places_[at].key())) & mask();
      if (from_home < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole].make_empty();
    --size_;
  }

  void clear() noexcept {
    places_.clear();
    size_ = 0;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& place : places_) {
      if (!place.is_empty()) visit(place);
    }
  }

 private:
  static constexpr std::size_t kFirstPlaces = 64;

  [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t place) const noexcept { return (place + 1) & mask(); }

  // Returns the first place to look for `key`. Takes the high bits of a product, because the low
  // bits of ids repeat: ids are counters or aligned addresses. The product includes the table's
  // address, which makes the place of a given id harder to predict.
  [[nodiscard]] std::size_t home_of(const Key& key) const noexcept {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    const auto salt = reinterpret_cast<std::uintptr_t>(this);
    return static_cast<std::size_t>(((Entry::number_of(key) ^ salt) * golden_ratio) >> shift_);
  }

  // Returns the place of `key`, or the empty place where `key` would be inserted.
  [[nodiscard]] Entry& place_of(const Key& key) noexcept {
    std::size_t at = home_of(key);
    while (!places_[at].is_empty() && places_[at].key() != key) at = next(at);
    return places_[at];
  }

  [[gnu::noinline, gnu::cold]] void grow() {
    std::vector<Entry> old(places_.empty() ? kFirstPlaces : 2 * places_.size());
    old.swap(places_);
    shift_ = 64 - std::countr_zero(places_.size());
    for (const Entry& entry : old) {
      if (!entry.is_empty()) place_of(entry.key()) = entry;
    }
  }

  std::vector<Entry> places_;  // its size is 0 or a power of two
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ttmem
