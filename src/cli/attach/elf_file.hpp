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

// A program or library of this machine: 64 bits, little endian. The file may be anything: whatever
// does not fit into it is taken as not there. Not thread-safe.
class ElfFile {
 public:
  // None when it cannot be read or is no such file.
  [[nodiscard]] static std::optional<ElfFile> open(const std::string& path);

  // The dynamic loader that it asks for; empty: none, as in libraries and static programs.
  [[nodiscard]] std::string interpreter() const;
  // In hex; empty: it was linked without one.
  [[nodiscard]] std::string build_id() const;
  // The name by which others refer to it; empty: none.
  [[nodiscard]] std::string soname() const;
  // True if other files that load it get this symbol from it.
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
