// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::attach {

// Computes a variant of the hash FNV-1a, over whole words of 8 bytes and then over the remaining
// bytes. The hash distinguishes versions of a file. It is not secure against a user who makes two
// files with equal hashes on purpose.
class Hash {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::string hex() const;  // 16 digits

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// Returns the hash of a file's content, or nullopt if the file cannot be read.
[[nodiscard]] std::optional<std::string> hash_of_file(const std::string& path);

}  // namespace ttmem::attach
