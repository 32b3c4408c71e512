// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "track/tracker/live_receipts.hpp"
#include "track/tracker/tracker.hpp"

namespace ttmem::tracker {

// The tracker of the C interface: has a function for each call of ttmem.h, with pointers replaced
// by spans. Keeps the receipts of allocations, and finds a receipt by the id of the allocation.
// ttmem.h describes the calls; the comments here say only what ttmem.h does not.
//
// A buffer of a mesh has one receipt, one slot and one event, and counts on each of its devices. It
// may be freed on some of its devices first: by buffer_free(), by mesh_buffer_free(), or when a
// device closes. The buffer then stays on its other devices. With an observer, each device of the
// mesh gets a buffer of its own, because the observer sends a message for each device.
//
// Not thread-safe: the caller holds a lock. Calls may throw std::bad_alloc; the tracker must not be
// used afterwards. A free of an unknown id, an allocation under a live id, bad arguments, and a
// segment that cannot grow are counted in the segment, and are no failure.
class IdTracker {
 public:
  // Fails if the segment cannot be created.
  [[nodiscard]] static Result<std::unique_ptr<IdTracker>> start(
      const segment::SegmentWriter::Options& options);
  explicit IdTracker(std::unique_ptr<segment::SegmentWriter> segment)
      : tracker_(std::move(segment)) {}

  // Devices, and what the process reports about them.
  void device_open(const ttmem_device_info& info);
  void device_close(std::uint32_t device);
  void set_reported(std::uint32_t device, std::uint32_t kinds) {
    tracker_.devices.set_reported(device, kinds);
  }
  void set_unseen(std::uint32_t kinds, const char* why) { tracker_.devices.set_unseen(kinds, why); }
  void set_cb_estimate(std::uint32_t device, bool is_estimate) {
    tracker_.devices.set_cb_estimate(device, is_estimate);
  }

  // Buffers, kernels, and CBs without an address. A list of devices must not be empty.
  // DeviceTable::mesh() defines which of the listed devices count.
  void buffer_alloc(std::uint32_t device, const ttmem_buffer& buffer);
  void buffer_free(std::uint32_t device, std::uint32_t type, std::uint64_t id);
  void mesh_buffer_alloc(std::span<const std::uint32_t> devices, const ttmem_buffer& buffer);
  void mesh_buffer_free(std::span<const std::uint32_t> devices, std::uint32_t type,
                        std::uint64_t id);
  void kernel_load(std::uint32_t device, std::uint64_t kernel, std::uint64_t bytes,
                   std::uint32_t role, bool is_estimate);
  void kernel_unload(std::uint32_t device, std::uint64_t kernel);
  void cb_alloc(std::uint32_t device, std::uint64_t cb, std::uint64_t bytes);
  void cb_free(std::uint32_t device, std::uint64_t cb);

  // Programs. A null or empty `name` keeps the name of the program.
  void program_place(std::uint32_t device, std::uint64_t program, std::span<const ttmem_cb> cbs,
                     const char* name = nullptr);
  void mesh_program_place(std::span<const std::uint32_t> devices, std::uint64_t program,
                          std::span<const ttmem_cb> cbs, const char* name = nullptr) {
    tracker_.programs.place(tracker_.devices.mesh(devices).devices, program, cbs, name);
  }
  void program_dispatch(std::uint32_t device, std::uint64_t program);
  void mesh_program_dispatch(std::span<const std::uint32_t> devices, std::uint64_t program) {
    tracker_.programs.dispatch(tracker_.devices.mesh(devices).devices, program);
  }
  void trace_replay(std::uint32_t device, std::span<const std::uint64_t> programs);
  void program_destroy(std::uint64_t program) { tracker_.programs.destroy(program); }

  // The process: scopes, marks, failures, dropped calls, the observer, and the segment.
  [[nodiscard]] TextTable& texts() noexcept { return tracker_.process.texts(); }
  void set_scope(std::uint32_t scope) noexcept { tracker_.process.set_scope(scope); }
  void mark(const char* name) { tracker_.process.mark(name); }
  void report_failure(std::string_view text) { tracker_.failures.report(text); }
  void forget_failure() noexcept { tracker_.failures.forget(); }
  void count_dropped_calls(std::uint64_t calls) noexcept {
    tracker_.process.count_dropped_calls(calls);
  }
  void set_observer(Observer* observer) noexcept { tracker_.process.set_observer(observer); }
  [[nodiscard]] segment::SegmentWriter& segment() const noexcept {
    return tracker_.process.segment();
  }

 protected:
  Tracker tracker_;  // tests use its parts

 private:
  [[nodiscard]] LiveReceipts& live(const TrackedDevice& device, Kind kind) noexcept {
    return live_[device.record_index][kind];
  }
  void allocate(TrackedDevice& device, const AllocationRequest& request);
  // Releases `live`, because a new allocation of `used_bytes` has the same id. If the device has no
  // room for the new allocation, counts a bad argument and returns false instead.
  [[gnu::noinline]] bool release_old(TrackedDevice& device, const LiveReceipt& live,
                                     std::uint64_t used_bytes);
  void release(TrackedDevice& device, Kind kind, std::uint64_t id);

  void allocate_on(MeshPart& part, const AllocationRequest& request);
  // Returns the members of `devices` that have room for a new buffer, and frees live buffers with
  // the same id on them. Counts a bad argument on each device without room.
  [[gnu::noinline]] DeviceMask make_way(DeviceMask devices, Kind kind, std::uint64_t id,
                                        std::uint64_t used_bytes);
  // Releases the buffer of a mesh on one of its devices. Counts an unknown free if there is no
  // buffer with this id.
  [[gnu::noinline]] void release_of_mesh(TrackedDevice& device, Kind kind, std::uint64_t id);
  [[gnu::noinline]] void release_each(DeviceMask devices, Kind kind, std::uint64_t id);
  void release_part(MeshReceipt& live, const DeviceMask& devices);
  // Returns the buffer with this id that lies on any of these devices, or null.
  [[nodiscard]] MeshReceipt* find_mesh(const DeviceMask& on_any, Kind kind,
                                       std::uint64_t id) noexcept;
  // Returns the ids of the buffers of meshes on the device.
  [[nodiscard]] std::vector<std::uint64_t> mesh_buffers_on(const DeviceMask& device, Kind kind);
  void forget(MeshReceipt& live, const DeviceMask& devices) noexcept;

  std::array<PerKind<LiveReceipts>, segment::kMaxDevices> live_;  // by record
  PerKind<MeshReceipts> mesh_live_;
};

}  // namespace ttmem::tracker
