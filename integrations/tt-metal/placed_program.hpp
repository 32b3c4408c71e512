// SPDX-License-Identifier: Apache-2.0
// A program with its circular buffers and its chips.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core_ranges.hpp"
#include "open_chips.hpp"

namespace ttmem::tt_metal {

struct ProgramCb {
  CoreRanges cores;
  std::uint64_t address, bytes;
  bool is_view;  // true if the bytes belong to an L1 buffer

  friend bool operator==(const ProgramCb&, const ProgramCb&) = default;
};

// Returns the kernels of a program if only their size is known. The kernels are assumed to be on
// the cores of the program's circular buffers, or on `all` if the program has no circular buffers.
[[nodiscard]] KernelSizes assumed_kernels(std::uint64_t per_core, const std::vector<ProgramCb>& cbs,
                                          const CoreRanges& all);

struct PlacedProgram {
  std::uint64_t id = 0;        // id in the tracker
  std::string name;            // empty: none
  std::vector<ProgramCb> cbs;  // the list is the same on every chip
  ChipNumbers chips;
  std::shared_ptr<const KernelSizes> kernels;  // null: unknown

  // Adds chips to the program, and reports its circular buffers on these chips. If `is_new_layout`,
  // reports them on all chips of the program, because the layout is the same on all of them.
  void placed(const ChipNumbers& on, bool is_new_layout);
  // Reports that the program was sent to the mesh. If the program's kernels are known, also loads
  // the kernels on the chips of the mesh.
  void dispatched(const OpenMesh& mesh) const;
  // Reports that the program is destroyed on all chips.
  void destroyed(OpenChips& chips) const;

 private:
  void report(const ChipNumbers& on) const;
};

}  // namespace ttmem::tt_metal
