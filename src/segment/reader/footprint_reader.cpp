// SPDX-License-Identifier: Apache-2.0
#include "segment/reader/footprint_reader.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "segment/reader/stable_copy.hpp"

namespace ttmem::segment {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

// The place of the CB records of one footprint.
struct CbRun {
  std::uint64_t number = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t footprint = kNowhere;  // index into Footprints::footprints; kNowhere: not read
};

// Returns one run for each footprint number, in ascending order.
std::vector<CbRun> runs_of(std::span<const ProgramSlot> programs) {
  std::vector<CbRun> runs;
  runs.reserve(programs.size());
  for (const ProgramSlot& slot : programs) {
    runs.push_back({slot.footprint, slot.first_cb, slot.cb_count});
  }
  std::sort(runs.begin(), runs.end(), [](const CbRun& a, const CbRun& b) {
    return std::tie(a.number, a.first, a.count) < std::tie(b.number, b.first, b.count);
  });
  const auto same = [](const CbRun& a, const CbRun& b) { return a.number == b.number; };
  runs.erase(std::unique(runs.begin(), runs.end(), same), runs.end());
  return runs;
}

// Returns true if the CB records of the run can exist. Footprint 0 has no CBs; the CB records of
// any other footprint lie within one chunk.
bool possible(const CbRun& run, std::uint32_t cb_records) {
  if (run.number == 0 || run.count == 0) return run.number == 0 && run.count == 0;
  return run.count <= kMaxCbsPerProgram && run.first < cb_records &&
         run.first % kMaxCbsPerProgram + run.count <= kMaxCbsPerProgram &&
         run.count <= cb_records - run.first;
}

// Copies the CBs of a footprint. Returns false if a record belongs to another footprint, or to
// no footprint.
bool copy_run(const StableCopy& chunk, const CbRun& run, LiveFootprint& footprint) {
  for (std::uint32_t i = 0; i < run.count; ++i) {
    CbRecord record;
    const std::size_t at = (run.first % kMaxCbsPerProgram + i) * sizeof(CbRecord);
    if (!chunk.numbered(at, run.number, record)) return false;
    footprint.push_back({.address = record.address,
                         .bytes = record.bytes,
                         .global = (record.flags & kCbGlobal) != 0,
                         .cores = record.cores});
  }
  return true;
}

// Reads the CBs chunk by chunk, because thousands of footprints lie in a few chunks. Returns false
// if the file is truncated.
bool read_runs(const ByteSource& source, const SegmentMap& map, std::vector<CbRun>& runs,
               Footprints& result) {
  const std::uint32_t records = std::min(map.header.cb_count, map.cbs.capacity());
  std::vector<std::size_t> by_place(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) by_place[i] = i;
  std::sort(by_place.begin(), by_place.end(),
            [&](std::size_t a, std::size_t b) { return runs[a].first < runs[b].first; });
  StableCopy chunk;
  std::uint32_t loaded = kNowhere;
  for (const std::size_t i : by_place) {
    CbRun& run = runs[i];
    if (!possible(run, records)) continue;
    const std::uint32_t wanted = run.first / kMaxCbsPerProgram;
    if (run.count != 0 && wanted != loaded) {
      const std::uint64_t offset = map.cbs.offset_of(wanted * kMaxCbsPerProgram);
      if (!chunk.load(source, offset, kChunkBytes)) return false;
      loaded = wanted;
    }
    LiveFootprint footprint;
    if (!copy_run(chunk, run, footprint)) continue;
    run.footprint = static_cast<std::uint32_t>(result.footprints.size());
    result.footprints.push_back(std::move(footprint));
  }
  return true;
}

}  // namespace

std::optional<Footprints> read_footprints(const ByteSource& source, const SegmentMap& map,
                                          std::span<const ProgramSlot> programs) {
  Footprints result;
  std::vector<CbRun> runs = runs_of(programs);
  if (!read_runs(source, map, runs, result)) return std::nullopt;
  const std::uint32_t records = std::min(map.header.cb_count, map.cbs.capacity());
  result.of_program.resize(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const ProgramSlot& slot = programs[i];
    const auto run = std::lower_bound(
        runs.begin(), runs.end(), slot.footprint,
        [](const CbRun& candidate, std::uint64_t number) { return candidate.number < number; });
    const bool agrees = run->first == slot.first_cb && run->count == slot.cb_count;
    if (!possible(*run, records) || (slot.footprint != 0 && !agrees)) {
      ++result.invalid_records;
    } else if (run->footprint != kNowhere) {
      result.of_program[i] = run->footprint;
    }
  }
  return result;
}

}  // namespace ttmem::segment
