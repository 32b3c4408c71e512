// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::segment {

// Reads a segment. Whatever the bytes are, and however they change meanwhile, this terminates,
// takes memory in proportion to the file at most, and never returns a torn record.
//
// Fails when the header is not complete (see header_state() in segment_map.hpp), or when the file
// is cut short while being read. The message goes after the name of the file.
//
// Not a failure: a slot that is being written (it is not listed, and shows up at the next pass), a
// device under constant writing (DeviceImage::coherent is false), a record that contradicts itself
// (SegmentImage::invalid_records counts it). Safe from any thread.
[[nodiscard]] Result<SegmentImage> read_segment(const ByteSource& source);

}  // namespace ttmem::segment
