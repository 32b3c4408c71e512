// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "read/remote/address.hpp"
#include "read/remote/http_client.hpp"
#include "read/remote/mirror.hpp"
#include "show/fleet/fleet.hpp"

namespace ttmem::fleet {

// Asks many servers at the same time. ask() may be called repeatedly; later answers contain only
// changes. For one thread. A server that is slow, is dead, or answers in a newer schema becomes a
// Host with a fault and does not delay the other servers. At most kMaxAtOnce servers are asked at
// once, or fewer if the process may not open enough files. When a server has answered, the next
// server is asked and has the full time to answer.
class HostAsker {
 public:
  // Maximum size of an answer; a larger answer is refused. The answer of a whole host is far
  // smaller: a device takes a few thousand bytes, and a process takes less.
  static constexpr std::size_t kMaxAnswerBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxAtOnce = 512;

  HostAsker(const std::vector<remote::Address>& servers, remote::ClientOptions options);

  // Returns the hosts in the order of the servers. Waits for all answers, at most as long as the
  // options allow.
  [[nodiscard]] std::vector<Host> ask();

 private:
  struct Server {
    remote::Address address;
    remote::Mirror mirror{remote::Mirror::Detail::brief};
    Host host{};
  };

  void ask_more();
  void ask(Server& server);
  void take(const remote::Answer<std::string>& answer, Server& server);

  remote::HttpClient client_;
  std::size_t at_once_;
  std::vector<Server> servers_;
  std::size_t next_ = 0;     // index of the first server that was not asked yet
  std::size_t waiting_ = 0;  // number of outstanding answers
  bool asking_ = false;      // ask_more() is running
};

}  // namespace ttmem::fleet
