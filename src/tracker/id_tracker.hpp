// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/kinds.hpp"
#include "base/result.hpp"
#include "tracker/live_allocation.hpp"
#include "tracker/tracker.hpp"

namespace ttmem::tracker {

// A tracker for callers that free by id, as the C interface does: it finds the receipts. Calls
// about devices and programs go to core(), except device_close().
//
// A free of an unknown id and an allocation under a live id are counted in the segment, and are no
// failure. Threads and exceptions are as for Tracker.
class IdTracker {
 public:
  // Fails when the segment cannot be created.
  [[nodiscard]] static Result<std::unique_ptr<IdTracker>> start(
      const segment::SegmentWriter::Options& options);

  [[nodiscard]] Tracker& core() noexcept { return core_; }

  void device_close(std::uint32_t device);
  void buffer_alloc(std::uint32_t device, const ttmem_buffer& buffer);
  void buffer_free(std::uint32_t device, std::uint32_t type, std::uint64_t id);
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

  Tracker core_;
  std::array<PerKind<LiveTable>, segment::kMaxDevices> live_;  // by record
};

}  // namespace ttmem::tracker
