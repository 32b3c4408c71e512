// SPDX-License-Identifier: Apache-2.0
//
// Devices that exist only as bookkeeping: they place buffers and circular buffers where the real
// runtime would, and report them through the public C interface, as it would.
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "demo/chips.hpp"
#include "demo/region.hpp"

namespace ttmem::demo {

// A tensor in memory: pages dealt round robin over the banks, or over the cores of its shards.
struct Tensor {
  std::string label;
  ttmem_buffer_type type = TTMEM_DRAM;
  std::uint64_t page_bytes = 0;
  std::uint64_t pages = 0;
  std::optional<ttmem_core_range> shards = std::nullopt;  // none: interleaved over every bank
};

// A circular buffer as a program declares it: the device finds the address.
struct CbRequest {
  std::uint64_t bytes = 0;                               // on each core
  std::optional<ttmem_core_range> cores = std::nullopt;  // none: the whole grid
};

struct MemoryConfig {
  std::uint32_t l1_small_bytes_per_core = 32768;
  std::uint64_t trace_bytes_per_bank = 0;
};

// One chip. Not thread-safe. Open from construction to destruction.
class SimulatedDevice {
 public:
  SimulatedDevice(const Chip& chip, std::uint32_t id, const MemoryConfig& config);
  ~SimulatedDevice();
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  // The number of the buffer, from 1 in the order of allocation; nothing when the memory is full.
  [[nodiscard]] std::optional<std::uint64_t> allocate(const Tensor& tensor);
  void free(std::uint64_t buffer);

  // Stacks the CBs: each begins where the highest earlier one on any of its cores ends.
  void place(std::uint64_t program, const std::vector<CbRequest>& cbs);

  [[nodiscard]] std::uint32_t id() const { return id_; }

 private:
  struct Live {
    ttmem_buffer_type type;
    std::uint64_t address;
  };

  [[nodiscard]] Region& region_of(ttmem_buffer_type type);
  [[nodiscard]] std::uint64_t bytes_per_bank(const Tensor& tensor) const;
  void open(const MemoryConfig& config) const;

  const Chip& chip_;
  std::uint32_t id_;
  Region dram_;
  Region trace_;
  Region l1_;
  Region l1_small_;
  std::uint64_t buffers_ = 0;  // ever allocated
  std::map<std::uint64_t, Live> live_;
};

}  // namespace ttmem::demo
