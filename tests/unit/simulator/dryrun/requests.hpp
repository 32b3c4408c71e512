// SPDX-License-Identifier: Apache-2.0
//
// A capture of the real runtime (tests/data/captures) as requests: what was asked for, in order,
// and what the runtime answered.
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
  std::optional<int> mesh_id;  // none: on the one chip
  std::vector<int> chips;
  tt::tt_metal::BufferType type;
  tt::tt_metal::TensorMemoryLayout layout;
  tt::tt_metal::CoreRangeSet cores;
  std::uint64_t size, page_size, pages;
  bool bottom_up;
  // The answer:
  std::uint64_t address, bytes_per_bank, banks;
};

struct FreeBuffer {
  std::uint64_t id;
};

// A program runs on these chips: for the first time, or with circular buffers of other sizes, or,
// having run on others, now on these too.
struct RunProgram {
  struct OnChip {
    int chip;
    std::vector<CapturedCb> cbs;
  };
  std::uint64_t program;
  std::vector<OnChip> chips;  // in the order they were reported
};

struct DestroyProgram {
  std::uint64_t program;
};

struct Request {
  std::size_t line;  // of the capture, from 1: where it begins
  std::variant<AllocateBuffer, FreeBuffer, RunProgram, DestroyProgram> what;
};

struct Capture {
  std::vector<CapturedDevice> devices;
  std::vector<CapturedMesh> meshes;
  std::vector<Request> requests;
  std::size_t answers = 0;  // how many buffers, and CBs on chips, the runtime placed
};

// Throws when the file cannot be read, is not a capture, or leaves out what the dry run has to be
// asked for; the message names the file and the line.
Capture read_capture(const std::string& path);

}  // namespace dryrun_test
