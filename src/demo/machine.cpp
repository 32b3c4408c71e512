// SPDX-License-Identifier: Apache-2.0
#include "demo/machine.hpp"

namespace ttmem::demo {

Machine::Machine(const Chip& chip, std::uint32_t chips, const MemoryConfig& config) {
  for (std::uint32_t id = 0; id < chips; ++id) devices_.emplace_back(chip, id, config);
}

std::optional<std::uint64_t> Machine::allocate(const Tensor& tensor) {
  std::optional<std::uint64_t> buffer;
  for (SimulatedDevice& device : devices_) buffer = device.allocate(tensor);
  return buffer;
}

void Machine::free(std::uint64_t buffer) {
  for (SimulatedDevice& device : devices_) device.free(buffer);
}

std::uint64_t Machine::place(const std::vector<CbRequest>& cbs) {
  ++programs_;
  for (SimulatedDevice& device : devices_) device.place(programs_, cbs);
  return programs_;
}

void Machine::dispatch(std::uint64_t program) const {
  for (const SimulatedDevice& device : devices_) ttmem_program_dispatch(device.id(), program);
}

void Machine::replay_trace(const std::vector<std::uint64_t>& programs) const {
  for (const SimulatedDevice& device : devices_) {
    ttmem_trace_replay(device.id(), programs.data(), static_cast<std::uint32_t>(programs.size()));
  }
}

std::uint64_t Machine::load_kernel(std::uint64_t bytes, ttmem_kernel_role role) {
  ++kernels_;
  for (const SimulatedDevice& device : devices_) {
    ttmem_kernel_load(device.id(), kernels_, bytes, role);
  }
  return kernels_;
}

void Machine::unload_kernel(std::uint64_t kernel) const {
  for (const SimulatedDevice& device : devices_) ttmem_kernel_unload(device.id(), kernel);
}

}  // namespace ttmem::demo
