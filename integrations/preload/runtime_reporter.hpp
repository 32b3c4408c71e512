// SPDX-License-Identifier: Apache-2.0
// Converts the calls of the wrapped functions to calls of the C interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <unordered_map>
#include <vector>

#include "live_buffers.hpp"
#include "open_chips.hpp"
#include "placed_program.hpp"
#include "program_filter.hpp"

namespace ttmem::preload {

namespace tm = ::tt::tt_metal;

// Records the events of the process. There is one instance, which is never destroyed, because
// buffers are freed during exit too. Methods may be called from any thread. No method throws,
// because an exception would disturb the runtime.
class RuntimeReporter {
 public:
  static RuntimeReporter& instance();

  // The kinds of events that can be intercepted in this TT-Metal. Other kinds are not recorded and
  // stay unknown.
  struct Heard {
    bool buffers, programs, dispatches;
  };
  void begin(const Heard& heard);

  void initialized(const tm::IDevice& chip) noexcept;
  void closed(const tm::IDevice& chip) noexcept;

  // Records an allocation. Call this when the buffer has its memory. Does nothing if the buffer is
  // already known, or if its address is 0: a dry capture allocates no memory.
  void allocated(const tm::Buffer& buffer) noexcept;
  // Records a free. Call this before the memory of the buffer is freed. Ignores an unknown buffer.
  void freed(const tm::Buffer& buffer) noexcept;

  // Records that the circular buffers of the program may have new addresses, or that the program is
  // on further chips. `is_compiled` means that the program was compiled for the device.
  // `is_laid_out` means that its circular buffers were placed. In a TT-Metal in which both events
  // can be intercepted, a call without `is_laid_out` does nothing.
  void placed(tm::detail::ProgramImpl& program, const tm::IDevice& device, bool is_compiled,
              bool is_laid_out) noexcept;
  void destroyed(const tm::detail::ProgramImpl& program) noexcept;
  // Records that some programs have memory that the adapter cannot see (see kReadsPrograms). The
  // figures of all programs are unknown from now on.
  void cannot_read_programs() noexcept;

  // Records that the workload was sent to its mesh. If the queue is capturing a trace, records that
  // the workload is in the trace.
  void enqueued(tm::distributed::MeshCommandQueue& queue,
                tm::distributed::MeshWorkload& workload) noexcept;
  // Records that a program was sent to one chip, or to a whole mesh.
  void launched(tm::Program& program, tm::IDevice& device) noexcept;
  void replayed(std::uint32_t trace) noexcept;
  void released(std::uint32_t trace) noexcept;

 private:
  using Mesh = tt_metal::OpenMesh;
  using Program = tt_metal::PlacedProgram;
  // For each chip, the programs that a trace replays on the chip.
  using Trace = std::map<std::uint32_t, std::vector<std::uint64_t>>;

  RuntimeReporter();
  static void forget_in_child();

  // The following functions must be called with `mutex_` locked.
  void check_interception();
  void mark_programs_unseen(const char* why);
  void warn(const std::string& what, std::uint32_t unknown_again = 0);
  void repeat_warnings();
  static Mesh submesh_of(const Mesh& mesh, const std::vector<tm::IDevice*>& devices);
  Program& place(tm::detail::ProgramImpl& impl, const tm::IDevice& device);
  Program* find(tm::detail::ProgramImpl& impl, const tm::IDevice& device);
  void dispatch(tm::Program& program, tm::IDevice& device, const Mesh& mesh);
  [[nodiscard]] bool is_repeated(tm::distributed::MeshWorkload& workload,
                                 const tm::IDevice& device) const;

  // True if the functions that lay out a program can be intercepted. They cannot be intercepted if
  // the compiler has inlined them into the function that compiles the program.
  std::atomic<bool> layouts_intercepted_{false};
  ProgramFilter filter_;               // filter for `programs_`
  std::mutex mutex_;                   // guards everything below
  Heard heard_{false, false, false};   // set before anything is recorded
  std::vector<std::string> warnings_;  // warnings that were already given, with reasons
  bool initialized_ = false;           // true after an initialization of a chip was intercepted
  tt_metal::OpenChips chips_;
  tt_metal::LiveBuffers buffers_{chips_};
  std::unordered_map<const tm::detail::ProgramImpl*, Program> programs_;
  std::map<std::uint32_t, Trace> traces_;
  std::uint64_t next_program_ = 1;
  struct {  // the last workload, if it had one program; reset when a program or chip changes
    const tm::detail::ProgramImpl* program = nullptr;
    const tm::IDevice* device = nullptr;
    std::optional<tm::distributed::MeshCoordinateRange> range;
  } last_;
};

}  // namespace ttmem::preload
