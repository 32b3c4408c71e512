// SPDX-License-Identifier: Apache-2.0
//
// Collapsed stacks: lines of "outermost;...;innermost bytes". flamegraph.pl, inferno, speedscope
// and Perfetto read this format.
#include <fmt/format.h>

#include <map>

#include "base/safe_text.hpp"
#include "show/exports/format.hpp"
#include "show/exports/holdings.hpp"

namespace ttmem::exports {
namespace {

// Returns the text without the characters that separate frames and lines.
std::string frame_of(std::string_view text) {
  std::string frame;
  for (const char c : text) frame += c == ';' ? ':' : static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return replace_unsafe(frame);
}

std::string line_of(const Stack& stack) {
  std::string line;
  for (const std::string& frame : stack) line += (line.empty() ? "" : ";") + frame_of(frame);
  return line;
}

}  // namespace

Result<Notes> write_collapsed(const ExportJob& job, Output& output) {
  using enum ExportMoment::Which;
  // Shows the end of an aggregated recording, because its state at other moments is unknown.
  const ExportMoment moment = job.reader.tables().run.aggregate ? ExportMoment{end} : job.moment;
  const auto holdings = read_holdings(job.reader, job.selection, moment.time_ns);
  if (!holdings) return holdings.error();
  std::map<std::string, std::uint64_t> lines;  // sums up equal stacks of several devices
  for (const StackHolding& row : holdings->rows) {
    const Amount& amount = moment.which == peak  ? row.at_peak
                           : moment.which == end ? row.at_end
                                                 : row.at_time;
    if (amount.bytes > 0) lines[line_of(row.stack)] += amount.bytes;
  }
  for (const auto& [line, bytes] : lines) output.write(fmt::format("{} {}\n", line, bytes));
  if (lines.empty() && moment.which != peak) {
    return Notes{"nothing was held then, so the file is empty; --at peak shows the peak"};
  }
  return Notes{};
}

}  // namespace ttmem::exports
