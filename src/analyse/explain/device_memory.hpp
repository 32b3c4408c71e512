// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "read/collector/free_space.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::explain {

using Bytes = std::optional<std::uint64_t>;

// More than any device has: a number of a message that is larger is not worked with.
inline constexpr std::uint64_t kMostBytes = 1ULL << 42;

// A buffer and who has it.
struct Holder {
  Kind kind = Kind::dram;
  std::string label{};
  std::string scope{};
  std::int32_t pid = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;           // as asked for
  std::uint64_t bytes_per_bank = 0;  // that it takes, alignment included
  Bytes age_ns{};
  std::optional<CoreMask> cores{};  // where its bytes lie; none: in every bank

  [[nodiscard]] std::uint64_t end() const { return address + bytes_per_bank; }
};

// "decoder.0/attention/kv", "l1 buffer 17" when it has no name, "(no name)" when it has no id.
[[nodiscard]] std::string name_of(const Holder& holder);

// By what they take of a bank; equal ones stay in their order.
void sort_largest_first(std::vector<Holder>& holders);

// What one process holds on one device: the view of its allocator, which knows of no other process.
struct DeviceMemory {
  const model::Device* device = nullptr;
  const model::Process* process = nullptr;
  collector::BankFacts facts{};
  PerKind<std::optional<collector::BankRegion>> regions{};
  PerKind<std::vector<Holder>> holders{};    // by address
  PerKind<std::uint64_t> without_address{};  // buffers of which nobody knows where they lie
  std::vector<const model::Program*> programs{};
};

// A process on a device of a snapshot.
struct MemoryRef {
  std::size_t device = 0;   // index into Snapshot::devices
  std::size_t process = 0;  // index into Device::processes
};

// All that are tracked. `pid` selects one process, by its pid here or in its container.
[[nodiscard]] std::vector<MemoryRef> memory_refs(const model::Snapshot& snapshot,
                                                 std::optional<std::int32_t> pid);

// The snapshot must outlive both. An outline has no holders and no programs, and costs nothing.
[[nodiscard]] DeviceMemory outline(const model::Snapshot& snapshot, const MemoryRef& ref);
[[nodiscard]] DeviceMemory device_memory(const model::Snapshot& snapshot, const MemoryRef& ref);

// The highest end of the CBs of a program on a core; views on L1 buffers do not count. 0: none.
[[nodiscard]] std::uint64_t cb_end_of(const model::Program& program);

}  // namespace ttmem::explain
