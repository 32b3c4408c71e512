// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "show/exports/address_space.hpp"
#include "show/exports/snapshot_encoder.hpp"
#include "show/exports/snapshot_texts.hpp"

namespace ttmem::exports {

// Appends an address space and its blocks as a segment of the device with number `place`. Appends
// nothing if the space was never used.
void append_segment(EncodedList& segments, std::size_t place, const AddressSpace& space,
                    const SnapshotEncoder& encoder, SnapshotTexts& texts);

}  // namespace ttmem::exports
