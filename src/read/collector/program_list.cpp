// SPDX-License-Identifier: Apache-2.0
#include "read/collector/program_list.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace ttmem::collector {
namespace {

using segment::LiveProgram;
using segment::SegmentImage;

// The distinct footprints of some programs, each with the number of programs that have it.
struct Uses {
  std::vector<std::uint32_t> footprints;  // ascending
  std::vector<FootprintUse> uses;         // uses[i] belongs to footprints[i]

  [[nodiscard]] std::size_t index_of(std::uint32_t footprint) const {
    const auto at = std::lower_bound(footprints.begin(), footprints.end(), footprint);
    return static_cast<std::size_t>(at - footprints.begin());
  }
};

Uses uses_of(std::span<const LiveProgram* const> programs, const SegmentImage& image) {
  Uses result;
  for (const LiveProgram* program : programs) result.footprints.push_back(program->footprint);
  std::sort(result.footprints.begin(), result.footprints.end());
  const auto end = std::unique(result.footprints.begin(), result.footprints.end());
  result.footprints.erase(end, result.footprints.end());
  for (const std::uint32_t footprint : result.footprints) {
    result.uses.push_back({&image.footprints[footprint], 0});
  }
  for (const LiveProgram* program : programs) {
    ++result.uses[result.index_of(program->footprint)].programs;
  }
  return result;
}

model::Program listed(const LiveProgram& program, const segment::LiveFootprint& footprint,
                      const FootprintFigures& figures) {
  model::Program result;
  result.program = program.program;
  result.name = program.name;
  result.scope = program.scope;
  result.visit = program.visit;
  result.cbs.reserve(footprint.size());
  for (const segment::LiveCb& cb : footprint) {
    result.cbs.push_back(
        {.address = cb.address, .bytes = cb.bytes, .cores = cb.cores, .global = cb.global});
  }
  result.cores = figures.cores;
  result.bytes_per_core = figures.bytes_per_core;
  result.physical_bytes = figures.physical_bytes;
  result.logical_bytes = figures.logical_bytes;
  result.resident_cores = program.resident_cores;
  return result;
}

}  // namespace

void ProgramList::list(const SegmentEvidence& segment, std::span<const std::uint32_t> device_index,
                       std::uint64_t monotonic_ns, model::Snapshot& snapshot) {
  const SegmentImage& image = segment.image;
  Figures figures;
  figures.reserve(image.footprints.size());
  for (const segment::LiveFootprint& footprint : image.footprints) {
    figures.push_back(footprint_figures(footprint, work_));
  }
  std::vector<std::vector<const LiveProgram*>> on_device(image.devices.size());
  for (const LiveProgram& program : image.programs) on_device[program.device].push_back(&program);
  std::size_t left_out = 0;
  for (std::size_t d = 0; d < on_device.size(); ++d) {
    left_out +=
        list_device(segment, on_device[d], device_index[d], monotonic_ns, figures, snapshot);
  }
  if (left_out == 0) return;
  snapshot.warnings.push_back(
      fmt::format("process {} ({}): {} programs have more circular buffers than can be listed and "
                  "are left out of the list, not of the totals; check whether it needs to cache so "
                  "many",
                  pid_text(segment), image.name, left_out));
}

std::size_t ProgramList::list_device(const SegmentEvidence& segment,
                                     std::span<const LiveProgram* const> programs,
                                     std::uint32_t device_index, std::uint64_t monotonic_ns,
                                     const Figures& figures, model::Snapshot& snapshot) {
  const Uses uses = uses_of(programs, segment.image);
  const auto exclusive = exclusive_bytes(uses.uses, work_);
  if (!exclusive) return programs.size();
  std::size_t left_out = 0;
  for (const LiveProgram* program : programs) {
    const segment::LiveFootprint& footprint = segment.image.footprints[program->footprint];
    const auto& own = figures[program->footprint];
    if (!own || footprint.size() > cbs_left_) {
      ++left_out;
      continue;
    }
    cbs_left_ -= footprint.size();
    model::Program& result = snapshot.programs.emplace_back(listed(*program, footprint, *own));
    result.device = device_index;
    result.pid = segment.image.pid;
    result.state = segment.state;
    result.segment = segment.origin.file_number;
    result.exclusive_bytes = (*exclusive)[uses.index_of(program->footprint)];
    result.age_ns = age_ns(segment, program->when_ns, monotonic_ns);
  }
  return left_out;
}

}  // namespace ttmem::collector
