// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>

#include "base/open_above_streams.hpp"
#include "base/unique_fd.hpp"

namespace ttmem {

// Reads at most the first `most` bytes of a small file. Returns nullopt if the file cannot be read,
// with the reason in errno. This function is for files of /proc and /sys, whose reported size is
// meaningless. The function never blocks, whatever kind of file `path` names.
[[nodiscard]] inline std::optional<std::string> try_read_text(const std::string& path,
                                                              std::size_t most = 4096) {
  const UniqueFd fd = open_above_streams(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd) return std::nullopt;
  std::string text;
  std::size_t size = 0;
  while (size < most) {
    text.resize(std::min(size + 4096, most));
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && size == 0) return std::nullopt;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

// Reads a file like try_read_text(), but returns an empty text if the file cannot be read.
[[nodiscard]] inline std::string read_text(const std::string& path, std::size_t most = 4096) {
  return try_read_text(path, most).value_or(std::string());
}

}  // namespace ttmem
