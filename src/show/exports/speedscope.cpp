// SPDX-License-Identifier: Apache-2.0
//
// A file for https://www.speedscope.app. Each device has one profile for the peak of each memory,
// and one profile for the memory that was held at the end.
#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/safe_text.hpp"
#include "show/exports/format.hpp"
#include "show/exports/holdings.hpp"

namespace ttmem::exports {
namespace {

using nlohmann::json;

class Frames {
 public:
  std::size_t number_of(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, numbers_.size());
    if (is_new) frames_.push_back({{"name", name}});
    return at->second;
  }
  [[nodiscard]] json take() { return std::move(frames_); }

 private:
  boost::unordered_flat_map<std::string, std::size_t> numbers_;
  json frames_ = json::array();
};

class Profiles {
 public:
  // Adds a profile. `amount(row)` returns the bytes of a row in this profile. Adds nothing if the
  // amounts of all rows are 0.
  template <typename OfRow>
  void add(const std::string& name, const std::vector<StackHolding>& rows, OfRow&& amount) {
    json samples = json::array();
    json weights = json::array();
    std::uint64_t sum = 0;
    for (const StackHolding& row : rows) {
      const std::uint64_t bytes = amount(row);
      if (bytes == 0) continue;
      json sample = json::array();
      for (const std::string& frame : row.stack) sample.push_back(frames_.number_of(frame));
      samples.push_back(std::move(sample));
      weights.push_back(bytes);
      sum += bytes;
    }
    if (sum > 0) push(name, sum, std::move(samples), std::move(weights));
  }

  [[nodiscard]] json file(const std::string& name) {
    // speedscope cannot open a file without profiles.
    if (profiles_.empty()) push("nothing was held", 0, json::array(), json::array());
    return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
            {"name", name},
            {"exporter", "ttmem"},
            {"activeProfileIndex", 0},
            {"shared", {{"frames", frames_.take()}}},
            {"profiles", std::move(profiles_)}};
  }

 private:
  void push(const std::string& name, std::uint64_t sum, json samples, json weights) {
    profiles_.push_back({{"type", "sampled"},
                         {"name", name},
                         {"unit", "bytes"},
                         {"startValue", 0},
                         {"endValue", sum},
                         {"samples", std::move(samples)},
                         {"weights", std::move(weights)}});
  }

  Frames frames_;
  json profiles_ = json::array();
};

}  // namespace

Result<Notes> write_speedscope(const ExportJob& job, Output& output) {
  const auto holdings = read_holdings(job.reader, job.selection);
  if (!holdings) return holdings.error();
  Profiles profiles;
  const std::vector<ExportedChip>& chips = job.selection.chips();
  // An aggregated recording has no profiles of peaks, because only the state at the end is known.
  const std::size_t peaks = job.reader.tables().run.aggregate ? 0 : kMemories;
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    for (std::size_t memory = 0; memory < peaks; ++memory) {
      const auto which = static_cast<Memory>(memory);
      const double seconds = static_cast<double>(holdings->peaks[chip][memory].time_ns) / 1e9;
      profiles.add(
          fmt::format("{}: peak of {} at {:.3f} s", chips[chip].name(), name_of(which), seconds),
          holdings->rows, [&](const StackHolding& row) {
            const bool wanted =
                job.selection.chip_of(row.device) == chip && memory_of(row.kind) == which;
            return wanted ? row.at_peak.bytes : 0;
          });
    }
  }
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    profiles.add(fmt::format("{}: held at the end", chips[chip].name()), holdings->rows,
                 [&](const StackHolding& row) {
                   return job.selection.chip_of(row.device) == chip ? row.at_end.bytes : 0;
                 });
  }
  output.write(json_text(profiles.file(valid_utf8(job.reader.tables().run.command))));
  return Notes{};
}

}  // namespace ttmem::exports
