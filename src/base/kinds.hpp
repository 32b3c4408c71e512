// SPDX-License-Identifier: Apache-2.0
//
// The kinds of memory. The segment, the model, the server's log, JSON, CSV and metrics use the same
// order and the same names. Add a new kind here first; ARCHITECTURE.md, "To add something", lists
// the other places to change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ttmem {

// The kind of an allocation. `cb` stands for circular buffers; `system` is host memory, which is
// counted and never shown as device memory. The segment contains these numbers.
enum class Kind : std::uint8_t { dram, l1, l1_small, trace, cb, kernel, system };

inline constexpr std::size_t kKinds = 7;
inline constexpr std::array<Kind, kKinds> kAllKinds = {
    Kind::dram, Kind::l1, Kind::l1_small, Kind::trace, Kind::cb, Kind::kernel, Kind::system};
inline constexpr std::array<Kind, 6> kDeviceKinds = {Kind::dram,  Kind::l1, Kind::l1_small,
                                                     Kind::trace, Kind::cb, Kind::kernel};
// The kinds that the runtime's allocator places in banks.
inline constexpr std::array<Kind, 4> kBankKinds = {Kind::dram, Kind::l1, Kind::l1_small,
                                                   Kind::trace};

// Segments contain these numbers, so the numbers are fixed (docs/internals/segment-layout.md).
static_assert(kKinds == 7 && static_cast<int>(Kind::dram) == 0 && static_cast<int>(Kind::l1) == 1 &&
              static_cast<int>(Kind::l1_small) == 2 && static_cast<int>(Kind::trace) == 3 &&
              static_cast<int>(Kind::cb) == 4 && static_cast<int>(Kind::kernel) == 5 &&
              static_cast<int>(Kind::system) == 6);

struct KindInfo {
  std::string_view name;  // name of the kind in lists, metrics and logs
  std::string_view key;   // name in keys of totals: "kernels" in the JSON key "kernels_bytes"
};
inline constexpr std::array<KindInfo, kKinds> kKindInfos = {{{"dram", "dram"},
                                                             {"l1", "l1"},
                                                             {"l1_small", "l1_small"},
                                                             {"trace", "trace"},
                                                             {"cb", "cb"},
                                                             {"kernel", "kernels"},
                                                             {"system", "system"}}};

[[nodiscard]] constexpr std::string_view name_of(Kind kind) noexcept {
  return kKindInfos[static_cast<std::size_t>(kind)].name;
}
[[nodiscard]] constexpr std::string_view key_of(Kind kind) noexcept {
  return kKindInfos[static_cast<std::size_t>(kind)].key;
}

[[nodiscard]] constexpr std::optional<Kind> kind_named(std::string_view name) noexcept {
  for (const Kind kind : kAllKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

// The kinds of buffers: kBufferKinds[type] is the kind for TT-Metal's BufferType `type`.
// ttmem_buffer_type and the buffer_type of the wire have the same numbers.
inline constexpr std::array<Kind, 5> kBufferKinds = {Kind::dram, Kind::l1, Kind::system,
                                                     Kind::l1_small, Kind::trace};

// Returns the BufferType of `kind`, which must be one of kBufferKinds.
[[nodiscard]] constexpr std::uint8_t buffer_type_of(Kind kind) noexcept {
  std::uint8_t type = 0;
  while (kBufferKinds[type] != kind) ++type;
  return type;
}

// Returns true if `kind` is in DRAM. Trace buffers are in DRAM too.
[[nodiscard]] constexpr bool is_in_dram(Kind kind) noexcept {
  return kind == Kind::dram || kind == Kind::trace;
}
[[nodiscard]] constexpr bool is_in_l1(Kind kind) noexcept {
  return kind == Kind::l1 || kind == Kind::l1_small || kind == Kind::cb || kind == Kind::kernel;
}

// Contains one T for each kind. PerKind<T> is plain data if T is plain data.
template <typename T>
struct PerKind {
  std::array<T, kKinds> items;

  [[nodiscard]] constexpr T& operator[](Kind kind) noexcept {
    return items[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] constexpr const T& operator[](Kind kind) const noexcept {
    return items[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] constexpr auto begin() noexcept { return items.begin(); }
  [[nodiscard]] constexpr auto end() noexcept { return items.end(); }
  [[nodiscard]] constexpr auto begin() const noexcept { return items.begin(); }
  [[nodiscard]] constexpr auto end() const noexcept { return items.end(); }

  friend constexpr bool operator==(const PerKind&, const PerKind&) = default;
};

}  // namespace ttmem
