// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segment/writer/segment_writer.hpp"
#include "track/tracker/allocation_request.hpp"
#include "track/tracker/device_table.hpp"
#include "track/tracker/receipt.hpp"
#include "track/tracker/tracked_process.hpp"

namespace ttmem::tracker {

// Writes allocations into the segment: buffers, kernels, and CBs without an address. Each
// allocation changes the figures of its device, and has a slot and an event. A buffer of a mesh
// changes the figures of each of its devices, and has one slot and one event.
//
// Does not find allocations by id. allocate() fills a receipt, which the caller keeps and passes to
// one release function. An allocation without a slot, because the segment has no room for another
// slot, is in the figures and not in the list; that is no failure.
//
// Not thread-safe. A function that is not noexcept may throw std::bad_alloc; the tracker must not
// be used afterwards.
class AllocationTracker {
 public:
  // `process` and `devices` must outlive this object.
  AllocationTracker(TrackedProcess& process, DeviceTable& devices) noexcept
      : process_(process), segment_(process.segment()), devices_(devices) {}
  AllocationTracker(const AllocationTracker&) = delete;
  AllocationTracker& operator=(const AllocationTracker&) = delete;

  // Adds an allocation to the device. Returns false, and counts a bad argument, if the bytes of the
  // kind would exceed kMaxTotalBytes.
  [[nodiscard]] bool allocate(TrackedDevice& device, const AllocationRequest& request,
                              std::uint64_t now_ns, Receipt& receipt);
  // Removes the allocation from the device.
  void release(TrackedDevice& device, const Receipt& receipt, std::uint64_t now_ns);
  // Gives the allocation and its receipt another size. Changes nothing, and counts a bad argument,
  // if the bytes of the kind would exceed kMaxTotalBytes.
  void resize(TrackedDevice& device, const AllocationRequest& request, Receipt& receipt,
              std::uint64_t now_ns);
  // Removes an allocation that is live when its device closes. Writes no event. Counts the
  // allocation in the anomaly left_at_close, unless it is a persistent kernel.
  void release_at_close(TrackedDevice& device, const Receipt& receipt);

  // Adds a buffer to each of `devices`, which have the same shape. The caller has checked that each
  // device has room for the bytes, and that the process has no observer. `set` is the number that
  // identifies `devices` in the segment. If the segment has no room for the set, `set` is 0 and the
  // buffer gets no slot.
  void allocate_on(const DeviceMask& devices, std::uint32_t set, const AllocationRequest& request,
                   std::uint64_t now_ns, Receipt& receipt);
  // Removes the buffer from `devices`, which `set` identifies in the segment. The buffer stays on
  // the devices of `rest`.
  void release_on(const DeviceMask& devices, std::uint32_t set, const DeviceMask& rest,
                  Receipt& receipt, std::uint64_t now_ns);
  // Removes a buffer of a mesh from `device`, which closes. The buffer stays on the devices of
  // `rest`. Otherwise like release_at_close().
  void release_on_at_close(TrackedDevice& device, const DeviceMask& rest, Receipt& receipt);
  // Makes the part of a buffer that lies on `device` a buffer of its own, and returns the receipt
  // of that buffer. The buffer of `receipt` stays on the devices of `rest`. No figure changes.
  [[nodiscard]] Receipt split_off(TrackedDevice& device, const DeviceMask& rest, Receipt& receipt);
  // Returns true if the slot of the allocation contains a set of cores.
  [[nodiscard]] bool is_on_cores(const Receipt& receipt) const noexcept;

  // Converts the core numbers of the buffers on `device` to a grid that just became known. The old
  // numbers assume a grid with `columns_before` columns.
  void renumber_cores(TrackedDevice& device, std::uint32_t columns_before) noexcept;

 private:
  enum class Direction : bool { add, remove };
  // The place of an allocation, as slots and events store the place.
  struct Location {
    // For a set: its number. For a device: the index of its record in a slot, its id in an event.
    std::uint32_t number;
    bool is_set = false;
  };

  static void account(DeviceRecord& record, const Receipt& receipt, Direction direction) noexcept;
  static void fill_receipt(const AllocationRequest& request, Receipt& receipt) noexcept;
  void write_slot(Location location, const AllocationRequest& request, const Receipt& receipt,
                  std::uint64_t born, std::uint64_t now_ns) noexcept;
  [[nodiscard]] static std::uint8_t flags_of(Location location,
                                             const AllocationRequest& request) noexcept;
  void write_alloc_event(Location location, const AllocationRequest& request,
                         const Receipt& receipt, std::uint64_t now_ns) noexcept;
  void write_free_event(Location location, const Receipt& receipt, std::uint64_t now_ns) noexcept;
  // Writes an event with the new contents of a slot that changed although no call named the
  // allocation. Does nothing unless a recorder reads the events.
  void rewrite_event(std::uint32_t slot) noexcept;
  [[gnu::noinline]] std::uint32_t number_of_label(const char* label) noexcept;
  void clear_slot(const Receipt& receipt);
  static void count_left_at_close(TrackedDevice& device, const Receipt& receipt) noexcept;
  void move_slot(const DeviceMask& devices, Receipt& receipt);
  // Calls write(location) once for a set that has a number, otherwise for each device.
  template <typename Write>
  void for_events(const DeviceMask& devices, std::uint32_t set, Write&& write);

  TrackedProcess& process_;
  segment::SegmentWriter& segment_;  // of process_; saves a load in each call
  DeviceTable& devices_;
};

}  // namespace ttmem::tracker
