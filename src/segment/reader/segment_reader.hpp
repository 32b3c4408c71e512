// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::segment {

// Reads a segment. Whatever the bytes are, and however they change meanwhile, the function
// terminates, takes memory at most in proportion to the size of the file, and never returns a torn
// allocation, program or CB.
//
// Fails if the header is not complete (see HeaderState in segment_map.hpp), or if the file is
// truncated while being read. The caller puts the name of the file before the message.
//
// Not a failure:
// - a slot that is being written: it is left out, and appears in a later pass
// - a device under constant writing: DeviceImage::coherent is false
// - a record that contradicts itself: SegmentImage::invalid_records counts it
//
// Safe from any thread.
[[nodiscard]] Result<SegmentImage> read_segment(const ByteSource& source);

}  // namespace ttmem::segment
