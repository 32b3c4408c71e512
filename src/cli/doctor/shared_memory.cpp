// SPDX-License-Identifier: Apache-2.0
//
// Checks the directory in which processes write their segments.
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "base/format_bytes.hpp"
#include "base/read_text.hpp"
#include "cli/doctor/scene.hpp"
#include "read/collector/gather.hpp"
#include "read/collector/process_info.hpp"

namespace ttmem::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "shared memory";
constexpr std::uint64_t kLittleSpace = 64 << 20;  // size of /dev/shm that Docker gives a container

void check_directory(const std::string& directory, Findings& findings) {
  struct statvfs space {};
  if (::statvfs(directory.c_str(), &space) != 0) {
    const std::string why = std::generic_category().message(errno);
    findings.failure(kName, fmt::format("{}: {}", directory, why),
                     directory == "/dev/shm" ? "`mount -t tmpfs shm /dev/shm`"
                                             : "create it, or unset TTMEM_DIR");
    return;
  }
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    findings.failure(
        kName, fmt::format("you may not write to {}", directory),
        fmt::format("`ls -ld {}` has to say drwxrwxrwt (1777), or be yours", directory));
    return;
  }
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::string found = fmt::format("{}, {} free", directory, format_bytes(free_bytes));
  if (free_bytes < collector::kLowSpaceBytes) {
    findings.failure(kName, found + ": new processes cannot be tracked",
                     "free space there (`ttmem clean`); start a container with --shm-size=1g");
  } else if (free_bytes < kLittleSpace) {
    findings.warning(kName, found + ": little for many processes",
                     "free space there (`ttmem clean`); start a container with --shm-size=1g");
  } else {
    findings.good(kName, found);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Returns the value of the last RemoveIPC setting in a file, or an empty text if there is none.
std::string remove_ipc_in(const std::string& path) {
  constexpr std::size_t most = 1 << 16;
  const std::string text = read_text(path, most);
  std::string_view rest = text;
  std::string value;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t equals = std::min(line.find('='), line.size());
    if (trimmed(line.substr(0, equals)) != "RemoveIPC") continue;
    value = trimmed(line.substr(std::min(equals + 1, line.size())));
  }
  return value;
}

// Returns the value of RemoveIPC from logind's file and its drop-ins. If several drop-ins set
// RemoveIPC, the drop-in whose name sorts last wins.
std::string remove_ipc(const std::string& root) {
  std::string value = remove_ipc_in(root + "/etc/systemd/logind.conf");
  // The path of each drop-in, by file name. If two folders have a file of the same name, the file
  // in the later folder replaces the other.
  std::map<std::string, std::string> drop_ins;
  for (const char* folder : {"/usr/lib", "/run", "/etc"}) {
    std::error_code error;
    for (fs::directory_iterator it(root + folder + "/systemd/logind.conf.d", error), end;
         !error && it != end; it.increment(error)) {
      drop_ins[it->path().filename()] = remove_ipc_in(it->path());
    }
  }
  for (const auto& [name, other] : drop_ins) {
    if (!other.empty()) value = other;
  }
  return value;
}

// Warns if logind removes an ordinary user's files in /dev/shm at the end of the user's last
// session.
void check_remove_ipc(const Scene& scene, Findings& findings) {
  constexpr uid_t first_ordinary = 1000;
  const bool concerned = scene.evidence.directory == "/dev/shm" && ::getuid() >= first_ordinary;
  const std::string user = collector::user_name(::getuid());
  std::error_code error;
  if (!concerned || !fs::exists(scene.root + "/run/systemd/users", error) ||
      fs::exists(scene.root + "/var/lib/systemd/linger/" + user, error)) {
    return;
  }
  const std::string value = remove_ipc(scene.root);
  if (value == "no" || value == "false" || value == "0" || value == "off") return;
  findings.warning("logout", "logind removes your segments when you log out (RemoveIPC)",
                   "`loginctl enable-linger`");
}

}  // namespace

void check_shared_memory(const Scene& scene, Findings& findings) {
  check_directory(scene.evidence.directory, findings);
  check_remove_ipc(scene, findings);
}

}  // namespace ttmem::doctor
