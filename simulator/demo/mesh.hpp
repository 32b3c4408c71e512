// SPDX-License-Identifier: Apache-2.0
// The actions of host code that take device memory: opening devices, allocating buffers, and
// running programs that declare circular buffers. All calls use TT-Metal's own interface, which the
// dry run implements. They throw TT-Metal's exceptions. Calls of ttmem::tt_metal attach the
// processor and report what the runtime's hooks do not report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <vector>

namespace ttmem::demo {

namespace tm = ::tt::tt_metal;

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kBf16Tile = 2048;  // bytes of 32 x 32 elements
// Bytes of 32 x 32 elements, including the exponents that elements share.
inline constexpr std::uint64_t kBfp8Tile = 1088;
inline constexpr std::uint64_t kFp32Tile = 4096;

struct Machine {
  const char* system;       // value of TTMEM_DRYRUN_SYSTEM (docs/guides/simulator.md)
  const char* board;        // board name; TT-Metal's interface does not report it
  std::uint64_t first_uid;  // uid of the first chip, an invented number
  std::size_t trace_region_bytes = 0;
};

inline constexpr std::size_t kTraceBytes = 5 * kKiB * kKiB;
inline constexpr Machine kN150 = {"n150", "n150", 0x150a01};
inline constexpr Machine kN300 = {"n300", "n300", 0x300b01};
inline constexpr Machine kT3000 = {"t3000", "n300", 0x300b01, kTraceBytes};
inline constexpr Machine kGalaxy = {"galaxy", "galaxy", 0x6a1c01, kTraceBytes};
// A P150 without harvested cores.
inline constexpr Machine kP150 = {"p150:13x10", "p150", 0xb1500d};

// All chips of a machine as one mesh. The chips are open and tracked while this object lives.
// Create the object before the first allocation on the mesh, on the thread that allocates.
class Mesh {
 public:
  explicit Mesh(const Machine& machine);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  tm::distributed::MeshDevice* get() const { return device_.get(); }
  tm::distributed::MeshDevice* operator->() const { return device_.get(); }
  [[nodiscard]] tm::CoreRange all_cores() const;

 private:
  std::shared_ptr<tm::distributed::MeshDevice> device_;
};

// A buffer on every chip of a mesh. The buffer is freed when the last copy of the pointer is
// destroyed.
using Tensor = std::shared_ptr<tm::distributed::MeshBuffer>;

// Allocates a buffer whose pages are distributed round robin over all banks of a chip.
[[nodiscard]] Tensor interleaved(const Mesh& mesh, const std::string& name, tm::BufferType type,
                                 std::uint64_t page_bytes, std::uint64_t pages);
// Allocates a buffer with the same number of pages on each core of the grid.
[[nodiscard]] Tensor sharded(const Mesh& mesh, const std::string& name, tm::BufferType type,
                             std::uint32_t page_bytes, std::uint32_t pages_per_core);

// A circular buffer as a program declares it. The runtime chooses the address.
struct CbOfOperation {
  std::uint64_t bytes = 0;                            // on each core
  std::optional<tm::CoreRange> cores = std::nullopt;  // nullopt: the whole grid
};

// A cached program that runs on every chip of a mesh. The first run places its circular buffers,
// which stay until the program is destroyed.
class Operation {
 public:
  // `kernel_bytes` is the size of the kernels on each core. The caller states it, because the dry
  // run compiles no kernels. With 0, kernels are not counted.
  Operation(const Mesh& mesh, const std::vector<CbOfOperation>& cbs,
            std::uint64_t kernel_bytes = 0);

  void run();
  // Enqueues the program without waiting. While a trace is captured, the program is added to the
  // trace and does not run.
  void enqueue();
  [[nodiscard]] const tm::Program& program() const;

 private:
  const Mesh* mesh_;
  std::uint64_t kernel_bytes_;
  tm::distributed::MeshWorkload workload_;
};

// A trace: operations that are captured once and then replayed together many times.
class MeshTrace {
 public:
  // Runs each operation once, because only a compiled program can be captured. Then captures all
  // operations in order, `repetitions` times. The operations must not be moved until the last
  // replay has ended.
  MeshTrace(const Mesh& mesh, std::vector<Operation>& operations, std::size_t repetitions);
  ~MeshTrace();
  MeshTrace(const MeshTrace&) = delete;
  MeshTrace& operator=(const MeshTrace&) = delete;

  void replay() const;

 private:
  const Mesh* mesh_;
  tm::distributed::MeshTraceId id_;
  std::vector<const tm::Program*> programs_;
};

}  // namespace ttmem::demo
