// SPDX-License-Identifier: Apache-2.0
//
// Replaces the client class of the original allocation server, with the same names. The functions
// call the C interface of ttmem. Code that was instrumented for the original server needs only this
// header, libttmem.so and C++17. No server has to run.
//
// Any thread may call any function. The functions report no errors, and do nothing while tracking
// is off (see ttmem.h). Calls with a negative device number are ignored.
#pragma once

#include <ttmem/ttmem.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>

namespace tt::tt_metal {

// Reports memory on a device. A report names no cores, so its bytes count for the device, but not
// for single cores.
class AllocationClient {
 public:
  static bool is_enabled() { return ttmem_enabled() != 0; }

  // Reports a buffer. `buffer_type` is a value of TT-Metal's BufferType. `buffer_id` is usually the
  // address, and is shown as the address. If the id of a live buffer is reported again with the
  // same type, the buffer still counts once, at its first size. The buffer stays live until the id
  // was freed as often as it was reported.
  static void report_allocation(int device_id, std::uint64_t size, std::uint8_t buffer_type,
                                std::uint64_t buffer_id) {
    if (!is_enabled() || device_id < 0) return;
    const auto type = static_cast<ttmem_buffer_type>(buffer_type);
    const auto device = static_cast<std::uint32_t>(device_id);
    Live& live = instance();
    const std::lock_guard<std::mutex> lock(live.mutex);
    if (live.references()[{device, buffer_id}][buffer_type]++ != 0) return;
    ttmem_buffer buffer{};
    buffer.struct_size = sizeof(buffer);
    buffer.type = type;
    buffer.id = buffer_id;
    buffer.address = buffer_id;
    buffer.bytes = size;
    ttmem_buffer_alloc(device, &buffer);
  }

  // Reports the free of a buffer. The call does not name the buffer type. If live buffers of
  // several types have this id, frees the buffer whose type comes first in BufferType.
  static void report_deallocation(int device_id, std::uint64_t buffer_id) {
    if (!is_enabled() || device_id < 0) return;
    const auto device = static_cast<std::uint32_t>(device_id);
    Live& live = instance();
    const std::lock_guard<std::mutex> lock(live.mutex);
    const auto found = live.references().find({device, buffer_id});
    // Reports the free of an unknown buffer too, so that `ttmem` counts an unknown free.
    if (found == live.references().end()) return ttmem_buffer_free(device, TTMEM_DRAM, buffer_id);
    const auto first = found->second.begin();
    if (--first->second != 0) return;
    ttmem_buffer_free(device, static_cast<ttmem_buffer_type>(first->first), buffer_id);
    found->second.erase(first);
    if (found->second.empty()) live.references().erase(found);
  }

  // Reports a CB. If an id is reported several times, the CB counts once, at its largest size,
  // until the id was freed as often as it was reported.
  static void report_cb_allocation(int device_id, std::uint64_t size, std::uint64_t cb_id) {
    if (device_id >= 0) ttmem_cb_alloc(static_cast<std::uint32_t>(device_id), cb_id, size);
  }
  // Reports the free of a CB. Ignores `size`: the CB has the size with which it was reported. The
  // original class has this function with and without a size.
  static void report_cb_deallocation(int device_id, std::uint64_t /*size*/, std::uint64_t cb_id) {
    report_cb_deallocation(device_id, cb_id);
  }
  static void report_cb_deallocation(int device_id, std::uint64_t cb_id) {
    if (device_id >= 0) ttmem_cb_free(static_cast<std::uint32_t>(device_id), cb_id);
  }

  // Reports a loaded kernel. `kernel_type` is 0 (application), 1 (fabric) or 2 (dispatch).
  static void report_kernel_load(int device_id, std::uint64_t size, std::uint64_t kernel_id,
                                 std::uint8_t kernel_type = 0) {
    if (device_id < 0) return;
    ttmem_kernel_load(static_cast<std::uint32_t>(device_id), kernel_id, size,
                      static_cast<ttmem_kernel_role>(kernel_type));
  }
  static void report_kernel_unload(int device_id, std::uint64_t /*size*/, std::uint64_t kernel_id) {
    report_kernel_unload(device_id, kernel_id);
  }
  static void report_kernel_unload(int device_id, std::uint64_t kernel_id) {
    if (device_id >= 0) ttmem_kernel_unload(static_cast<std::uint32_t>(device_id), kernel_id);
  }

  // Closes the device, and removes everything that this process reported on the device.
  static void report_device_close(int device_id) {
    if (!is_enabled() || device_id < 0) return;
    const auto device = static_cast<std::uint32_t>(device_id);
    Live& live = instance();
    const std::lock_guard<std::mutex> lock(live.mutex);
    auto& references = live.references();
    references.erase(references.lower_bound({device, 0}),
                     references.upper_bound({device, UINT64_MAX}));
    ttmem_device_close(device);
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // device id, buffer id
  // For each buffer type: the number of reported allocations that are not freed.
  using Types = std::map<std::uint8_t, std::uint64_t>;
  struct Live {
    std::mutex mutex;
    // Returns the allocations of this process that are reported and not freed. The map of a forked
    // child is empty at first, like the child's tracker.
    std::map<Key, Types>& references() {
      if (owner != ::getpid()) {
        owner = ::getpid();
        counts.clear();
      }
      return counts;
    }

   private:
    std::map<Key, Types> counts;
    pid_t owner = ::getpid();
  };
  // Returns the only instance. It is never destroyed, because buffers may be freed during exit.
  static Live& instance() {
    static Live& live = *new Live();
    return live;
  }
};

// A runtime that was instrumented for the original server calls these functions.
namespace allocation_tracker {

namespace detail {

template <typename T, typename = void>
struct has_ranges : std::false_type {};
template <typename T>
struct has_ranges<T, std::void_t<decltype(std::declval<const T&>().ranges())>> : std::true_type {};
template <typename T, typename = void>
struct has_corners : std::false_type {};
template <typename T>
struct has_corners<T, std::void_t<decltype(std::declval<const T&>().start_coord.x)>>
    : std::true_type {};

// Calls visit(x0, y0, x1, y1) for every rectangle of `cores`. `cores` is a CoreCoord, CoreRange or
// CoreRangeSet (of TT-Metal or of the dry run), a variant of these types, or a ttmem_core_range.
template <typename Cores, typename Visit>
void for_each_rectangle(const Cores& cores, const Visit& visit);
template <typename Visit>
void for_each_rectangle(const ttmem_core_range& range, const Visit& visit) {
  visit(range.x0, range.y0, range.x1, range.y1);
}
template <typename Visit, typename... Specs>
void for_each_rectangle(const std::variant<Specs...>& cores, const Visit& visit) {
  std::visit([&](const auto& each) { for_each_rectangle(each, visit); }, cores);
}
template <typename Cores, typename Visit>
void for_each_rectangle(const Cores& cores, const Visit& visit) {
  if constexpr (has_ranges<Cores>::value) {
    for (const auto& range : cores.ranges()) for_each_rectangle(range, visit);
  } else if constexpr (has_corners<Cores>::value) {
    visit(cores.start_coord.x, cores.start_coord.y, cores.end_coord.x, cores.end_coord.y);
  } else {
    visit(cores.x, cores.y, cores.x, cores.y);
  }
}

template <typename Cores>
std::uint64_t count_cores(const Cores& cores) {
  std::uint64_t count = 0;
  for_each_rectangle(cores, [&](std::uint64_t x0, std::uint64_t y0, std::uint64_t x1,
                                std::uint64_t y1) { count += (x1 - x0 + 1) * (y1 - y0 + 1); });
  return count;
}

// Returns an id for a CB that has no address, computed from its index and cores. The highest bit of
// the id is set, so that the id differs from every address.
template <typename Cores>
std::uint64_t cb_id(std::uint32_t buffer_index, const Cores& cores) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  mix(buffer_index);
  for_each_rectangle(cores,
                     [&](std::uint64_t x0, std::uint64_t y0, std::uint64_t x1, std::uint64_t y1) {
                       mix(x0);
                       mix(y0);
                       mix(x1);
                       mix(y1);
                     });
  return hash | 1ull << 63;
}

}  // namespace detail

inline bool is_tracking_enabled() { return AllocationClient::is_enabled(); }

// Reports a kernel. `size` is the size of the kernel's binaries, summed over all their cores.
inline void report_kernel_allocation(int device_id, std::uint64_t size, std::uint64_t kernel) {
  AllocationClient::report_kernel_load(device_id, size, kernel);
}

// Reports a CB that takes `size` bytes on each of the cores. The call contains no address, so CBs
// of several programs with the same index and cores count as one CB, at the largest size.
template <typename Cores>
void report_cb_allocation(int device_id, std::uint64_t size, std::uint32_t buffer_index,
                          const Cores& cores) {
  AllocationClient::report_cb_allocation(device_id, size * detail::count_cores(cores),
                                         detail::cb_id(buffer_index, cores));
}
template <typename Cores>
void report_cb_deallocation(int device_id, std::uint32_t buffer_index, const Cores& cores) {
  AllocationClient::report_cb_deallocation(device_id, detail::cb_id(buffer_index, cores));
}

}  // namespace allocation_tracker
}  // namespace tt::tt_metal
