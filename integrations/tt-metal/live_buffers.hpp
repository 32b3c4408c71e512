// SPDX-License-Identifier: Apache-2.0
// Reports buffers and remembers on which chips they are.
#pragma once

#include <cstdint>
#include <tt-metalium/buffer.hpp>

#include "bank_bytes.hpp"
#include "open_chips.hpp"
#include "probe_table.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

// The buffers that were reported as allocated and not yet as freed. Not thread-safe.
class LiveBuffers {
 public:
  explicit LiveBuffers(OpenChips& chips) : chips_(chips) {}

  // Reports a buffer. `record` is the result of describe(). A known buffer is not reported again.
  void allocated(const ::tt::tt_metal::Buffer& buffer, ttmem_buffer record);
  // Reports the free of the buffer with this tracker_id(), on the chips that have been open since
  // its allocation. Ignores an unknown buffer.
  void freed(std::uint64_t id);
  void forget() { buffers_.clear(); }

 private:
  // An entry of a ProbeTable. Its key is the tracker's id, which is never 0.
  struct Buffer {
    using Key = std::uint64_t;

    std::uint64_t id = 0;
    std::uint64_t generation = 0;  // generation of the chips at the allocation
    const OpenMesh* mesh = nullptr;
    ttmem_buffer_type type = TTMEM_DRAM;

    [[nodiscard]] Key key() const { return id; }
    [[nodiscard]] bool is_empty() const { return id == 0; }
    void make_empty() { id = 0; }
    void begin(Key of) { id = of; }
    [[nodiscard]] static std::uint64_t number_of(Key of) { return of; }
  };

  OpenChips& chips_;
  ProbeTable<Buffer> buffers_;
  BankBytes bank_bytes_;
};

}  // namespace ttmem::tt_metal
