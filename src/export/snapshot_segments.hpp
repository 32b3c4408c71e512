// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "export/address_space.hpp"
#include "export/snapshot_encoder.hpp"
#include "export/snapshot_texts.hpp"

namespace ttmem::exporter {

// Appends an address space with what lies in it as a segment of the device at that place. Nothing
// when it was never used.
void append_segment(EncodedList& segments, std::size_t place, const AddressSpace& space,
                    const SnapshotEncoder& encoder, SnapshotTexts& texts);

}  // namespace ttmem::exporter
