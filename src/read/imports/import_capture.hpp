// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "read/capture/capture.hpp"
#include "read/imports/import.hpp"
#include "read/recording/file/rows.hpp"
#include "read/recording/file/writer.hpp"

namespace ttmem::imports {

// Writes the devices and events of a capture. `process` is the row of the process that the capture
// describes.
[[nodiscard]] Imported write_capture(const std::vector<capture::CaptureLine>& lines,
                                     recording::RowId process, recording::Writer& writer);

}  // namespace ttmem::imports
