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

// The whole recording.
[[nodiscard]] TimeRange whole(const recording::Reader& reader);

// Schema ttmem.timeline.v1 (docs/guides/page.md) in one line: what the chips held over a range, and
// all that was held at some moments of it. Two passes over the recording, or a few more when much
// is live; about 50 MB, or more where even the few moments that matter most have more. `report` is
// that of the whole recording. `progress` is called with the part that is done, 0 to 1; may be
// empty. Fails when the file is damaged.
[[nodiscard]] Result<std::string> timeline_json(const recording::Reader& reader,
                                                const report::Report& report,
                                                const TimeRange& range,
                                                const std::function<void(double)>& progress);

}  // namespace ttmem::viewer
