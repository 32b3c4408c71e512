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

// Identifies an object that a client holds, by device, space and number. Each space has its own
// numbers. A free of an original client names only the device and the number, so buffers of all
// types share one space. A free of libttmem also names the type, so each type has a space of its
// own.
struct HoldingKey {
  enum Space : std::uint8_t {
    kLooseCbs = static_cast<std::uint8_t>(Kind::cb),
    kKernels = static_cast<std::uint8_t>(Kind::kernel),
    kUntypedBuffers = kKinds,
    kPrograms,
  };  // any other value is the number of a buffer's Kind

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

// One object that a client holds. Each object has its own cache line, because a server spends most
// of its time searching for holdings.
struct alignas(64) Holding {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;  // size; an original client's object has its largest reported size
  std::uint32_t where = kNowhere;
  // One connection that allocated the object, and how many of its allocations are not freed. If the
  // object is shared, Holdings stores the other connections.
  ConnectionId connection = 0;
  std::uint32_t references = 0;
  Kind kind = Kind::dram;
  bool is_shared = false;
  tracker::Receipt receipt{};  // not used for programs

  using Key = HoldingKey;
  [[nodiscard]] Key key() const noexcept { return {id, where}; }
  [[nodiscard]] bool is_empty() const noexcept { return where == kNowhere; }
  void make_empty() noexcept { where = kNowhere; }
  void begin(const Key& key) noexcept { *this = {.id = key.id, .where = key.where}; }
  // Returns the number that is hashed. Addresses (`id`) differ in the middle bits, but devices and
  // spaces (`where`) differ only in the lowest bits. The multiplication spreads `where` over all
  // bits.
  [[nodiscard]] static std::uint64_t number_of(const Key& key) noexcept {
    return key.id ^ (key.where + 1) * 0xbf58476d1ce4e5b9;
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;
};
static_assert(sizeof(Holding) == 64);

// The objects that a client holds, and the connections that reported them. An object that was
// allocated several times needs as many frees. Any connection may send the frees. The common object
// is allocated over one connection, and its Holding has all facts. Objects of several connections
// are rare.
//
// Pointers are valid until the next insert or erase.
class Holdings {
 public:
  [[nodiscard]] Holding* find(const HoldingKey& key) noexcept { return table_.find(key); }
  // Prefetches a key that find() or insert() will get soon.
  [[gnu::always_inline]] void prefetch(const HoldingKey& key) const noexcept {
    table_.prefetch(key);
  }
  // Returns the holding of the key, and true if the holding is new. A new holding has one
  // reference, which belongs to `connection`.
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
  // Erases and returns the holdings on a device.
  [[nodiscard]] std::vector<Holding> erase_device(std::uint32_t device);
  [[nodiscard]] std::vector<Holding> erase_all();
  [[nodiscard]] std::size_t size() const noexcept { return table_.size(); }

  // Returns the number of frees after which the object is no longer held.
  [[nodiscard]] std::uint64_t references(const Holding& holding) const {
    return holding.is_shared ? shared_references(holding) : holding.references;
  }
  // Adds a reference of `connection`. Returns true if `connection` had no reference before.
  bool add(Holding& holding, ConnectionId connection);
  // Merges the shares of ended connections into one share. Without this, shares would accumulate
  // for a client that reconnects all the time and allocates the same object each time.
  void merge(Holding& holding, const std::function<bool(ConnectionId)>& is_over);
  // Removes one reference of `connection`, or of another connection if `connection` has none.
  // Returns the number of references left.
  [[nodiscard]] std::uint64_t remove_one(Holding& holding, ConnectionId connection) {
    return holding.is_shared ? remove_one_shared(holding, connection) : --holding.references;
  }
  // Makes the connection the only holder, with one reference.
  void transfer_to(Holding& holding, ConnectionId connection);

  // Removes the references of these connections. Erases and returns the holdings without
  // references.
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
  // The shares of all connections except Holding::connection. Only for shared holdings.
  std::map<HoldingKey, std::vector<Share>> others_;
};

}  // namespace ttmem::serve
