// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/kinds.hpp"
#include "base/probe_table.hpp"
#include "track/tracker/receipt.hpp"

namespace ttmem::serve {

// Identifies a connection of a server.
using ConnectionId = std::uint32_t;

// Identifies something that a client holds. Original clients free by device and number alone, so
// the numbers of all their buffers are one space. libttmem reports the type: each type is a space.
struct HoldingKey {
  enum Space : std::uint8_t {
    kLooseCbs = static_cast<std::uint8_t>(Kind::cb),
    kKernels = static_cast<std::uint8_t>(Kind::kernel),
    kUntypedBuffers = kKinds,
    kPrograms,
  };  // else the number of a buffer's Kind

  std::uint64_t id = 0;
  std::uint32_t where = 0;  // device and space in one word, which is faster to compare

  [[nodiscard]] static HoldingKey of(std::uint64_t id, std::uint32_t device,
                                     std::uint8_t space) noexcept {
    return {id, device << 8 | space};
  }
  [[nodiscard]] std::uint32_t device() const noexcept { return where >> 8; }
  [[nodiscard]] std::uint8_t space() const noexcept { return static_cast<std::uint8_t>(where); }
  [[nodiscard]] bool is_buffer() const noexcept {
    return space() != kLooseCbs && space() != kKernels && space() != kPrograms;
  }
  [[nodiscard]] bool is_program() const noexcept { return space() == kPrograms; }

  friend auto operator<=>(const HoldingKey&, const HoldingKey&) = default;
};

// One thing that a client holds. Has its own cache line: a server mostly searches for these.
struct alignas(64) Holding {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;  // the largest reported size
  std::uint32_t where = kNowhere;
  // Which connection allocated it, and how often. Holdings knows the others, if it is shared.
  ConnectionId connection = 0;
  std::uint32_t references = 0;
  Kind kind = Kind::dram;
  bool is_shared = false;
  tracker::Receipt receipt{};  // of anything but a program

  using Key = HoldingKey;
  [[nodiscard]] Key key() const noexcept { return {id, where}; }
  [[nodiscard]] bool is_empty() const noexcept { return where == kNowhere; }
  void make_empty() noexcept { where = kNowhere; }
  void begin(const Key& key) noexcept { *this = {.id = key.id, .where = key.where}; }
  // Addresses differ in their middle bits, devices and spaces in their lowest.
  [[nodiscard]] static std::uint64_t number_of(const Key& key) noexcept {
    return key.id ^ (key.where + 1) * 0xbf58476d1ce4e5b9;
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;
};
static_assert(sizeof(Holding) == 64);

// What a client holds, and over which of its connections it was reported: each needs as many frees
// as it made allocations, but a free may come over any of them. A client with several connections
// is rare, and one that allocates the same thing on two of them is rarer still.
//
// Pointers are valid until the next insert or erase.
class Holdings {
 public:
  [[nodiscard]] Holding* find(const HoldingKey& key) noexcept { return table_.find(key); }
  // For a key that find() or insert() will get soon.
  [[gnu::always_inline]] void prefetch(const HoldingKey& key) const noexcept {
    table_.prefetch(key);
  }
  // The holding with that key, and true if it is new: then that connection holds it once.
  std::pair<Holding*, bool> insert(const HoldingKey& key, ConnectionId connection, Kind kind,
                                   std::uint64_t bytes) {
    const auto inserted = table_.insert(key);
    if (inserted.second) {
      Holding& holding = *inserted.first;
      holding.bytes = bytes;
      holding.kind = kind;
      holding.connection = connection;
      holding.references = 1;
    }
    return inserted;
  }
  void erase(Holding* holding) {
    if (holding->is_shared) erase_others(*holding);
    table_.erase(holding);
  }
  // Erases and returns what is held on that device.
  [[nodiscard]] std::vector<Holding> erase_device(std::uint32_t device);
  [[nodiscard]] std::vector<Holding> erase_all();
  [[nodiscard]] std::size_t size() const noexcept { return table_.size(); }

  // How many frees it needs.
  [[nodiscard]] std::uint64_t references(const Holding& holding) const {
    return holding.is_shared ? shared_references(holding) : holding.references;
  }
  // True if that connection is a new one of those that share the holding.
  bool add(Holding& holding, ConnectionId connection);
  // Makes one share of those of connections that are over. Otherwise a client that connects again
  // and again, and allocates the same thing each time, would collect them.
  void merge(Holding& holding, const std::function<bool(ConnectionId)>& is_over);
  // Removes one reference of this connection, or of another if it has none. Returns the rest.
  [[nodiscard]] std::uint64_t remove_one(Holding& holding, ConnectionId connection) {
    return holding.is_shared ? remove_one_shared(holding, connection) : --holding.references;
  }
  // From now on only this connection holds it, once.
  void transfer_to(Holding& holding, ConnectionId connection);

  // What these connections allocated counts no longer. Erases and returns what nobody holds then.
  [[nodiscard]] std::vector<Holding> remove_connections(std::span<const ConnectionId> connections);

 private:
  struct Share {
    ConnectionId connection;
    std::uint32_t references;
  };
  [[nodiscard]] std::uint64_t shared_references(const Holding& holding) const;
  [[gnu::noinline]] std::uint64_t remove_one_shared(Holding& holding, ConnectionId connection);
  [[gnu::noinline]] void erase_others(const Holding& holding);
  void remove_all(Holding& holding, std::span<const ConnectionId> connections);
  void normalize(Holding& holding);

  ProbeTable<Holding> table_;
  std::map<HoldingKey, std::vector<Share>> others_;  // of what is shared
};

}  // namespace ttmem::serve
