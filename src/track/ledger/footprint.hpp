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
  bool global = false;   // a view of an L1 buffer: takes no bytes of its own
  bool clipped = false;  // true: the reported CB reaches beyond L1 or the grid
};

// The bytes that the CBs of a program take on the cores of a device. Programs with the same CBs on
// the same cores share one footprint, on all devices with the same grid. Immutable, except for the
// last fields, which belong to the FootprintTable and to the owner of that table.
struct Footprint {
  // Cores with the same CB ranges.
  struct Part {
    CoreMask cores;
    std::vector<Interval> ranges;  // union of the CBs on `cores`, ascending; no two ranges touch
    std::uint32_t bytes = 0;       // sum of the lengths of the ranges
  };

  std::vector<Cb> cbs;
  std::vector<Part> parts;  // disjoint; together they cover `cores`
  CoreMask cores;           // cores on which the program has a CB, including global CBs
  std::uint32_t core_count = 0;
  std::uint64_t logical_bytes = 0;
  bool clipped = false;  // true if any CB is clipped

  // The place where the owner of the FootprintTable published the footprint. Only this owner uses
  // the two fields.
  std::uint64_t number = 0;
  std::uint32_t first_record = 0;

  // Fields that only the table uses.
  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  std::uint32_t references = 0;
};

class FootprintTable;

// A reference that keeps a footprint in its table. Move-only.
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

// Contains each footprint in use once. Calls may throw std::bad_alloc, and then have changed
// nothing. Not thread-safe. The table must outlive its references.
class FootprintTable {
 public:
  using Hook = std::function<void(Footprint&)>;

  // `published` is called when a footprint is first used, `retired` when its last reference ends.
  // Neither function may throw.
  explicit FootprintTable(Hook published = {}, Hook retired = {})
      : published_(std::move(published)), retired_(std::move(retired)) {}

  // Returns the footprint of the CBs that `key` encodes. `key` is any unambiguous encoding of the
  // CBs and the grid; equal keys mean equal footprints. `decode` returns the CBs, and is only
  // called for a key that is not in use.
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

  // If two keys have the same hash, the second key gets the next free hash. After the first key is
  // released, the second key is no longer found and may be inserted again. A duplicate costs
  // memory, but the figures stay exact.
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Footprint>> by_hash_;
  Hook published_;
  Hook retired_;
};

inline FootprintRef::~FootprintRef() {
  if (footprint_ != nullptr) table_->release(footprint_);
}

// Computes the parts and sums of a set of CBs, without a table. The table and tests use this
// function.
[[nodiscard]] Footprint make_footprint(std::vector<Cb> cbs);

}  // namespace ttmem::ledger
