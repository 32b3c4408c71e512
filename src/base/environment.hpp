// SPDX-License-Identifier: Apache-2.0
//
// Environment variables. An empty variable counts as unset, everywhere. A program with more rights
// than the user who started it (setuid, file capabilities) sees no variables, because the user
// could otherwise make the program write files anywhere.
//
// The environment owns the returned texts: copy a text that must outlive a change of the
// environment.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace ttmem {

// Returns the value of the variable, or "" if it is unset. Never returns null.
[[nodiscard]] inline const char* environment(const char* name) noexcept {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

[[nodiscard]] inline const char* environment_or(const char* name, const char* otherwise) noexcept {
  const char* value = environment(name);
  return *value == '\0' ? otherwise : value;
}

// Returns the directory where writers create their segments and readers find them.
[[nodiscard]] inline const char* segment_directory() noexcept {
  return environment_or("TTMEM_DIR", "/dev/shm");
}

// Returns the root directory for the search for the kernel driver. The search reads dev, sys and
// proc/driver in this directory. Only tests set the directory; otherwise it is empty, which means
// /.
[[nodiscard]] inline const char* system_root() noexcept { return environment("TTMEM_SYSROOT"); }

// Returns the path of the socket on which `ttmem serve` listens by default. Clients of the original
// tools use this socket too.
[[nodiscard]] inline const char* socket_path() noexcept {
  return environment_or("TTMEM_SOCKET", "/tmp/tt_allocation_server.sock");
}

// The socket of a server that root runs. Only root can create a file in /run/ttmem.
inline constexpr const char* kRootSocket = "/run/ttmem/allocation_server.sock";

// Returns the socket of a server that this user runs. No other user can create a file in the
// socket's directory. Returns "" if XDG_RUNTIME_DIR is not an absolute path.
[[nodiscard]] inline std::string user_socket() {
  const std::string directory = environment("XDG_RUNTIME_DIR");
  return directory.starts_with('/') ? directory + "/ttmem/allocation_server.sock" : "";
}

// Returns the sockets that TTMEM_TRANSPORT=socket tries, in this order. If TTMEM_SOCKET is set,
// only that socket is tried.
[[nodiscard]] inline std::vector<std::string> socket_paths() {
  if (*environment("TTMEM_SOCKET") != '\0') return {socket_path()};
  std::vector<std::string> paths = {kRootSocket};
  if (std::string path = user_socket(); !path.empty()) paths.push_back(std::move(path));
  paths.emplace_back(socket_path());
  return paths;
}

}  // namespace ttmem
