// SPDX-License-Identifier: Apache-2.0
#include "read/remote/token.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/read_text.hpp"
#include "base/shell_quote.hpp"

namespace ttmem::remote {
namespace {

constexpr std::size_t kMin = 16;
constexpr std::size_t kMax = 512;

}  // namespace

Result<std::string> read_token(const std::string& path) {
  const auto refused = [&](const std::string& reason, const std::string& next_step) {
    return Error{fmt::format("cannot use the token file {}: {}; {}", path, reason, next_step)};
  };
  const std::string file = shell_quote(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return refused(std::strerror(errno),
                   fmt::format("make one: (umask 077; openssl rand -hex 32 > {})", file));
  }
  if (!S_ISREG(status.st_mode)) return refused("it is not a file", "name one");
  // It is enough to check the path and not the open file, because a user who can replace the file
  // has the token anyway.
  if ((status.st_mode & 027U) != 0) {
    return refused("others can read it, or its group can write it", "chmod 600 " + file);
  }
  auto text = try_read_text(path, kMax + 2);
  if (!text) return refused(std::strerror(errno), "run as its owner, or name another");
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  const bool visible =
      std::all_of(text->begin(), text->end(), [](char c) { return c > ' ' && c <= '~'; });
  if (text->size() < kMin || text->size() > kMax || !visible) {
    return refused(
        fmt::format("a token has {} to {} letters, digits or signs, and no blanks", kMin, kMax),
        fmt::format("make one: (umask 077; openssl rand -hex 32 > {})", file));
  }
  return std::move(*text);
}

}  // namespace ttmem::remote
