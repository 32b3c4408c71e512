// SPDX-License-Identifier: Apache-2.0
#include "replay_machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/system_mesh.hpp>

namespace dryrun_test {
namespace {

// Returns the smallest system of the captured architecture that has a chip with the highest
// captured number. A capture may use only some chips of its machine.
std::string system_of(const Capture& capture) {
  const CapturedDevice& first = capture.devices.front();
  int highest = 0;
  for (const CapturedDevice& device : capture.devices) highest = std::max(highest, device.id);
  const std::vector<std::pair<int, const char*>> wormhole{
      {0, "n150"}, {1, "n300"}, {3, "n300_2x2"}, {7, "t3000"}, {31, "galaxy"}};
  const std::vector<std::pair<int, const char*>> blackhole{
      {0, "p150"}, {1, "p300"}, {3, "p150_x4"}, {7, "p150_x8"}, {31, "bh_galaxy"}};
  const std::vector<std::pair<int, const char*>> seven_channels{{0, "p100"}};
  const auto& systems = first.arch == "wormhole_b0" ? wormhole
                        : first.dram_channels == 7  ? seven_channels
                        : first.arch == "blackhole" ? blackhole
                                                    : decltype(wormhole){};
  for (const auto& [last_chip, name] : systems) {
    if (highest <= last_chip) {
      return std::string(name) + ":" + std::to_string(first.grid.x) + "x" +
             std::to_string(first.grid.y);
    }
  }
  throw std::runtime_error("the dry run has no machine with " + first.arch + " chip " +
                           std::to_string(highest) + " and " + std::to_string(first.dram_channels) +
                           " DRAM channels");
}

std::size_t trace_region(const CapturedDevice& device) {
  return device.trace.bytes * device.trace.count;
}

// Returns the worker L1 size that leads to the captured L1 base. The L1 base of the board may be
// different.
std::size_t worker_l1(const CapturedDevice& device) {
  return device.l1_bytes_per_core - device.l1_base;
}

}  // namespace

ReplayMachine::ReplayMachine(const Capture& capture) {
  use_system(system_of(capture));
  for (const CapturedDevice& device : capture.devices) captured_.emplace(device.id, device);
  for (const CapturedMesh& mesh : capture.meshes) {
    in_order_.push_back(open_mesh(mesh.chips));
    meshes_[mesh.id] = in_order_.back();
  }
  // The meshes share the chips in chips_. A call on a single chip therefore sees the objects of the
  // meshes.
  for (const auto& [id, device] : captured_) {
    chips_[id] =
        CreateDevice(id, 1, device.l1_small.bytes, trace_region(device), {}, {}, worker_l1(device));
  }
}

ReplayMachine::~ReplayMachine() {
  for (const auto& [id, chip] : chips_) CloseDevice(chip);
}

// Opens the whole machine, a part of an open mesh, or the single chips. Buffers get the same
// addresses in all three cases.
std::shared_ptr<MeshDevice> ReplayMachine::open_mesh(const std::vector<int>& chips) const {
  if (auto submesh = open_submesh(chips)) return submesh;
  if (auto whole = open_whole(chips)) return whole;
  const CapturedDevice& device = captured(chips.at(0));
  return MeshDevice::create(
      MeshDeviceConfig(MeshShape(1, static_cast<std::uint32_t>(chips.size())), std::nullopt, chips),
      device.l1_small.bytes, trace_region(device), 1, {}, {}, worker_l1(device));
}

std::shared_ptr<MeshDevice> ReplayMachine::open_submesh(const std::vector<int>& chips) const {
  for (const auto& parent : in_order_) {
    const auto ids = parent->get_device_ids();
    const bool inside = std::all_of(chips.begin(), chips.end(), [&](int chip) {
      return std::find(ids.begin(), ids.end(), chip) != ids.end();
    });
    if (!inside || parent->shape().dims() != 2) continue;
    const MeshCoordinate first = parent->get_view().find_device(chips.front());
    const MeshCoordinate last = parent->get_view().find_device(chips.back());
    if (last[0] < first[0] || last[1] < first[1]) continue;
    auto submesh = parent->create_submesh(MeshCoordinateRange(first, last).shape(), first);
    if (submesh->get_device_ids() == chips) return submesh;
  }
  return nullptr;
}

std::shared_ptr<MeshDevice> ReplayMachine::open_whole(const std::vector<int>& chips) const {
  if (distributed::SystemMesh::instance().shape().mesh_size() != chips.size()) return nullptr;
  const CapturedDevice& device = captured(chips.at(0));
  auto mesh = MeshDevice::create(MeshDeviceConfig(std::nullopt), device.l1_small.bytes,
                                 trace_region(device), 1, {}, {}, worker_l1(device));
  return mesh->get_device_ids() == chips ? mesh : nullptr;
}

IDevice& ReplayMachine::chip(int id) const {
  const auto found = chips_.find(id);
  if (found == chips_.end()) throw std::runtime_error("no device line for " + std::to_string(id));
  return *found->second;
}

const CapturedDevice& ReplayMachine::captured(int id) const {
  const auto found = captured_.find(id);
  if (found == captured_.end()) {
    throw std::runtime_error("the capture has no device line for chip " + std::to_string(id));
  }
  return found->second;
}

MeshDevice* ReplayMachine::mesh(int id) const {
  const auto found = meshes_.find(id);
  return found == meshes_.end() ? nullptr : found->second.get();
}

std::vector<IDevice*> ReplayMachine::devices_of(std::vector<int> chips) const {
  std::vector<IDevice*> devices;
  std::sort(chips.begin(), chips.end());
  for (const auto& [id, mesh] : meshes_) {
    std::vector<int> own = mesh->get_device_ids();
    std::sort(own.begin(), own.end());
    if (own == chips) devices.push_back(mesh.get());
  }
  if (chips.size() == 1) devices.push_back(&chip(chips.front()));
  return devices;
}

std::vector<std::string> device_differences(const CapturedDevice& captured, const IDevice& device) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, std::uint64_t theirs, std::uint64_t ours) {
    if (theirs == ours) return;
    found.push_back("device " + std::to_string(captured.id) + ": " + what + " is " +
                    std::to_string(theirs) + " in the capture, " + std::to_string(ours) + " here");
  };
  const Allocator& allocator = *device.allocator();
  const CoreCoord grid = device.compute_with_storage_grid_size();
  compare("grid columns", captured.grid.x, grid.x);
  compare("grid rows", captured.grid.y, grid.y);
  compare("L1 per core", captured.l1_bytes_per_core, device.l1_size_per_core());
  compare("L1 base", captured.l1_base, allocator.get_base_allocator_addr(HalMemType::L1));
  compare("DRAM channels", captured.dram_channels,
          static_cast<std::uint64_t>(device.num_dram_channels()));
  compare("DRAM per channel", captured.dram_bytes_per_channel, device.dram_size_per_channel());
  compare("DRAM base", captured.dram_base, allocator.get_base_allocator_addr(HalMemType::DRAM));
  const std::map<BufferType, std::string> types{{BufferType::DRAM, "DRAM"},
                                                {BufferType::L1, "L1"},
                                                {BufferType::L1_SMALL, "L1_SMALL"},
                                                {BufferType::TRACE, "TRACE"}};
  for (const auto& [type, name] : types) {
    const CapturedDevice::Banks& theirs = captured.banks(type);
    compare(name + " banks", theirs.count, allocator.get_num_banks(type));
    compare(name + " bank size", theirs.bytes, allocator.get_bank_size(type));
    compare(name + " alignment", theirs.alignment, allocator.get_alignment(type));
  }
  if (tt::arch_to_str(device.arch()) != captured.arch) {
    found.push_back("device " + std::to_string(captured.id) + ": the architecture differs");
  }
  return found;
}

}  // namespace dryrun_test
