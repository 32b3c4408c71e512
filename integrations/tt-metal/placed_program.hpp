// SPDX-License-Identifier: Apache-2.0
//
// A program with its circular buffers, and where it is.
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
  bool is_view;  // its bytes are those of an L1 buffer

  friend bool operator==(const ProgramCb&, const ProgramCb&) = default;
};

// Kernels of which only the size is known. They are on the cores of the program's circular buffers,
// by assumption; on `all`, if it has none.
[[nodiscard]] KernelSizes assumed_kernels(std::uint64_t per_core, const std::vector<ProgramCb>& cbs,
                                          const CoreRanges& all);

struct PlacedProgram {
  std::uint64_t id = 0;        // for the tracker
  std::string name;            // empty: none
  std::vector<ProgramCb> cbs;  // the same on every chip
  ChipNumbers chips;
  std::shared_ptr<const KernelSizes> kernels;  // null: not known

  // It is on these chips too now. Reports that there; and, if `is_new_layout`, the circular buffers
  // on all its chips, because a new layout is that of the program wherever it is.
  void placed(const ChipNumbers& on, bool is_new_layout);
  // It was sent to the mesh, where its kernels, if they are known, take the cores.
  void dispatched(const OpenMesh& mesh) const;
  // It is gone from everywhere.
  void destroyed(OpenChips& chips) const;

 private:
  void report(const ChipNumbers& on) const;
};

}  // namespace ttmem::tt_metal
