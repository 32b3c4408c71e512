// SPDX-License-Identifier: Apache-2.0
#include "placed_program.hpp"

#include <algorithm>
#include <iterator>

#include "describe.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

KernelSizes assumed_kernels(std::uint64_t per_core, const std::vector<Cb>& cbs,
                            const ::tt::tt_metal::CoreRangeSet& all) {
  KernelSizes sizes;
  sizes.estimate = true;
  if (per_core == 0) return sizes;
  if (cbs.empty()) sizes.add(all, per_core);
  for (const Cb& cb : cbs) {
    KernelSizes of_cb;
    of_cb.add(cb.cores, per_core);
    sizes.bytes.merge(of_cb.bytes);  // a core counts once
  }
  return sizes;
}

void PlacedProgram::report(const Chips& on) const {
  std::size_t count = 0;
  for (const Cb& cb : cbs) count += cb.cores.ranges().size();
  std::vector<ttmem_core_range> cores;
  cores.reserve(count);  // so that the records may point into it
  std::vector<ttmem_cb> records;
  records.reserve(cbs.size());
  for (const Cb& cb : cbs) {
    const std::size_t first = cores.size();
    for (const auto& range : cb.cores.ranges()) cores.push_back(core_range(range));
    records.push_back({cb.address, cb.bytes, cores.data() + first,
                       static_cast<std::uint32_t>(cores.size() - first),
                       cb.is_view ? TTMEM_CB_GLOBAL : 0U});
  }
  const ttmem_placement placement{.struct_size = sizeof placement,
                                  .cb_size = sizeof(ttmem_cb),
                                  .program = id,
                                  .cbs = records.data(),
                                  .cb_count = static_cast<std::uint32_t>(records.size()),
                                  .reserved = 0,
                                  .name = name.empty() ? nullptr : name.c_str()};
  ttmem_mesh_program_place_with(on.data(), static_cast<std::uint32_t>(on.size()), &placement);
}

void PlacedProgram::placed(const Chips& on, bool is_new_layout) {
  Chips added;
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

void PlacedProgram::dispatched(const Mesh& mesh) const {
  ttmem_mesh_program_dispatch(mesh.chips.data(), static_cast<std::uint32_t>(mesh.chips.size()), id);
  if (!kernels) return;
  for (OpenChip* chip : mesh.open) chip->kernels.load(id, kernels);
}

void PlacedProgram::destroyed(OpenChips& open) const {
  for (auto& [number, chip] : open.all()) chip.kernels.unload(id);
  ttmem_program_destroy(id);
}

}  // namespace ttmem::tt_metal
