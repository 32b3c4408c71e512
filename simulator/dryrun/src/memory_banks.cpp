// SPDX-License-Identifier: Apache-2.0
#include "memory_banks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "error.hpp"
#include "read/placement/bytes_per_bank.hpp"

namespace tt::tt_metal::dryrun {

using ttmem::Kind;
using ttmem::placement::FreeList;
using ttmem::placement::MemoryMap;

namespace {

FreeList space_of(const MemoryMap& map, Kind kind) {
  const auto region = map.region(kind);
  return {region.begin, region.bytes(), map.step()};
}

// The number of holders that an error message names.
constexpr std::size_t kNamedHolders = 5;

// A buffer with its address. The address is kept here, because another thread may be writing the
// buffer's own address.
using Holder = std::pair<DeviceAddr, const Buffer*>;

std::string describe(const Holder& holder) {
  const auto& [address, buffer] = holder;
  const std::string layout = is_sharded(buffer->buffer_layout())
                                 ? cat("sharded over ", buffer->num_cores().value_or(0), " cores")
                                 : "interleaved";
  return cat("\n  buffer ", buffer->unique_id(), ": ", buffer->aligned_size_per_bank(),
             " B per bank at ", address, " (", buffer->size(), " B ",
             to_string(buffer->buffer_type()), ", ", layout, ")");
}

// Describes the first holders, and says how many others there are.
std::string describe_some(const std::vector<Holder>& holders) {
  std::string text;
  const std::size_t named = std::min(holders.size(), kNamedHolders);
  for (std::size_t i = 0; i < named; ++i) text += describe(holders[i]);
  if (holders.size() > named) text += cat("\n  and ", holders.size() - named, " more");
  return text;
}

std::string describe_largest(const std::map<DeviceAddr, Buffer*>& all) {
  if (all.empty()) return "\nNothing holds memory of this type: the bank itself is too small.";
  std::vector<Holder> holders(all.begin(), all.end());
  std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return a.second->aligned_size_per_bank() > b.second->aligned_size_per_bank();
  });
  return "\nLargest holders:" + describe_some(holders);
}

}  // namespace

const char* to_string(BufferType type) {
  switch (type) {
    case BufferType::DRAM:
      return "DRAM";
    case BufferType::L1:
      return "L1";
    case BufferType::SYSTEM_MEMORY:
      return "SYSTEM_MEMORY";
    case BufferType::L1_SMALL:
      return "L1_SMALL";
    case BufferType::TRACE:
      return "TRACE";
  }
  return "unknown";
}

BanksConfig BanksConfig::make(const Board& board, CoreCoord compute_grid,
                              const ttmem::placement::OpenSizes& sizes) {
  const auto map = MemoryMap::make(board, sizes);
  if (!map) fail(map.error().message);
  return {CoreRange({0, 0}, {compute_grid.x - 1, compute_grid.y - 1}), *map};
}

BanksConfig BanksConfig::of_sub_device(const CoreRangeSet& cores, DeviceAddr local_l1_bytes) const {
  return {cores, map.of_sub_device(local_l1_bytes)};
}

MemoryBanks::MemoryBanks(const BanksConfig& config)
    : config_(config),
      dram_{config.map.dram_channels, space_of(config.map, Kind::dram), {}},
      trace_{config.map.dram_channels, space_of(config.map, Kind::trace), {}},
      l1_{config.compute_cores.num_cores(), space_of(config.map, Kind::l1), {}},
      l1_small_{config.map.l1_small_bytes == 0 ? 0 : l1_.count,
                space_of(config.map, Kind::l1_small),
                {}} {}

MemoryBanks::Bank& MemoryBanks::bank(BufferType type) {
  switch (type) {
    case BufferType::DRAM:
      return dram_;
    case BufferType::TRACE:
      return trace_;
    case BufferType::L1:
      return l1_;
    case BufferType::L1_SMALL:
      return l1_small_;
    case BufferType::SYSTEM_MEMORY:
      break;
  }
  fail("Unsupported buffer type!");
}

DeviceAddr MemoryBanks::allocate(Buffer* buffer) {
  const BufferType type = buffer->buffer_type();
  const auto shards = buffer->num_cores();
  require(type != BufferType::L1_SMALL || shards.has_value(),
          "L1_SMALL only supports sharded allocations, see validate_num_banks");
  require(!shards || *shards <= l1_.count, "Expected number of shards ", shards.value_or(0),
          " to be less than or equal to total number of L1 banks ", l1_.count, " in compute cores");
  const DeviceAddr size_per_bank = buffer->aligned_size_per_bank();

  std::lock_guard lock(mutex_);
  Bank& target = bank(type);
  const auto address = target.space.allocate(size_per_bank, buffer->bottom_up());
  if (!address) {
    const FreeList::Statistics statistics = target.space.statistics();
    fail_for_memory("Out of Memory: Not enough space to allocate ", buffer->aligned_size(), " B ",
                    to_string(type), " buffer across ", shards.value_or(target.count),
                    " banks, where each bank needs to store ", size_per_bank,
                    " B, but bank size is ", target.space.size(),
                    " B (allocated: ", statistics.allocated_bytes,
                    " B, free: ", statistics.free_bytes,
                    " B, largest free block: ", statistics.largest_free_block_bytes, " B)",
                    describe_largest(target.holders));
  }
  target.holders.emplace(*address, buffer);
  return *address;
}

void MemoryBanks::deallocate(Buffer* buffer) {
  std::lock_guard lock(mutex_);
  Bank& target = bank(buffer->buffer_type());
  target.space.deallocate(buffer->address());
  target.holders.erase(buffer->address());
}

std::uint32_t MemoryBanks::num_banks(BufferType type) const { return bank(type).count; }

DeviceAddr MemoryBanks::bank_size(BufferType type) const { return bank(type).space.size(); }

std::uint32_t MemoryBanks::alignment(BufferType type) const {
  // This call is only a check. It throws if the type has no banks.
  bank(type);
  const bool is_l1 = type == BufferType::L1 || type == BufferType::L1_SMALL;
  return config_.map.page_alignment(is_l1 ? Kind::l1 : Kind::dram);
}

Statistics MemoryBanks::statistics(BufferType type) const {
  std::lock_guard lock(mutex_);
  const FreeList::Statistics of = bank(type).space.statistics();
  return {.total_allocatable_size_bytes = of.total_bytes,
          .total_allocated_bytes = of.allocated_bytes,
          .total_free_bytes = of.free_bytes,
          .largest_free_block_bytes = of.largest_free_block_bytes};
}

bool MemoryBanks::has_bank(BufferType type, const CoreCoord& core) const {
  if (type == BufferType::DRAM || type == BufferType::TRACE) {
    return core.x < config_.map.dram_channels && core.y == 0;
  }
  return config_.compute_cores.contains(core);
}

void MemoryBanks::reserve_l1_below(DeviceAddr bytes) {
  std::lock_guard lock(mutex_);
  const auto [begin, end] = config_.map.region(Kind::l1);
  const DeviceAddr all = end - begin;
  require(bytes <= all, "Shrink size ", bytes, " must be smaller than max size ", all);
  const auto lowest = l1_.space.lowest_occupied_address();
  require(!lowest || *lowest >= begin + bytes, "Shrink size ", bytes,
          " cuts into allocated block at address ", lowest.value_or(0) - begin);
  l1_.space.reserve_below(bytes);
}

std::optional<DeviceAddr> MemoryBanks::lowest_occupied_l1_address() const {
  std::lock_guard lock(mutex_);
  return l1_.space.lowest_occupied_address();
}

std::unordered_set<Buffer*> MemoryBanks::allocated_buffers() const {
  std::lock_guard lock(mutex_);
  std::unordered_set<Buffer*> buffers;
  for (const Bank* each : {&dram_, &trace_, &l1_, &l1_small_}) {
    for (const auto& [address, buffer] : each->holders) buffers.insert(buffer);
  }
  return buffers;
}

std::string MemoryBanks::describe_l1_buffers_below(DeviceAddr end) const {
  std::lock_guard lock(mutex_);
  return describe_some({l1_.holders.begin(), l1_.holders.lower_bound(end)});
}

}  // namespace tt::tt_metal::dryrun

namespace tt::tt_metal {

std::unordered_set<Buffer*> Allocator::get_allocated_buffers() const {
  return impl_->banks()->allocated_buffers();
}
std::uint32_t Allocator::get_num_banks(const BufferType& buffer_type) const {
  return impl_->banks()->num_banks(buffer_type);
}
DeviceAddr Allocator::get_bank_size(const BufferType& buffer_type) const {
  return impl_->banks()->bank_size(buffer_type);
}
DeviceAddr Allocator::get_base_allocator_addr(const HalMemType& mem_type) const {
  const auto& map = impl_->banks()->config().map;
  dryrun::require(mem_type == HalMemType::DRAM || mem_type == HalMemType::L1,
                  "Allocator does not support allocating in this memory type");
  return mem_type == HalMemType::DRAM ? map.dram_base : map.l1_base;
}
std::uint32_t Allocator::get_alignment(BufferType buffer_type) const {
  return impl_->banks()->alignment(buffer_type);
}
std::size_t Allocator::get_worker_l1_size() const { return impl_->banks()->config().map.l1_bytes; }
Statistics Allocator::get_statistics(const BufferType& buffer_type) const {
  return impl_->banks()->statistics(buffer_type);
}

DeviceAddr detail::calculate_bank_size_spread(DeviceAddr size_bytes, DeviceAddr page_size_bytes,
                                              std::uint32_t num_banks,
                                              std::uint32_t alignment_bytes) {
  return ttmem::placement::bytes_per_bank(size_bytes, page_size_bytes, num_banks, alignment_bytes);
}

}  // namespace tt::tt_metal
