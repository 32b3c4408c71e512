// SPDX-License-Identifier: Apache-2.0
#include "cli/attach/elf_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace ttmem::attach {
namespace {

// Returns the text at `offset` of a string table.
std::string text_at(const std::string& strings, std::uint64_t offset) {
  return offset < strings.size() ? std::string(strings.c_str() + offset) : std::string();
}

// Returns the build id among the notes of one section, in hex.
std::string build_id_in(std::string_view notes) {
  const auto padded = [](std::uint32_t bytes) {
    return (std::size_t{bytes} + 3) & ~std::size_t{3};
  };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note{};
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    if (padded(note.n_namesz) > notes.size()) return {};
    const std::string_view name = notes.substr(0, note.n_namesz);
    notes.remove_prefix(padded(note.n_namesz));
    if (note.n_descsz > notes.size()) return {};
    if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      std::string hex;
      for (const char byte : notes.substr(0, note.n_descsz)) {
        hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      }
      return hex;
    }
    notes.remove_prefix(std::min(padded(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  ElfFile elf;
  // Without O_NONBLOCK, open() would wait if the path names a pipe.
  elf.file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!elf.file_ || ::fstat(elf.file_.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return std::nullopt;
  }
  elf.size_ = static_cast<std::uint64_t>(facts.st_size);
  if (!elf.read_tables()) return std::nullopt;
  return elf;
}

bool ElfFile::read_tables() {
  const std::vector<Elf64_Ehdr> headers = read_table<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (headers.empty()) return false;
  const Elf64_Ehdr& header = headers[0];
  const bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                    header.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!ours) return false;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) {
    programs_ = read_table<Elf64_Phdr>(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  }
  if (header.e_shentsize == sizeof(Elf64_Shdr)) {
    sections_ = read_table<Elf64_Shdr>(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  }
  return true;
}

std::string ElfFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return {};
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(file_.get(), text.data(), bytes, static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(bytes) ? text : std::string();
}

template <typename Entry>
std::vector<Entry> ElfFile::read_table(std::uint64_t offset, std::uint64_t bytes) const {
  const std::string raw = read(offset, bytes);
  std::vector<Entry> table(raw.size() / sizeof(Entry));
  if (!table.empty()) std::memcpy(table.data(), raw.data(), table.size() * sizeof(Entry));
  return table;
}

const Elf64_Shdr* ElfFile::section_of_type(std::uint32_t type) const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type == type) return &section;
  }
  return nullptr;
}

std::string ElfFile::strings_of(const Elf64_Shdr& section) const {
  if (section.sh_link >= sections_.size()) return {};
  const Elf64_Shdr& strings = sections_[section.sh_link];
  return read(strings.sh_offset, strings.sh_size);
}

std::string ElfFile::interpreter() const {
  for (const Elf64_Phdr& program : programs_) {
    if (program.p_type == PT_INTERP) return read(program.p_offset, program.p_filesz).c_str();
  }
  return {};
}

std::string ElfFile::build_id() const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_NOTE) continue;
    std::string id = build_id_in(read(section.sh_offset, section.sh_size));
    if (!id.empty()) return id;
  }
  return {};
}

std::string ElfFile::soname() const {
  const Elf64_Shdr* dynamic = section_of_type(SHT_DYNAMIC);
  if (dynamic == nullptr) return {};
  for (const Elf64_Dyn& entry : read_table<Elf64_Dyn>(dynamic->sh_offset, dynamic->sh_size)) {
    if (entry.d_tag == DT_SONAME) return text_at(strings_of(*dynamic), entry.d_un.d_val);
  }
  return {};
}

bool ElfFile::defines(std::string_view symbol) const {
  const Elf64_Shdr* symbols = section_of_type(SHT_DYNSYM);
  if (symbols == nullptr) return false;
  const std::string strings = strings_of(*symbols);
  // Searches the string table first, which is quick. Most libraries do not have the symbol, and
  // reading their tens of thousands of symbols would be slow.
  if (strings.find(std::string(symbol) + '\0') == std::string::npos) return false;
  for (const Elf64_Sym& entry : read_table<Elf64_Sym>(symbols->sh_offset, symbols->sh_size)) {
    if (entry.st_shndx != SHN_UNDEF && text_at(strings, entry.st_name) == symbol) return true;
  }
  return false;
}

}  // namespace ttmem::attach
