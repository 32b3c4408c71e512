// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/core_mask.hpp"
#include "track/ledger/interval_union.hpp"

namespace ttmem::ledger {

// One circular buffer of a program: [begin, end) on each of its cores.
struct Cb {
  Interval range;
  CoreMask cores;
  bool global = false;   // a view on an L1 buffer: takes nothing by itself
  bool clipped = false;  // reported larger than L1 or the grid
};

// What a program's CBs take of the cores of a device. Programs with the same CBs on the same
// cores share one footprint, on all devices with the same grid. Immutable, except for the fields
// of the table that owns it.
struct Footprint {
  // Cores with the same CB ranges.
  struct Part {
    CoreMask cores;
    std::vector<Interval> ranges;  // union of the CBs there: ascending, with gaps between them
    std::uint32_t bytes = 0;       // sum of the ranges
  };

  std::vector<Cb> cbs;
  std::vector<Part> parts;  // disjoint; together they cover `cores`
  CoreMask cores;           // where the program has a CB, also a global one
  std::uint32_t core_count = 0;
  std::uint64_t logical_bytes = 0;
  bool clipped = false;  // one of its CBs was

  // Where the owner of the table has published it.
  std::uint64_t number = 0;
  std::uint32_t first_record = 0;

  // The table's own.
  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  std::uint32_t references = 0;
};

class FootprintTable;

// Keeps a footprint in its table. Move-only.
class FootprintRef {
 public:
  FootprintRef() = default;
  FootprintRef(FootprintRef&& other) noexcept
      : table_(other.table_), footprint_(std::exchange(other.footprint_, nullptr)) {}
  FootprintRef& operator=(FootprintRef&& other) noexcept {
    std::swap(table_, other.table_);
    std::swap(footprint_, other.footprint_);
    return *this;
  }
  ~FootprintRef();

  [[nodiscard]] Footprint* get() const noexcept { return footprint_; }
  Footprint* operator->() const noexcept { return footprint_; }

 private:
  friend class FootprintTable;
  FootprintRef(FootprintTable* table, Footprint* footprint) noexcept
      : table_(table), footprint_(footprint) {}

  FootprintTable* table_ = nullptr;
  Footprint* footprint_ = nullptr;
};

// All footprints in use, each once. May throw std::bad_alloc, and then has changed nothing.
// Not thread-safe; must outlive its references.
class FootprintTable {
 public:
  using Hook = std::function<void(Footprint&)>;

  // `published` is called when a footprint is first used, `retired` when it is used no longer.
  // Neither may throw.
  explicit FootprintTable(Hook published = {}, Hook retired = {})
      : published_(std::move(published)), retired_(std::move(retired)) {}

  // `key` is any unambiguous encoding of the CBs and the grid; equal keys are equal footprints.
  // `decode` makes the CBs, and is only called for a key that is not in use.
  template <typename Decode>
  [[nodiscard]] FootprintRef acquire(std::span<const std::uint64_t> key, Decode&& decode) {
    const std::uint64_t hash = hash_of(key);
    Footprint* found = find(hash, key);
    if (found == nullptr) found = insert(hash, key, decode());
    ++found->references;
    return {this, found};
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_hash_.size(); }

 private:
  friend class FootprintRef;
  static std::uint64_t hash_of(std::span<const std::uint64_t> key) noexcept;
  [[nodiscard]] Footprint* find(std::uint64_t hash, std::span<const std::uint64_t> key) noexcept;
  Footprint* insert(std::uint64_t hash, std::span<const std::uint64_t> key, std::vector<Cb> cbs);
  void release(Footprint* footprint) noexcept;

  // Of two keys with one hash the second gets the next free hash. When the first is released, the
  // second is no longer found and may be inserted again, which costs memory, not exactness.
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Footprint>> by_hash_;
  Hook published_;
  Hook retired_;
};

inline FootprintRef::~FootprintRef() {
  if (footprint_ != nullptr) table_->release(footprint_);
}

// The geometry of a set of CBs, without a table. For tests and the table itself.
[[nodiscard]] Footprint make_footprint(std::vector<Cb> cbs);

}  // namespace ttmem::ledger
