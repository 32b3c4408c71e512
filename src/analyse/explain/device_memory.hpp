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

// The maximum number of bytes that a message can plausibly contain. No device has this much memory.
// Larger numbers are ignored.
inline constexpr std::uint64_t kMaxBytes = 1ULL << 42;

// A buffer and the process that holds it.
struct BufferHolder {
  Kind kind = Kind::dram;
  std::string label{};
  std::string scope{};
  std::int32_t pid = 0;
  std::uint64_t id = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;           // requested size
  std::uint64_t bytes_per_bank = 0;  // bytes taken in each bank, including alignment
  Bytes age_ns{};
  std::optional<CoreMask> cores{};  // cores that hold the bytes; nullopt: every bank holds bytes

  [[nodiscard]] std::uint64_t end() const { return address + bytes_per_bank; }
};

// Returns true for a kind whose buffers lie in banks of the runtime's allocator.
[[nodiscard]] bool is_bank_kind(Kind kind);

// Returns for example "decoder.0/attention/kv". Returns "l1 buffer 17" if the buffer has no name,
// and "(no name)" if the buffer has neither name nor id.
[[nodiscard]] std::string name_of(const BufferHolder& holder);

// Sorts by the bytes that a holder takes in each bank. Holders of equal size keep their order.
void sort_largest_first(std::vector<BufferHolder>& holders);

// The memory of one process on one device, as the allocator of the process sees it. The allocator
// does not know the buffers of other processes.
struct DeviceMemory {
  const model::Device* device = nullptr;
  const model::Process* process = nullptr;
  collector::BankFacts facts{};
  PerKind<std::optional<collector::BankRegion>> regions{};
  PerKind<std::vector<BufferHolder>> holders{};  // sorted by address
  PerKind<std::uint64_t> without_address{};  // number of buffers without a known address or size
  std::vector<const model::Program*> programs{};
};

// One process on one device of a snapshot.
struct MemoryRef {
  std::size_t device = 0;   // index into Snapshot::devices
  std::size_t process = 0;  // index into Device::processes
};

// Returns all tracked processes on all devices. If `pid` is set, returns only the process with this
// pid, in this pid namespace or in the pid namespace of the process.
[[nodiscard]] std::vector<MemoryRef> memory_refs(const model::Snapshot& snapshot,
                                                 std::optional<std::int32_t> pid);

// Return the memory of a process on a device. outline() leaves out the holders and the programs,
// and takes almost no time. The snapshot must outlive the results.
[[nodiscard]] DeviceMemory outline(const model::Snapshot& snapshot, const MemoryRef& ref);
[[nodiscard]] DeviceMemory device_memory(const model::Snapshot& snapshot, const MemoryRef& ref);

// Returns the highest end of the program's CBs on a core, or 0 if the program has no CBs. CBs that
// are views of L1 buffers do not count.
[[nodiscard]] std::uint64_t cb_end_of(const model::Program& program);

}  // namespace ttmem::explain
