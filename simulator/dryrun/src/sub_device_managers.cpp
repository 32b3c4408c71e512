// SPDX-License-Identifier: Apache-2.0
#include "sub_device_managers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "error.hpp"
#include "read/placement/align.hpp"

namespace tt::tt_metal {

SubDevice::SubDevice(ttsl::Span<const CoreRangeSet> cores) {
  dryrun::require(cores.size() <= cores_.size(), "Too many core types for SubDevice");
  std::copy(cores.begin(), cores.end(), cores_.begin());
  for (const auto& [type, name] : {std::pair(HalProgrammableCoreType::IDLE_ETH, "IDLE_ETH"),
                                   std::pair(HalProgrammableCoreType::DRAM, "DRAM"),
                                   std::pair(HalProgrammableCoreType::DISPATCH, "DISPATCH")}) {
    dryrun::require(this->cores(type).empty(), "CoreType ", name, " is not allowed in SubDevice");
  }
}

}  // namespace tt::tt_metal

namespace tt::tt_metal::dryrun {
namespace {

// The maximum number of sub-devices. Dispatch has a limited number of counters, and counts the
// programs of each sub-device with a separate counter.
constexpr std::size_t kMaxSubDevices = 8;

SubDeviceManagerId next_manager_id() {
  static std::atomic<std::uint64_t> next{0};
  return SubDeviceManagerId{
      next.fetch_add(1, std::memory_order_relaxed)};  // relaxed: the id publishes no other data
}

const CoreRangeSet& compute_cores(const SubDevice& sub_device) {
  return sub_device.cores(HalProgrammableCoreType::TENSIX);
}

std::unique_ptr<SubDeviceManager> make_manager(SubDeviceManagerId id,
                                               std::vector<SubDevice> sub_devices) {
  auto manager = std::make_unique<SubDeviceManager>();
  manager->id = id;
  manager->sub_devices = std::move(sub_devices);
  for (std::size_t i = 0; i < manager->sub_devices.size(); ++i) {
    manager->ids.emplace_back(static_cast<std::uint8_t>(i));
  }
  manager->stall_group = manager->ids;
  return manager;
}

std::size_t index_of(const SubDeviceManager& manager, SubDeviceId id) {
  require(*id < manager.sub_devices.size(), "SubDevice index ", +*id, " out of bounds ",
          manager.sub_devices.size());
  return *id;
}

}  // namespace

bool SubDeviceManager::has_buffers() const {
  return std::any_of(l1.begin(), l1.end(), [](const L1& own) {
    return own.allocator && !own.allocator->banks()->allocated_buffers().empty();
  });
}

SubDeviceManagers::SubDeviceManagers(MemoryBanks& whole)
    : whole_(whole), default_(next_manager_id()) {
  auto manager = make_manager(default_, {SubDevice(std::array{whole.config().compute_cores})});
  loaded_ = manager.get();
  managers_.emplace(default_, std::move(manager));
}

SubDeviceManager& SubDeviceManagers::find(SubDeviceManagerId id) const {
  const auto found = managers_.find(id);
  require(found != managers_.end(), "Sub device manager does not exist");
  return *found->second;
}

void SubDeviceManagers::validate(ttsl::Span<const SubDevice> sub_devices) const {
  require(sub_devices.size() <= kMaxSubDevices, "Number of sub-devices specified ",
          sub_devices.size(), " is larger than the max number of sub-devices ", kMaxSubDevices);
  const CoreRangeSet& grid = whole_.config().compute_cores;
  for (const SubDevice& sub_device : sub_devices) {
    require(grid.contains(compute_cores(sub_device)), "Tensix cores ",
            compute_cores(sub_device).str(), " specified in sub device must be within device grid ",
            grid.bounding_box().str());
  }
  for (std::size_t i = 0; i < sub_devices.size(); ++i) {
    for (std::size_t j = i + 1; j < sub_devices.size(); ++j) {
      for (const auto type :
           {HalProgrammableCoreType::TENSIX, HalProgrammableCoreType::ACTIVE_ETH}) {
        require(!sub_devices[i].cores(type).intersects(sub_devices[j].cores(type)),
                "SubDevices specified for SubDeviceManager intersect");
      }
    }
  }
}

void SubDeviceManagers::make_allocators(SubDeviceManager& manager) const {
  manager.l1.resize(manager.sub_devices.size());
  if (manager.local_l1_bytes == 0) return;
  for (std::size_t i = 0; i < manager.sub_devices.size(); ++i) {
    const CoreRangeSet& cores = compute_cores(manager.sub_devices[i]);
    if (cores.empty()) continue;
    SubDeviceManager::L1& own = manager.l1[i];
    own.allocator = std::make_unique<AllocatorImpl>(
        whole_.config().of_sub_device(cores, manager.local_l1_bytes));
    own.view = std::make_unique<Allocator>(own.allocator.get());
  }
}

SubDeviceManagerId SubDeviceManagers::create(ttsl::Span<const SubDevice> sub_devices,
                                             DeviceAddr local_l1_size) {
  validate(sub_devices);
  auto manager = make_manager(next_manager_id(), {sub_devices.begin(), sub_devices.end()});
  manager->local_l1_bytes =
      ttmem::placement::align_up(local_l1_size, whole_.config().map.l1_alignment);
  make_allocators(*manager);
  const SubDeviceManagerId id = manager->id;
  std::lock_guard lock(mutex_);
  managers_.emplace(id, std::move(manager));
  return id;
}

void SubDeviceManagers::load(SubDeviceManagerId id) {
  std::lock_guard lock(mutex_);
  if (loaded_->id == id) return;
  require(!loaded_->has_buffers(),
          "Cannot switch sub device managers while sub devices still have local allocations");
  SubDeviceManager& manager = find(id);
  manager.stall_group = manager.ids;
  whole_.reserve_l1_below(0);
  whole_.reserve_l1_below(manager.local_l1_bytes);
  loaded_ = &manager;
}

void SubDeviceManagers::remove(SubDeviceManagerId id) {
  std::lock_guard lock(mutex_);
  require(id != loaded_->id, "Cannot remove active sub device manager ", id);
  require(id != default_, "Cannot remove default sub device manager ", id);
  find(id);
  managers_.erase(id);
}

const SubDeviceManager& SubDeviceManagers::loaded() const {
  std::lock_guard lock(mutex_);
  return *loaded_;
}

const SubDevice& SubDeviceManagers::sub_device(SubDeviceId id) const {
  const SubDeviceManager& manager = loaded();
  return manager.sub_devices[index_of(manager, id)];
}

const SubDeviceManager::L1* SubDeviceManagers::l1_of(SubDeviceId id) const {
  const SubDeviceManager& manager = loaded();
  const std::size_t index = index_of(manager, id);
  if (manager.id == default_) return nullptr;
  require(manager.l1[index].allocator != nullptr, "SubDevice allocator not initialized");
  return &manager.l1[index];
}

void SubDeviceManagers::set_stall_group(ttsl::Span<const SubDeviceId> ids) {
  std::lock_guard lock(mutex_);
  require(!ids.empty(), "sub_device_ids to stall must not be empty");
  for (const SubDeviceId id : ids) index_of(*loaded_, id);
  loaded_->stall_group.assign(ids.begin(), ids.end());
}

void SubDeviceManagers::reset_stall_group() {
  std::lock_guard lock(mutex_);
  loaded_->stall_group = loaded_->ids;
}

std::vector<const MemoryBanks*> SubDeviceManagers::banks_of(
    ttsl::Span<const SubDeviceId> ids) const {
  const SubDeviceManager& manager = loaded();
  std::vector<const MemoryBanks*> banks;
  for (const SubDeviceId id : ids.empty() ? ttsl::Span<const SubDeviceId>(manager.ids) : ids) {
    const std::size_t index = index_of(manager, id);
    if (index < manager.l1.size() && manager.l1[index].allocator) {
      banks.push_back(manager.l1[index].allocator->banks().get());
    }
  }
  return banks;
}

std::optional<DeviceAddr> SubDeviceManagers::lowest_occupied_l1_address(
    ttsl::Span<const SubDeviceId> ids) const {
  auto lowest = whole_.lowest_occupied_l1_address();
  for (const MemoryBanks* banks : banks_of(ids)) {
    const auto own = banks->lowest_occupied_l1_address();
    if (own) lowest = std::min(lowest.value_or(*own), *own);
  }
  return lowest;
}

std::string SubDeviceManagers::describe_l1_buffers_below(DeviceAddr end,
                                                         ttsl::Span<const SubDeviceId> ids) const {
  std::string text;
  for (const MemoryBanks* banks : banks_of(ids)) text += banks->describe_l1_buffers_below(end);
  return text;
}

void SubDeviceManagers::close() {
  std::lock_guard lock(mutex_);
  for (const auto& [id, manager] : managers_) {
    for (const SubDeviceManager::L1& own : manager->l1) {
      if (own.allocator) own.allocator->banks()->close();
    }
  }
}

}  // namespace tt::tt_metal::dryrun
