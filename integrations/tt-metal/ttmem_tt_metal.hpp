// SPDX-License-Identifier: Apache-2.0
//
// Approach 3: TT-Metal's own hooks feed the tracker. Compiles against the public headers of
// TT-Metal, and of the dry run, alike.
//
//   ttmem::tt_metal::attach();                 on the main thread, before the first allocation
//   ttmem::tt_metal::attach_workers(*mesh);    once for each mesh
//
// docs/tt-metal.md says what the hooks do not report, and what follows from that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tt-metalium/device.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program.hpp>
#include <unordered_map>
#include <vector>

#include "kernel_bytes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

// What the hooks do not report of a chip. Unset fields are shown as unknown.
struct DeviceFacts {
  std::uint64_t uid = 0;        // its own number, the same in every process
  const char* board = nullptr;  // "n300"
  // The bytes of each kernel that fast dispatch keeps loaded until the device closes.
  std::vector<std::uint64_t> dispatch_kernels = {};
};

// Turns the callbacks into calls of the C interface. Safe from any thread. Does nothing while
// tracking is off (TT_ALLOC_TRACKING_ENABLED).
//
// Circular buffers arrive one by one, without their program. Those that one thread reports in a row
// count as one program, until one of them overlaps another: the circular buffers of a program never
// overlap. Inside a ProgramScope they belong to its program.
//
// The hook for a destroyed program does not name it either. forget_program() announces one; without
// it, the newest program on the chip counts as destroyed.
class Processor final : public tm::IGraphProcessor {
 public:
  // One for the process.
  static const std::shared_ptr<Processor>& instance();

  bool is_capture_processor() const override { return false; }
  void track_allocate(const tm::Buffer* buffer) override;
  void track_deallocate(tm::Buffer* buffer) override;
  void track_allocate_cb(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
                         bool is_globally_allocated, const tm::IDevice* device) override;
  void track_allocate_dataflow_buffer(const tm::CoreRangeSet& cores, std::uint64_t address,
                                      std::uint64_t size, bool borrows_memory,
                                      const tm::IDevice* device) override;
  void track_allocate_scratchpad(const tm::CoreRangeSet& cores, std::uint64_t address,
                                 std::uint64_t size, const tm::IDevice* device) override;
  void track_deallocate_cb(const tm::IDevice* device) override;
  void track_program(tm::Program* program, const tm::IDevice* device) override;

  // See the functions and scopes below.
  static const char*& label_of_this_thread();  // null: none
  void open_device(const tm::IDevice& chip, const DeviceFacts& facts);
  void begin_scope(const void* identity);
  void end_scope();
  // The program ran on these chips. Its kernels are on `kernel_cores`; if these are empty, on the
  // cores of its circular buffers, by assumption. Calls `collect` once in the life of a program.
  void dispatched(const void* identity, const std::vector<std::uint32_t>& chips,
                  const tm::CoreRangeSet& kernel_cores,
                  const std::function<KernelBytes()>& collect);
  void replayed(const std::vector<const void*>& identities,
                const std::vector<std::uint32_t>& chips);
  void forget(const void* identity);
  void close_device(std::uint32_t chip);

 private:
  using Ranges = std::vector<ttmem_core_range>;
  struct Cb {
    Ranges cores;
    std::uint64_t address, bytes;
    bool is_view;
  };
  // The circular buffers that count as one program.
  struct Group {
    const void* identity = nullptr;                // of the program, where it is known
    std::map<std::uint32_t, std::vector<Cb>> cbs;  // by chip
    std::map<std::uint32_t, std::uint64_t> scope;  // by chip: the scope that reported them
    std::optional<KernelBytes> kernels;            // once it was dispatched
  };
  struct ThreadState {
    std::optional<std::uint64_t> reporting;  // the group that circular buffers go to
    std::optional<std::uint64_t> dying;      // the group that is being destroyed chip by chip
    const void* identity = nullptr;          // of the scope, if there is one
    std::uint64_t scope = 0;
  };

  static ThreadState& this_thread();
  void open(const tm::IDevice& chip);
  void add_cb(const tm::CoreRangeSet& cores, std::uint64_t address, std::uint64_t size,
              bool is_view, const tm::IDevice* device);
  std::uint64_t group_for(ThreadState& thread, std::uint32_t chip, const Cb& cb);
  std::optional<std::uint64_t> find(const void* identity) const;
  void load_kernels(std::uint64_t group, std::uint32_t chip, const tm::CoreRangeSet& kernel_cores);
  void unload_kernels(std::uint64_t group, std::uint32_t chip);
  void erase(std::uint64_t group);
  std::optional<std::uint64_t> youngest_on(std::uint32_t chip) const;
  void leave(std::uint64_t group, std::uint32_t chip);

  std::mutex mutex_;  // everything below
  std::set<std::uint32_t> open_chips_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> buffers_;  // unique id to chips
  std::map<std::uint64_t, Group> groups_;                   // by the tracker's program id
  std::unordered_map<const void*, std::uint64_t> named_;    // identity to group
  std::map<std::uint32_t, std::uint64_t> announced_frees_;  // by chip
  // By chip: the groups whose kernels it holds, and on which cores.
  std::map<std::uint32_t, std::map<std::uint64_t, Ranges>> loaded_;
  std::uint64_t next_group_ = 1;
  std::uint64_t next_scope_ = 1;
};

// Tracks the calling thread. Does nothing the second time, nor where the adapter is preloaded,
// which reports the same.
void attach();
// Tracks the worker threads of a mesh, which place the programs of a workload that has several.
void attach_workers(tm::distributed::MeshDevice& mesh);

// Shows a chip from now on, with these facts. Without this call it is shown from its first event.
void device_opened(const tm::IDevice& chip, const DeviceFacts& facts = {});
// There is no hook for the end of a device: call it after closing one.
void device_closed(int chip);

// While it lives, buffers that are allocated on this thread carry this name. They may be nested.
class Label {
 public:
  explicit Label(std::string name);
  ~Label();
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  const std::string name_;
  const char* const outer_;
};

// While it lives, circular buffers reported on this thread belong to this program; reported again,
// they replace what it had. Put it around the run of a program or of a workload of one program.
//
// With a device (a chip or a mesh), the end of the scope reports a dispatch: the program is
// resident there, its kernels are loaded, and those of other programs on the same cores are gone.
// An exception ends the scope without a dispatch. The bytes of the kernels are exact if
// `kernel_cores`, the cores that run all of them, is given and the runtime knows the binaries;
// otherwise they are marked as an estimate. A caller that knows the bytes on a core passes them as
// `kernels`.
class ProgramScope {
 public:
  explicit ProgramScope(const tm::Program& program, tm::IDevice* device = nullptr,
                        tm::CoreRangeSet kernel_cores = {},
                        std::optional<KernelBytes> kernels = std::nullopt);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  const tm::Program& program_;
  tm::IDevice* const device_;
  const tm::CoreRangeSet kernel_cores_;
  const std::optional<KernelBytes> kernels_;
  const int exceptions_;
};

// A trace of these programs, which all ran in scopes, was replayed on the device.
void trace_replayed(tm::IDevice* device, const std::vector<const tm::Program*>& programs);

// Call it just before a program that ran in a ProgramScope is destroyed. Another is ignored.
void forget_program(const tm::Program& program);

}  // namespace ttmem::tt_metal
