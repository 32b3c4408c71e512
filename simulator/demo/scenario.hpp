// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "simulator/demo/mesh.hpp"

namespace ttmem::demo {

// A host program on the dry run. The constructor opens the devices and makes the permanent
// allocations. Single-threaded. Throws the exceptions of the dry run.
class Scenario {
 public:
  explicit Scenario(const Machine& machine) : mesh(machine) {}
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  // Does the work of one step, which is a tenth of a second. `number` counts from 0.
  virtual void step(std::uint64_t number) = 0;

  const Mesh mesh;
};

// Scenarios with constant figures. They dispatch their programs one after the other, repeatedly
// (steady.cpp).
[[nodiscard]] std::unique_ptr<Scenario> make_single();
[[nodiscard]] std::unique_ptr<Scenario> make_mesh8();
[[nodiscard]] std::unique_ptr<Scenario> make_cached_programs();
[[nodiscard]] std::unique_ptr<Scenario> make_blackhole();
[[nodiscard]] std::unique_ptr<Scenario> make_device_init();
[[nodiscard]] std::unique_ptr<Scenario> make_galaxy();

// Scenarios with changing figures. training.cpp and inference.cpp say how much of each capacity the
// scenario uses: low is below 10 %, medium up to 33 %, high up to 80 %, very high above 80 %. The
// capacity for kernels is the 69 KiB ring of each core.
[[nodiscard]] std::unique_ptr<Scenario> make_training();
[[nodiscard]] std::unique_ptr<Scenario> make_inference();
[[nodiscard]] std::unique_ptr<Scenario> make_leak();

}  // namespace ttmem::demo
