// SPDX-License-Identifier: Apache-2.0
//
// Which chips are open, and which of them a mesh has.
#pragma once

#include <cstdint>
#include <map>
#include <tt-metalium/device.hpp>
#include <utility>
#include <vector>

#include "loaded_kernels.hpp"

namespace ttmem::tt_metal {

using ChipNumbers = std::vector<std::uint32_t>;  // numbers, ascending

struct OpenChip {
  std::uint64_t opened;  // the generation from which on it was open
  LoadedKernels kernels;
};

// The chips of a mesh, or a chip.
struct OpenMesh {
  ChipNumbers chips;
  std::vector<OpenChip*> open;   // the same, of generation `generation`
  std::uint64_t generation = 0;  // 0: to be looked up
};

// Raises its generation when a chip is opened or closed: what was reported before a chip was closed
// is not on the chip that is open now. Not thread-safe.
class OpenChips {
 public:
  // `announce` reports a chip that is shown from now on.
  explicit OpenChips(void (*announce)(const ::tt::tt_metal::IDevice& chip)) : announce_(announce) {}

  // A chip that is open already stays as it is.
  void open(const ::tt::tt_metal::IDevice& chip);
  // Reports its end. False if it was not open.
  bool close(std::uint32_t chip);

  // The chips of a device, which are opened. The reference stays valid; what it says changes when a
  // chip is opened or closed.
  OpenMesh& mesh_of(const ::tt::tt_metal::IDevice& device);
  // Those of `chips` that have been open ever since that generation.
  [[nodiscard]] ChipNumbers open_since(std::uint64_t generation, const ChipNumbers& chips) const;

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] std::map<std::uint32_t, OpenChip>& all() { return chips_; }
  // In a child of the process: nothing is open.
  void forget();

 private:
  void (*const announce_)(const ::tt::tt_metal::IDevice& chip);
  std::map<std::uint32_t, OpenChip> chips_;
  std::uint64_t generation_ = 1;
  // By the device's address and number: a new mesh may get the address of one that is gone. They
  // stay: buffers point to them.
  std::map<std::pair<const ::tt::tt_metal::IDevice*, int>, OpenMesh> meshes_;
  struct {  // the entry of `meshes_` that was used last
    const ::tt::tt_metal::IDevice* device = nullptr;
    int id = 0;
    OpenMesh* mesh = nullptr;
  } last_;
};

}  // namespace ttmem::tt_metal
