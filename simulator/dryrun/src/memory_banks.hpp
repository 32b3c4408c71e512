// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <unordered_set>

#include "read/placement/free_list.hpp"
#include "read/placement/memory_map.hpp"
#include "system.hpp"

namespace tt::tt_metal::dryrun {

// Returns "DRAM", "L1", ...
const char* to_string(BufferType type);

// The memory of a chip, and the cores with L1 banks.
struct BanksConfig {
  CoreRangeSet compute_cores;
  ttmem::placement::MemoryMap map;

  // Throws if the sizes do not fit into the board's memory.
  static BanksConfig make(const Board& board, CoreCoord compute_grid,
                          const ttmem::placement::OpenSizes& sizes);

  // Returns the configuration of the L1 of a sub-device on these cores. It has no DRAM and no other
  // memory.
  BanksConfig of_sub_device(const CoreRangeSet& cores, DeviceAddr local_l1_bytes) const;
};

// The memory banks of one chip, or of all chips of a mesh. They are allocated in lockstep: each
// buffer takes the same address range in all banks of its type. So there is one free list for each
// type.
//
// Buffers share ownership of the banks, so that buffers can outlive their device. All methods may
// be called from any thread.
class MemoryBanks {
 public:
  explicit MemoryBanks(const BanksConfig& config);

  const BanksConfig& config() const { return config_; }

  // Throws, and changes nothing, if there is no room.
  DeviceAddr allocate(Buffer* buffer);
  void deallocate(Buffer* buffer);

  // Call this when the device is gone. Buffers that still exist free nothing from then on.
  void close() { closed_.store(true, std::memory_order_release); }
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // These functions throw for SYSTEM_MEMORY.
  std::uint32_t num_banks(BufferType type) const;
  DeviceAddr bank_size(BufferType type) const;
  std::uint32_t alignment(BufferType type) const;
  Statistics statistics(BufferType type) const;

  bool has_bank(BufferType type, const CoreCoord& core) const;
  // Reserves the lowest `bytes` of L1. 0 ends the reservation. Throws, and changes nothing, if L1
  // has fewer bytes, or if a buffer lies in these bytes.
  void reserve_l1_below(DeviceAddr bytes);
  std::optional<DeviceAddr> lowest_occupied_l1_address() const;
  std::unordered_set<Buffer*> allocated_buffers() const;

  // Describes the L1 buffers that begin below `end`: one line for each of the five lowest, then the
  // number of others.
  std::string describe_l1_buffers_below(DeviceAddr end) const;

 private:
  struct Bank {
    std::uint32_t count;
    ttmem::placement::FreeList space;
    std::map<DeviceAddr, Buffer*> holders;
  };

  Bank& bank(BufferType type);
  const Bank& bank(BufferType type) const { return const_cast<MemoryBanks*>(this)->bank(type); }

  const BanksConfig config_;
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;  // guards the members below
  Bank dram_;
  Bank trace_;
  Bank l1_;
  Bank l1_small_;
};

}  // namespace tt::tt_metal::dryrun

namespace tt::tt_metal {

// TT-Metal's name for the implementation of an allocator; see IDevice::allocator_impl.
class AllocatorImpl {
 public:
  explicit AllocatorImpl(const dryrun::BanksConfig& config)
      : banks_(std::make_shared<dryrun::MemoryBanks>(config)) {}

  const std::shared_ptr<dryrun::MemoryBanks>& banks() const { return banks_; }

 private:
  std::shared_ptr<dryrun::MemoryBanks> banks_;
};

}  // namespace tt::tt_metal
