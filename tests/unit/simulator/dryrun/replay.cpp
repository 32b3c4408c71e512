// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "replay_machine.hpp"

namespace dryrun_test {
namespace {

template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// A buffer on a mesh or on one chip.
struct LiveBuffer {
  std::shared_ptr<MeshBuffer> on_mesh;
  std::shared_ptr<Buffer> on_chip;
  std::vector<int> chips;

  const Buffer& backing() const { return on_mesh ? *on_mesh->get_backing_buffer() : *on_chip; }
};

struct LiveProgram {
  Program program;
  std::vector<CBHandle> handles;
  std::vector<CapturedCb> cbs;  // with the sizes of the last change
  std::set<int> chips;          // chips that ran the program
  std::map<CoreCoord, std::set<std::uint8_t>> slots;
};

class Replay {
 public:
  explicit Replay(const Capture& capture) : machine_(capture) {
    report_.answers = capture.answers;
    for (const CapturedDevice& device : capture.devices) {
      for (std::string& text : device_differences(device, machine_.chip(device.id))) {
        report_.differences.push_back(std::move(text));
      }
    }
    for (const CapturedMesh& mesh : capture.meshes) {
      if (machine_.mesh(mesh.id)->get_device_ids() != mesh.chips) {
        report_.differences.push_back(cat("mesh ", mesh.id, " has other chips here"));
      }
    }
  }

  void run(const Request& request) {
    line_ = request.line;
    if (std::holds_alternative<DestroyProgram>(request.what) && !report_.cb_bytes) {
      report_.cb_bytes = cb_bytes(machine_.chips().begin()->second);
    }
    try {
      std::visit([this](const auto& what) { make(what); }, request.what);
    } catch (const std::exception& error) {
      differ(error.what());
    }
  }

  // Ends the replay. If the capture freed everything, reports memory that is not free on the dry
  // run.
  ReplayReport finish() {
    const bool freed = buffers_.empty() && programs_.empty();
    for (const auto& [id, chip] : machine_.chips()) {
      if (freed && cb_bytes(chip) != 0) {
        report_.differences.push_back(cat("circular buffers are left on chip ", id));
      }
    }
    for (const auto& [id, mesh] : machine_.meshes()) {
      if (freed && !mesh->allocator()->get_allocated_buffers().empty()) {
        report_.differences.push_back(cat("buffers are left on mesh ", id));
      }
    }
    return std::move(report_);
  }

 private:
  template <typename... Parts>
  void differ(const Parts&... parts) {
    report_.differences.push_back(cat("line ", line_, ": ", parts...));
  }

  void make(const AllocateBuffer& request) {
    const LiveBuffer& live = buffers_[request.id] = allocate(request);
    const Buffer& buffer = live.backing();
    const std::size_t before = report_.differences.size();
    const auto compare = [&](const char* what, std::uint64_t theirs, std::uint64_t ours) {
      if (theirs == ours) return;
      differ("buffer ", request.id, ": ", what, " ", theirs, " in the capture, ", ours, " here");
    };
    compare("address", request.address, buffer.address());
    compare("bytes per bank", request.bytes_per_bank, buffer.aligned_size_per_bank());
    compare("pages", request.pages, buffer.num_pages());
    compare("banks", request.banks, buffer.allocator()->get_num_banks(request.type));
    if (report_.differences.size() == before) ++report_.equal;
  }

  LiveBuffer allocate(const AllocateBuffer& request) {
    buffers_.erase(request.id);
    const BufferShardingArgs sharding = sharding_of(request);
    if (!request.mesh_id) {
      return {nullptr,
              Buffer::create(&machine_.chip(request.chips.at(0)), request.size, request.page_size,
                             request.type, sharding, request.bottom_up),
              request.chips};
    }
    MeshDevice* const mesh = machine_.mesh(*request.mesh_id);
    if (mesh == nullptr) throw std::runtime_error(cat("mesh ", *request.mesh_id, " has no line"));
    return {MeshBuffer::create(distributed::ReplicatedBufferConfig{.size = request.size},
                               distributed::DeviceLocalBufferConfig{.page_size = request.page_size,
                                                                    .buffer_type = request.type,
                                                                    .sharding_args = sharding,
                                                                    .bottom_up = request.bottom_up},
                               mesh),
            nullptr, request.chips};
  }

  std::uint32_t pages_per_core(const AllocateBuffer& request, std::uint64_t cores) {
    const std::uint64_t alignment =
        machine_.captured(request.chips.at(0)).banks(request.type).alignment;
    const std::uint64_t page = (request.page_size + alignment - 1) / alignment * alignment;
    const std::uint64_t needed = (request.pages + cores - 1) / cores;
    if (page == 0 || needed * page == request.bytes_per_bank) {
      return static_cast<std::uint32_t>(needed);
    }
    ++report_.padded_shards;
    return static_cast<std::uint32_t>(request.bytes_per_bank / page);
  }

  BufferShardingArgs sharding_of(const AllocateBuffer& request) {
    if (request.layout == TensorMemoryLayout::INTERLEAVED) return {};
    const std::uint32_t cores = request.cores.num_cores();
    if (cores == 0) throw std::runtime_error(cat("sharded buffer ", request.id, " has no cores"));
    const std::uint32_t pages = pages_per_core(request, cores);
    if (request.layout == TensorMemoryLayout::ND_SHARDED) {
      return {BufferDistributionSpec(Shape{pages * cores}, Shape{pages}, request.cores,
                                     ShardOrientation::ROW_MAJOR)};
    }
    const auto page_size = static_cast<std::uint32_t>(request.page_size);
    return {ShardSpecBuffer(request.cores, {pages, page_size}, ShardOrientation::ROW_MAJOR,
                            {1, page_size}, {static_cast<std::uint32_t>(request.pages), 1}),
            request.layout};
  }

  void make(const FreeBuffer& request) {
    if (buffers_.erase(request.id) == 0) differ("buffer ", request.id, " was not allocated here");
  }

  void make(const RunProgram& request) {
    auto live = programs_.find(request.program);
    if (live == programs_.end()) {
      live = programs_.emplace(request.program, declare(request)).first;
    } else if (live->second.chips.contains(request.chips.front().chip)) {
      change(live->second, request.chips.front());
    }
    listening_->take_cbs();
    launch(live->second, request);
    compare(request, listening_->take_cbs());
  }

  // Launches the program on a mesh of the captured chips. The capture does not name the mesh, so
  // each possible mesh is tried. All meshes place the program at the same addresses, but L1 buffers
  // of a mesh may be in the way.
  void launch(LiveProgram& live, const RunProgram& request) {
    std::vector<int> chips;
    for (const auto& each : request.chips) chips.push_back(each.chip);
    const std::vector<IDevice*> devices = machine_.devices_of(chips);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      try {
        detail::LaunchProgram(devices[i], live.program);
        break;
      } catch (const std::exception&) {
        if (i + 1 == devices.size()) throw;
      }
    }
    if (devices.empty()) {
      for (const int chip : chips) detail::LaunchProgram(&machine_.chip(chip), live.program);
    }
    live.chips.insert(chips.begin(), chips.end());
  }

  // Returns the L1 buffer of the chip that contains the address.
  const Buffer& l1_buffer_at(int chip, std::uint64_t address) const {
    for (const auto& [id, live] : buffers_) {
      const Buffer& buffer = live.backing();
      if (buffer.is_l1() && buffer.address() <= address &&
          address < buffer.address() + buffer.aligned_size_per_bank() &&
          std::find(live.chips.begin(), live.chips.end(), chip) != live.chips.end()) {
        return buffer;
      }
    }
    throw std::runtime_error(
        cat("no L1 buffer lies at ", address, ", where a globally allocated CB is"));
  }

  // Takes the lowest slot that is free on all cores of the set.
  static std::uint8_t free_slot(LiveProgram& live, const CoreRangeSet& cores) {
    std::uint8_t slot = 0;
    const auto all = corerange_to_cores(cores);
    const auto taken = [&](const CoreCoord& core) { return live.slots[core].contains(slot); };
    while (std::any_of(all.begin(), all.end(), taken)) ++slot;
    for (const CoreCoord& core : all) live.slots[core].insert(slot);
    return slot;
  }

  LiveProgram declare(const RunProgram& request) const {
    LiveProgram live;
    const auto& [chip, cbs] = request.chips.front();
    for (const CapturedCb& cb : cbs) {
      const std::uint8_t slot = free_slot(live, cb.cores);
      const auto size = static_cast<std::uint32_t>(cb.size);
      CircularBufferConfig config(size, {{slot, tt::DataFormat::Float16_b}});
      config.set_page_size(slot, std::max(size, 1u));
      if (!cb.globally_allocated) {
        live.handles.push_back(CreateCircularBuffer(live.program, cb.cores, config));
        continue;
      }
      const Buffer& buffer = l1_buffer_at(chip, cb.address);
      config.set_globally_allocated_address(buffer);
      live.handles.push_back(CreateCircularBuffer(live.program, cb.cores, config));
      move(live, live.handles.back(), buffer, cb.address);
    }
    live.cbs = cbs;
    return live;
  }

  static void move(LiveProgram& live, CBHandle handle, const Buffer& buffer,
                   std::uint64_t address) {
    UpdateDynamicCircularBufferAddress(live.program, handle, buffer,
                                       static_cast<std::uint32_t>(address - buffer.address()));
  }

  // Sets the captured size of each circular buffer. After that, the dry run places the program
  // again, even if no size changed.
  void change(LiveProgram& live, const RunProgram::OnChip& wanted) const {
    if (wanted.cbs.size() != live.cbs.size()) {
      throw std::runtime_error(
          cat("a program of ", live.cbs.size(), " CBs now has ", wanted.cbs.size()));
    }
    for (std::size_t i = 0; i < wanted.cbs.size(); ++i) {
      const CapturedCb& cb = wanted.cbs[i];
      if (cb.globally_allocated && cb.address != live.cbs[i].address) {
        move(live, live.handles[i], l1_buffer_at(wanted.chip, cb.address), cb.address);
      }
      UpdateCircularBufferTotalSize(live.program, live.handles[i],
                                    static_cast<std::uint32_t>(cb.size));
    }
    live.cbs = wanted.cbs;
  }

  void compare(const RunProgram& request, const std::vector<CbEvent>& events) {
    std::size_t compared = 0;
    for (const auto& [chip, cbs] : request.chips) {
      std::vector<const CbEvent*> own;
      for (const CbEvent& event : events) {
        if (event.device == &machine_.chip(chip)) own.push_back(&event);
      }
      compared += own.size();
      if (own.size() != cbs.size()) {
        differ("program ", request.program, " has ", cbs.size(), " CBs on chip ", chip,
               " in the capture, ", own.size(), " here");
      }
      for (std::size_t i = 0; i < std::min(own.size(), cbs.size()); ++i) {
        compare(request.program, chip, cbs[i], *own[i]);
      }
    }
    if (compared != events.size()) {
      differ("program ", request.program, " has CBs on other chips here");
    }
  }

  void compare(std::uint64_t program, int chip, const CapturedCb& theirs, const CbEvent& ours) {
    if (ours.address == theirs.address && ours.size == theirs.size && ours.cores == theirs.cores &&
        ours.globally_allocated == theirs.globally_allocated) {
      ++report_.equal;
      return;
    }
    differ("program ", program, " chip ", chip, ": CB at ", theirs.address, ", ", theirs.size,
           " B, on ", theirs.cores.str(), " in the capture; at ", ours.address, ", ", ours.size,
           " B, on ", ours.cores.str(), " here");
  }

  void make(const DestroyProgram& request) {
    if (programs_.erase(request.program) == 0) {
      differ("program ", request.program, " did not run here");
    }
  }

  ReplayMachine machine_;
  Listening listening_;
  std::map<std::uint64_t, LiveBuffer> buffers_;
  std::map<std::uint64_t, LiveProgram> programs_;
  ReplayReport report_;
  std::size_t line_ = 0;
};

}  // namespace

std::string ReplayReport::text(std::size_t limit) const {
  std::string text = cat(equal, " of ", answers, " answers are the same");
  if (padded_shards > 0) text += cat(" (", padded_shards, " with padded shards)");
  for (std::size_t i = 0; i < std::min(limit, differences.size()); ++i) {
    text += "\n  " + differences[i];
  }
  if (differences.size() > limit) text += cat("\n  and ", differences.size() - limit, " more");
  return text;
}

ReplayReport replay(const Capture& capture) {
  Replay replay(capture);
  for (const Request& request : capture.requests) replay.run(request);
  return replay.finish();
}

}  // namespace dryrun_test
