// SPDX-License-Identifier: Apache-2.0
#include "placed_program.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "describe.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

KernelSizes assumed_kernels(std::uint64_t per_core, const std::vector<ProgramCb>& cbs,
                            const CoreRanges& all) {
  KernelSizes sizes;
  sizes.estimate = true;
  if (per_core == 0) return sizes;
  if (cbs.empty()) sizes.add(all, per_core);
  for (const ProgramCb& cb : cbs) sizes.add_where_none(cb.cores, per_core);
  return sizes;
}

void PlacedProgram::report(const ChipNumbers& on) const {
  // The array is enough for most programs, because most runtimes allow at most 32 circular buffers.
  // A larger list needs heap memory.
  std::array<ttmem_cb, 32> few;
  std::vector<ttmem_cb> many(cbs.size() > few.size() ? cbs.size() : 0);
  ttmem_cb* const records = many.empty() ? few.data() : many.data();
  std::transform(cbs.begin(), cbs.end(), records, [](const ProgramCb& cb) {
    const auto cores = cb.cores.ranges();
    return ttmem_cb{cb.address, cb.bytes, cores.data(), static_cast<std::uint32_t>(cores.size()),
                    cb.is_view ? TTMEM_CB_GLOBAL : 0U};
  });
  const ttmem_placement placement{.struct_size = sizeof placement,
                                  .cb_size = sizeof(ttmem_cb),
                                  .program = id,
                                  .cbs = records,
                                  .cb_count = static_cast<std::uint32_t>(cbs.size()),
                                  .reserved = 0,
                                  .name = name.empty() ? nullptr : name.c_str()};
  ttmem_mesh_program_place_with(on.data(), static_cast<std::uint32_t>(on.size()), &placement);
}

void PlacedProgram::placed(const ChipNumbers& on, bool is_new_layout) {
  if (chips.empty()) {
    chips = on;
    return report(chips);
  }
  ChipNumbers added;
  if (chips != on) {
    std::set_difference(on.begin(), on.end(), chips.begin(), chips.end(),
                        std::back_inserter(added));
    chips.insert(chips.end(), added.begin(), added.end());
    std::sort(chips.begin(), chips.end());
  }
  if (is_new_layout) {
    report(chips);
  } else if (!added.empty()) {
    report(added);
  }
}

void PlacedProgram::dispatched(const OpenMesh& mesh) const {
  ttmem_mesh_program_dispatch(mesh.chips.data(), static_cast<std::uint32_t>(mesh.chips.size()), id);
  if (!kernels) return;
  for (OpenChip* chip : mesh.open) chip->kernels.load(id, kernels);
}

void PlacedProgram::destroyed(OpenChips& open) const {
  for (auto& [number, chip] : open.all()) chip.kernels.unload(id);
  ttmem_program_destroy(id);
}

}  // namespace ttmem::tt_metal
