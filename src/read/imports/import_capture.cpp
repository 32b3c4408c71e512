// SPDX-License-Identifier: Apache-2.0
#include "read/imports/import_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <variant>

#include "base/limits.hpp"
#include "base/plural.hpp"
#include "read/imports/event_writer.hpp"
#include "read/imports/kind_bits.hpp"

namespace ttmem::imports {
namespace {

using recording::RowId;
using recording::Time;

// Returns the layout as the hooks report it, or an unknown layout for older captures.
BufferLayout layout_of(const capture::BufferAlloc& buffer) {
  BufferLayout layout;
  if (!buffer.request) return layout;
  const bool interleaved = buffer.request->layout == "interleaved";
  layout.spread = interleaved ? BufferLayout::Spread::interleaved : BufferLayout::Spread::sharded;
  layout.direction = buffer.request->bottom_up ? BufferLayout::Direction::bottom_up
                                               : BufferLayout::Direction::top_down;
  layout.page_bytes = buffer.request->page_bytes;
  if (interleaved || buffer.type != TTMEM_DRAM) return layout;
  for (const ttmem_core_range& range : buffer.cores) {
    layout.shard_banks = std::max(layout.shard_banks, range.x1 + 1U);
  }
  return layout;
}

class CaptureWriter {
 public:
  CaptureWriter(RowId process, recording::Writer& writer)
      : process_(process), writer_(writer), event_writer_(writer) {}

  Imported write(const std::vector<capture::CaptureLine>& lines) {
    Imported imported;
    for (const capture::CaptureLine& line : lines) {
      const auto most = static_cast<std::uint64_t>(std::numeric_limits<Time>::max());
      now_ = std::max(now_, static_cast<Time>(std::min(line.t_ns, most)));
      std::visit([this](const auto& entry) { take(entry); }, line.entry);
      if (line.is_event()) ++imported.events;
    }
    event_writer_.settle();
    imported.what = "a capture of TT-Metal";
    imported.allocations = event_writer_.allocations();
    imported.programs = event_writer_.programs();
    imported.end_ns = now_;
    if (unknown_frees_ != 0) {
      imported.notes.push_back(fmt::format("{} of buffers that the capture did not allocate",
                                           plural(unknown_frees_, "free", "frees")));
    }
    if (impossible_ != 0) {
      imported.notes.push_back(fmt::format("{} larger than any known device has, left out",
                                           plural(impossible_, "size", "sizes")));
    }
    return imported;
  }

 private:
  void take(const capture::CaptureDevice& given) {
    recording::RecordedDevice device;
    device.process = process_;
    device.number = given.id;
    device.arch = given.arch;
    device.grid_x = given.grid_x;
    device.grid_y = given.grid_y;
    device.l1_bytes_per_core = given.l1_bytes_per_core;
    device.l1_base = given.l1_base;
    device.l1_small_bytes_per_core = given.l1_small_bytes_per_core;
    device.dram_channels = given.dram_channels;
    device.dram_bytes_per_channel = given.dram_bytes_per_channel;
    device.trace_region_bytes = given.trace_region_bytes;
    // The hooks of a capture report neither kernels nor dispatches.
    device.known_kinds = kBufferBits | bit_of(Kind::cb);
    device.begin_ns = now_;
    device.id = writer_.begin(device);
    devices_[given.id] = device;
  }

  void take(const capture::CaptureMesh&) {}

  void take(const capture::BufferAlloc& buffer) {
    if (buffer.devices.empty()) return;
    const recording::RecordedDevice& device = devices_[buffer.devices.front()];
    recording::RecordedRequest request;
    request.kind = kBufferKinds[buffer.type];
    request.bytes = buffer.bytes;
    request.bytes_per_bank = buffer.bytes_per_bank;
    request.has_bytes_per_bank = true;
    request.banks = banks_of(device, request.kind);
    if (request.bytes > kMaxBytes || request.bytes_per_bank > kMaxBytes ||
        request.banks > kMaxBanks) {
      ++impossible_;
      return;
    }
    if (is_in_l1(request.kind) && !buffer.cores.empty()) {
      request.cores = writer_.core_set(mask_of(device, buffer.cores));
    }
    request.layout = layout_of(buffer);
    event_writer_.allocate(
        recording::RecordedAllocation{.devices = set_of(buffer.devices),
                                      .request = writer_.request(request),
                                      // `ttmem replay` gives the buffer the same number.
                                      .number = buffer.id + 1,
                                      .address = buffer.address,
                                      .begin_ns = now_});
  }

  void take(const capture::BufferFree& buffer) {
    if (buffer.devices.empty()) return;
    if (!event_writer_.free(set_of(buffer.devices), buffer.id + 1, now_)) ++unknown_frees_;
  }

  void take(const capture::ProgramLayout& layout) { lay_out(layout); }

  // Registers a program. A program without CBs is new here, because it has no layout event.
  void take(const capture::ProgramRegister& complete) {
    if (!event_writer_.has_program(devices_[complete.device].id, complete.program))
      lay_out(complete);
    event_writer_.settle();
  }

  void take(const capture::ProgramUnregister& end) {
    event_writer_.end_program(devices_[end.device].id, end.program, now_);
  }

  void take(const capture::CbAlloc& cb) {
    if (cb.bytes > kMaxCoreBytes || cb.address > kMaxCoreBytes) {
      ++impossible_;
      return;
    }
    const recording::RecordedDevice& device = devices_[cb.device];
    event_writer_.add_cb(device.id, cb.program,
                         recording::RecordedCb{.address = static_cast<std::uint32_t>(cb.address),
                                               .bytes = static_cast<std::uint32_t>(cb.bytes),
                                               .global = cb.globally_allocated,
                                               .cores = mask_of(device, cb.cores)},
                         now_);
  }

  void take(const capture::CbFreeAll&) {}

  void lay_out(const capture::ProgramEvent& event) {
    recording::RecordedProgram program;
    program.device = devices_[event.device].id;
    program.number = event.program;
    event_writer_.lay_out(program, now_);
  }

  [[nodiscard]] static std::uint32_t banks_of(const recording::RecordedDevice& device, Kind kind) {
    if (kind == Kind::system) return 0;
    return is_in_dram(kind) ? device.dram_channels : std::uint32_t{device.grid_x} * device.grid_y;
  }

  // Returns the mask of the cores. Leaves out cores outside the grid.
  [[nodiscard]] static CoreMask mask_of(const recording::RecordedDevice& device,
                                        const capture::CaptureCoreRanges& ranges) {
    CoreMask mask;
    for (const ttmem_core_range& range : ranges) {
      for (std::uint32_t y = range.y0; y <= range.y1 && y < device.grid_y; ++y) {
        for (std::uint32_t x = range.x0; x <= range.x1 && x < device.grid_x; ++x) {
          mask.set(y * device.grid_x + x);
        }
      }
    }
    return mask;
  }

  [[nodiscard]] RowId set_of(const std::vector<std::uint32_t>& numbers) {
    std::vector<RowId> rows;
    rows.reserve(numbers.size());
    for (const std::uint32_t number : numbers) rows.push_back(devices_[number].id);
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return writer_.device_set(rows);
  }

  RowId process_;
  recording::Writer& writer_;
  EventWriter event_writer_;
  // The devices by number. The reader of the capture has checked the numbers.
  std::map<std::uint32_t, recording::RecordedDevice> devices_;
  Time now_ = 0;
  std::uint64_t unknown_frees_ = 0;
  std::uint64_t impossible_ = 0;
};

}  // namespace

Imported write_capture(const std::vector<capture::CaptureLine>& lines, RowId process,
                       recording::Writer& writer) {
  return CaptureWriter(process, writer).write(lines);
}

}  // namespace ttmem::imports
