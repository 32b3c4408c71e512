// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/systemd.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

#include "base/environment.hpp"
#include "base/unique_fd.hpp"

namespace ttmem::server {

void notify_systemd(std::string_view state) {
  const std::string_view path = environment("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // a name that is no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  ::sendto(socket.get(), state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace ttmem::server
