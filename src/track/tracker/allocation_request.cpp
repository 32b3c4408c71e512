// SPDX-License-Identifier: Apache-2.0
#include "track/tracker/allocation_request.hpp"

#include <algorithm>
#include <span>

#include "base/limits.hpp"
#include "base/raw_enum.hpp"

namespace ttmem::tracker {
namespace {

constexpr std::uint32_t kRefused = 0xffffffff;

static_assert(TTMEM_BUFFER_INTERLEAVED >> 1 == segment::kInterleaved &&
              TTMEM_BUFFER_SHARDED >> 1 == segment::kSharded &&
              TTMEM_BUFFER_BOTTOM_UP >> 1 == segment::kBottomUp &&
              TTMEM_BUFFER_TOP_DOWN >> 1 == segment::kTopDown);

std::uint8_t layout_bits(const ttmem_buffer& buffer, std::uint64_t page_bytes) {
  constexpr std::uint32_t all =
      segment::kInterleaved | segment::kSharded | segment::kBottomUp | segment::kTopDown;
  return static_cast<std::uint8_t>((buffer.flags >> 1 & all) |
                                   (page_bytes != 0 ? segment::kHasPages : 0));
}

// Returns the number of the last DRAM bank in the ranges, plus one.
std::uint32_t last_bank(std::span<const ttmem_core_range> ranges) {
  std::uint32_t last = 0;
  for (const ttmem_core_range& range : ranges) last = std::max(last, range.x1 + 1U);
  return last;
}

// Returns the number of banks in the ranges. For L1, adds the cores to `cores`. Returns kRefused if
// the number is impossible. Does not take the request as an argument, because taking its address
// would force the request into memory (5 ns).
[[gnu::noinline]] std::uint32_t banks_on(TrackedDevice& device, Kind kind,
                                         std::span<const ttmem_core_range> ranges,
                                         CoreMask& cores) {
  if (!is_in_dram(kind)) {
    if (!device.mask_of(ranges, cores)) device.count_bad_argument();
    return cores.count();
  }
  // The "cores" of a sharded DRAM buffer are banks, not compute cores. Only their number matters.
  std::uint64_t banks = 0;
  for (const ttmem_core_range& range : ranges) {
    const bool ordered = range.x0 <= range.x1 && range.y0 <= range.y1;
    if (!ordered) device.count_bad_argument();
    if (ordered) banks += std::uint64_t{range.x1 - range.x0 + 1U} * (range.y1 - range.y0 + 1U);
  }
  if (banks <= kMaxBanks) return static_cast<std::uint32_t>(banks);
  device.count_bad_argument();
  return kRefused;
}

}  // namespace

bool fill_buffer_request(TrackedDevice& device, const ttmem_buffer& buffer,
                         AllocationRequest& request) {
  const std::uint32_t type = raw_value(buffer.type);
  const bool ends = buffer.bytes_per_bank <= ~buffer.address;  // address + size does not overflow
  if (type >= kBufferKinds.size() || buffer.bytes > kMaxBytes ||
      buffer.bytes_per_bank > kMaxBytes || !ends) {
    device.count_bad_argument();
    return false;
  }
  request.kind = kBufferKinds[type];
  request.id = buffer.id != 0 ? buffer.id : buffer.address;
  request.address = buffer.address;
  request.has_address = true;
  request.bytes = buffer.bytes;
  request.bytes_per_bank = buffer.bytes_per_bank;
  // No figure depends on the page size. So an impossible page size counts as unknown, and not as a
  // bad argument.
  request.page_bytes = buffer.page_bytes <= kMaxBytes ? buffer.page_bytes : 0;
  request.layout = layout_bits(buffer, request.page_bytes);
  request.label = buffer.label;
  if (buffer.cores == nullptr || buffer.core_ranges == 0) {
    request.banks = device.banks_of(request.kind);
    return true;
  }
  CoreMask cores;
  const std::uint32_t named =
      banks_on(device, request.kind, {buffer.cores, buffer.core_ranges}, cores);
  if (named == kRefused) return false;
  // Without this flag the allocator works in lockstep: a shard on one core takes its address range
  // on all cores.
  request.has_own_banks = (buffer.flags & TTMEM_BUFFER_OWN_BANKS) != 0;
  request.banks = request.has_own_banks ? named : device.banks_of(request.kind);
  request.has_cores = !is_in_dram(request.kind);
  if (request.has_cores) {
    request.cores = cores;
  } else {
    request.shard_banks = last_bank({buffer.cores, buffer.core_ranges});
  }
  return true;
}

bool fill_kernel_request(TrackedDevice& device, std::uint64_t kernel, std::uint64_t bytes,
                         std::uint32_t role, bool is_estimate, AllocationRequest& request) {
  if (role > TTMEM_KERNEL_DISPATCH || bytes > kMaxBytes) {
    device.count_bad_argument();
    return false;
  }
  request.kind = Kind::kernel;
  request.role = static_cast<std::uint8_t>(role);
  request.is_estimate = is_estimate;
  request.id = kernel;
  request.bytes = bytes;
  return true;
}

bool fill_cb_request(TrackedDevice& device, std::uint64_t cb, std::uint64_t bytes,
                     AllocationRequest& request) {
  if (bytes > kMaxBytes) {
    device.count_bad_argument();
    return false;
  }
  request.kind = Kind::cb;
  request.id = cb;
  request.bytes = bytes;
  return true;
}

}  // namespace ttmem::tracker
