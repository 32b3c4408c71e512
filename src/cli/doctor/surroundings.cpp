// SPDX-License-Identifier: Apache-2.0
//
// Checks the surroundings of this shell: environment variables, the server, the clock and the
// locale.
#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/server_owner.hpp"
#include "base/unique_fd.hpp"
#include "cli/doctor/scene.hpp"
#include "read/collector/process_info.hpp"

namespace ttmem::doctor {
namespace {

struct Connected {
  int error = 0;                 // errno if the connection failed; 0: a server listens
  std::optional<uid_t> owner{};  // user id of the server
};

Connected connect_to(const std::string& path) {
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!fd || path.size() >= sizeof address.sun_path) return {ENAMETOOLONG};
  path.copy(address.sun_path, path.size());
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), to, sizeof address) != 0) return {errno};
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return {0, peer.uid};
}

void check_variables(Findings& findings) {
  std::string set;
  for (const char* name :
       {"TT_ALLOC_TRACKING_ENABLED", "TTMEM_DIR", "TTMEM_MODE", "TTMEM_SOCKET", "TTMEM_TRANSPORT",
        "TTMEM_SYSROOT", "TTMEM_ADAPTER", "TTMEM_TT_METAL_LIBRARY", "TT_METAL_HOME",
        "TT_METAL_SHM_TRACKING_DISABLED"}) {
    if (const char* const value = environment(name); *value != '\0') {
      set += fmt::format("{}{}={}", set.empty() ? "" : ", ", name, value);
    }
  }
  findings.good("variables", set.empty() ? "none is set" : set);
  const bool tracked = std::string_view(environment("TT_ALLOC_TRACKING_ENABLED")) == "1";
  if (!tracked && *environment("TT_METAL_SHM_TRACKING_DISABLED") == '1') {
    findings.warning("variables",
                     "programs of this shell report nothing, TT-Metal's own way either",
                     "start them with `ttmem run -- CMD`");
  }
}

void check_server(Findings& findings) {
  const bool needed = std::string_view(environment("TTMEM_TRANSPORT")) == "socket";
  std::string path;
  Connected found;
  for (const std::string& candidate : socket_paths()) {
    path = candidate;
    found = connect_to(path);
    if (found.error == 0 || found.error == EAGAIN) break;
  }
  const int error = found.error;
  if (error == 0 && !(found.owner && may_tell(*found.owner, ::geteuid()))) {
    findings.warning(
        "server",
        fmt::format("that at {} belongs to {}: programs tell it nothing", path,
                    found.owner ? collector::user_name(*found.owner) : "nobody knows whom"),
        "`ttmem serve`, and set TTMEM_SOCKET to its socket");
  } else if (error == 0 || error == EAGAIN) {
    findings.good("server", "listens at " + path);
  } else if (error == EACCES || error == EPERM) {
    findings.warning("server", "you may not connect to the one at " + path,
                     "`ls -l " + path + "` says who may");
  } else if (needed) {
    findings.failure("server", "TTMEM_TRANSPORT=socket, and nobody listens at " + path,
                     "`ttmem serve`, or unset TTMEM_TRANSPORT");
  } else {
    findings.note("server", "none at " + path + "; only metrics, history and the socket need one");
  }
}

void check_clock(Findings& findings) {
  constexpr std::uint64_t year_2025 = 1'735'689'600'000'000'000;
  if (clock_ns(CLOCK_REALTIME) >= year_2025) return;
  findings.warning("clock", "it is before 2025 by the clock of this machine, so times are wrong",
                   "`sudo timedatectl set-ntp true`");
}

void check_locale(Findings& findings) {
  const std::string wanted =
      environment_or("LC_ALL", environment_or("LC_CTYPE", environment_or("LANG", "")));
  if (wanted.empty() || std::setlocale(LC_CTYPE, "") != nullptr) return;
  findings.note("locale",
                fmt::format("{} is not installed; ttmem goes by its name, others may not", wanted),
                "`export LC_ALL=C.UTF-8`");
}

}  // namespace

void check_surroundings(Findings& findings) {
  check_variables(findings);
  check_server(findings);
  check_clock(findings);
  check_locale(findings);
}

}  // namespace ttmem::doctor
