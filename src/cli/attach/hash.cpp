// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/unique_fd.hpp"

namespace ttmem::attach {

void Hash::add(std::string_view bytes) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof(word));
    state_ = (state_ ^ word) * prime;
    // Mixes the high bits into the low bits, because a multiplication changes only higher bits.
    state_ ^= state_ >> 32;
  }
  for (const char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * prime;
}

std::string Hash::hex() const { return fmt::format("{:016x}", state_); }

std::optional<std::string> hash_of_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  Hash hash;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return hash.hex();
    hash.add({buffer.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace ttmem::attach
