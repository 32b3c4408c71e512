// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace ttmem::segment {

// A source of the bytes of a segment. The writer may change or truncate the bytes at any moment,
// and may be malicious. Each call returns a copy that belongs to the caller; the next call may see
// other bytes. Safe from any thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills `out` with the bytes from `offset` on. Returns the number of bytes copied, which is less
  // than out.size() at the end of the file and after a read error.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

// Reads an open file. The caller keeps the file open.
class FdSource final : public ByteSource {
 public:
  explicit FdSource(int fd) noexcept : fd_(fd) {}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  [[nodiscard]] std::uint64_t size() const override;

 private:
  int fd_;
};

// Reads bytes in memory. The caller owns the bytes, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

// Reads one plain structure. Returns false if some of its bytes are missing.
template <typename T>
[[nodiscard]] bool read_value(const ByteSource& source, std::uint64_t offset, T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return source.read_at(offset, std::as_writable_bytes(std::span(&value, 1))) == sizeof(T);
}

}  // namespace ttmem::segment
