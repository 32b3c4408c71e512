// SPDX-License-Identifier: Apache-2.0
//
// The export formats. docs/guides/export.md describes how each format shows a recording, and what
// the format cannot show.
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
  recording::Time time_ns = 0;  // only for at_time
};

struct ExportJob {
  const recording::Reader& reader;
  const Selection& selection;
  ExportMoment moment{};  // only for formats that show one moment
  std::string path{};     // path of the file or folder to write
  bool overwrite = false;
};

// Notes for the user about data that was left out; empty if the file is complete.
using Notes = std::vector<std::string>;

// Each function writes a whole file. Write errors are reported by Output::finish(), not by these
// functions.
[[nodiscard]] Result<Notes> write_perfetto(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_pprof(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_memory_viz(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_speedscope(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_collapsed(const ExportJob& job, Output& output);
[[nodiscard]] Result<Notes> write_csv(const ExportJob& job, Output& output);
// Writes the whole folder and finishes it.
[[nodiscard]] Result<Notes> write_ttnn_visualizer(const ExportJob& job, OutputFolder& folder);

struct ExportFormat {
  std::string_view name;
  // The extension of the format's files. Empty: the format is a folder.
  std::string_view ending;
  bool binary;                                        // true: not written to a terminal
  Result<Notes> (*write)(const ExportJob&, Output&);  // nullptr: the format is a folder
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

// Writes the file or folder of the job in this format. On failure, no unfinished file or folder
// remains.
[[nodiscard]] Result<Notes> write(const ExportJob& job, const ExportFormat& format);
// Writes the file of the job into `output` and finishes it. Not for formats that are folders.
[[nodiscard]] Result<Notes> write(const ExportJob& job, const ExportFormat& format, Output output);

}  // namespace ttmem::exports
