// SPDX-License-Identifier: Apache-2.0
//
// Wrappers of TT-Metal's functions. They count the circular buffers and kernels that TT-Metal's
// functions create. Applications use the wrappers for tracking without a change of the runtime.
// This header compiles against the headers of TT-Metal or of the dry run.
//
//   instrumented::TrackOn(mesh.get());
//   instrumented::CreateCircularBufferWithTracking(program, cores, config);
//   instrumented::AddKernelWithTracking(program, "reader.cpp", cores, DataMovementConfig{...});
//   instrumented::ReleaseTracking(program);    just before the program is destroyed
//
// A CB has no address when it is declared, so its whole size counts on each of its cores. CBs of
// several programs with the same index and cores count once, at the largest size, because the CBs
// of cached programs share addresses. A kernel has no binary when it is added, so it counts 50 KiB
// per core, marked as an estimate. All kernels on the same cores together count at most 69 KiB per
// core, the room that a core has for kernels. Globally allocated CBs are not counted, because they
// are views on buffers.
//
// Any thread may call any function. While tracking is off, the wrappers only call TT-Metal's
// functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program.hpp>
#include <ttmem/allocation_client.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tt::tt_metal::instrumented {

using CoreSpec = std::variant<CoreCoord, CoreRange, CoreRangeSet>;

namespace detail {

// Remembers the ids of the counted circular buffers and kernels of each program, because release()
// receives no ids.
class Counted {
 public:
  // Returns the only instance. It is never destroyed, because programs may be released during exit.
  static Counted& instance() {
    static Counted& counted = *new Counted();
    return counted;
  }

  void set_chips(std::vector<std::uint32_t> chips) {
    const std::lock_guard<std::mutex> lock(mutex_);
    chips_ = std::move(chips);
  }

  void add_cb(const void* program, std::uint64_t id, std::uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::uint32_t chip : chips_) {
      ttmem_cb_alloc(chip, id, bytes);
      cbs_[program].push_back({chip, id});
    }
  }

  void add_kernel(const void* program, std::uint64_t id, std::uint64_t cores) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::uint32_t chip : chips_) {
      Ring& ring = rings_[{chip, id}];
      ring.cores = cores;
      ++ring.kernels[program];
      kernels_[program].insert({chip, id});
      load({chip, id}, ring);
    }
  }

  void release(const void* program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [chip, id] : cbs_[program]) ttmem_cb_free(chip, id);
    for (const Key& key : kernels_[program]) {
      Ring& ring = rings_[key];
      ring.kernels.erase(program);
      load(key, ring);
      if (ring.kernels.empty()) rings_.erase(key);
    }
    cbs_.erase(program);
    kernels_.erase(program);
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // chip, id
  // The kernels on one set of cores. The programs use these cores in turn, so only the program with
  // the most kernels counts.
  struct Ring {
    std::uint64_t cores = 0;
    std::map<const void*, std::uint64_t> kernels;  // number of kernels, by program
  };

  static void load(const Key& key, const Ring& ring) {
    std::uint64_t most = 0;
    for (const auto& [program, count] : ring.kernels) most = std::max(most, count);
    if (most == 0) return ttmem_kernel_unload(key.first, key.second);
    const std::uint64_t per_core = std::min<std::uint64_t>(most * 50 * 1024, 69 * 1024);
    ttmem_kernel_load_estimate(key.first, key.second, per_core * ring.cores, TTMEM_KERNEL_APP);
  }

  std::mutex mutex_;  // guards everything below
  std::vector<std::uint32_t> chips_{0};
  std::map<const void*, std::vector<Key>> cbs_;
  std::map<const void*, std::set<Key>> kernels_;
  std::map<Key, Ring> rings_;
};

}  // namespace detail

// Sets the chips for which later circular buffers and kernels of all threads count: the chips of a
// mesh, or one chip. The call is needed because a declaration does not name its chips. Until the
// first call, declarations count for chip 0.
inline void TrackOn(const IDevice* device) {
  std::vector<std::uint32_t> chips;
  if (const auto* mesh = dynamic_cast<const distributed::MeshDevice*>(device)) {
    for (const IDevice* chip : mesh->get_devices()) {
      chips.push_back(static_cast<std::uint32_t>(chip->id()));
    }
  } else {
    chips.push_back(static_cast<std::uint32_t>(device->id()));
  }
  detail::Counted::instance().set_chips(std::move(chips));
}

// Calls CreateCircularBuffer() and counts the circular buffer.
inline auto CreateCircularBufferWithTracking(Program& program, const CoreSpec& core_spec,
                                             const CircularBufferConfig& config) {
  const auto handle = CreateCircularBuffer(program, core_spec, config);
  const auto& indices = config.buffer_indices();
  if (ttmem_enabled() && !config.globally_allocated_address() && !indices.empty()) {
    namespace tracker = allocation_tracker::detail;
    const std::uint8_t index = *std::min_element(indices.begin(), indices.end());
    detail::Counted::instance().add_cb(&program.impl(), tracker::cb_id(index, core_spec),
                                       config.total_size() * tracker::count_cores(core_spec));
  }
  return handle;
}

// Calls CreateKernel() and counts the kernel.
inline KernelHandle AddKernelWithTracking(
    Program& program, const std::string& file_name, const CoreSpec& core_spec,
    const std::variant<DataMovementConfig, ComputeConfig>& config) {
  const KernelHandle handle = CreateKernel(program, file_name, core_spec, config);
  if (ttmem_enabled()) {
    namespace tracker = allocation_tracker::detail;
    detail::Counted::instance().add_kernel(&program.impl(), tracker::cb_id(0, core_spec),
                                           tracker::count_cores(core_spec));
  }
  return handle;
}

// Frees the counted circular buffers and kernels of the program. Does nothing if the program has
// none.
inline void ReleaseTracking(const Program& program) {
  if (ttmem_enabled()) detail::Counted::instance().release(&program.impl());
}

}  // namespace tt::tt_metal::instrumented
