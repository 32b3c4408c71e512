// SPDX-License-Identifier: Apache-2.0
#include "show/exports/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "show/exports/unfinished.hpp"

namespace ttmem::exports {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

Error cannot_write(std::string_view path, int reason) {
  return {fmt::format("cannot write {}: {}", path == "-" ? "standard output" : path,
                      std::strerror(reason))};
}

Error is_there(std::string_view path) {
  return {fmt::format("{} is there already; -f overwrites it", path)};
}

// Returns an unpredictable name beside `path`. In a folder like /tmp, another user may have planted
// a link under a predictable name. Returns "" and sets errno if there are no random bits.
std::string beside(const std::string& path) {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) return {};
  return fmt::format("{}.part-{:016x}", path, bits);
}

// Opens a pipe or a device for writing. Returns -1 and sets errno on failure. Fails if the path has
// become a regular file since it was checked. Fails if the path belongs to another user: in a
// folder like /tmp, that user may have planted a pipe, or a link to a pipe, to read the output.
int open_special(const std::string& path) {
  struct stat named {};
  if (::lstat(path.c_str(), &named) != 0) return -1;
  if (named.st_uid != 0 && named.st_uid != ::geteuid()) {
    errno = EPERM;
    return -1;
  }
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  struct stat opened {};
  if (!fd || ::fstat(fd.get(), &opened) != 0) return -1;
  if (!S_ISREG(opened.st_mode)) return fd.release();
  errno = EEXIST;
  return -1;
}

// Writes all bytes. Returns 0 or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// Renames a file. Returns 0 or errno. Returns EEXIST if `overwrite` is false and `to` already
// exists.
int rename_to(const std::string& from, const std::string& to, bool overwrite) {
  if (!overwrite) {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
    // EINVAL and ENOSYS mean that RENAME_NOREPLACE is not supported. Only in these cases uses
    // rename().
    if (errno != EINVAL && errno != ENOSYS) return errno;
  }
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

void make_signals_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  // Ignores SIGXFSZ. A write beyond the file size limit of the shell then returns an error, like a
  // write to a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

Output Output::into(UniqueFd file, std::string name) {
  make_signals_errors();
  Output output;
  output.path_ = std::move(name);
  output.fd_ = std::move(file);
  return output;
}

Result<Output> Output::create(const std::string& path, bool overwrite) {
  make_signals_errors();
  Output output;
  output.path_ = path;
  output.overwrite_ = overwrite;
  struct stat there {};
  const bool exists = path != "-" && stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot_write(path, EISDIR);
  if (exists && S_ISREG(there.st_mode) && !overwrite) return is_there(path);
  int fd = -1;
  if (path == "-") {
    fd = dup(STDOUT_FILENO);
  } else if (exists && !S_ISREG(there.st_mode)) {
    fd = open_special(path);
  } else if (output.unfinished_ = beside(path); !output.unfinished_.empty()) {
    remove_when_interrupted(output.unfinished_);
    fd = open(output.unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
              0666);
  }
  if (fd < 0) {
    const int reason = errno;
    output.unfinished_.clear();
    return cannot_write(path, reason);
  }
  output.fd_ = UniqueFd(fd);
  return output;
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)),
      unfinished_(std::exchange(other.unfinished_, {})),
      overwrite_(other.overwrite_),
      fd_(std::move(other.fd_)),
      buffer_(std::move(other.buffer_)),
      failed_(other.failed_) {}

Output::~Output() {
  if (!unfinished_.empty()) unlink(unfinished_.c_str());
}

void Output::write(std::string_view bytes) {
  if (failed_ != 0) return;
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) flush();
}

void Output::flush() {
  failed_ = write_all(fd_.get(), buffer_);
  buffer_.clear();
}

Result<void> Output::finish() {
  if (failed_ == 0) flush();
  if (failed_ == 0 && close(fd_.release()) != 0) failed_ = errno;
  if (failed_ == EPIPE) return {};
  if (failed_ != 0) return cannot_write(path_, failed_);
  if (unfinished_.empty()) return {};
  const int reason = rename_to(unfinished_, path_, overwrite_);
  if (reason == EEXIST) return is_there(path_);
  if (reason != 0) return cannot_write(path_, reason);
  unfinished_.clear();
  return {};
}

Result<OutputFolder> OutputFolder::create(const std::string& path, bool overwrite) {
  OutputFolder folder;
  folder.path_ = path;
  while (folder.path_.size() > 1 && folder.path_.ends_with('/')) folder.path_.pop_back();
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_directory(there)) return cannot_write(path, ENOTDIR);
    if (!overwrite) return is_there(path);
  }
  const std::string unfinished = beside(folder.path_);
  if (unfinished.empty() || mkdir(unfinished.c_str(), 0777) != 0) return cannot_write(path, errno);
  folder.unfinished_ = unfinished;
  remove_when_interrupted(unfinished);
  return folder;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : path_(std::move(other.path_)), unfinished_(std::exchange(other.unfinished_, {})) {}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  if (!unfinished_.empty()) std::filesystem::remove_all(unfinished_, ignored);
}

std::string OutputFolder::file(std::string_view name) const {
  std::string path = fmt::format("{}/{}", unfinished_, name);
  remove_when_interrupted(path);
  return path;
}

Result<void> OutputFolder::finish(std::initializer_list<std::string_view> names) {
  // Removes from an existing folder only the files that this export writes too. Does not follow a
  // link, because another user may have planted the link.
  const UniqueFd there(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  for (const std::string_view name : names) {
    if (there) unlinkat(there.get(), std::string(name).c_str(), 0);
  }
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) return cannot_write(path_, errno);
    return Error{fmt::format("{} has other files in it; name another folder", path_)};
  }
  unfinished_.clear();
  return {};
}

}  // namespace ttmem::exports
