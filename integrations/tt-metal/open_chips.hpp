// SPDX-License-Identifier: Apache-2.0
// The open chips, and the chips of each mesh.
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
  std::uint64_t opened;  // the generation that began when the chip was opened
  LoadedKernels kernels;
};

// The chips of a mesh, or a single chip.
struct OpenMesh {
  ChipNumbers chips;
  std::vector<OpenChip*> open;   // the entries of `chips`, as of `generation`
  std::uint64_t generation = 0;  // 0: not looked up yet
};

// The open chips. The generation increases when a chip is opened or closed. A chip that was opened
// in a later generation than an allocation no longer has the allocation. Not thread-safe.
class OpenChips {
 public:
  // `announce` is called for each newly opened chip and reports it.
  explicit OpenChips(void (*announce)(const ::tt::tt_metal::IDevice& chip)) : announce_(announce) {}

  // Opens a chip. Does nothing if the chip is already open.
  void open(const ::tt::tt_metal::IDevice& chip);
  // Closes a chip and reports it. Returns false if the chip was not open.
  bool close(std::uint32_t chip);

  // Opens the chips of a device, unless they are open, and returns them. The reference stays valid.
  // Its content changes when a chip is opened or closed.
  OpenMesh& mesh_of(const ::tt::tt_metal::IDevice& device);
  // Returns those of `chips` that have been open without interruption since `generation`.
  [[nodiscard]] ChipNumbers open_since(std::uint64_t generation, const ChipNumbers& chips) const;

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] std::map<std::uint32_t, OpenChip>& all() { return chips_; }
  // Forgets all chips. Call this in a child process after a fork.
  void forget();

 private:
  void (*const announce_)(const ::tt::tt_metal::IDevice& chip);
  std::map<std::uint32_t, OpenChip> chips_;
  std::uint64_t generation_ = 1;
  // The key is the address and the number of the device, because a new mesh may get the address of
  // a destroyed mesh. Entries are never removed, because buffers point to them.
  std::map<std::pair<const ::tt::tt_metal::IDevice*, int>, OpenMesh> meshes_;
  struct {  // the entry of `meshes_` that was used last
    const ::tt::tt_metal::IDevice* device = nullptr;
    int id = 0;
    OpenMesh* mesh = nullptr;
  } last_;
};

}  // namespace ttmem::tt_metal
