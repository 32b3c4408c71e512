// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "read/remote/address.hpp"
#include "read/remote/http_client.hpp"
#include "read/remote/mirror.hpp"
#include "show/fleet/fleet.hpp"

namespace ttmem::fleet {

// Asks many servers at the same time, and again and again if wanted: from the second time on they
// answer only what changed. One thread. A server that is slow, dead or newer is a Host with a
// fault, and delays the others by nothing, up to 512 servers (fewer where the process may open
// fewer files); with more, the rest is asked as the first answer, each with the whole time.
class HostAsker {
 public:
  // Answers with more bytes are refused: at some thousand bytes a device, and less a process, that
  // is far more than a host has.
  static constexpr std::size_t kMaxAnswerBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMaxAtOnce = 512;

  HostAsker(const std::vector<remote::Address>& servers, remote::ClientOptions options);

  // In the order of the servers. Waits for all answers, as long as the options allow.
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
  std::size_t next_ = 0;     // the first that was not asked yet
  std::size_t waiting_ = 0;  // for so many answers
  bool asking_ = false;      // ask_more() is at work
};

}  // namespace ttmem::fleet
