// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "serve/socket/holdings.hpp"

namespace ttmem::serve {

// The connections of a client that belong to libttmem. The library has one connection at a time. A
// new connection reports all live objects again, and so replaces the reports of the earlier
// connections. A process may have loaded the library several times: each copy has its own number
// and its own connections.
//
// Functions with the result Ids return the connections whose reports no longer count.
class LibraryConnections {
 public:
  using Ids = std::vector<ConnectionId>;

  // Adds the connection to its copy. A connection with a higher number than all others becomes the
  // newest of the copy. A connection with a lower number was read late, and is outdated. Returns an
  // empty list, except for a copy that reconnects again and again without completing its report.
  [[nodiscard]] Ids hello(ConnectionId connection, std::uint64_t copy);
  // Handles a connection that has reported all live objects. Returns an empty list if the
  // connection is not the newest of its copy.
  [[nodiscard]] Ids complete(ConnectionId connection,
                             const std::function<bool(ConnectionId)>& is_connected);
  // Handles the goodbye of a copy, whose reports no longer count. Returns an empty list if the copy
  // never said hello.
  [[nodiscard]] Ids goodbye(std::uint64_t copy);
  void ended(ConnectionId connection);

  [[nodiscard]] bool contains(ConnectionId connection) const;
  // Returns true if the copy of this connection has a newer connection. Further reports of this
  // connection are then outdated.
  [[nodiscard]] bool is_replaced(ConnectionId connection) const;
  // Returns true if no copy ever said hello.
  [[nodiscard]] bool empty() const { return copies_.empty(); }
  // Returns true if every copy said goodbye.
  [[nodiscard]] bool all_left() const;

 private:
  static constexpr std::size_t kMaxCopies = 16;
  static constexpr std::size_t kMaxConnections = 64;  // per copy

  struct Copy {
    std::uint64_t number = 0;
    bool is_complete = false;  // true if the newest connection reported all live objects
    bool has_left = false;
    ConnectionId newest = 0;
    Ids connections;  // open connections, and ended connections whose reports still count
  };
  [[nodiscard]] Copy* find(std::uint64_t number);

  std::vector<Copy> copies_;
};

}  // namespace ttmem::serve
