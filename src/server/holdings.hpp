// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "segment/layout.hpp"

namespace ttmem::server {

// Tells the connections of a server apart.
using ConnectionId = std::uint32_t;

// What names something that a client holds. Original clients free by device and number alone, so
// the numbers of all their buffers are one space; libttmem says the type, and each type is one.
struct HoldingKey {
  enum Space : std::uint32_t {
    kKernels = segment::kKernelKind,
    kLooseCbs = segment::kLooseCbKind,
    kUntypedBuffers,
    kPrograms,
  };  // below: the buffers of that ttmem_buffer_type

  std::uint64_t id = 0;
  std::uint32_t device = 0;
  std::uint32_t space = 0;

  friend bool operator==(const HoldingKey&, const HoldingKey&) = default;
};

struct HoldingKeyHash {
  using is_avalanching = void;  // the table need not mix again
  // Addresses differ in their middle bits, devices and spaces in their lowest: all must reach both
  // ends of the hash.
  std::size_t operator()(const HoldingKey& key) const noexcept {
    const std::uint64_t where = (std::uint64_t{key.device} << 4 | key.space) + 1;
    std::uint64_t mixed = (key.id ^ where * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    mixed ^= mixed >> 32;
    return mixed;
  }
};

// One thing that a client holds, and for which of its connections: each of them wants as many frees
// as it made allocations, and what a connection has left goes with it. A client with more than one
// connection is rare, and rarer still is one that allocates the same thing on two of them.
class Holding {
 public:
  Holding(ConnectionId connection, std::uint8_t its_kind, std::uint64_t its_bytes)
      : bytes(its_bytes), kind(its_kind), first_{connection, 1} {}

  [[nodiscard]] std::uint64_t references() const;

  void add(ConnectionId connection);
  // One of this connection's, or of another when it has none.
  void remove_one(ConnectionId connection);
  // All of this connection's.
  void remove_all(ConnectionId connection);
  // This connection's alone from now on, once.
  void belong_to(ConnectionId connection);
  [[nodiscard]] bool belongs_to(ConnectionId connection) const {
    return first_.connection == connection && !others_;
  }

  std::uint64_t bytes;  // the largest size that was told
  std::uint8_t kind;    // index into segment::DeviceRecord::kinds

 private:
  struct Share {
    ConnectionId connection;
    std::uint32_t references;
  };
  Share* share_of(ConnectionId connection);
  void normalize();

  Share first_;
  std::unique_ptr<std::vector<Share>> others_;  // null: none
};

using Holdings = boost::unordered_flat_map<HoldingKey, Holding, HoldingKeyHash>;

}  // namespace ttmem::server
