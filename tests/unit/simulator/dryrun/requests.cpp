// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

#include "read/capture/capture.hpp"

namespace dryrun_test {
namespace {

namespace capture = ttmem::capture;
using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRange;
using tt::tt_metal::CoreRangeSet;
using tt::tt_metal::TensorMemoryLayout;

CoreRangeSet cores_of(const capture::CaptureCoreRanges& rectangles) {
  std::vector<CoreRange> ranges;
  for (const ttmem_core_range& r : rectangles) {
    ranges.push_back(CoreRange({r.x0, r.y0}, {r.x1, r.y1}));
  }
  return {std::move(ranges)};
}

CapturedDevice::Banks banks_of(const capture::CaptureDevice::Banks& banks) {
  return {banks.count, banks.bytes, banks.alignment};
}

CapturedDevice device_of(const capture::CaptureDevice& device) {
  if (!device.allocator) throw std::runtime_error("field 'dram_base' is missing");
  return {static_cast<int>(device.id),
          device.arch,
          {device.grid_x, device.grid_y},
          device.l1_bytes_per_core,
          device.l1_base,
          device.dram_channels,
          device.dram_bytes_per_channel,
          device.allocator->dram_base,
          banks_of(device.allocator->dram),
          banks_of(device.allocator->l1),
          banks_of(device.allocator->l1_small),
          banks_of(device.allocator->trace)};
}

BufferType type_of(ttmem_buffer_type type) {
  switch (type) {
    case TTMEM_DRAM:
      return BufferType::DRAM;
    case TTMEM_L1:
      return BufferType::L1;
    case TTMEM_L1_SMALL:
      return BufferType::L1_SMALL;
    case TTMEM_TRACE:
      return BufferType::TRACE;
    default:
      throw std::runtime_error("the dry run does not place this type of buffer");
  }
}

TensorMemoryLayout layout_of(const std::string& name) {
  static const std::map<std::string_view, TensorMemoryLayout> layouts{
      {"interleaved", TensorMemoryLayout::INTERLEAVED},
      {"height_sharded", TensorMemoryLayout::HEIGHT_SHARDED},
      {"width_sharded", TensorMemoryLayout::WIDTH_SHARDED},
      {"block_sharded", TensorMemoryLayout::BLOCK_SHARDED},
      {"nd_sharded", TensorMemoryLayout::ND_SHARDED}};
  const auto found = layouts.find(name);
  if (found == layouts.end()) throw std::runtime_error("unknown layout \"" + name + "\"");
  return found->second;
}

AllocateBuffer request_of(const capture::BufferAlloc& buffer) {
  if (!buffer.request) throw std::runtime_error("field 'page_size' is missing");
  const capture::BufferAlloc::Request& asked = *buffer.request;
  return {buffer.id,
          asked.mesh_id ? std::optional(static_cast<int>(*asked.mesh_id)) : std::nullopt,
          {buffer.devices.begin(), buffer.devices.end()},
          type_of(buffer.type),
          layout_of(asked.layout),
          cores_of(buffer.cores),
          buffer.bytes,
          asked.page_bytes,
          asked.pages,
          asked.bottom_up,
          buffer.address,
          buffer.bytes_per_bank,
          asked.banks};
}

// Builds the requests of a capture. Placements of several chips and of several programs interleave
// in a capture. The builder joins all placements of one run of a program, on all its chips, into
// one request. The request takes the position of the first event of the run.
class CaptureBuilder {
 public:
  void add(std::size_t number, const capture::CaptureEntry& entry) {
    number_ = number;
    std::visit([this](const auto& what) { add(what); }, entry);
  }

  Capture take() { return std::move(capture_); }

 private:
  struct Run {
    std::size_t request;    // index of the request of this run
    bool complete = false;  // true if no further chip joins the run
  };

  void add(const capture::CaptureDevice& device) { capture_.devices.push_back(device_of(device)); }
  void add(const capture::CaptureMesh& mesh) {
    capture_.meshes.push_back({static_cast<int>(mesh.id), {mesh.chips.begin(), mesh.chips.end()}});
  }
  void add(const capture::BufferAlloc& buffer) {
    request(request_of(buffer));
    ++capture_.answers;
  }
  void add(const capture::BufferFree& buffer) { request(FreeBuffer{buffer.id}); }
  void add(const capture::ProgramLayout& layout) {
    begin_layout(layout.program, static_cast<int>(layout.device));
  }
  void add(const capture::ProgramRegister& complete) {
    const auto run = runs_.find(complete.program);
    if (run != runs_.end()) run->second.complete = true;
  }
  void add(const capture::CbFreeAll&) {}

  // The capture has this event once for each chip. The first event ends the program on all chips,
  // and the other events change nothing.
  void add(const capture::ProgramUnregister& end) {
    if (runs_.erase(end.program) > 0) request(DestroyProgram{end.program});
  }

  void add(const capture::CbAlloc& cb) {
    const int chip = static_cast<int>(cb.device);
    const auto running = runs_.find(cb.program);
    if (running == runs_.end() || find_chip(at(running->second), chip) == nullptr) {
      begin_layout(cb.program, chip);
    }
    find_chip(at(runs_[cb.program]), chip)
        ->cbs.push_back({cores_of(cb.cores), cb.address, cb.bytes, cb.globally_allocated});
    ++capture_.answers;
  }

  template <typename What>
  void request(What what) {
    capture_.requests.push_back({number_, std::move(what)});
  }

  RunProgram& at(const Run& run) {
    return std::get<RunProgram>(capture_.requests[run.request].what);
  }

  static RunProgram::OnChip* find_chip(RunProgram& run, int chip) {
    const auto found = std::find_if(run.chips.begin(), run.chips.end(),
                                    [chip](const auto& each) { return each.chip == chip; });
    return found == run.chips.end() ? nullptr : &*found;
  }

  void begin_layout(std::uint64_t program, int chip) {
    const auto running = runs_.find(program);
    if (running == runs_.end() || running->second.complete ||
        find_chip(at(running->second), chip) != nullptr) {
      runs_[program] = {capture_.requests.size()};
      request(RunProgram{program, {}});
    }
    at(runs_[program]).chips.push_back({chip, {}});
  }

  Capture capture_;
  std::size_t number_ = 0;
  std::map<std::uint64_t, Run> runs_;  // the last run of each live program
};

}  // namespace

const CapturedDevice::Banks& CapturedDevice::banks(BufferType type) const {
  switch (type) {
    case BufferType::L1:
      return l1;
    case BufferType::L1_SMALL:
      return l1_small;
    case BufferType::TRACE:
      return trace;
    default:
      return dram;
  }
}

Capture read_capture(const std::string& path) {
  const auto lines = capture::read_capture(path, std::nullopt);
  if (!lines) throw std::runtime_error(lines.error().message);
  CaptureBuilder builder;
  for (std::size_t i = 0; i < lines->size(); ++i) {
    try {
      builder.add(i + 1, (*lines)[i].entry);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(i + 1) + ": " + error.what());
    }
  }
  Capture read = builder.take();
  if (read.devices.empty()) throw std::runtime_error(path + ": has no device line");
  return read;
}

}  // namespace dryrun_test
