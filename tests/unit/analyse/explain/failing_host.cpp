// SPDX-License-Identifier: Apache-2.0
#include "failing_host.hpp"

#include <stdlib.h>

#include <algorithm>
#include <tt-metalium/allocator.hpp>
#include <ttmem_tt_metal.hpp>
#include <utility>

namespace ttmem::explain {
namespace {

using tm::distributed::MeshBuffer;
using tm::distributed::MeshCoordinateRange;
using tm::distributed::MeshDevice;
using tm::distributed::MeshDeviceConfig;
using tm::distributed::MeshWorkload;
using tm::distributed::ReplicatedBufferConfig;

constexpr std::uint32_t kPage = 1024;

Settings with(Settings settings, const Suggestion* suggestion) {
  if (suggestion == nullptr || !suggestion->bytes) return settings;
  if (suggestion->action == "l1_small_size") settings.l1_small_size = *suggestion->bytes;
  if (suggestion->action == "trace_region_size") settings.trace_region_size = *suggestion->bytes;
  return settings;
}

std::shared_ptr<MeshDevice> open(const std::string& system, const Settings& settings) {
  ::setenv("TTMEM_DRYRUN_SYSTEM", system.c_str(), 1);
  return MeshDevice::create(MeshDeviceConfig(std::nullopt), settings.l1_small_size,
                            settings.trace_region_size, 1, tm::DispatchCoreConfig());
}

}  // namespace

Host::Host(const std::string& system, Settings settings, const Suggestion* suggestion)
    : settings_(settings),
      suggestion_(suggestion),
      device_(open(system, with(settings, suggestion))) {
  tt_metal::attach();
  tt_metal::attach_workers(*device_);
  for (const tm::IDevice* chip : device_->get_devices()) tt_metal::device_opened(*chip);
}

Host::~Host() {
  workloads_.clear();
  tensors_.clear();
  const auto chips = device_->get_device_ids();
  device_.reset();
  for (const int chip : chips) tt_metal::device_closed(chip);
}

bool Host::asks_for(const char* action) const {
  return suggestion_ != nullptr && suggestion_->action == action;
}

std::uint64_t Host::bank_bytes(tm::BufferType type) const {
  const auto& allocator = *device_->allocator();
  const Settings now = with(settings_, suggestion_);
  const std::uint64_t bytes = allocator.get_bank_size(type);
  if (type == tm::BufferType::L1) return bytes + now.l1_small_size - settings_.l1_small_size;
  constexpr std::uint64_t trace_page = 8192;
  const std::uint64_t channels = allocator.get_num_banks(tm::BufferType::DRAM);
  const auto share = [&](std::uint64_t region) {
    return (region + channels * trace_page - 1) / (channels * trace_page) * trace_page;
  };
  return bytes + share(now.trace_region_size) - share(settings_.trace_region_size);
}

tm::CoreRange Host::all_cores() const {
  const tm::CoreCoord grid = device_->compute_with_storage_grid_size();
  return {{0, 0}, {grid.x - 1, grid.y - 1}};
}

void Host::tensor(const std::string& name, tm::BufferType type, std::uint64_t bytes_per_bank) {
  const bool moved = is_now_ && asks_for("move_to_dram");
  if (is_now_ && asks_for("smaller_type")) bytes_per_bank = bytes_per_bank / 32 * 17;
  const auto banks = device_->allocator()->get_num_banks(type);
  const std::uint64_t bytes = bytes_per_bank / kPage * kPage * banks;
  const tm::BufferType where = moved ? tm::BufferType::DRAM : type;
  makers_[name] = [this, name, where, bytes] {
    const tt_metal::Label label(name);
    return MeshBuffer::create(ReplicatedBufferConfig{.size = bytes},
                              {.page_size = kPage, .buffer_type = where}, device_.get());
  };
  tensors_[name] = makers_[name]();
}

void Host::sharded(const std::string& name, tm::BufferType type, std::uint32_t bytes_per_core,
                   const tm::CoreRange& cores) {
  makers_[name] = [this, name, type, bytes_per_core, cores] {
    const tt_metal::Label label(name);
    const tm::CoreRangeSet set(cores);
    const tm::ShardSpecBuffer shards(set, {1, bytes_per_core}, tm::ShardOrientation::ROW_MAJOR,
                                     {1, bytes_per_core}, {set.num_cores(), 1});
    return MeshBuffer::create(
        ReplicatedBufferConfig{.size = std::uint64_t{bytes_per_core} * set.num_cores()},
        {.page_size = bytes_per_core,
         .buffer_type = type,
         .sharding_args = tm::BufferShardingArgs(shards, tm::TensorMemoryLayout::HEIGHT_SHARDED)},
        device_.get());
  };
  tensors_[name] = makers_[name]();
}

void Host::failing_call_is_next() {
  is_now_ = true;
  if (suggestion_ == nullptr) return;
  for (const BufferHolder& holder : suggestion_->buffers) {
    tensors_.erase(holder.label);
    if (asks_for("reallocate")) tensors_[holder.label] = makers_.at(holder.label)();
  }
}

void Host::run(std::vector<std::uint32_t> cbs, const tm::CoreRange& cores) {
  if (is_now_ && asks_for("shrink_cbs")) {
    *std::max_element(cbs.begin(), cbs.end()) -= static_cast<std::uint32_t>(*suggestion_->bytes);
  }
  tm::Program program = tm::CreateProgram();
  std::uint8_t index = 0;
  for (const std::uint32_t bytes : cbs) {
    tm::CreateCircularBuffer(program, cores,
                             tm::CircularBufferConfig(bytes, {{index, tt::DataFormat::Float16_b}})
                                 .set_page_size(index, 32));
    ++index;
  }
  tm::CreateKernel(program, "kernels/compute.cpp", cores, tm::ComputeConfig{});
  auto workload = std::make_unique<MeshWorkload>();
  workload->add_program(MeshCoordinateRange(device_->shape()), std::move(program));
  workloads_.push_back(std::move(workload));
  {
    const tm::Program& placed = workloads_.back()->get_programs().begin()->second;
    const tt_metal::ProgramScope scope(placed, device_.get(), cores);
    EnqueueMeshWorkload(device_->mesh_command_queue(), *workloads_.back(), false);
  }
}

void Host::capture(std::size_t programs) {
  run({2048}, all_cores());
  auto& queue = device_->mesh_command_queue();
  const auto id = device_->begin_mesh_trace(queue);
  for (std::size_t i = 0; i < programs; ++i) EnqueueMeshWorkload(queue, *workloads_.back(), false);
  const tt_metal::Label label("trace");
  device_->end_mesh_trace(queue, id);
}

}  // namespace ttmem::explain
