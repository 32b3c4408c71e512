// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format_bytes.hpp"
#include "base/plural.hpp"
#include "explain/bank.hpp"
#include "explain/causes.hpp"
#include "explain/region_sizes.hpp"
#include "explain/wording.hpp"
#include "placement/align.hpp"

namespace ttmem::explain {
namespace {

// More of them are no small change.
constexpr std::size_t kMostToMove = 16;

// By the number that the message has; the tracker's may be another one.
std::string name_of_program(const Failure& failure, const model::Program* program) {
  const std::string name =
      failure.program ? fmt::format("program {}", *failure.program) : "the program";
  if (program == nullptr) return name;
  const std::string origin = model::origin_of(program->scope, program->name);
  return origin.empty() ? name : fmt::format("{} ({})", name, origin);
}

std::string cores_text(const Failure& failure) {
  if (!failure.cores) return "";
  const auto& cores = *failure.cores;
  return fmt::format(" on cores ({},{})-({},{})", cores.x0, cores.y0, cores.x1, cores.y1);
}

std::uint64_t step_of(const DeviceMemory* memory) {
  if (memory == nullptr || !memory->regions[Kind::l1]) return 1;
  return memory->regions[Kind::l1]->step;
}

// "(its largest: 512.0 KiB and 64.0 KiB on a core)"
std::string largest_cbs(const Failure& failure, const model::Program* program) {
  // Of those beyond L1 only a part is known.
  if (program == nullptr || failure.what == Failure::What::beyond_l1) return "";
  std::vector<std::uint64_t> sizes;
  for (const model::CircularBuffer& cb : program->cbs) {
    if (!cb.global) sizes.push_back(cb.bytes);
  }
  if (sizes.empty()) return "";
  std::sort(sizes.rbegin(), sizes.rend());
  std::string text = format_bytes(sizes[0], Scale::core);
  if (sizes.size() > 1) text += " and " + format_bytes(sizes[1], Scale::core);
  return fmt::format(" (of its {} the largest: {})",
                     plural(sizes.size(), "circular buffer", "circular buffers"), text);
}

void suggest_smaller_cbs(std::uint64_t by, const Failure& failure, const model::Program* program,
                         Explanation& result) {
  result.suggestions.push_back(
      {.action = "shrink_cbs",
       .tried = true,
       .text = fmt::format(
           "shrink the circular buffers of {} by {} a core{}: smaller blocks "
           "(act_block_h_override, in0_block_w, per_core_M, per_core_N), no double buffering, or "
           "more cores",
           name_of_program(failure, program), exact(by), largest_cbs(failure, program)),
       .bytes = by});
}

// The lowest L1 buffers, all that begin below the end of the CBs.
std::span<const Holder> below(const DeviceMemory& memory, std::uint64_t cb_end) {
  const auto& holders = memory.holders[Kind::l1];
  const auto end = std::partition_point(holders.begin(), holders.end(), [&](const Holder& holder) {
    return holder.address < cb_end;
  });
  return {holders.data(), static_cast<std::size_t>(end - holders.begin())};
}

void suggest_for_clash(const Failure& failure, const DeviceMemory& memory,
                       std::span<const Holder> culprits, const model::Program* program,
                       Explanation& result) {
  const std::uint64_t short_by = *result.short_by;
  const bool few = !culprits.empty() && culprits.size() <= kMostToMove;
  const char* them = culprits.size() == 1 ? "it" : "them";
  const std::vector<Holder> buffers(culprits.begin(), culprits.end());
  if (few) {
    result.suggestions.push_back(
        {.action = "free",
         .tried = true,
         .text = fmt::format("free {} before {} runs, or keep {} in DRAM", listed(culprits),
                             name_of_program(failure, program), them),
         .buffers = buffers});
  }
  suggest_smaller_cbs(placement::align_up(short_by, step_of(&memory)), failure, program, result);
  if (const auto size = smaller_l1_small(memory, short_by)) {
    result.suggestions.push_back(
        {.action = "l1_small_size",
         .tried = true,
         .text = fmt::format(
             "open the device with l1_small_size={}: every L1 buffer lies higher then", *size),
         .bytes = size});
  }
  const auto& region = memory.regions[Kind::l1];
  if (!few || !region || memory.without_address[Kind::l1] != 0) return;
  const auto bank = Bank::make(Kind::l1, *region, memory.holders[Kind::l1]);
  if (bank && bank->clears_after_moving({0, culprits.size(), 0}, *failure.cb_end)) {
    result.suggestions.push_back(
        {.action = "reallocate",
         .tried = true,
         .text = fmt::format("ttnn.reallocate {}: there is room for {} further up",
                             listed(culprits), them),
         .buffers = buffers});
  }
}

// With a program cache either side may be the new one.
std::string which_is_new(std::span<const Holder> culprits, const model::Program* program) {
  if (program == nullptr || culprits.empty() || !culprits.front().age_ns) return "";
  return program->age_ns > *culprits.front().age_ns
             ? " The buffer is the newer of the two: the program had been placed before it came."
             : " The program is the newer of the two: the buffer was there before it was placed.";
}

// The L1 of one core: L1_SMALL, L1 buffers, what is left, the CBs of the program.
Picture picture_of(const DeviceMemory& memory, std::uint64_t cb_end) {
  Picture picture{.title = "the L1 of a core"};
  const auto& region = memory.regions[Kind::l1];
  if (!region) return picture;
  if (const auto& small = memory.regions[Kind::l1_small]) {
    picture.bands.push_back(
        {Band::What::region, small->range.begin, small->range.end, "L1_SMALL region"});
  }
  const auto& holders = memory.holders[Kind::l1];
  const std::uint64_t lowest =
      holders.empty() ? region->range.end : std::min(holders.front().address, region->range.end);
  const std::vector<Band> buffers = bands_of({lowest, region->range.end}, holders, 0, cb_end);
  picture.bands.insert(picture.bands.end(), buffers.begin(), buffers.end());
  if (cb_end < lowest) picture.bands.push_back({Band::What::free, cb_end, lowest});
  picture.bands.push_back({Band::What::cbs, region->range.begin, cb_end,
                           fmt::format("circular buffers, up to {}", cb_end)});
  picture.bands.push_back(
      {Band::What::region, 0, region->range.begin, "firmware, kernels, stacks"});
  return picture;
}

}  // namespace

const model::Program* find_program(const Failure& failure, const DeviceMemory& memory) {
  const model::Program* best = nullptr;
  // The tracker knows of no circular buffers beyond the end of L1.
  const std::uint64_t end = std::min(failure.cb_end.value_or(0), failure.l1_bytes.value_or(~0ULL));
  for (const model::Program* program : memory.programs) {
    const bool is_named = failure.program && program->program == *failure.program;
    const bool ends_there = end != 0 && cb_end_of(*program) == end;
    if (is_named && ends_there) return program;
    // The runtime's numbers and the tracker's may differ. The youngest one it was.
    if (ends_there && (best == nullptr || program->age_ns < best->age_ns)) best = program;
  }
  return best;
}

void explain_clash(const Failure& failure, const DeviceMemory* memory, Explanation& result) {
  result.cause = Cause::clash;
  result.kind = Kind::cb;
  const model::Program* const program =
      memory != nullptr ? find_program(failure, *memory) : nullptr;
  if (!failure.l1_address || !failure.cb_end || *failure.cb_end <= *failure.l1_address ||
      *failure.cb_end > kMostBytes) {
    result.sentence =
        "Circular buffers of a program and L1 buffers overlap; the message does not say by how "
        "much.";
    return;
  }
  result.short_by = *failure.cb_end - *failure.l1_address;
  result.sentence = fmt::format(
      "The circular buffers of {}{} end at {}, and the lowest L1 buffer of the device begins at "
      "{}: they overlap by {} on each core.",
      name_of_program(failure, program), cores_text(failure), *failure.cb_end, *failure.l1_address,
      exact(*result.short_by));
  if (memory == nullptr) {
    suggest_smaller_cbs(*result.short_by, failure, program, result);
    return;
  }
  if (const auto& region = memory->regions[Kind::l1]) {
    result.bytes_per_bank = *failure.cb_end - std::min(*failure.cb_end, region->range.begin);
    result.free_per_bank = *failure.l1_address - std::min(*failure.l1_address, region->range.begin);
    result.largest_free_per_bank = result.free_per_bank;
  }
  const std::span<const Holder> culprits = below(*memory, *failure.cb_end);
  result.sentence += which_is_new(culprits, program);
  result.in_the_way.assign(
      culprits.begin(),
      culprits.begin() + static_cast<std::ptrdiff_t>(std::min(culprits.size(), kMostHolders)));
  result.more_in_the_way = culprits.size() - result.in_the_way.size();
  result.picture = picture_of(*memory, *failure.cb_end);
  suggest_for_clash(failure, *memory, culprits, program, result);
}

void explain_beyond_l1(const Failure& failure, const DeviceMemory* memory, Explanation& result) {
  result.cause = Cause::beyond_l1;
  result.kind = Kind::cb;
  if (!failure.cb_end || !failure.l1_bytes || *failure.cb_end <= *failure.l1_bytes ||
      *failure.cb_end > kMostBytes) {
    result.sentence = "The circular buffers of a program are larger than the L1 of a core.";
    return;
  }
  const model::Program* const program =
      memory != nullptr ? find_program(failure, *memory) : nullptr;
  result.short_by = *failure.cb_end - *failure.l1_bytes;
  result.sentence = fmt::format(
      "The circular buffers of {}{} end at {}, and the L1 of a core ends at {}: {} too much, "
      "whatever else is there.",
      name_of_program(failure, program), cores_text(failure), *failure.cb_end, *failure.l1_bytes,
      exact(*result.short_by));
  suggest_smaller_cbs(placement::align_up(*result.short_by, step_of(memory)), failure, program,
                      result);
  if (memory == nullptr) return;
  if (const auto& region = memory->regions[Kind::l1]) {
    result.bytes_per_bank = *failure.cb_end - std::min(*failure.cb_end, region->range.begin);
    result.free_per_bank = result.largest_free_per_bank =
        *failure.l1_bytes - std::min(*failure.l1_bytes, region->range.begin);
  }
}

}  // namespace ttmem::explain
