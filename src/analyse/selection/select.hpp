// SPDX-License-Identifier: Apache-2.0
// Selects parts of a Snapshot, as the options of the commands name them. Pure functions, safe from
// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"

namespace ttmem::selection {

// Returns the snapshot with only the named devices and the items on them. A number may name several
// chips.
[[nodiscard]] model::Snapshot select_devices(model::Snapshot snapshot,
                                             const std::vector<model::DeviceName>& names);

// Returns the snapshot without its allocations and programs.
[[nodiscard]] model::Snapshot without_lists(const model::Snapshot& snapshot);

// Returns the snapshot with shorter lists. Keeps only entries of the named devices (all if `names`
// is empty) and allocations of `kinds` (all if `kinds` is empty), and at most `limit` entries of
// each list. Adds a warning for each list that is cut.
[[nodiscard]] model::Snapshot cut_lists(const model::Snapshot& snapshot,
                                        const std::vector<model::DeviceName>& names,
                                        const std::vector<Kind>& kinds, std::size_t limit);

// Returns the entries of `names` that match no device of the snapshot.
[[nodiscard]] std::vector<model::DeviceName> missing_devices(const model::Snapshot& snapshot,
                                                             std::vector<model::DeviceName> names);

// Returns the index of the first device with the name `name`; nullopt if there is none.
[[nodiscard]] std::optional<std::size_t> find_device(const model::Snapshot& snapshot,
                                                     const model::DeviceName& name);

struct ProcessFilter {
  std::optional<std::int32_t> pid{};  // in this pid namespace or in the process's own
  std::string user{};                 // empty: any
  std::string job{};                  // as format_job() names it; empty: any

  [[nodiscard]] bool any() const { return pid || !user.empty() || !job.empty(); }
};
[[nodiscard]] bool matches(const ProcessFilter& filter, const model::Process& process);

// Returns the snapshot with only the devices that a matching process uses, and all processes and
// items on these devices.
[[nodiscard]] model::Snapshot select_devices_of(model::Snapshot snapshot,
                                                const ProcessFilter& filter);
// Returns the result of select_devices_of() without the processes that do not match. Only for views
// that do not count processes.
[[nodiscard]] model::Snapshot select_processes(model::Snapshot snapshot,
                                               const ProcessFilter& filter);

struct AllocationFilter {
  std::optional<std::int32_t> pid{};
  std::string job{};          // as format_job() names it; empty: any
  std::vector<Kind> kinds{};  // empty: all but circular buffers
};

// Returns the matching allocations, the largest physical size first. Circular buffers are numerous,
// so they are included only if `kinds` contains Kind::cb. Each CB of a program is one entry, whose
// id is the number of the program.
[[nodiscard]] std::vector<model::Allocation> select_allocations(const model::Snapshot& snapshot,
                                                                const AllocationFilter& filter);

// The first entries of a list, and the length of the whole list.
template <typename Item>
struct FirstOf {
  std::vector<Item> items;
  std::size_t total = 0;
};

// Return the first `limit` entries of select_allocations() or select_programs() on the named
// devices, or on all devices if there are no names. Keep at most twice `limit` entries in memory.
[[nodiscard]] FirstOf<model::Allocation> first_allocations(
    const model::Snapshot& snapshot, const AllocationFilter& filter,
    const std::vector<model::DeviceName>& devices, std::size_t limit);
[[nodiscard]] FirstOf<model::Program> first_programs(const model::Snapshot& snapshot,
                                                     std::optional<std::int32_t> pid,
                                                     const std::vector<model::DeviceName>& devices,
                                                     std::size_t limit);

// Returns the programs, sorted by their L1 use (bytes per core times cores), the largest first.
[[nodiscard]] std::vector<model::Program> select_programs(const model::Snapshot& snapshot,
                                                          std::optional<std::int32_t> pid);

// Returns the process with this key on the device with this index; null if the snapshot does not
// list the process.
[[nodiscard]] const model::Process* find_process(const model::Snapshot& snapshot,
                                                 std::uint32_t device,
                                                 const model::ProcessKey& key);
// Returns the process of an allocation or program.
template <typename Item>
[[nodiscard]] const model::Process* process_of(const model::Snapshot& snapshot, const Item& item) {
  return find_process(snapshot, item.device, model::key_of(item));
}

// Returns true if `pid` is the pid of the item's process, in this pid namespace or the process's
// own pid namespace.
template <typename Item>
[[nodiscard]] bool is_of(const model::Snapshot& snapshot, const Item& item, std::int32_t pid) {
  if (item.pid == pid) return true;
  const model::Process* process = process_of(snapshot, item);
  return process != nullptr && process->host_pid == pid;
}

// Returns true if the filter matches the process of an allocation or program.
template <typename Item>
[[nodiscard]] bool matches(const AllocationFilter& filter, const model::Snapshot& snapshot,
                           const Item& item) {
  if (filter.pid && !is_of(snapshot, item, *filter.pid)) return false;
  if (filter.job.empty()) return true;
  const model::Process* process = process_of(snapshot, item);
  return process != nullptr && matches(ProcessFilter{.job = filter.job}, *process);
}

}  // namespace ttmem::selection
