// SPDX-License-Identifier: Apache-2.0
//
// A capture of the real runtime (tests/data/captures) as requests in order, with the runtime's
// answers.
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
  std::optional<int> mesh_id;  // nullopt: the buffer is on the only chip
  std::vector<int> chips;
  tt::tt_metal::BufferType type;
  tt::tt_metal::TensorMemoryLayout layout;
  tt::tt_metal::CoreRangeSet cores;
  std::uint64_t size, page_size, pages;
  bool bottom_up;
  // The runtime gave the buffer this address and size.
  std::uint64_t address, bytes_per_bank, banks;
};

struct FreeBuffer {
  std::uint64_t id;
};

// A run of a program on these chips. It is the first run, a run with changed sizes of circular
// buffers, or the first run on further chips.
struct RunProgram {
  struct OnChip {
    int chip;
    std::vector<CapturedCb> cbs;
  };
  std::uint64_t program;
  std::vector<OnChip> chips;  // in the order of their reports
};

struct DestroyProgram {
  std::uint64_t program;
};

struct Request {
  std::size_t line;  // first line in the capture, counted from 1
  std::variant<AllocateBuffer, FreeBuffer, RunProgram, DestroyProgram> what;
};

struct Capture {
  std::vector<CapturedDevice> devices;
  std::vector<CapturedMesh> meshes;
  std::vector<Request> requests;
  std::size_t answers = 0;  // number of placed buffers, and of CBs on chips
};

// Reads a capture. Throws if the file cannot be read, is not a capture, or lacks a fact that the
// dry run needs; the message names the file and the line.
Capture read_capture(const std::string& path);

}  // namespace dryrun_test
