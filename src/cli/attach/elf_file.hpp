// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace ttmem::attach {

// A program or library for this machine: an ELF file with 64 bits, little-endian. The file may be
// damaged: a part that does not fit into the file counts as missing. Not thread-safe.
class ElfFile {
 public:
  // Returns nullopt if the file cannot be read or is not a program or library for this machine.
  [[nodiscard]] static std::optional<ElfFile> open(const std::string& path);

  // Returns the dynamic loader of a program; empty for libraries and static programs.
  [[nodiscard]] std::string interpreter() const;
  // Returns the build id in hex, or an empty text if the file has none.
  [[nodiscard]] std::string build_id() const;
  // Returns the name by which other files refer to this library, or an empty text if it has none.
  [[nodiscard]] std::string soname() const;
  // Returns true if the file exports this symbol.
  [[nodiscard]] bool defines(std::string_view symbol) const;

 private:
  ElfFile() = default;

  [[nodiscard]] bool read_tables();
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t bytes) const;
  template <typename Entry>
  [[nodiscard]] std::vector<Entry> read_table(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] const Elf64_Shdr* section_of_type(std::uint32_t type) const;
  [[nodiscard]] std::string strings_of(const Elf64_Shdr& section) const;

  UniqueFd file_;
  std::uint64_t size_ = 0;
  std::vector<Elf64_Phdr> programs_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace ttmem::attach
