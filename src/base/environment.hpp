// SPDX-License-Identifier: Apache-2.0
//
// Environment variables. An empty variable counts as unset, everywhere. A program with more rights
// than the user who started it (setuid, file capabilities) sees no variables: the user could make
// such a program write files anywhere.
//
// The texts belong to the environment: copy what must outlive a change of it.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace ttmem {

// Never null: "" when the variable is unset.
[[nodiscard]] inline const char* environment(const char* name) noexcept {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

[[nodiscard]] inline const char* environment_or(const char* name, const char* otherwise) noexcept {
  const char* value = environment(name);
  return *value == '\0' ? otherwise : value;
}

// Where writers create their segments and readers find them.
[[nodiscard]] inline const char* segment_directory() noexcept {
  return environment_or("TTMEM_DIR", "/dev/shm");
}

// What stands before /dev, /sys and /proc/driver where the kernel driver is looked for: empty, but
// for tests.
[[nodiscard]] inline const char* system_root() noexcept { return environment("TTMEM_SYSROOT"); }

// The socket where `ttmem serve` listens, also for clients of the original tools.
[[nodiscard]] inline const char* socket_path() noexcept {
  return environment_or("TTMEM_SOCKET", "/tmp/tt_allocation_server.sock");
}

// The socket of a server that root runs. No other user can create a file there.
inline constexpr const char* kRootSocket = "/run/ttmem/allocation_server.sock";

// Returns the socket of a server that this user runs, where no other user can create a file; empty
// if XDG_RUNTIME_DIR names no directory.
[[nodiscard]] inline std::string user_socket() {
  const std::string directory = environment("XDG_RUNTIME_DIR");
  return directory.starts_with('/') ? directory + "/ttmem/allocation_server.sock" : "";
}

// Returns the sockets that TTMEM_TRANSPORT=socket tries, in this order; only TTMEM_SOCKET if that
// is set.
[[nodiscard]] inline std::vector<std::string> socket_paths() {
  if (*environment("TTMEM_SOCKET") != '\0') return {socket_path()};
  std::vector<std::string> paths = {kRootSocket};
  if (std::string path = user_socket(); !path.empty()) paths.push_back(std::move(path));
  paths.emplace_back(socket_path());
  return paths;
}

}  // namespace ttmem
