// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/causes.hpp"
#include "analyse/explain/region_sizes.hpp"
#include "analyse/explain/untried_changes.hpp"
#include "analyse/explain/wording.hpp"
#include "base/format_bytes.hpp"
#include "read/placement/align.hpp"

namespace ttmem::explain {
namespace {

// The maximum number of buffers that a suggestion moves or frees. The limit keeps suggestions
// small.
constexpr std::size_t kMaxToMove = 16;

// Returns for example "program 7 (matmul)". The number comes from the message, because the tracker
// may give the program another number.
std::string name_of_program(const FailureMessage& failure, const model::Program* program) {
  std::string name = failure.program ? fmt::format("program {}", *failure.program) : "the program";
  if (program == nullptr) return name;
  const std::string origin = model::origin_of(program->scope, program->name);
  if (!origin.empty()) name += fmt::format(" ({})", origin);
  return name;
}

std::string cores_text(const FailureMessage& failure) {
  if (!failure.cores) return "";
  const auto& cores = *failure.cores;
  return fmt::format(" on cores ({},{})-({},{})", cores.x0, cores.y0, cores.x1, cores.y1);
}

std::uint64_t step_of(const DeviceMemory* memory) {
  if (memory == nullptr || !memory->regions[Kind::l1]) return 1;
  return memory->regions[Kind::l1]->step;
}

// Returns for example " (its largest: 512.0 KiB and 64.0 KiB)".
std::string largest_cbs(const FailureMessage& failure, const model::Program* program) {
  // If the CBs end beyond L1, the tracker knows only some of the CBs of the program, so no sizes
  // are shown.
  if (program == nullptr || failure.what == FailureMessage::What::beyond_l1) return "";
  std::vector<std::uint64_t> sizes;
  for (const model::CircularBuffer& cb : program->cbs) {
    if (!cb.global) sizes.push_back(cb.bytes);
  }
  if (sizes.empty()) return "";
  std::sort(sizes.rbegin(), sizes.rend());
  std::string text = format_bytes(sizes[0], Scale::core);
  if (sizes.size() > 1) text += " and " + format_bytes(sizes[1], Scale::core);
  return fmt::format(" (its largest: {})", text);
}

// Suggests CBs that are `by` bytes smaller on each core; nullopt means that the bytes are unknown.
// The suggestion counts as tried only if the bytes and `memory` are known.
void suggest_smaller_cbs(Bytes by, const FailureMessage& failure, const DeviceMemory* memory,
                         const model::Program* program, Explanation& result) {
  Bytes aligned;
  if (by) aligned = placement::align_up(*by, step_of(memory));
  result.suggestions.push_back(
      {.action = "shrink_cbs",
       .tried = aligned && memory != nullptr,
       .text = fmt::format(
           "make the circular buffers of {} {}smaller on each core{}: smaller blocks (conv2d: "
           "act_block_h_override, act_block_w_div; matmul: in0_block_w, per_core_M, per_core_N), "
           "or no double buffering",
           name_of_program(failure, program), aligned ? exact(*aligned) + " " : std::string(),
           largest_cbs(failure, program)),
       .bytes = aligned});
}

// Returns the L1 buffers that begin below the end of the CBs.
std::span<const BufferHolder> below(const DeviceMemory& memory, std::uint64_t cb_end) {
  const auto& holders = memory.holders[Kind::l1];
  const auto end =
      std::partition_point(holders.begin(), holders.end(),
                           [&](const BufferHolder& holder) { return holder.address < cb_end; });
  return {holders.data(), static_cast<std::size_t>(end - holders.begin())};
}

// Suggests moving the buffers to higher addresses, if there is enough room.
void suggest_moving(const FailureMessage& failure, const DeviceMemory& memory,
                    std::span<const BufferHolder> culprits, Explanation& result) {
  const auto bank = bank_of(memory, Kind::l1);
  if (!bank || !bank->clears_after_moving({0, culprits.size(), 0}, *failure.cb_end)) return;
  result.suggestions.push_back(
      {.action = "reallocate",
       .tried = true,
       .text = fmt::format("ttnn.reallocate {}: there is room further up", listed(culprits)),
       .buffers = {culprits.begin(), culprits.end()}});
}

void suggest_for_clash(const FailureMessage& failure, const DeviceMemory& memory,
                       std::span<const BufferHolder> culprits, const model::Program* program,
                       Explanation& result) {
  const std::uint64_t short_by = *result.short_by;
  const bool are_few = !culprits.empty() && culprits.size() <= kMaxToMove;
  if (are_few) suggest_moving(failure, memory, culprits, result);
  if (const auto size = smaller_l1_small(memory, short_by)) {
    result.suggestions.push_back(
        {.action = "l1_small_size",
         .tried = true,
         .text = fmt::format("open the device with l1_small_size={}{}: every L1 buffer lies "
                             "higher then",
                             *size, l1_small_now(memory)),
         .bytes = size});
  }
  suggest_smaller_cbs(short_by, failure, &memory, program, result);
  if (!are_few) return;
  result.suggestions.push_back(
      {.action = "free",
       .tried = true,
       .text = fmt::format("keep {} in DRAM, or free {} before {} runs, if nothing needs {} any "
                           "more",
                           listed(culprits), culprits.size() == 1 ? "it" : "them",
                           name_of_program(failure, program), culprits.size() == 1 ? "it" : "them"),
       .buffers = {culprits.begin(), culprits.end()}});
}

// Returns words that say whether the buffer was allocated before or after the program was placed.
// With a program cache, the program may be older than the buffer.
std::string which_is_new(const BufferHolder& lowest, const model::Program* program) {
  if (program == nullptr || !lowest.age_ns) return "";
  return program->age_ns > *lowest.age_ns ? ", and came after the program had been placed"
                                          : ", and was there first";
}

// Returns a note if the buffer and the program share no core. Users do not expect that buffers on
// other cores limit the CBs too.
std::string where_else(const BufferHolder& lowest, const model::Program* program) {
  if (program == nullptr || !lowest.cores) return "";
  CoreMask cores;
  for (const model::CircularBuffer& cb : program->cbs) cores |= cb.cores;
  if (!(cores & *lowest.cores).empty()) return "";
  return " They share no core: an L1 buffer takes its addresses on every core of the device.";
}

// Returns for example "activations, the lowest L1 buffer of the device, begins at 851968."
std::string lowest_text(const FailureMessage& failure, std::span<const BufferHolder> culprits,
                        const model::Program* program) {
  // Names the buffer only if its address is the address in the message. Otherwise the state is not
  // the state of the failure.
  if (culprits.empty() || culprits.front().address != *failure.l1_address) {
    return fmt::format("the lowest L1 buffer of the device begins at {}.", *failure.l1_address);
  }
  const BufferHolder& lowest = culprits.front();
  return fmt::format("{}, the lowest L1 buffer of the device, begins at {}{}.{}", name_of(lowest),
                     lowest.address, which_is_new(lowest, program), where_else(lowest, program));
}

// Draws the L1 of one core: L1_SMALL, L1 buffers, free space, the CBs of the program.
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
  if (cb_end > lowest) {
    picture.bands.push_back({Band::What::overlap, lowest, cb_end, "both: they overlap here"});
  }
  if (cb_end < lowest) picture.bands.push_back({Band::What::free, cb_end, lowest});
  picture.bands.push_back({Band::What::cbs, region->range.begin, cb_end,
                           fmt::format("circular buffers, up to {}", cb_end)});
  picture.bands.push_back(
      {Band::What::region, 0, region->range.begin, "firmware, kernels, stacks"});
  return picture;
}

// Returns the address up to which circular buffers may reach: the begin of the lowest L1 buffer or
// of L1_SMALL, or the end of L1.
std::uint64_t end_of_room(const FailureMessage& failure, const DeviceMemory* memory) {
  std::uint64_t end = *failure.l1_bytes;
  if (memory == nullptr) return end;
  if (const auto& region = memory->regions[Kind::l1]) end = std::min(end, region->range.end);
  const auto& buffers = memory->holders[Kind::l1];
  return buffers.empty() ? end : std::min(end, buffers.front().address);
}

}  // namespace

const model::Program* find_program(const FailureMessage& failure, const DeviceMemory& memory) {
  const model::Program* best = nullptr;
  // Limits the end to the size of L1, because the tracker does not know circular buffers beyond the
  // end of L1.
  const std::uint64_t end = std::min(failure.cb_end.value_or(0), failure.l1_bytes.value_or(~0ULL));
  for (const model::Program* program : memory.programs) {
    const bool is_named = failure.program && program->program == *failure.program;
    const bool ends_there = end != 0 && cb_end_of(*program) == end;
    if (is_named && ends_there) return program;
    // The tracker may give the program another number than the message does. If no program has both
    // the number and the end of the message, the youngest program with this end is the most likely
    // program.
    if (ends_there && (best == nullptr || program->age_ns < best->age_ns)) best = program;
  }
  return best;
}

void explain_clash(const FailureMessage& failure, const DeviceMemory* memory, Explanation& result) {
  result.cause = Cause::clash;
  result.kind = Kind::cb;
  const model::Program* const program =
      memory != nullptr ? find_program(failure, *memory) : nullptr;
  if (!failure.l1_address || !failure.cb_end || *failure.cb_end <= *failure.l1_address ||
      *failure.cb_end > kMaxBytes) {
    result.sentence =
        "Circular buffers of a program and L1 buffers overlap; the message does not say by how "
        "much.";
    suggest_smaller_cbs(std::nullopt, failure, nullptr, program, result);
    suggest_untried_for_clash(failure, result);
    return;
  }
  result.short_by = *failure.cb_end - *failure.l1_address;
  const std::span<const BufferHolder> culprits =
      memory != nullptr ? below(*memory, *failure.cb_end) : std::span<const BufferHolder>();
  result.sentence = fmt::format(
      "The circular buffers of {}{} and L1 buffers overlap by {} on each core: they reach up to "
      "{}, "
      "and {}",
      name_of_program(failure, program), cores_text(failure), sized(*result.short_by),
      *failure.cb_end, lowest_text(failure, culprits, program));
  if (memory == nullptr) {
    suggest_smaller_cbs(result.short_by, failure, memory, program, result);
    suggest_untried_for_clash(failure, result);
    return;
  }
  if (const auto& region = memory->regions[Kind::l1]) {
    result.bytes_per_bank = *failure.cb_end - std::min(*failure.cb_end, region->range.begin);
    result.free_per_bank = *failure.l1_address - std::min(*failure.l1_address, region->range.begin);
    result.largest_free_per_bank = result.free_per_bank;
  }
  result.in_the_way.assign(
      culprits.begin(),
      culprits.begin() + static_cast<std::ptrdiff_t>(std::min(culprits.size(), kMaxHolders)));
  result.more_in_the_way = culprits.size() - result.in_the_way.size();
  result.picture = picture_of(*memory, *failure.cb_end);
  suggest_for_clash(failure, *memory, culprits, program, result);
}

void explain_beyond_l1(const FailureMessage& failure, const DeviceMemory* memory,
                       Explanation& result) {
  result.cause = Cause::beyond_l1;
  result.kind = Kind::cb;
  if (!failure.cb_end || !failure.l1_bytes || *failure.cb_end <= *failure.l1_bytes ||
      *failure.cb_end > kMaxBytes) {
    result.sentence =
        "The circular buffers of a program are larger than the L1 of a core; the message does not "
        "say by how much.";
    suggest_smaller_cbs(std::nullopt, failure, nullptr, nullptr, result);
    suggest_untried_for_beyond_l1(result);
    return;
  }
  const model::Program* const program =
      memory != nullptr ? find_program(failure, *memory) : nullptr;
  result.short_by = *failure.cb_end - *failure.l1_bytes;
  result.sentence = fmt::format(
      "The circular buffers of {}{} are too large for L1 by {}: they reach up to {}, and the L1 of "
      "a core ends at {}.",
      name_of_program(failure, program), cores_text(failure), sized(*result.short_by),
      *failure.cb_end, *failure.l1_bytes);
  const std::uint64_t room = end_of_room(failure, memory);
  if (room < *failure.l1_bytes) {
    result.sentence += fmt::format(" L1 buffers and L1_SMALL begin at {}.", room);
  }
  suggest_smaller_cbs(*failure.cb_end - room, failure, memory, program, result);
  suggest_untried_for_beyond_l1(result);
  if (memory == nullptr) return;
  if (const auto& region = memory->regions[Kind::l1]) {
    result.bytes_per_bank = *failure.cb_end - std::min(*failure.cb_end, region->range.begin);
    result.free_per_bank = result.largest_free_per_bank =
        *failure.l1_bytes - std::min(*failure.l1_bytes, region->range.begin);
  }
}

}  // namespace ttmem::explain
