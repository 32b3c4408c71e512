// SPDX-License-Identifier: Apache-2.0
#include "live_buffers.hpp"

namespace ttmem::tt_metal {

void LiveBuffers::allocated(const ::tt::tt_metal::Buffer& buffer, ttmem_buffer record) {
  const OpenMesh& mesh = chips_.mesh_of(*buffer.device());
  const auto [entry, fresh] = buffers_.insert(record.id);
  if (!fresh) return;
  record.bytes_per_bank = bank_bytes_.of(buffer, chips_.generation());
  *entry = {record.id, chips_.generation(), &mesh, record.type};
  ttmem_mesh_buffer_alloc(mesh.chips.data(), static_cast<std::uint32_t>(mesh.chips.size()),
                          &record);
}

void LiveBuffers::freed(std::uint64_t id) {
  Buffer* const entry = buffers_.find(id);
  if (entry == nullptr) return;
  const Buffer known = *entry;
  buffers_.erase(entry);
  const auto free = [&](const ChipNumbers& chips) {
    if (chips.empty()) return;
    ttmem_mesh_buffer_free(chips.data(), static_cast<std::uint32_t>(chips.size()), known.type,
                           known.id);
  };
  if (known.generation == chips_.generation()) {
    free(known.mesh->chips);
  } else {
    // If a chip was closed since the allocation, it no longer has the buffer, even if it is open
    // again. The free is reported on the other chips.
    free(chips_.open_since(known.generation, known.mesh->chips));
  }
}

}  // namespace ttmem::tt_metal
