// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::exports {

// A memory that has its own peak. `l1` means L1 buffers, L1_SMALL buffers, circular buffers and
// kernels together.
enum class Memory : std::uint8_t { dram, l1, trace, system };
inline constexpr std::size_t kMemories = 4;

[[nodiscard]] constexpr Memory memory_of(Kind kind) noexcept {
  return kind == Kind::dram     ? Memory::dram
         : kind == Kind::trace  ? Memory::trace
         : kind == Kind::system ? Memory::system
                                : Memory::l1;
}
[[nodiscard]] std::string_view name_of(Memory memory);

// A chip, with one device for each time that a process opened it.
struct ExportedChip {
  std::uint32_t number = 0;
  std::uint64_t uid = 0;  // 0: unknown
  std::string arch{};
  std::string board{};
  std::vector<recording::RowId> devices{};

  [[nodiscard]] std::string name() const;  // such as "device 3"
};

// The devices and kinds to export.
class Selection {
 public:
  using Wanted = std::function<bool(const ExportedChip&)>;

  // If `kinds` is empty, all kinds are selected. If `wanted` is empty, all chips are selected.
  Selection(const recording::Tables& tables, const std::vector<Kind>& kinds,
            const Wanted& wanted = {});

  // Returns the selected chips, ordered by number.
  [[nodiscard]] const std::vector<ExportedChip>& chips() const { return chips_; }
  [[nodiscard]] bool has(Kind kind) const { return kinds_[kind]; }
  [[nodiscard]] bool has(recording::RowId device) const { return chip_of(device) != kNone; }
  // Returns a number for each chip, for formats that identify devices by number alone. These are
  // the device numbers. If two chips have the same number, or a number is too large, they are the
  // indices in chips() instead.
  [[nodiscard]] std::vector<std::size_t> places() const;
  // Returns the index of the device's chip in chips(), or kNone if the chip is not selected.
  [[nodiscard]] std::size_t chip_of(recording::RowId device) const {
    return chip_of_[static_cast<std::size_t>(device - 1)];
  }
  static constexpr std::size_t kNone = ~std::size_t{0};

 private:
  PerKind<bool> kinds_{};
  std::vector<ExportedChip> chips_;
  std::vector<std::size_t> chip_of_;
};

}  // namespace ttmem::exports
