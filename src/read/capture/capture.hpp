// SPDX-License-Identifier: Apache-2.0
// A capture is a file with the calls of the real runtime's hooks, one JSON object per line. The
// devices and meshes come first. The events follow in the order of the calls.
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace ttmem::capture {

using CaptureCoreRanges = std::vector<ttmem_core_range>;

struct CaptureDevice {
  // The banks into which the runtime's allocator divides a memory. `ttmem replay` does not use this
  // structure.
  struct Banks {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
  };
  struct Allocator {
    std::uint64_t dram_base = 0;
    Banks dram;
    Banks l1;
    Banks l1_small;
    Banks trace;
  };

  std::uint32_t id = 0;
  std::string arch;
  std::uint16_t grid_x = 0;
  std::uint16_t grid_y = 0;
  std::uint32_t l1_bytes_per_core = 0;
  std::uint32_t l1_base = 0;
  std::uint32_t l1_small_bytes_per_core = 0;
  std::uint32_t dram_channels = 0;
  std::uint64_t dram_bytes_per_channel = 0;
  std::uint64_t trace_region_bytes = 0;
  std::optional<Allocator> allocator;  // complete, or nullopt
};

struct CaptureMesh {
  std::uint64_t id = 0;
  std::vector<std::uint32_t> chips;
};

struct BufferAlloc {
  // What the program asked the runtime for. The other fields of BufferAlloc are what the runtime
  // did.
  struct Request {
    std::optional<std::uint64_t> mesh_id;  // nullopt: the request was for one device
    std::string layout;                    // "interleaved", "height_sharded", ...
    std::uint64_t page_bytes = 0;
    std::uint64_t pages = 0;
    std::uint64_t banks = 0;
    bool bottom_up = false;
  };

  std::vector<std::uint32_t> devices;  // the devices on which the buffer lies
  std::uint64_t id = 0;                // the id in the capture; ids start at 0
  ttmem_buffer_type type = TTMEM_DRAM;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;
  CaptureCoreRanges cores;         // if empty, every bank holds data
  std::optional<Request> request;  // complete, or nullopt
};

struct BufferFree {
  std::vector<std::uint32_t> devices;
  std::uint64_t id = 0;
  ttmem_buffer_type type = TTMEM_DRAM;
};

// The device and the program of an event. ProgramLayout begins the layout of the program,
// ProgramRegister completes the layout, and ProgramUnregister ends the layout.
struct ProgramEvent {
  std::uint32_t device = 0;
  std::uint64_t program = 0;
};
struct ProgramLayout : ProgramEvent {};
struct ProgramRegister : ProgramEvent {};
struct ProgramUnregister : ProgramEvent {};

struct CbAlloc {
  std::uint32_t device = 0;
  std::uint64_t program = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // size on each core
  CaptureCoreRanges cores;
  bool globally_allocated = false;
};

struct CbFreeAll {};  // frees all CBs of the program that the next program_unregister names

using CaptureEntry =
    std::variant<CaptureDevice, CaptureMesh, BufferAlloc, BufferFree, ProgramLayout,
                 ProgramRegister, ProgramUnregister, CbAlloc, CbFreeAll>;

// One line of the file.
struct CaptureLine {
  std::uint64_t t_ns = 0;    // 0 for devices and meshes
  std::uint32_t thread = 0;  // 0 for devices and meshes
  CaptureEntry entry;

  [[nodiscard]] bool is_event() const {
    return !std::holds_alternative<CaptureDevice>(entry) &&
           !std::holds_alternative<CaptureMesh>(entry);
  }
};

// Reads the first `lines` lines, or all lines if `lines` is nullopt. The file "-" is standard
// input. Line n of the file is element n - 1 of the result. Fails if the file cannot be read or is
// empty, or if a line is not valid; the message names the file, the line and the reason.
[[nodiscard]] Result<std::vector<CaptureLine>> read_capture(const std::string& file,
                                                            std::optional<std::uint64_t> lines);

// Returns the name of the file for messages: "standard input" for "-".
[[nodiscard]] std::string name_of_capture(const std::string& file);

}  // namespace ttmem::capture
