// SPDX-License-Identifier: Apache-2.0
#include "analyse/selection/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "text/format.hpp"

namespace ttmem::selection {
namespace {

using model::Allocation;
using model::Program;
using model::Snapshot;

template <typename Item>
bool contains(const std::vector<Item>& items, Item item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

constexpr std::uint32_t kGone = UINT32_MAX;

std::uint32_t follow(std::uint32_t device, const std::vector<std::uint32_t>& new_index) {
  return device < new_index.size() ? new_index[device] : kGone;
}

void point(Program& program, const std::vector<std::uint32_t>& new_index) {
  program.device = follow(program.device, new_index);
}

// Updates the device indexes of an allocation. If only one device is left, `device` names this
// device and the list becomes empty.
void point(Allocation& allocation, const std::vector<std::uint32_t>& new_index) {
  std::vector<std::uint32_t>& devices = allocation.devices;
  if (devices.empty()) {
    allocation.device = follow(allocation.device, new_index);
    return;
  }
  for (std::uint32_t& device : devices) device = follow(device, new_index);
  std::erase(devices, kGone);
  allocation.device = devices.empty() ? kGone : devices.front();
  if (devices.size() == 1) devices.clear();
}

// Updates the device indexes of the items, and removes items whose device is gone.
template <typename Item>
void follow_devices(std::vector<Item>& items, const std::vector<std::uint32_t>& new_index) {
  for (Item& item : items) point(item, new_index);
  std::erase_if(items, [](const Item& item) { return item.device == kGone; });
}

// Returns the snapshot with only the devices for which keep(device) is true, and the items on these
// devices.
template <typename Keep>
Snapshot keep_devices(Snapshot snapshot, Keep&& keep) {
  std::vector<std::uint32_t> new_index;
  std::vector<model::Device> kept;
  for (model::Device& device : snapshot.devices) {
    const bool wanted = keep(device);
    new_index.push_back(wanted ? static_cast<std::uint32_t>(kept.size()) : kGone);
    if (wanted) kept.push_back(std::move(device));
  }
  snapshot.devices = std::move(kept);
  follow_devices(snapshot.allocations, new_index);
  follow_devices(snapshot.programs, new_index);
  return snapshot;
}

Allocation allocation_of(const Program& program, const model::CircularBuffer& cb) {
  Allocation entry;
  entry.device = program.device;
  entry.pid = program.pid;
  entry.state = program.state;
  entry.segment = program.segment;
  entry.kind = Kind::cb;
  entry.id = program.program;
  entry.address = cb.address;
  entry.banks = cb.cores.count();
  entry.bytes = cb.bytes * *entry.banks;
  entry.bytes_per_bank = cb.bytes;
  entry.physical_bytes = cb.global ? 0 : entry.bytes;
  entry.cores = cb.cores;
  entry.age_ns = program.age_ns;
  if (cb.global) entry.label = "view on an L1 buffer";
  return entry;
}

std::uint64_t size_of(const Allocation& allocation) {
  return allocation.physical_bytes.value_or(allocation.bytes);
}

// Orders by size, then by the key, so that the order is the same in every run.
struct LargerFirst {
  bool operator()(const Allocation& a, const Allocation& b) const {
    const auto key = [](const Allocation& x) {
      return std::make_tuple(x.device, x.pid, x.segment, x.kind, x.address.value_or(0), x.id);
    };
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b);
    return key(a) < key(b);
  }
};

struct MoreL1First {
  bool operator()(const Program& a, const Program& b) const {
    return std::tie(b.physical_bytes, a.device, a.pid, a.segment, a.program) <
           std::tie(a.physical_bytes, b.device, b.pid, b.segment, b.program);
  }
};

constexpr std::size_t kAll = SIZE_MAX;

// Keeps the `wanted` smallest of all added items. Stores at most 2 * `wanted` items at a time.
template <typename Item, typename Less>
class Smallest {
 public:
  explicit Smallest(std::size_t wanted) : wanted_(wanted) {}

  void add(Item item) {
    ++first_.total;
    first_.items.push_back(std::move(item));
    if (first_.items.size() / 2 >= wanted_) drop_rest();
  }
  FirstOf<Item> take() {
    if (first_.items.size() > wanted_) drop_rest();
    std::stable_sort(first_.items.begin(), first_.items.end(), Less());
    return std::move(first_);
  }

 private:
  void drop_rest() {
    const auto end = first_.items.begin() + static_cast<std::ptrdiff_t>(wanted_);
    std::nth_element(first_.items.begin(), end, first_.items.end(), Less());
    first_.items.erase(end, first_.items.end());
  }

  std::size_t wanted_;
  FirstOf<Item> first_;
};

// The set of devices with the given names. Without names, the set of all devices.
class Places {
 public:
  Places(const Snapshot& snapshot, const std::vector<model::DeviceName>& names) {
    for (const model::Device& device : snapshot.devices) {
      chosen_.push_back(std::any_of(names.begin(), names.end(),
                                    [&](const auto& name) { return has_name(device, name); }));
    }
    all_ = names.empty();
  }

  [[nodiscard]] bool have(const Program& program) const { return has(program.device); }
  [[nodiscard]] bool have(const Allocation& allocation) const {
    if (allocation.devices.empty()) return has(allocation.device);
    return std::any_of(allocation.devices.begin(), allocation.devices.end(),
                       [this](std::uint32_t device) { return has(device); });
  }

 private:
  [[nodiscard]] bool has(std::uint32_t device) const {
    return all_ || (device < chosen_.size() && chosen_[device]);
  }

  std::vector<bool> chosen_;
  bool all_ = false;
};

}  // namespace

Snapshot select_devices(Snapshot snapshot, const std::vector<model::DeviceName>& names) {
  return keep_devices(std::move(snapshot), [&](const model::Device& device) {
    return std::any_of(names.begin(), names.end(),
                       [&](const auto& name) { return has_name(device, name); });
  });
}

Snapshot without_lists(const Snapshot& snapshot) {
  Snapshot around;
  around.time_unix_ns = snapshot.time_unix_ns;
  around.host = snapshot.host;
  around.devices = snapshot.devices;
  around.warnings = snapshot.warnings;
  around.unread = snapshot.unread;
  return around;
}

Snapshot cut_lists(const Snapshot& snapshot, const std::vector<model::DeviceName>& names,
                   const std::vector<Kind>& kinds, std::size_t limit) {
  Snapshot cut = without_lists(snapshot);
  const Places places(snapshot, names);
  const auto copy = [&](const auto& from, auto& to, const char* list, const auto& wanted) {
    std::size_t total = 0;
    for (const auto& item : from) {
      if (wanted(item) && places.have(item) && ++total <= limit) to.push_back(item);
    }
    if (total <= limit) return;
    cut.warnings.push_back(fmt::format("the list of {} has only {} of {}: no more is sent at once",
                                       list, limit, total));
  };
  copy(snapshot.allocations, cut.allocations, "allocations", [&](const model::Allocation& item) {
    return kinds.empty() || std::find(kinds.begin(), kinds.end(), item.kind) != kinds.end();
  });
  copy(snapshot.programs, cut.programs, "programs", [](const model::Program&) { return true; });
  return cut;
}

bool matches(const ProcessFilter& filter, const model::Process& process) {
  return (!filter.pid || *filter.pid == process.pid || filter.pid == process.host_pid) &&
         (filter.user.empty() || filter.user == process.user) &&
         (filter.job.empty() || filter.job == text::format_job(process.job));
}

Snapshot select_devices_of(Snapshot snapshot, const ProcessFilter& filter) {
  return keep_devices(std::move(snapshot), [&](const model::Device& device) {
    return std::any_of(device.processes.begin(), device.processes.end(),
                       [&](const model::Process& process) { return matches(filter, process); });
  });
}

Snapshot select_processes(Snapshot snapshot, const ProcessFilter& filter) {
  snapshot = select_devices_of(std::move(snapshot), filter);
  for (model::Device& device : snapshot.devices) {
    std::erase_if(device.processes,
                  [&](const model::Process& process) { return !matches(filter, process); });
  }
  return snapshot;
}

std::vector<model::DeviceName> missing_devices(const Snapshot& snapshot,
                                               std::vector<model::DeviceName> names) {
  std::erase_if(names, [&](const auto& name) { return find_device(snapshot, name).has_value(); });
  return names;
}

std::optional<std::size_t> find_device(const Snapshot& snapshot, const model::DeviceName& name) {
  const auto found = std::find_if(snapshot.devices.begin(), snapshot.devices.end(),
                                  [&](const auto& device) { return has_name(device, name); });
  if (found == snapshot.devices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - snapshot.devices.begin());
}

std::vector<Allocation> select_allocations(const Snapshot& snapshot,
                                           const AllocationFilter& filter) {
  return first_allocations(snapshot, filter, {}, kAll).items;
}

FirstOf<Allocation> first_allocations(const Snapshot& snapshot, const AllocationFilter& filter,
                                      const std::vector<model::DeviceName>& devices,
                                      std::size_t limit) {
  const auto wanted = [&](Kind kind) {
    return filter.kinds.empty() ? kind != Kind::cb : contains(filter.kinds, kind);
  };
  const Places places(snapshot, devices);
  const auto chosen = [&](const auto& item) {
    return places.have(item) && matches(filter, snapshot, item);
  };
  Smallest<Allocation, LargerFirst> first(limit);
  for (const Allocation& allocation : snapshot.allocations) {
    if (wanted(allocation.kind) && chosen(allocation)) first.add(allocation);
  }
  for (const Program& program : snapshot.programs) {
    if (!wanted(Kind::cb) || !chosen(program)) continue;
    for (const model::CircularBuffer& cb : program.cbs) first.add(allocation_of(program, cb));
  }
  return first.take();
}

std::vector<Program> select_programs(const Snapshot& snapshot, std::optional<std::int32_t> pid) {
  return first_programs(snapshot, pid, {}, kAll).items;
}

FirstOf<Program> first_programs(const Snapshot& snapshot, std::optional<std::int32_t> pid,
                                const std::vector<model::DeviceName>& devices, std::size_t limit) {
  const Places places(snapshot, devices);
  Smallest<Program, MoreL1First> first(limit);
  for (const Program& program : snapshot.programs) {
    if (places.have(program) && (!pid || is_of(snapshot, program, *pid))) first.add(program);
  }
  return first.take();
}

const model::Process* find_process(const Snapshot& snapshot, std::uint32_t device,
                                   const model::ProcessKey& key) {
  if (device >= snapshot.devices.size()) return nullptr;
  for (const model::Process& process : snapshot.devices[device].processes) {
    if (model::key_of(process) == key) return &process;
  }
  return nullptr;
}

}  // namespace ttmem::selection
