// SPDX-License-Identifier: Apache-2.0
// Converts the calls of TT-Metal's hooks to calls of the C interface.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <tt-metalium/device.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

#include "later.hpp"
#include "live_buffers.hpp"
#include "open_chips.hpp"
#include "programs.hpp"
#include "ttmem_tt_metal.hpp"

namespace ttmem::tt_metal {

// Receives TT-Metal's hooks, on any thread. Does nothing while tracking is off
// (TT_ALLOC_TRACKING_ENABLED). No hook throws, because the runtime must not be disturbed.
//
// A list of circular buffers is reported as a whole: when the list has the length that its program
// declares, when another hook is called on its thread, or when a few milliseconds have passed
// without a hook.
class Processor final : public tm::IGraphProcessor {
 public:
  // Returns the only instance of the process. The instance is never destroyed, because buffers are
  // freed during exit too.
  static const std::shared_ptr<Processor>& instance();

  bool is_capture_processor() const override { return false; }
  void track_allocate(const tm::Buffer* buffer) override;
  void track_deallocate(tm::Buffer* buffer) override;
  void track_allocate_cb(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
                         bool is_globally_allocated, const tm::IDevice* device) override;
  void track_deallocate_cb(const tm::IDevice* device) override;
  void track_program(tm::Program* program, const tm::IDevice* device) override;
  // The hooks for dataflow buffers and scratchpads are not used, because TT-Metal calls them only
  // in dry captures, which allocate nothing.

  // Called at the end of an operation. Not every version of TT-Metal has these two hooks, so the
  // functions have no `override`.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif
  virtual void track_function_end();
  virtual void track_function_end(const std::any& result);
#ifdef __clang__
#pragma clang diagnostic pop
#endif

  // These functions implement the interface in ttmem_tt_metal.hpp.
  static const char*& label_of_this_thread();  // null: none
  void open_device(const tm::IDevice& chip, const DeviceFacts& facts);
  void close_device(std::uint32_t chip);
  void begin_scope(const tm::Program& program);
  void end_scope();
  // Records a dispatch. The kernel bytes are `kernels`. Without `kernels`, asks the runtime for
  // them at the first dispatch of each program.
  void dispatched(const tm::Program& program, const tm::IDevice& device,
                  const tm::CoreRangeSet& kernel_cores, const std::optional<KernelBytes>& kernels);
  void replayed(const std::vector<const tm::Program*>& programs, const tm::IDevice& device);
  void forget(const tm::Program& program);

  Processor();

 private:
  using MeshDevice = tm::distributed::MeshDevice;

  // The state of a thread, with the list and the frees that are not ended yet.
  struct Thread {
    CbList list;
    Programs::FreeRow frees;
    std::uint64_t current = 0;  // the program that was named last; 0: none
    std::size_t chips = 0;      // number of chips of the mesh of `current`; 0 if it is unknown
    bool in_scope = false;      // a scope has set `current`
    // The program of the last track_program() if no other hook has been called since, otherwise 0.
    std::uint64_t announced = 0;
    std::uint64_t events = 0;
    std::uint64_t events_seen = 0;  // `events` at the last step()
  };
  class ThreadEnd;

  // A mesh, and the chips that it has opened.
  struct Root {
    std::weak_ptr<MeshDevice> mesh;
    ChipNumbers chips;
  };
  // The meshes that a call has looked up. The caller destroys the references after it has unlocked
  // `mutex_`, because a mesh must not be destroyed while the lock is held.
  using Held = std::vector<std::shared_ptr<const MeshDevice>>;

  static void forget_in_child();
  static bool step();
  void end_thread(Thread& thread);

  // The following functions must be called with `mutex_` locked.
  Thread& this_thread();
  void end_list(Thread& thread);
  void end_rows(Thread& thread);
  void end_all_rows();
  void close(std::uint32_t chip);
  const OpenMesh& mesh_of(const tm::IDevice& device, Held& held);
  void close_orphaned_chips(Held& held);
  void add_cb(Thread& thread, const tm::CoreRangeSet& cores, std::uint64_t address,
              std::uint64_t size, bool is_view, const tm::IDevice& chip);

  std::mutex mutex_;  // guards everything below
  OpenChips chips_;
  LiveBuffers buffers_{chips_};
  Programs programs_{chips_};
  Later later_;
  std::set<Thread*> threads_;
  std::vector<Root> roots_;
  struct {  // the mesh that mesh_of() looked up last
    const OpenMesh* mesh = nullptr;
    std::uint64_t generation = 0;
  } last_root_;
};

}  // namespace ttmem::tt_metal
