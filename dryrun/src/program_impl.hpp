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
#include <vector>

#include "cb_layout.hpp"

namespace tt::tt_metal::detail {

// A program's declarations, its layout, and the chips that hold it.
//
// Running it is three steps, so that a workload of several programs is placed whole or not at all:
// layout_for() computes and checks, and may throw; place() reports and registers, and does not;
// check_for_clash() may throw again. As in TT-Metal, a program that clashes is placed until it
// dies. Declaring is for one thread; running may happen on several at once.
class ProgramImpl {
 public:
  ProgramImpl();
  // Reports the end of its circular buffers on every chip that holds them.
  ~ProgramImpl() noexcept;
  ProgramImpl(const ProgramImpl&) = delete;
  ProgramImpl& operator=(const ProgramImpl&) = delete;

  std::uint64_t get_id() const { return id_; }
  void set_runtime_id(ProgramId id) { runtime_id_ = id; }
  ProgramId get_runtime_id() const { return runtime_id_; }

  CBHandle add_circular_buffer(const CoreRangeSet& cores, const CircularBufferConfig& config);
  // Throws when there is none.
  std::shared_ptr<CircularBufferImpl> get_circular_buffer(CBHandle handle) const;
  const std::vector<std::shared_ptr<CircularBufferImpl>>& circular_buffers() const {
    return circular_buffers_;
  }
  // The sizes have changed: the next run computes a new layout.
  void invalidate_layout();
  // A globally allocated one has moved. A layout that was reported keeps its report; one that was
  // computed and then did not fit is to be reported as things are when it does.
  void refresh_global_buffers();

  // `math_fidelity` marks a compute kernel.
  KernelHandle add_kernel(const std::string& source, const CoreRangeSet& cores,
                          std::optional<MathFidelity> math_fidelity);
  std::vector<KernelMeta> collect_kernel_meta() const;
  std::uint32_t add_semaphore() { return next_semaphore_++; }
  void set_runtime_args(KernelHandle kernel, const CoreCoord& core,
                        ttsl::Span<const std::uint32_t> args);
  void set_common_runtime_args(KernelHandle kernel, ttsl::Span<const std::uint32_t> args);
  RuntimeArgsData& runtime_args(KernelHandle kernel, const CoreCoord& core);
  RuntimeArgsData& common_runtime_args(KernelHandle kernel);
  void add_owned_buffer(const std::shared_ptr<Buffer>& buffer) { owned_buffers_.push_back(buffer); }

  // The layout, computed if need be. Throws when it reaches over the compute grid or past the end
  // of L1.
  std::shared_ptr<const dryrun::CbLayout> layout_for(const IDevice& device);
  // On a mesh, on every chip of it.
  void place(const IDevice& device, const std::shared_ptr<const dryrun::CbLayout>& layout);
  // Throws when the layout reaches into the range of an L1 buffer of the device, whatever cores
  // that has its bytes on. To be called on every run: L1 buffers may have come since the last one.
  void check_for_clash(const IDevice& device, const dryrun::CbLayout& layout) const;

 private:
  // Arguments, and the handle that GetRuntimeArgs gives out.
  struct Args {
    std::vector<std::uint32_t> values;
    RuntimeArgsData view;
    void assign(ttsl::Span<const std::uint32_t> args);
  };
  struct KernelInfo {
    std::string source;
    CoreRangeSet cores;
    std::optional<MathFidelity> math_fidelity;
    std::map<CoreCoord, Args> args;
    Args common_args;
  };

  KernelInfo& kernel(KernelHandle handle);
  void announce(const dryrun::CbLayout& layout, const std::vector<Device*>& chips) const;
  void announce_copy(const dryrun::CbLayout& layout, const std::vector<Device*>& chips) const;
  bool only_global() const;

  const std::uint64_t id_;
  std::atomic<ProgramId> runtime_id_{0};

  std::vector<std::shared_ptr<CircularBufferImpl>> circular_buffers_;
  std::map<CoreCoord, std::bitset<NUM_CIRCULAR_BUFFERS>> slots_in_use_;
  std::vector<KernelInfo> kernels_;
  std::vector<std::shared_ptr<Buffer>> owned_buffers_;
  std::uint32_t next_semaphore_ = 0;

  std::mutex mutex_;  // the members below
  bool has_run_ = false;
  std::shared_ptr<const dryrun::CbLayout> layout_;     // null: to be computed
  std::shared_ptr<const dryrun::CbLayout> announced_;  // the one reported last
  std::vector<Device*> chips_;                         // that hold the program
};

}  // namespace tt::tt_metal::detail
