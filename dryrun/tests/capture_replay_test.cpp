// SPDX-License-Identifier: Apache-2.0
//
// The dry run places as the real runtime does: the requests of every capture, made through the dry
// run's own interface, get the addresses and sizes that the runtime gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/tt_metal.hpp>

#include "capture.hpp"
#include "fixtures.hpp"

namespace dryrun_test {
namespace {

std::string system_of(const Capture& capture) {
  const CapturedDevice& device = capture.devices.front();
  const std::string grid =
      ":" + std::to_string(device.grid.x) + "x" + std::to_string(device.grid.y);
  if (device.arch == "blackhole") return (device.dram_channels == 7 ? "p100" : "p150") + grid;
  switch (capture.devices.size()) {
    case 1:
      return "n150" + grid;
    case 2:
      return "n300" + grid;
    case 8:
      return "t3000" + grid;
    default:
      return "galaxy" + grid;
  }
}

// A mesh of these chips: the parent's places that hold them, which must form a box.
std::shared_ptr<MeshDevice> submesh_of(MeshDevice& parent, const std::vector<int>& chips) {
  const MeshCoordinate first = parent.get_view().find_device(chips.front());
  const MeshCoordinate last = parent.get_view().find_device(chips.back());
  return parent.create_submesh(MeshCoordinateRange(first, last).shape(), first);
}

BufferShardingArgs sharding_of(const AllocateBuffer& request) {
  if (request.layout == TensorMemoryLayout::INTERLEAVED) return {};
  const std::uint32_t cores = request.cores.num_cores();
  const auto page_size = static_cast<std::uint32_t>(request.page_size);
  const auto pages_per_core = static_cast<std::uint32_t>((request.pages + cores - 1) / cores);
  return {ShardSpecBuffer(request.cores, {pages_per_core, page_size}, ShardOrientation::ROW_MAJOR,
                          {1, page_size}, {static_cast<std::uint32_t>(request.pages), 1}),
          request.layout};
}

// A buffer of a mesh, or of one chip.
struct LiveBuffer {
  std::shared_ptr<MeshBuffer> on_mesh;
  std::shared_ptr<Buffer> on_chip;

  const Buffer& backing() const { return on_mesh ? *on_mesh->get_backing_buffer() : *on_chip; }
};

struct LiveProgram {
  IDevice* device;
  Program program;
  std::vector<CBHandle> handles;
  std::vector<std::uint64_t> sizes;
};

class Replay {
 public:
  explicit Replay(const Capture& capture) {
    use_system(system_of(capture));
    const CapturedDevice& device = capture.devices.front();
    const std::size_t trace_bytes = device.trace.bytes * device.trace.count;
    for (const CapturedMesh& mesh : capture.meshes) {
      if (mesh.chips.size() == 1 && capture.devices.size() == 1) {
        meshes_[mesh.id] =
            MeshDevice::create_unit_mesh(mesh.chips.front(), device.l1_small.bytes, trace_bytes);
      } else if (meshes_.empty()) {
        root_ =
            MeshDevice::create(MeshDeviceConfig(std::nullopt), device.l1_small.bytes, trace_bytes);
        meshes_[mesh.id] = root_;
      } else {
        meshes_[mesh.id] = submesh_of(*root_, mesh.chips);
      }
      EXPECT_EQ(meshes_[mesh.id]->get_device_ids(), mesh.chips);
    }
    // Shared with the meshes, so that what is asked of a single chip finds it.
    for (const CapturedDevice& each : capture.devices) {
      chips_[each.id] = CreateDevice(each.id, 1, device.l1_small.bytes, trace_bytes);
    }
  }

  ~Replay() {
    for (const auto& [id, chip] : chips_) CloseDevice(chip);
  }

  const IDevice& chip(int id) const { return *chips_.at(id); }

  void operator()(const AllocateBuffer& request) {
    const LiveBuffer live = allocate(request);
    const Buffer& backing = live.backing();
    EXPECT_EQ(backing.address(), request.address) << "buffer " << request.id;
    EXPECT_EQ(backing.aligned_size_per_bank(), request.bytes_per_bank) << "buffer " << request.id;
    EXPECT_EQ(backing.num_pages(), request.pages) << "buffer " << request.id;
    EXPECT_EQ(backing.allocator()->get_num_banks(request.type), request.banks);
    buffers_[request.id] = live;
    ++compared_;
  }

  void operator()(const FreeBuffer& request) { EXPECT_EQ(buffers_.erase(request.id), 1u); }

  void operator()(const RunProgram& request) {
    auto live = programs_.find(request.program);
    if (live == programs_.end()) {
      live = programs_.emplace(request.program, declare(request)).first;
    } else {
      resize(live->second, request);
    }
    detail::LaunchProgram(live->second.device, live->second.program);
    compare(request, *live->second.device);
  }

  void operator()(const DestroyProgram& request) {
    EXPECT_EQ(programs_.erase(request.program), 1u);
  }

  std::size_t compared() const { return compared_; }

  void expect_empty() const {
    EXPECT_EQ(buffers_.size() + programs_.size(), 0u);
    for (const auto& [id, mesh] : meshes_) {
      EXPECT_TRUE(mesh->allocator()->get_allocated_buffers().empty());
    }
    for (const auto& [id, device] : chips_) {
      EXPECT_EQ(cb_bytes(device), 0u);
      EXPECT_TRUE(device->allocator()->get_allocated_buffers().empty());
    }
  }

 private:
  LiveBuffer allocate(const AllocateBuffer& request) {
    if (!request.mesh_id) {
      return {nullptr, Buffer::create(chips_.at(request.chip), request.size, request.page_size,
                                      request.type, sharding_of(request), request.bottom_up)};
    }
    return {MeshBuffer::create(
                distributed::ReplicatedBufferConfig{.size = request.size},
                distributed::DeviceLocalBufferConfig{.page_size = request.page_size,
                                                     .buffer_type = request.type,
                                                     .sharding_args = sharding_of(request),
                                                     .bottom_up = request.bottom_up},
                meshes_.at(*request.mesh_id).get()),
            nullptr};
  }

  // The mesh of these chips, or the one chip.
  IDevice* device_of(std::vector<int> chips) {
    std::sort(chips.begin(), chips.end());
    for (const auto& [id, mesh] : meshes_) {
      std::vector<int> own = mesh->get_device_ids();
      std::sort(own.begin(), own.end());
      if (own == chips) return mesh.get();
    }
    if (chips.size() == 1) return chips_.at(chips.front());
    throw std::runtime_error("the capture has no mesh of the chips that a program ran on");
  }

  const Buffer& l1_buffer_at(std::uint64_t address) {
    for (const auto& [id, buffer] : buffers_) {
      const Buffer& candidate = buffer.backing();
      if (candidate.is_l1() && candidate.address() == address) return candidate;
    }
    throw std::runtime_error("no L1 buffer lies where a globally allocated CB is");
  }

  LiveProgram declare(const RunProgram& request) {
    LiveProgram live{device_of(request.chips), Program(), {}, {}};
    for (const CapturedCb& cb : request.cbs) {
      const auto index = static_cast<std::uint8_t>(live.handles.size());
      const auto size = static_cast<std::uint32_t>(cb.size);
      live.handles.push_back(cb.globally_allocated ? add_global_cb(live.program, cb.cores, size,
                                                                   l1_buffer_at(cb.address), index)
                                                   : add_cb(live.program, cb.cores, size, index));
      live.sizes.push_back(cb.size);
    }
    return live;
  }

  static void resize(LiveProgram& live, const RunProgram& request) {
    for (std::size_t i = 0; i < request.cbs.size(); ++i) {
      const std::uint64_t size = request.cbs[i].size;
      if (size == live.sizes.at(i)) continue;
      UpdateCircularBufferTotalSize(live.program, live.handles.at(i),
                                    static_cast<std::uint32_t>(size));
      live.sizes[i] = size;
    }
  }

  // Every CB on every chip, CB by CB over the chips of the mesh.
  void compare(const RunProgram& request, const IDevice& device) {
    std::vector<const IDevice*> chips{&device};
    if (const auto* mesh = dynamic_cast<const MeshDevice*>(&device)) {
      const auto all = mesh->get_devices();
      chips.assign(all.begin(), all.end());
    }
    const std::vector<CbEvent> events = listening_->take_cbs();
    ASSERT_EQ(events.size(), request.cbs.size() * chips.size()) << "program " << request.program;
    std::size_t next = 0;
    for (const CapturedCb& cb : request.cbs) {
      for (const IDevice* chip : chips) {
        const CbEvent& event = events[next++];
        EXPECT_EQ(event.device, chip);
        EXPECT_EQ(event.address, cb.address) << "program " << request.program;
        EXPECT_EQ(event.size, cb.size);
        EXPECT_EQ(event.cores, cb.cores) << event.cores.str();
        EXPECT_EQ(event.globally_allocated, cb.globally_allocated);
        ++compared_;
      }
    }
  }

  Listening listening_;
  std::shared_ptr<MeshDevice> root_;
  std::map<int, std::shared_ptr<MeshDevice>> meshes_;
  std::map<int, IDevice*> chips_;
  std::map<std::uint64_t, LiveBuffer> buffers_;
  std::map<std::uint64_t, LiveProgram> programs_;
  std::size_t compared_ = 0;
};

void expect_same_device(const CapturedDevice& captured, const IDevice& device) {
  const Allocator& allocator = *device.allocator();
  EXPECT_EQ(tt::arch_to_str(device.arch()), captured.arch);
  EXPECT_EQ(device.compute_with_storage_grid_size(), captured.grid);
  EXPECT_EQ(device.l1_size_per_core(), captured.l1_bytes_per_core);
  EXPECT_EQ(static_cast<std::uint64_t>(device.num_dram_channels()), captured.dram_channels);
  EXPECT_EQ(device.dram_size_per_channel(), captured.dram_bytes_per_channel);
  EXPECT_EQ(allocator.get_base_allocator_addr(HalMemType::L1), captured.l1_base);
  EXPECT_EQ(allocator.get_base_allocator_addr(HalMemType::DRAM), captured.dram_base);
  const auto expect_banks = [&](BufferType type, const CapturedDevice::Banks& banks) {
    EXPECT_EQ(allocator.get_num_banks(type), banks.count);
    EXPECT_EQ(allocator.get_bank_size(type), banks.bytes);
    EXPECT_EQ(allocator.get_alignment(type), banks.alignment);
  };
  expect_banks(BufferType::DRAM, captured.dram);
  expect_banks(BufferType::L1, captured.l1);
  expect_banks(BufferType::L1_SMALL, captured.l1_small);
  expect_banks(BufferType::TRACE, captured.trace);
}

// Any capture in the folder is replayed.
std::vector<std::filesystem::path> all_captures() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TTMEM_CAPTURES_DIR)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of device 0, before the first program dies, calculated independently; see the captures' README.
const std::map<std::string, std::uint64_t>& known_physical_cb_bytes() {
  static const std::map<std::string, std::uint64_t> known{
      {"basic_wh1", 671744},     {"basic_bh1", 860160},   {"mesh_wh8", 638976},
      {"relayout_wh1", 4194304}, {"submesh_wh8", 245760}, {"model_wh1", 13643776}};
  return known;
}

class CaptureReplay : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(CaptureReplay, GetsTheAddressesAndSizesOfTheRealRuntime) {
  const Capture capture = read_capture(GetParam().string());
  Replay replay(capture);
  for (const CapturedDevice& device : capture.devices) {
    expect_same_device(device, replay.chip(device.id));
  }
  std::optional<std::uint64_t> physical;
  for (const Request& request : capture.requests) {
    if (std::holds_alternative<DestroyProgram>(request) && !physical) {
      physical = cb_bytes(&replay.chip(0));
    }
    std::visit(replay, request);
  }
  EXPECT_EQ(replay.compared(), capture.answers);
  replay.expect_empty();
  const auto known = known_physical_cb_bytes().find(GetParam().stem().string());
  if (known != known_physical_cb_bytes().end()) {
    EXPECT_EQ(physical, known->second);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CaptureReplay, ::testing::ValuesIn(all_captures()),
                         [](const auto& tested) {
                           std::string name = tested.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// A folder that lost its captures would prove nothing.
TEST(CaptureReplayFiles, IncludeTheKnownOnes) {
  std::set<std::string> names;
  for (const auto& file : all_captures()) names.insert(file.stem().string());
  for (const auto& [name, bytes] : known_physical_cb_bytes()) EXPECT_TRUE(names.contains(name));
}

}  // namespace
}  // namespace dryrun_test
