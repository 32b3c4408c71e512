// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "simulator/demo/mesh.hpp"

namespace ttmem::demo {

// A host program on the dry run. The constructor opens the devices and allocates what is held from
// the beginning. Single-threaded; throws what the dry run throws.
class Scenario {
 public:
  explicit Scenario(const Machine& machine) : mesh(machine) {}
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  // What happens in a tenth of a second. `number` counts from 0.
  virtual void step(std::uint64_t number) = 0;

  const Mesh mesh;
};

// Their figures stay; programs are dispatched in turn (steady.cpp).
[[nodiscard]] std::unique_ptr<Scenario> make_single();
[[nodiscard]] std::unique_ptr<Scenario> make_mesh8();
[[nodiscard]] std::unique_ptr<Scenario> make_cached_programs();
[[nodiscard]] std::unique_ptr<Scenario> make_blackhole();
[[nodiscard]] std::unique_ptr<Scenario> make_device_init();
[[nodiscard]] std::unique_ptr<Scenario> make_galaxy();

// Their figures change, each file says how. They stay in bands of what the chip has, kernels
// measured against the 69 KiB ring of each core: low is below 10 %, medium to 33 %, high to 80 %,
// very high above.
[[nodiscard]] std::unique_ptr<Scenario> make_training();
[[nodiscard]] std::unique_ptr<Scenario> make_inference();
[[nodiscard]] std::unique_ptr<Scenario> make_leak();

}  // namespace ttmem::demo
