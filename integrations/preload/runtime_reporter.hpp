// SPDX-License-Identifier: Apache-2.0
//
// What the wrapped functions tell, as calls of the C interface.
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

// One for the process, never destroyed: buffers are freed during exit too. Safe from any thread. No
// method throws: the runtime must not notice.
class RuntimeReporter {
 public:
  static RuntimeReporter& instance();

  // What the functions of this TT-Metal tell. The rest is not recorded, and stays unknown.
  struct Heard {
    bool buffers, programs, dispatches;
  };
  void begin(const Heard& heard);

  void initialized(const tm::IDevice& chip) noexcept;
  void closed(const tm::IDevice& chip) noexcept;

  // After it has its memory. The second time, and for a capture that allocates nothing (address 0),
  // nothing happens.
  void allocated(const tm::Buffer& buffer) noexcept;
  // Before it gives its memory back. A buffer that is not known is ignored.
  void freed(const tm::Buffer& buffer) noexcept;

  // The program may have its circular buffers at other addresses now, or on further chips.
  // `is_compiled`: it was compiled for the device, `is_laid_out`: its circular buffers were placed.
  // A runtime that tells both places nothing when only the first is true.
  void placed(tm::detail::ProgramImpl& program, const tm::IDevice& device, bool is_compiled,
              bool is_laid_out) noexcept;
  void destroyed(const tm::detail::ProgramImpl& program) noexcept;
  // There are programs with memory that is never told of (see kReadsPrograms): from now on all
  // programs are unknown.
  void cannot_read_programs() noexcept;

  // The workload was sent to its mesh, or recorded, if the queue is capturing a trace.
  void enqueued(tm::distributed::MeshCommandQueue& queue,
                tm::distributed::MeshWorkload& workload) noexcept;
  // A program was sent to one chip, or to a whole mesh.
  void launched(tm::Program& program, tm::IDevice& device) noexcept;
  void replayed(std::uint32_t trace) noexcept;
  void released(std::uint32_t trace) noexcept;

 private:
  using Mesh = tt_metal::OpenMesh;
  using Program = tt_metal::PlacedProgram;
  // The programs that a trace replays on a chip.
  using Trace = std::map<std::uint32_t, std::vector<std::uint64_t>>;

  RuntimeReporter();
  static void forget_in_child();

  // With the lock held.
  void check_that_we_hear();
  void miss_programs(const char* why);
  void tell(const std::string& what, std::uint32_t unknown_again = 0);
  void tell_again();
  static Mesh part_of(const Mesh& mesh, const std::vector<tm::IDevice*>& devices);
  Program& place(tm::detail::ProgramImpl& impl, const tm::IDevice& device);
  Program* find(tm::detail::ProgramImpl& impl, const tm::IDevice& device);
  void dispatch(tm::Program& program, tm::IDevice& device, const Mesh& mesh);
  [[nodiscard]] bool was_last(tm::distributed::MeshWorkload& workload,
                              const tm::IDevice& device) const;

  // Functions that lay a program out are not inlined into the one that compiles it.
  std::atomic<bool> layouts_are_heard_{false};
  ProgramFilter filter_;               // of `programs_`
  std::mutex mutex_;                   // everything below
  Heard heard_{false, false, false};   // set before anything is recorded
  std::vector<std::string> not_seen_;  // and why, as it was told
  bool initialized_ = false;           // a chip was opened, and we heard of it
  tt_metal::OpenChips chips_;
  tt_metal::LiveBuffers buffers_{chips_};
  std::unordered_map<const tm::detail::ProgramImpl*, Program> programs_;
  std::map<std::uint32_t, Trace> traces_;
  std::uint64_t next_program_ = 1;
  struct {  // the workload of one program that was sent last; nothing else has changed since
    const tm::detail::ProgramImpl* program = nullptr;
    const tm::IDevice* device = nullptr;
    std::optional<tm::distributed::MeshCoordinateRange> range;
  } last_;
};

}  // namespace ttmem::preload
