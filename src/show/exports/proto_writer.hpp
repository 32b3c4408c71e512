// SPDX-License-Identifier: Apache-2.0
//
// A small writer of protocol buffers. The few messages of Perfetto and pprof need no code
// generator.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ttmem::exports {

// A message, written field by field. Every added field is written, even if its value is 0. Texts
// must be UTF-8. Pure.
class ProtoMessage {
 public:
  void add(std::uint32_t field, std::uint64_t value) {
    key(field, kVarint);
    varint(value);
  }
  // Adds an int64 (not sint64): a negative number takes ten bytes.
  void add_signed(std::uint32_t field, std::int64_t value) {
    add(field, static_cast<std::uint64_t>(value));
  }
  void add_double(std::uint32_t field, double value) {
    key(field, kFixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes_ += static_cast<char>(bits >> shift & 0xff);
    }
  }
  void add(std::uint32_t field, std::string_view text) {
    key(field, kLengthDelimited);
    varint(text.size());
    bytes_ += text;
  }
  void add(std::uint32_t field, const ProtoMessage& message) { add(field, message.bytes()); }
  // Appends all fields of another message.
  void add_fields(const ProtoMessage& other) { bytes_ += other.bytes_; }
  // Adds a repeated number. Adds nothing if `values` is empty.
  void add_packed(std::uint32_t field, std::span<const std::uint64_t> values) {
    if (values.empty()) return;
    ProtoMessage packed;
    for (const std::uint64_t value : values) packed.varint(value);
    add(field, packed);
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  static constexpr std::uint32_t kVarint = 0;
  static constexpr std::uint32_t kFixed64 = 1;
  static constexpr std::uint32_t kLengthDelimited = 2;

  void key(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace ttmem::exports
