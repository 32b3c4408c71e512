// SPDX-License-Identifier: Apache-2.0
//
// The requests of a capture of the real runtime (tests/data/captures), in the order of the capture,
// with the runtime's answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace dryrun_test {

struct CapturedDevice {
  int id;
  std::string arch;
  tt::tt_metal::CoreCoord grid;
  std::uint64_t l1_bytes_per_core, l1_base, dram_channels, dram_bytes_per_channel, dram_base;
  struct Banks {
    std::uint64_t count, bytes, alignment;
    bool operator==(const Banks&) const = default;
  };
  Banks dram, l1, l1_small, trace;

  const Banks& banks(tt::tt_metal::BufferType type) const;
};

struct CapturedMesh {
  int id;
  std::vector<int> chips;
};

struct CapturedCb {
  tt::tt_metal::CoreRangeSet cores;
  std::uint64_t address;
  std::uint64_t size;
  bool globally_allocated;
};

struct AllocateBuffer {
  std::uint64_t id;
  std::optional<int> mesh_id;  // nullopt if the buffer is on the only chip
  std::vector<int> chips;
  tt::tt_metal::BufferType type;
  tt::tt_metal::TensorMemoryLayout layout;
  tt::tt_metal::CoreRangeSet cores;
  std::uint64_t size, page_size, pages;
  bool bottom_up;
  // The address and the size that the runtime gave the buffer.
  std::uint64_t address, bytes_per_bank, banks;
};

struct FreeBuffer {
  std::uint64_t id;
};

// A run of a program on these chips. The capture shows only some runs of a program: the first run,
// a run after a change of CB sizes, and the first run on further chips.
struct RunProgram {
  struct OnChip {
    int chip;
    std::vector<CapturedCb> cbs;
  };
  std::uint64_t program;
  std::vector<OnChip> chips;  // in the order in which the chips reported
};

struct DestroyProgram {
  std::uint64_t program;
};

struct Request {
  std::size_t line;  // first line of the request in the capture, counted from 1
  std::variant<AllocateBuffer, FreeBuffer, RunProgram, DestroyProgram> what;
};

struct Capture {
  std::vector<CapturedDevice> devices;
  std::vector<CapturedMesh> meshes;
  std::vector<Request> requests;
  std::size_t answers = 0;  // number of placed buffers plus number of CBs on all chips
};

// Reads a capture. Throws if the file cannot be read, is not a capture, or lacks a fact that the
// dry run needs. The message names the file and the line.
Capture read_capture(const std::string& path);

}  // namespace dryrun_test
