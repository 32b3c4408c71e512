// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "import/import.hpp"
#include "recording/file/rows.hpp"
#include "recording/file/writer.hpp"
#include "workload/capture/capture.hpp"

namespace ttmem::importing {

// Writes the devices and events of a capture; `process` is the row of the process they are of.
[[nodiscard]] Imported write_capture(const std::vector<capture::Line>& lines,
                                     recording::RowId process, recording::Writer& writer);

}  // namespace ttmem::importing
