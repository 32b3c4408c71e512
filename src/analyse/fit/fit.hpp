// SPDX-License-Identifier: Apache-2.0
//
// Whether a recorded run would fit on another board: every request of the recording, in its order,
// through the allocator of that board. Plain values. An empty optional is unknown; a zero was
// measured.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyse/explain/explanation.hpp"
#include "analyse/report/report.hpp"
#include "base/core_range.hpp"
#include "base/kinds.hpp"
#include "base/result.hpp"
#include "read/placement/board.hpp"
#include "read/placement/memory_map.hpp"
#include "read/recording/file/reader.hpp"

namespace ttmem::fit {

using recording::Time;

// What lies under `scope` is so many times as large.
struct Scale {
  std::string scope;
  double factor = 1;
};

struct Options {
  std::vector<Scale> scales;
  // Instead of what the devices of the recording were opened with.
  std::optional<std::uint64_t> l1_small_size;
  std::optional<std::uint64_t> trace_region_size;
};

// Why a request cannot be carried over: nobody can say what it would be on the other board.
enum class Why : std::uint8_t {
  none,
  cores_missing,   // shards or circular buffers on cores that the board does not have
  banks_missing,   // shards in DRAM banks that the board does not have
  page_unknown,    // and the other board has other banks
  layout_unknown,  // interleaved or sharded; and the other board has other banks
  cores_unknown,   // of a sharded buffer
  size_unknown,    // what it takes in a bank
  sub_device,      // it lies in the memory of a sub-device
  not_reported,    // a device whose process does not report that kind
  cbs_unknown,     // circular buffers that were not reported, or without addresses
  cb_order,        // the addresses of circular buffers do not follow from their order
  lost,            // the recording lost events
};

struct Unknown {
  Why why = Why::none;
  Kind kind = Kind::dram;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // that they used on the recorded devices
};

using explain::Cause;

// A buffer where the allocator of the board has placed it.
struct PlacedBuffer {
  Kind kind = Kind::dram;
  std::uint64_t address = 0;
  std::uint64_t bytes_per_bank = 0;
  std::string scope;
  std::string label;
  std::string process;
  Time since_ns = 0;
};

// The first request that fails.
struct Failure {
  Cause cause = Cause::capacity;
  Kind kind = Kind::dram;    // cb: a program
  bool certain = true;       // false: what is not known may have changed it
  bool at_dispatch = false;  // of a program that was placed before
  Time time_ns = 0;
  std::uint64_t request = 0;  // its number in the story, from 1
  std::vector<std::uint32_t> devices;
  std::string scope;
  std::string label;  // of a program, its name
  std::string process;
  // Of a buffer: on the device, and in each bank.
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;
  std::uint64_t bank_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t largest_free_bytes = 0;
  std::uint64_t trace_region_bytes = 0;  // of all banks
  std::uint64_t trace_bytes = 0;         // of the traces that are there
  // Of a program.
  std::uint64_t program = 0;
  CoreRange cores{};
  std::uint64_t cb_end = 0;
  std::uint64_t lowest_l1 = 0;  // 0: there is no L1 buffer
  std::uint64_t l1_bytes = 0;
  // What the allocator holds at that moment, by kind and address: of all kinds. What is said about
  // the failure can be made from it.
  std::vector<PlacedBuffer> placed;
};

enum class Verdict : std::uint8_t { fits, unknown, does_not_fit };

// How a device of the board is opened.
struct Opened {
  placement::Grid grid;
  placement::MemoryMap map;
};

// The answer for one board.
struct BoardFit {
  placement::Board board;
  Verdict verdict = Verdict::fits;
  std::optional<Opened> opened;  // the device that fails, else the first; none: there is none
  std::uint64_t requests = 0;    // that were made: buffers, and programs as they are placed
  std::vector<report::DeviceReport> devices;  // peaks up to the failure, or to the end
  std::optional<Failure> failure;
  std::vector<Unknown> unknown;  // the most bytes first
  // With find_largest(): the largest factor that fits, and what was asked for when it did not.
  std::optional<double> largest_factor;
  std::optional<double> smallest_failing_factor;
};

// Fails when the recording is damaged or has no requests (--aggregate), when a scale matches
// nothing, and when the board cannot be opened with these sizes.
[[nodiscard]] Result<BoardFit> fit(const recording::Reader& reader, const placement::Board& board,
                                   const Options& options);

// The largest factor for what lies under `scope` with which the run fits, to within a hundredth of
// it. The rest of the answer is that for the factor 1. No largest_factor: nothing fits, however
// small; no smallest_failing_factor: nothing is too large.
[[nodiscard]] Result<BoardFit> find_largest(const recording::Reader& reader,
                                            const placement::Board& board, const Options& options,
                                            const std::string& scope);

}  // namespace ttmem::fit
