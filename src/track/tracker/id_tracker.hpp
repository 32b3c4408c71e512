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
#include "track/tracker/live_allocation.hpp"
#include "track/tracker/tracker.hpp"

namespace ttmem::tracker {

// A tracker for callers that free by id, as the C interface does: it finds the receipts. Calls
// about devices and programs go to core(), except device_open() and device_close().
//
// A buffer of a mesh has one receipt, one slot and one event, and counts on each of its devices. It
// may be freed on some of them first, by either free; the others keep it, as they do when one of
// its devices closes. With an observer it is one buffer per device, since messages are.
//
// A free of an unknown id and an allocation under a live id are counted in the segment, and are no
// failure. Threads and exceptions are as for Tracker.
class IdTracker {
 public:
  // Fails when the segment cannot be created.
  [[nodiscard]] static Result<std::unique_ptr<IdTracker>> start(
      const segment::SegmentWriter::Options& options);

  [[nodiscard]] Tracker& core() noexcept { return core_; }

  void device_open(const ttmem_device_info& info);
  void device_close(std::uint32_t device);
  void buffer_alloc(std::uint32_t device, const ttmem_buffer& buffer);
  void buffer_free(std::uint32_t device, std::uint32_t type, std::uint64_t id);
  // `devices` is not empty; Tracker::mesh() says what of it counts.
  void mesh_buffer_alloc(std::span<const std::uint32_t> devices, const ttmem_buffer& buffer);
  void mesh_buffer_free(std::span<const std::uint32_t> devices, std::uint32_t type,
                        std::uint64_t id);
  // Gives a kernel that is loaded already its new size.
  void kernel_load(std::uint32_t device, std::uint64_t kernel, std::uint64_t bytes,
                   std::uint32_t role, bool is_estimate);
  void kernel_unload(std::uint32_t device, std::uint64_t kernel);
  // A CB that is live already counts once, at its largest size, and needs one more free.
  void cb_alloc(std::uint32_t device, std::uint64_t cb, std::uint64_t bytes);
  void cb_free(std::uint32_t device, std::uint64_t cb);

 private:
  explicit IdTracker(std::unique_ptr<segment::SegmentWriter> segment) : core_(std::move(segment)) {}

  [[nodiscard]] LiveTable& live(const Device& device, Kind kind) noexcept {
    return live_[device.record_index][kind];
  }
  void allocate(Device& device, const Request& request);
  // Releases `live`, whose id a new allocation of `used_bytes` has. False when that is refused.
  [[gnu::noinline]] bool release_old(Device& device, const LiveAllocation& live,
                                     std::uint64_t used_bytes);
  void release(Device& device, Kind kind, std::uint64_t id);

  void allocate_on(MeshPart& part, const Request& request);
  // Of the devices, those that can take the buffer. It is then live on none of them.
  [[gnu::noinline]] DeviceMask make_way(DeviceMask devices, Kind kind, std::uint64_t id,
                                        std::uint64_t used_bytes);
  // Releases the buffer of a mesh on one of its devices. Counts an unknown free if there is none.
  [[gnu::noinline]] void release_of_mesh(Device& device, Kind kind, std::uint64_t id);
  [[gnu::noinline]] void release_each(DeviceMask devices, Kind kind, std::uint64_t id);
  void release_part(MeshAllocation& live, const DeviceMask& devices);
  [[nodiscard]] MeshAllocation* find_mesh(const DeviceMask& on_any, Kind kind,
                                          std::uint64_t id) noexcept;
  [[nodiscard]] std::vector<std::uint64_t> mesh_buffers_on(const DeviceMask& device, Kind kind);
  void forget(MeshAllocation& live, const DeviceMask& devices) noexcept;

  Tracker core_;
  std::array<PerKind<LiveTable>, segment::kMaxDevices> live_;  // by record
  PerKind<MeshTable> meshes_;
};

}  // namespace ttmem::tracker
