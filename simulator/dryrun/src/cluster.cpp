// SPDX-License-Identifier: Apache-2.0
#include "cluster.hpp"

#include <algorithm>
#include <cstdlib>

#include "error.hpp"

namespace tt::tt_metal::dryrun {

Cluster& Cluster::instance() {
  // The cluster is never destroyed, because static objects may hold devices until the process ends.
  static auto* const cluster = new Cluster();
  return *cluster;
}

bool Cluster::is_open(const Machine& machine) {
  return std::any_of(machine.slots.begin(), machine.slots.end(),
                     [](const Slot& slot) { return slot.owners > 0; });
}

Cluster::Machine& Cluster::machine() {
  if (!machines_.empty() && is_open(*machines_.back())) return *machines_.back();
  const char* const value = std::getenv("TTMEM_DRYRUN_SYSTEM");
  const std::string name = value == nullptr ? "" : value;
  if (!machines_.empty() && machines_.back()->name == name) return *machines_.back();

  auto made = std::make_unique<Machine>(Machine{name, find_system(name), {}});
  for (std::size_t chip = 0; chip < made->system.chips.size(); ++chip) {
    const auto id = static_cast<ChipId>(chip);
    const auto& remote = made->system.remote_chips;
    const bool has_pcie = std::find(remote.begin(), remote.end(), id) == remote.end();
    made->slots.push_back({std::make_unique<Device>(id, made->system.board, has_pcie), {}, 0});
  }
  machines_.push_back(std::move(made));
  return *machines_.back();
}

System Cluster::system() {
  std::lock_guard lock(mutex_);
  return machine().system;
}

std::uint32_t Cluster::circular_buffers_per_core() {
  std::lock_guard lock(mutex_);
  return machine().system.board.chip.circular_buffers;
}

Device* Cluster::open(ChipId chip, const OpenOptions& options) {
  std::lock_guard lock(mutex_);
  Machine& current = machine();
  require(chip >= 0 && static_cast<std::size_t>(chip) < current.slots.size(), "Device ", chip,
          " does not exist: the ", current.system.board.name, " system has ", current.slots.size(),
          " devices; set TTMEM_DRYRUN_SYSTEM to a larger one");
  Slot& slot = current.slots[static_cast<std::size_t>(chip)];
  if (slot.owners == 0) {
    slot.device->set_dispatch_core_config(options.dispatch_core_config);
    slot.device->initialize(options.num_hw_cqs, options.l1_small_size, options.trace_region_size,
                            options.worker_l1_size, {}, false);
    slot.options = options;
  }
  require(slot.options == options, "Device ", chip,
          " is open with other sizes; close it first, or open it with the same");
  ++slot.owners;
  return slot.device.get();
}

Cluster::Slot* Cluster::find_slot(const Device* device) {
  for (const auto& machine : machines_) {
    for (Slot& slot : machine->slots) {
      if (slot.device.get() == device && slot.owners > 0) return &slot;
    }
  }
  return nullptr;
}

bool Cluster::release(Device* device) {
  {
    std::unique_lock lock(mutex_);
    const Slot* const slot = find_slot(device);
    if (slot == nullptr) return false;
    const bool last = slot->owners == 1;
    lock.unlock();
    // Clears the program cache without the lock, because a program calls processors when it is
    // destroyed.
    if (last) device->clear_program_cache();
  }
  std::lock_guard lock(mutex_);
  Slot* const slot = find_slot(device);
  if (slot == nullptr) return false;
  if (--slot->owners == 0) device->close();
  return true;
}

Device* Cluster::find_open(ChipId chip) {
  std::lock_guard lock(mutex_);
  if (machines_.empty() || chip < 0) return nullptr;
  const auto& slots = machines_.back()->slots;
  const auto index = static_cast<std::size_t>(chip);
  return index < slots.size() && slots[index].owners > 0 ? slots[index].device.get() : nullptr;
}

OpenChips::OpenChips(const std::vector<ChipId>& chips, const OpenOptions& options)
    : options_(options) {
  try {
    for (const ChipId chip : chips) devices_.push_back(Cluster::instance().open(chip, options));
  } catch (...) {
    for (Device* device : devices_) Cluster::instance().release(device);
    throw;
  }
}

OpenChips::~OpenChips() {
  for (Device* device : devices_) Cluster::instance().release(device);
}

}  // namespace tt::tt_metal::dryrun
