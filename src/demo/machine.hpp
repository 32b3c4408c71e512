// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "demo/simulated_device.hpp"

namespace ttmem::demo {

// Equal chips that one process drives in step: what is done is done on each of them, and so has
// the same addresses and numbers on each. Not thread-safe.
class Machine {
 public:
  Machine(const Chip& chip, std::uint32_t chips, const MemoryConfig& config = {});

  // The number of the buffer on every device; nothing when the memory is full.
  std::optional<std::uint64_t> allocate(const Tensor& tensor);
  void free(std::uint64_t buffer);

  // A new program, placed. Programs are numbered from 1.
  std::uint64_t place(const std::vector<CbRequest>& cbs);
  void dispatch(std::uint64_t program) const;
  void replay_trace(const std::vector<std::uint64_t>& programs) const;

  // `bytes` on each device. Kernels are numbered from 1.
  std::uint64_t load_kernel(std::uint64_t bytes, ttmem_kernel_role role);
  void unload_kernel(std::uint64_t kernel) const;

  [[nodiscard]] std::size_t size() const { return devices_.size(); }

 private:
  std::deque<SimulatedDevice> devices_;  // they stay where they are made
  std::uint64_t programs_ = 0;           // ever placed
  std::uint64_t kernels_ = 0;            // ever loaded
};

}  // namespace ttmem::demo
