// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a recorded run would fit on another board: sends every request of the
// recording, in the recorded order, to the allocator of the other board. The results are plain
// values. An empty optional means that the value is unknown. A 0 is a known value.
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

// Multiplies the sizes of all DRAM, L1 and L1_SMALL buffers under `scope` by `factor`.
struct SizeScale {
  std::string scope;
  double factor = 1;
};

struct CarryOptions {
  std::vector<SizeScale> scales;
  // Sizes with which the board is opened; nullopt: the sizes with which the recorded devices were
  // opened.
  std::optional<std::uint64_t> l1_small_size;
  std::optional<std::uint64_t> trace_region_size;
  // True: buffers and programs that used the whole recorded grid use the whole grid of the board.
  // Shards and CBs on cores or banks that the board lacks move to other cores or banks. The result
  // is an estimate, because the program itself would choose its cores.
  bool estimate = false;
};

// The reason why a request cannot be translated into a request on the other board.
enum class Why : std::uint8_t {
  none,
  cores_missing,   // shards or circular buffers on cores that the board does not have
  banks_missing,   // shards in DRAM banks that the board does not have
  page_unknown,    // the page size is unknown, and the other board has other banks
  layout_unknown,  // interleaved or sharded is unknown, and the other board has other banks
  cores_unknown,   // the cores of a sharded buffer are unknown
  size_unknown,    // the bytes per bank are unknown
  sub_device,      // the buffer lies in the memory of a sub-device
  not_reported,    // the process of a device does not report the kind
  cbs_unknown,     // circular buffers were not reported, or have no addresses
  cb_order,        // the addresses of circular buffers do not follow from their order
  lost,            // the recording lost events
};

struct Unknown {
  Why why = Why::none;
  Kind kind = Kind::dram;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // bytes used on the recorded devices
};

using explain::Cause;

// A buffer at the address where the allocator of the board placed it.
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
struct FailedRequest {
  Cause cause = Cause::capacity;
  Kind kind = Kind::dram;    // Kind::cb means a program
  bool certain = true;       // false: untranslated requests may have changed the outcome
  bool at_dispatch = false;  // true: the program was placed, and failed when it was dispatched
  Time time_ns = 0;
  std::uint64_t request = 0;  // number of the request in the recording, from 1
  std::vector<std::uint32_t> devices;
  std::string scope;
  std::string label;  // label of the buffer, or name of the program
  std::string process;
  // The following sizes are set for a buffer. `bytes` is the size on the device; the sizes after
  // `bytes` are sizes in each bank, unless a comment says otherwise.
  std::uint64_t bytes = 0;
  std::uint64_t bytes_per_bank = 0;
  std::uint64_t bank_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t largest_free_bytes = 0;
  std::uint64_t trace_region_bytes = 0;  // over all banks
  std::uint64_t trace_bytes = 0;         // sum of the existing traces
  // The following numbers are set for a program.
  std::uint64_t program = 0;
  CoreRange cores{};
  std::uint64_t cb_end = 0;
  std::uint64_t lowest_l1 = 0;  // 0 means no L1 buffer
  std::uint64_t l1_bytes = 0;
  // All buffers that the allocator holds at that moment, sorted by kind and address.
  // explanation_of() uses these buffers.
  std::vector<PlacedBuffer> placed;
};

enum class Verdict : std::uint8_t { fits, unknown, does_not_fit };

// The grid and the memory map with which a device of the board is opened.
struct Opened {
  placement::Grid grid;
  placement::MemoryMap map;
};

// The result with CarryOptions::estimate.
struct Estimate {
  Verdict verdict = Verdict::fits;
  placement::Grid recorded;  // the grid of the first recorded device
  std::vector<report::DeviceReport> devices;
  std::optional<FailedRequest> failure;
};

// The result for one board.
struct BoardFit {
  placement::Board board;
  Verdict verdict = Verdict::fits;
  // How the failing device is opened, or the first device if no request failed. nullopt: no device.
  std::optional<Opened> opened;
  // The number of requests. Each buffer and each placement of a program is one request.
  std::uint64_t requests = 0;
  std::vector<report::DeviceReport> devices;  // peaks up to the failure, or to the end
  std::optional<FailedRequest> failure;
  std::vector<Unknown> unknown;  // the most bytes first
  // nullopt if the requests do not depend on the number of cores and banks, if it is certain
  // without an estimate that the run does not fit, or if some requests cannot be estimated.
  std::optional<Estimate> estimate;
  // The largest factor that fits, and the smallest tried factor that does not fit. Set by
  // find_largest().
  std::optional<double> largest_factor;
  std::optional<double> smallest_failing_factor;
  // The reason why no buffer under the scope can be translated. find_largest() then finds no
  // factor, although the run may fit.
  std::optional<Why> scope_unknown;
};

// Runs a recording on a board. Fails if the recording is damaged or has no requests (--aggregate),
// if a scale matches nothing, or if the board cannot be opened with the L1_SMALL and trace region
// sizes.
[[nodiscard]] Result<BoardFit> fit(const recording::Reader& reader, const placement::Board& board,
                                   const CarryOptions& options);

// Finds the largest factor by which the sizes under `scope` can be multiplied so that the run still
// fits. The factor is exact to one percent. The other fields have the results for the factor 1.
// largest_factor is empty if no factor fits, however small; smallest_failing_factor is empty if no
// factor is too large. Both are empty if scope_unknown is set.
[[nodiscard]] Result<BoardFit> find_largest(const recording::Reader& reader,
                                            const placement::Board& board,
                                            const CarryOptions& options, const std::string& scope);

}  // namespace ttmem::fit
