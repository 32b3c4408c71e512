// SPDX-License-Identifier: Apache-2.0
#include "read/collector/core_geometry.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "read/collector/core_partition.hpp"

namespace ttmem::collector {
namespace {

using segment::LiveAllocation;

// Returns the banks in which a buffer takes its range. With lockstep, some of these banks hold no
// data of the buffer.
CoreMask banks_of(const LiveAllocation& allocation) {
  const CoreMask all = CoreMask::first(kMaxCores);
  return allocation.own_banks ? allocation.cores.value_or(all) : all;
}

void add_buffer(const LiveAllocation& buffer, const CoreMask& grid,
                std::vector<CoreState>& states) {
  (banks_of(buffer) & grid).for_each([&](std::uint32_t core) {
    CoreState& state = states[core];
    const bool has_data = !buffer.cores || buffer.cores->test(core);
    add_to(state.l1_bytes, buffer.bytes_per_bank);
    if (has_data) add_to(state.l1_data_bytes, buffer.bytes_per_bank);
    if (!buffer.address) return;
    state.lowest_l1 = std::min(state.lowest_l1.value_or(*buffer.address), *buffer.address);
  });
}

// Returns the bytes that the buffer takes in banks without any of its data.
model::Bytes lockstep_bytes_of(const LiveAllocation& buffer) {
  if (!buffer.cores || buffer.own_banks) return 0;
  if (!buffer.bytes_per_bank || !buffer.banks) return std::nullopt;
  const std::uint32_t with_data = std::min(buffer.cores->count(), *buffer.banks);
  return saturating_mul(*buffer.bytes_per_bank, *buffer.banks - with_data);
}

// Counts the overlaps among `buffers`, which are all of one kind. Visits the buffers in ascending
// order of address, and keeps the highest end of the visited buffers for each class of banks. Banks
// that hold the same buffers form one class.
std::uint64_t overlaps_of_type(std::vector<const LiveAllocation*>& buffers) {
  std::sort(buffers.begin(), buffers.end(), [](const LiveAllocation* a, const LiveAllocation* b) {
    // Sorts by size and id too, so that the count does not depend on the order of the list.
    return std::tie(a->address, a->bytes_per_bank, a->id) <
           std::tie(b->address, b->bytes_per_bank, b->id);
  });
  std::vector<CoreMask> masks;
  masks.reserve(buffers.size());
  for (const LiveAllocation* buffer : buffers) masks.push_back(banks_of(*buffer));
  const std::vector<CoreMask> classes = partition_cores(masks);
  std::vector<std::uint64_t> ends(classes.size(), 0);
  std::uint64_t overlaps = 0;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const std::uint64_t begin = *buffers[b]->address;
    const std::uint64_t end = saturating_add(begin, buffers[b]->bytes_per_bank.value_or(1));
    bool inside = false;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (!masks[b].test(classes[c].lowest())) continue;
      inside = inside || begin < ends[c];
      ends[c] = std::max(ends[c], end);
    }
    overlaps += inside ? 1 : 0;
  }
  return overlaps;
}

}  // namespace

std::vector<CoreState> core_states(const segment::DeviceImage& device, AllocationRefs allocations,
                                   bool all_listed) {
  std::vector<CoreState> states(device.cores.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].cb_bytes = device.cores[i].cb_bytes;
    states[i].cb_resident_bytes = device.cores[i].cb_resident_bytes;
    states[i].cb_end = device.cores[i].cb_end;
  }
  const CoreMask grid = CoreMask::first(static_cast<std::uint32_t>(states.size()));
  for (const LiveAllocation* allocation : allocations) {
    if (allocation->kind == Kind::l1) add_buffer(*allocation, grid, states);
  }
  if (all_listed) return states;
  for (CoreState& state : states) {
    state.l1_bytes.reset();
    state.l1_data_bytes.reset();
    state.lowest_known = false;
  }
  return states;
}

void merge_core(CoreState& into, const CoreState& other) {
  into.cb_bytes += other.cb_bytes;  // no overflow, because each summand is below 2^32
  into.cb_resident_bytes += other.cb_resident_bytes;
  into.cb_end = std::max(into.cb_end, other.cb_end);
  add_to(into.l1_bytes, other.l1_bytes);
  add_to(into.l1_data_bytes, other.l1_data_bytes);
  if (other.lowest_l1) {
    into.lowest_l1 = std::min(into.lowest_l1.value_or(*other.lowest_l1), *other.lowest_l1);
  }
  into.lowest_known = into.lowest_known && other.lowest_known;
}

std::optional<std::int64_t> headroom(const CoreState& core, const L1Limits& limits) {
  if (limits.l1_bytes_per_core == 0 || limits.l1_base == 0 || !core.lowest_known) {
    return std::nullopt;
  }
  const auto number = [](std::uint64_t value) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(value, most));
  };
  const std::int64_t top =
      core.lowest_l1 ? number(*core.lowest_l1)
                     : number(limits.l1_bytes_per_core) - number(limits.l1_small_bytes_per_core);
  return top - number(core.cb_end != 0 ? core.cb_end : limits.l1_base);
}

std::uint64_t count_overlaps(AllocationRefs allocations) {
  std::uint64_t overlaps = 0;
  std::vector<const LiveAllocation*> buffers;
  for (const Kind kind : kBankKinds) {
    buffers.clear();
    std::copy_if(allocations.begin(), allocations.end(), std::back_inserter(buffers),
                 [&](const LiveAllocation* allocation) {
                   return allocation->kind == kind && allocation->address;
                 });
    overlaps += overlaps_of_type(buffers);
  }
  return overlaps;
}

PerKind<model::Bytes> lockstep_bytes(AllocationRefs allocations, bool all_listed) {
  PerKind<model::Bytes> sums{};
  for (const Kind kind : {Kind::l1, Kind::l1_small}) {
    if (!all_listed) continue;
    sums[kind] = 0;
    for (const LiveAllocation* allocation : allocations) {
      if (allocation->kind == kind) add_to(sums[kind], lockstep_bytes_of(*allocation));
    }
  }
  return sums;
}

std::vector<DeviceGeometry> geometry_of(const segment::SegmentImage& image) {
  std::vector<std::vector<const LiveAllocation*>> on_device(image.devices.size());
  for (const LiveAllocation& allocation : image.allocations) {
    for (const std::uint32_t device : devices_of(allocation)) {
      on_device[device].push_back(&allocation);
    }
  }
  const bool all_listed = image.dropped_allocations == 0 && image.invalid_records == 0;
  std::vector<DeviceGeometry> geometry;
  for (std::size_t d = 0; d < image.devices.size(); ++d) {
    geometry.push_back({core_states(image.devices[d], on_device[d], all_listed),
                        lockstep_bytes(on_device[d], all_listed), count_overlaps(on_device[d]),
                        taken_by(on_device[d], all_listed)});
  }
  return geometry;
}

}  // namespace ttmem::collector
