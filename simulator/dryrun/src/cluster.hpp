// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tt-metalium/device_impl.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <vector>

#include "system.hpp"

namespace tt::tt_metal::dryrun {

// The options for opening chips.
struct OpenOptions {
  std::uint8_t num_hw_cqs = 1;
  std::size_t l1_small_size = 0;
  std::size_t trace_region_size = 0;
  std::size_t worker_l1_size = 0;
  DispatchCoreConfig dispatch_core_config = {};

  bool operator==(const OpenOptions&) const = default;
};

// The chips of the simulated machine. The Device of a chip is made once and never destroyed,
// because buffers and programs keep plain pointers to it. All methods may be called from any
// thread.
class Cluster {
 public:
  static Cluster& instance();

  // Returns the machine whose chips are open. If no chip is open, returns the machine that
  // TTMEM_DRYRUN_SYSTEM names now.
  System system();
  // Returns the number of slots for circular buffers on a core.
  std::uint32_t circular_buffers_per_core();

  // Opens the chip. If the chip is already open with the same options, adds an owner. Throws if the
  // chip is open with other options, or cannot be opened.
  Device* open(ChipId chip, const OpenOptions& options);
  // Removes one owner of the chip. Closes the chip if no owner is left. Returns false if the chip
  // is not open.
  bool release(Device* device);
  // Returns null if the chip is not open.
  Device* find_open(ChipId chip);

 private:
  struct Slot {
    std::unique_ptr<Device> device;
    OpenOptions options;
    std::size_t owners = 0;
  };
  struct Machine {
    std::string name;
    System system;
    std::vector<Slot> slots;  // by chip id
  };

  Cluster() = default;
  Machine& machine();
  Slot* find_slot(const Device* device);
  static bool is_open(const Machine& machine);

  std::mutex mutex_;                                // guards the members below
  std::vector<std::unique_ptr<Machine>> machines_;  // the last entry is the machine in use
};

// Keeps chips open while the object lives.
class OpenChips {
 public:
  // Opens all chips, or throws and opens none.
  OpenChips(const std::vector<ChipId>& chips, const OpenOptions& options);
  ~OpenChips();
  OpenChips(const OpenChips&) = delete;
  OpenChips& operator=(const OpenChips&) = delete;

  const std::vector<Device*>& devices() const { return devices_; }
  const OpenOptions& options() const { return options_; }

 private:
  const OpenOptions options_;
  std::vector<Device*> devices_;
};

}  // namespace tt::tt_metal::dryrun
