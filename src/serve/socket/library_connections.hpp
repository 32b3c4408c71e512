// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "serve/socket/holdings.hpp"

namespace ttmem::serve {

// Which connections of a client are libttmem's. The library has one at a time; a new one reports
// all that is live again, and so replaces what the earlier ones reported. A process may have loaded
// the library several times: each copy has a number of its own, and connections of its own.
//
// Each call that returns connections returns those whose reports count no longer.
class LibraryConnections {
 public:
  using Ids = std::vector<ConnectionId>;

  // Makes the connection the newest of its copy, unless it is older than the present newest: such a
  // connection is only read late, and is out of date. Returns no connections, unless the copy
  // connects again and again and never completes its report.
  [[nodiscard]] Ids hello(ConnectionId connection, std::uint64_t copy);
  // The connection has reported all that is live. Empty when it is no copy's newest.
  [[nodiscard]] Ids complete(ConnectionId connection,
                             const std::function<bool(ConnectionId)>& is_connected);
  // The copy holds nothing any longer. Empty when it never said hello.
  [[nodiscard]] Ids goodbye(std::uint64_t copy);
  void ended(ConnectionId connection);

  [[nodiscard]] bool contains(ConnectionId connection) const;
  // True if its copy has a newer one: what it still sends is out of date.
  [[nodiscard]] bool is_replaced(ConnectionId connection) const;
  // True if every copy said goodbye.
  [[nodiscard]] bool all_left() const;

 private:
  static constexpr std::size_t kMaxCopies = 16;
  static constexpr std::size_t kMaxConnections = 64;  // of a copy

  struct Copy {
    std::uint64_t number = 0;
    bool is_complete = false;  // the newest reported all that is live
    bool has_left = false;
    ConnectionId newest = 0;
    Ids connections;  // connected ones, and ones whose reports count
  };
  [[nodiscard]] Copy* find(std::uint64_t number);

  std::vector<Copy> copies_;
};

}  // namespace ttmem::serve
