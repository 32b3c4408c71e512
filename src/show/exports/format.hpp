// SPDX-License-Identifier: Apache-2.0
//
// The formats of other tools: docs/guides/export.md says what each maps to what, and what it cannot
// tell.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "read/recording/file/reader.hpp"
#include "show/exports/output.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::exports {

// The moment that a format without a time axis shows.
struct ExportMoment {
  enum class Which : std::uint8_t { peak, end, at_time };
  Which which = Which::peak;
  recording::Time time_ns = 0;  // of at_time
};

struct ExportJob {
  const recording::Reader& reader;
  const Selection& selection;
  ExportMoment moment{};  // for those that show one
  std::string path{};     // where it will be
  bool overwrite = false;
};

// What the user should know of the file: what was left out. Empty: nothing.
using Notes = std::vector<std::string>;

// Writes the whole file. A failure to write is not reported here but by Output::finish().
[[nodiscard]] Result<Notes> write_perfetto(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_pprof(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_memory_viz(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_speedscope(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_collapsed(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_csv(const ExportJob& job, Output& output);
// Finishes the folder, too.
[[nodiscard]] Result<Notes> write_ttnn_visualizer(const ExportJob& job, OutputFolder& folder);

struct ExportFormat {
  std::string_view name;
  std::string_view ending;                            // of its files; empty: it is a folder
  bool binary;                                        // nothing for a terminal
  Result<Notes> (*write)(const ExportJob&, Output&);  // null: it is a folder
  Result<Notes> (*write_folder)(const ExportJob&, OutputFolder&) = nullptr;
};
inline constexpr std::array<ExportFormat, 7> kFormats = {{
    {"perfetto", "pftrace", true, write_perfetto},
    {"pprof", "pb.gz", true, write_pprof},
    {"memory-viz", "pickle", true, write_memory_viz},
    {"ttnn-visualizer", "", true, nullptr, write_ttnn_visualizer},
    {"speedscope", "speedscope.json", false, write_speedscope},
    {"collapsed", "txt", false, write_collapsed},
    {"csv", "csv", false, write_csv},
}};

// Writes the job's file in that format. Nothing is left when it fails.
[[nodiscard]] Result<Notes> write(const ExportJob& job, const ExportFormat& format);
// Writes it there instead, and finishes that. Not for formats that are folders.
[[nodiscard]] Result<Notes> write(const ExportJob& job, const ExportFormat& format, Output output);

}  // namespace ttmem::exports
