// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttmem::attach {

// FNV-1a over whole words, then over the bytes that are left. It tells versions of a file apart; it
// is no protection against somebody who wants two files to have the same.
class Hash {
 public:
  void add(std::string_view bytes);
  [[nodiscard]] std::string hex() const;  // 16 digits

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

// Of a file's content; none when it cannot be read.
[[nodiscard]] std::optional<std::string> hash_of_file(const std::string& path);

}  // namespace ttmem::attach
