// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyse/report/report.hpp"
#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "serve/viewer/thinned_line.hpp"

namespace ttmem::viewer {

// Returns the range of the whole recording.
[[nodiscard]] TimeRange whole(const recording::Reader& reader);

// Returns one line of JSON in the schema ttmem.timeline.v1 (docs/guides/page.md): the bytes that
// the chips held over a range, and all details at some moments of the range. Makes two passes over
// the recording, or a few more if there are many live objects. The document has at most about 50
// MB, or more if the few most important moments alone need more. `report` is the report of the
// whole recording. `progress` is called with the completed part, 0 to 1; may be empty. Fails if the
// file is damaged.
[[nodiscard]] Result<std::string> timeline_json(const recording::Reader& reader,
                                                const report::Report& report,
                                                const TimeRange& range,
                                                const std::function<void(double)>& progress);

}  // namespace ttmem::viewer
