// SPDX-License-Identifier: Apache-2.0
//
// What the wrapped functions tell, as calls of the C interface.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/program.hpp>
#include <unordered_map>
#include <vector>

#include "loaded_kernels.hpp"
#include "probe_table.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::adapter {

namespace tm = ::tt::tt_metal;

// One for the process, never destroyed: buffers are freed during exit too. Safe from any thread. No
// method throws: the runtime must not notice.
class Recorder {
 public:
  static Recorder& instance();

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
  void placed(tm::detail::ProgramImpl& program, const tm::IDevice& device) noexcept;
  void destroyed(const tm::detail::ProgramImpl& program) noexcept;

  // The workload was sent to its mesh, or recorded, if the queue is capturing a trace.
  void enqueued(tm::distributed::MeshCommandQueue& queue,
                tm::distributed::MeshWorkload& workload) noexcept;
  // A program was sent to one chip, or to a whole mesh.
  void launched(tm::Program& program, tm::IDevice& device) noexcept;
  void replayed(std::uint32_t trace) noexcept;
  void released(std::uint32_t trace) noexcept;

 private:
  using Chips = std::vector<std::uint32_t>;  // numbers, ascending

  struct Chip {
    std::uint64_t opened;  // the generation from which on it was open
    LoadedKernels kernels;
  };
  // The chips of a mesh, or a chip.
  struct Mesh {
    Chips chips;
    std::vector<Chip*> open;       // the same, of generation `generation`
    std::uint64_t generation = 0;  // 0: to be looked up
  };
  struct Cb {
    tm::CoreRangeSet cores;
    std::uint64_t address, bytes;
    bool is_view;
  };
  struct Program {
    std::uint64_t id = 0;  // for the tracker
    std::vector<Cb> cbs;
    Chips chips;
    std::shared_ptr<const KernelSizes> kernels;
  };
  // An entry of a ProbeTable, by the tracker's id, which is never 0.
  struct Buffer {
    using Key = std::uint64_t;

    std::uint64_t id = 0;
    std::uint64_t generation = 0;  // at its allocation
    const Mesh* mesh = nullptr;
    ttmem_buffer_type type = TTMEM_DRAM;

    [[nodiscard]] Key key() const { return id; }
    [[nodiscard]] bool is_empty() const { return id == 0; }
    void make_empty() { id = 0; }
    void begin(Key of) { id = of; }
    [[nodiscard]] static std::uint64_t number_of(Key of) { return of; }
  };
  // The programs that a trace replays on a chip.
  using Trace = std::map<std::uint32_t, std::vector<std::uint64_t>>;

  Recorder();
  static void forget_in_child();

  // With the lock held.
  void open(const tm::IDevice& chip);
  void check_that_we_hear();
  Mesh& mesh_of(const tm::IDevice& device);
  static Mesh part_of(const Mesh& mesh, const std::vector<tm::IDevice*>& devices);
  bool update(Program& program, const tm::detail::ProgramImpl& impl);
  void place(const Program& program, const Chips& chips);
  void dispatch(tm::detail::ProgramImpl& impl, tm::IDevice& device, const Mesh& mesh);

  Heard heard_{false, false, false};     // set before anything is recorded
  std::mutex mutex_;                     // everything below
  bool initialized_ = false;             // a chip was opened, and we heard of it
  std::map<std::uint32_t, Chip> chips_;  // that are open
  std::uint64_t generation_ = 1;         // raised when a chip is opened or closed
  // By the device's address and number: a new mesh may get the address of one that is gone. They
  // stay: buffers point to them.
  std::map<std::pair<const tm::IDevice*, int>, Mesh> meshes_;
  struct {  // the entry of `meshes_` that was used last
    const tm::IDevice* device = nullptr;
    int id = 0;
    Mesh* mesh = nullptr;
  } last_;
  ProbeTable<Buffer> buffers_;
  std::unordered_map<const tm::detail::ProgramImpl*, Program> programs_;
  std::map<std::uint32_t, Trace> traces_;
  std::uint64_t next_program_ = 1;
};

// While it lives, buffers that are allocated on this thread have this label.
class Label {
 public:
  explicit Label(const char* name);
  ~Label();
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  const char* const outer_;
};

}  // namespace ttmem::adapter
