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

// How chips are opened.
struct OpenOptions {
  std::uint8_t num_hw_cqs = 1;
  std::size_t l1_small_size = 0;
  std::size_t trace_region_size = 0;
  std::size_t worker_l1_size = 0;
  DispatchCoreConfig dispatch_core_config = {};

  bool operator==(const OpenOptions&) const = default;
};

// The chips of the simulated machine. A chip's Device is made once and never destroyed, because
// buffers and programs keep plain pointers to it. Any thread may call it.
class Cluster {
 public:
  static Cluster& instance();

  // The machine that is open, or else the one that TTMEM_DRYRUN_SYSTEM names now.
  System system();
  // How many slots for circular buffers a core of it has.
  std::uint32_t circular_buffers_per_core();

  // Opens the chip, or shares it when it is open with the same options. Throws otherwise.
  Device* open(ChipId chip, const OpenOptions& options);
  // Gives up one share of the chip; the last one closes it. False when it is not open.
  bool release(Device* device);
  // Null when it is not open.
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

  std::mutex mutex_;                                // the members below
  std::vector<std::unique_ptr<Machine>> machines_;  // the last one is in use
};

// Chips that are open for as long as this lives.
class OpenChips {
 public:
  // All of them, or none and an exception.
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
