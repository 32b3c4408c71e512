// SPDX-License-Identifier: Apache-2.0
//
// The buffers that were reported, with the chips that they lie on.
#pragma once

#include <cstdint>
#include <tt-metalium/buffer.hpp>

#include "bank_bytes.hpp"
#include "open_chips.hpp"
#include "probe_table.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

// Not thread-safe.
class LiveBuffers {
 public:
  explicit LiveBuffers(OpenChips& chips) : chips_(chips) {}

  // `record` is describe() of the buffer. One that is known is not reported again.
  void allocated(const ::tt::tt_metal::Buffer& buffer, ttmem_buffer record);
  // By tracker_id(). Reported on the chips that have been open since; a buffer that is not known is
  // ignored.
  void freed(std::uint64_t id);
  void forget() { buffers_.clear(); }

 private:
  // An entry of a ProbeTable, by the tracker's id, which is never 0.
  struct Buffer {
    using Key = std::uint64_t;

    std::uint64_t id = 0;
    std::uint64_t generation = 0;  // at its allocation
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
