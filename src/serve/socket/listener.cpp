// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "read/collector/process_info.hpp"
#include "serve/socket/peer.hpp"

namespace ttmem::serve {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  path.copy(address.sun_path, path.size());
  return address;
}

UniqueFd new_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Locks the directory, so that only one server at a time can replace a stale socket. Does not use a
// lock file, because the file would stay behind. If another program holds the lock for two seconds,
// the server starts without the lock.
UniqueFd lock_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr int tries = 200;
  constexpr struct timespec pause { 0, 10'000'000 };
  for (int i = 0; fd && i < tries && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    ::nanosleep(&pause, nullptr);
  }
  return fd;
}

bool is_strange(const struct stat& facts) {
  return facts.st_uid != 0 && facts.st_uid != ::geteuid();
}

// Removes a stale socket. Fails if anything else is at the path, or if the socket cannot be
// removed. The message says what is at the path, and the next step.
Result<void> clear_path(const std::string& path, const sockaddr_un& address) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return {};
  if (!S_ISSOCK(facts.st_mode)) {
    return Error{
        fmt::format("{} is there and is not a socket; remove it, or choose another path "
                    "with --socket",
                    path)};
  }
  if (is_strange(facts)) {
    return Error{fmt::format("{} belongs to {}; remove it, or choose another path with --socket",
                             path, collector::user_name(facts.st_uid))};
  }
  const UniqueFd probe = new_socket();
  const int connected =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = connected == 0 ? 0 : errno;
  // If connect() succeeds, a server listens. EAGAIN also means that a server listens: its backlog
  // is full.
  if (error == 0 || error == EAGAIN) {
    const auto server = error == 0 ? peer_of(probe.get()) : std::nullopt;
    return Error{
        fmt::format("a server already listens on {}{}; stop it, or choose another path "
                    "with --socket",
                    path, server ? fmt::format(": process {}", server->pid) : "")};
  }
  if (error != ECONNREFUSED) {
    return Error{
        fmt::format("cannot tell whether a server listens on {}: {}; choose another path "
                    "with --socket",
                    path, reason(error))};
  }
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return Error{
      fmt::format("cannot replace {}, which a server that is gone left: {}; remove it, or "
                  "choose another path with --socket",
                  path, reason(errno))};
}

}  // namespace

Result<Listener> Listener::open(const std::string& path, mode_t mode) {
  const std::optional<sockaddr_un> address = address_of(path);
  if (!address) {
    return Error{
        fmt::format("the path of the socket must have 1 to {} characters, not {}; choose "
                    "another with --socket",
                    sizeof(sockaddr_un::sun_path) - 1, path.size())};
  }
  const UniqueFd directory = lock_directory(path);
  const Result<void> cleared = clear_path(path, *address);
  if (!cleared) return cleared.error();
  Listener listener;
  listener.fd_ = new_socket();
  // Sets the mode of the new socket with the umask. If chmod() set the mode after bind(), the
  // socket would briefly have another mode.
  const mode_t before = ::umask(~mode & 0777);
  const int bound =
      ::bind(listener.fd_.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) {
    return Error{fmt::format("cannot make the socket {}: {}; choose another path with --socket",
                             path, reason(error))};
  }
  listener.path_ = path;
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0) {
    listener.device_ = facts.st_dev;
    listener.number_ = facts.st_ino;
  }
  if (::listen(listener.fd_.get(), SOMAXCONN) == 0) return listener;
  return Error{fmt::format("cannot listen on {}: {}", path, reason(errno))};
}

bool Listener::is_of_another(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && is_strange(facts);
}

Result<void> Listener::make_directory(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  // The umask may take away permissions that clients of other users need. chmod() adds them again.
  const int not_made = ::mkdir(directory.c_str(), 0755) == 0 ? 0 : errno;
  if (not_made == 0) ::chmod(directory.c_str(), 0755);
  struct stat facts {};
  if (::lstat(directory.c_str(), &facts) != 0) {
    return Error{fmt::format("cannot make the directory {}: {}", directory, reason(not_made))};
  }
  const bool safe = S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() &&
                    (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  // Uses access(): on a read-only file system, access() fails even for root.
  if (safe && ::access(directory.c_str(), W_OK | X_OK) != 0) {
    return Error{fmt::format("cannot write to the directory {}: {}", directory, reason(errno))};
  }
  if (safe) return {};
  return Error{fmt::format("{} is not a directory that only {} can write", directory,
                           collector::user_name(::geteuid()))};
}

void Listener::close() noexcept {
  if (!fd_) return;
  struct stat facts {};
  const bool ours =
      ::lstat(path_.c_str(), &facts) == 0 && facts.st_dev == device_ && facts.st_ino == number_;
  if (ours) ::unlink(path_.c_str());
  fd_.reset();
}

}  // namespace ttmem::serve
