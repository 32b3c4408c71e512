// SPDX-License-Identifier: Apache-2.0
//
// How host code takes memory: it opens devices, allocates buffers, and runs programs that declare
// circular buffers. Everything here is TT-Metal's own interface, on the dry run, and throws what
// that throws. The lines with ttmem::tt_metal report what the runtime's hooks do not.
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
inline constexpr std::uint64_t kBf16Tile = 2048;  // 32 x 32 elements
inline constexpr std::uint64_t kBfp8Tile = 1088;  // with the shared exponents
inline constexpr std::uint64_t kFp32Tile = 4096;

struct Machine {
  const char* system;       // as TTMEM_DRYRUN_SYSTEM has it (docs/guides/simulator.md)
  const char* board;        // which TT-Metal's interface does not have
  std::uint64_t first_uid;  // made up
  std::size_t trace_region_bytes = 0;
};

inline constexpr std::size_t kTraceBytes = 5 * kKiB * kKiB;
inline constexpr Machine kN150 = {"n150", "n150", 0x150a01};
inline constexpr Machine kN300 = {"n300", "n300", 0x300b01};
inline constexpr Machine kT3000 = {"t3000", "n300", 0x300b01, kTraceBytes};
inline constexpr Machine kGalaxy = {"galaxy", "galaxy", 0x6a1c01, kTraceBytes};
inline constexpr Machine kP150 = {"p150:13x10", "p150", 0xb1500d};  // nothing harvested

// All chips of a machine as one mesh, open and tracked for as long as this lives. Make it before
// what is allocated on it, on the thread that allocates.
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

// Memory on every chip of a mesh, held until the last copy of the pointer is gone.
using Tensor = std::shared_ptr<tm::distributed::MeshBuffer>;

// Its pages are dealt round robin over all banks of a chip.
[[nodiscard]] Tensor interleaved(const Mesh& mesh, const std::string& name, tm::BufferType type,
                                 std::uint64_t page_bytes, std::uint64_t pages);
// Every core of the grid has as many pages.
[[nodiscard]] Tensor sharded(const Mesh& mesh, const std::string& name, tm::BufferType type,
                             std::uint32_t page_bytes, std::uint32_t pages_per_core);

// A circular buffer as a program declares it: the runtime finds the address.
struct CbOfOperation {
  std::uint64_t bytes = 0;                            // on each core
  std::optional<tm::CoreRange> cores = std::nullopt;  // none: the whole grid
};

// A cached program that every chip of a mesh runs. The first run places its circular buffers; they
// stay until it is destroyed.
class Operation {
 public:
  // The dry run compiles no kernels, so the caller gives their bytes on a core; 0: not counted.
  Operation(const Mesh& mesh, const std::vector<CbOfOperation>& cbs,
            std::uint64_t kernel_bytes = 0);

  void run();
  // Only enqueues it: nothing runs while a trace is being captured.
  void enqueue();
  [[nodiscard]] const tm::Program& program() const;

 private:
  const Mesh* mesh_;
  std::uint64_t kernel_bytes_;
  tm::distributed::MeshWorkload workload_;
};

// Operations recorded once, and then sent to the mesh all together, again and again.
class MeshTrace {
 public:
  // Runs each operation once, because only what was compiled can be captured. The operations stay
  // where they are for as long as the trace is replayed.
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
