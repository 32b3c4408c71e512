// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tt-metalium/device_impl.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <tt-metalium/runtime_args_data.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impl/buffers/circular_buffer.hpp"
#include "impl/dataflow_buffer/dataflow_buffer_impl.hpp"
#include "impl/kernels/kernel.hpp"

namespace tt::tt_metal::dryrun {
struct CbLayout;
}  // namespace tt::tt_metal::dryrun

namespace tt::tt_metal::detail {

// The declarations of a program, its layout, and its chips.
//
// As in TT-Metal, a run first places the program and then checks whether the program fits. If it
// does not fit, the run throws after the program was reported and registered. The program stays
// placed until it is destroyed. Only one thread may declare circular buffers and kernels. Several
// threads may run the program at the same time.
class ProgramImpl {
 public:
  ProgramImpl();
  ~ProgramImpl() noexcept;
  ProgramImpl(const ProgramImpl&) = delete;
  ProgramImpl& operator=(const ProgramImpl&) = delete;

  std::uint64_t get_id() const { return id_; }
  void set_runtime_id(ProgramId id) { runtime_id_ = id; }
  ProgramId get_runtime_id() const { return runtime_id_; }

  // `global` may be null.
  CBHandle add_circular_buffer(const CoreRangeSet& cores, const CircularBufferConfig& config,
                               const experimental::GlobalCircularBuffer* global = nullptr);
  // Throws if the program has no circular buffer with this handle.
  std::shared_ptr<CircularBufferImpl> get_circular_buffer(CBHandle handle) const;
  const std::vector<std::shared_ptr<CircularBufferImpl>>& circular_buffers() const {
    return circular_buffers_;
  }
  std::uint32_t add_dataflow_buffer(const CoreRangeSet& cores,
                                    const experimental::dfb::DataflowBufferConfig& config);
  const std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>>&
  dataflow_buffers() const {
    return dataflow_buffers_;
  }
  // Makes the dataflow buffer `secondary_id` an alias, which gets the address of `primary_id`.
  void set_dfb_alias(std::uint32_t primary_id, std::uint32_t secondary_id);
  // Records that sizes have changed, so that the next run computes a new layout.
  void invalidate_layout();

  KernelHandle add_kernel(const std::string& source, const CoreRangeSet& cores,
                          std::optional<MathFidelity> math_fidelity);
  std::vector<KernelMeta> collect_kernel_meta() const;
  std::unordered_map<KernelHandle, std::shared_ptr<Kernel>>& get_kernels(
      std::uint32_t /*programmable_core_type_index*/) {
    return kernels_;
  }
  std::uint32_t add_semaphore() { return next_semaphore_++; }
  void set_runtime_args(KernelHandle kernel, const CoreCoord& core,
                        ttsl::Span<const std::uint32_t> args);
  void set_common_runtime_args(KernelHandle kernel, ttsl::Span<const std::uint32_t> args);
  RuntimeArgsData& runtime_args(KernelHandle kernel, const CoreCoord& core);
  RuntimeArgsData& common_runtime_args(KernelHandle kernel);
  void add_owned_buffer(const std::shared_ptr<Buffer>& buffer) { owned_buffers_.push_back(buffer); }

  // Places the program, unless it has not changed since its last run on this device. Then throws if
  // a circular buffer lies off the compute grid, past the end of L1, or in the address range of any
  // L1 buffer of the device. Every run checks this, because L1 buffers may have been allocated
  // since the last run.
  void compile_and_allocate(IDevice* device, bool force_slow_dispatch);
  // Places the program on the chip, or on every chip of a mesh. Computes the layout if necessary.
  // Reports and registers the layout on every chip that does not have it yet. Throws only if the
  // device is closed.
  void allocate_circular_buffers(const IDevice* device);
  // Give addresses to the dataflow buffers and to the scratchpads of a Metal 2.0 program. As in
  // TT-Metal, the addresses are not reported, and no chip counts this L1.
  void allocate_dataflow_buffers(const IDevice* device);
  void allocate_scratchpads(const IDevice* device);
  // Returns the sub-devices of the loaded manager on which the program has kernels. With the
  // default manager, returns sub-device 0. Throws if a kernel is on other cores.
  std::vector<SubDeviceId> determine_sub_device_ids(const IDevice& device) const;
  // Reports to processors, for every chip, that the program's circular buffers are freed.
  void deallocate_circular_buffers();

 private:
  Kernel& kernel(KernelHandle handle);
  // The following functions must be called with `mutex_` locked.
  std::shared_ptr<const dryrun::CbLayout> layout_for(const IDevice& device);
  void place(const IDevice& device, const std::shared_ptr<const dryrun::CbLayout>& layout);
  void check_core_ranges(const IDevice& device, const dryrun::CbLayout& layout) const;
  void check_regions(const IDevice& device, const dryrun::CbLayout& layout) const;
  void announce(const dryrun::CbLayout& layout, const std::vector<Device*>& chips) const;
  void announce_copy(const dryrun::CbLayout& layout, const std::vector<Device*>& chips) const;
  bool only_global() const;
  bool is_settled(const IDevice& device) const;
  std::uint32_t stack(const IDevice& device, const CoreRangeSet& cores, std::uint32_t bytes);

  const std::uint64_t id_;
  std::atomic<ProgramId> runtime_id_{0};

  std::vector<std::shared_ptr<CircularBufferImpl>> circular_buffers_;
  std::map<CoreCoord, std::bitset<NUM_CIRCULAR_BUFFERS>> slots_in_use_;
  std::vector<std::shared_ptr<experimental::dfb::detail::DataflowBufferImpl>> dataflow_buffers_;
  // Keys: the handles 0, 1, 2, ...
  std::unordered_map<KernelHandle, std::shared_ptr<Kernel>> kernels_;
  std::vector<std::shared_ptr<Buffer>> owned_buffers_;
  std::uint32_t next_semaphore_ = 0;

  std::mutex mutex_;  // guards the members below
  bool has_run_ = false;
  std::shared_ptr<const dryrun::CbLayout> layout_;     // null until it is computed
  std::shared_ptr<const dryrun::CbLayout> announced_;  // the layout that was reported last
  std::vector<Device*> chips_;                         // chips that hold the program
  const IDevice* settled_on_ = nullptr;                // device of the last run without an error
  // The cores and the end address of each dataflow buffer and scratchpad.
  std::vector<std::pair<CoreRangeSet, std::uint64_t>> dataflow_ends_;
};

}  // namespace tt::tt_metal::detail
