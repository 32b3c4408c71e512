// SPDX-License-Identifier: Apache-2.0
#include "analyse/explain/tightest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "analyse/explain/causes.hpp"
#include "analyse/explain/wording.hpp"

namespace ttmem::explain {
namespace {

constexpr std::array<Kind, 3> kKinds = {Kind::dram, Kind::l1, Kind::l1_small};

double share(std::uint64_t largest_free, const collector::BankRegion& region) {
  return static_cast<double>(largest_free) /
         static_cast<double>(region.range.end - region.range.begin);
}

// Returns false only for an unused L1_SMALL region, which is no bottleneck.
bool is_used(const DeviceMemory& memory, Kind kind) {
  return kind != Kind::l1_small || !memory.holders[kind].empty() ||
         memory.process->used(kind).value_or(0) != 0;
}

}  // namespace

std::optional<Tightness> tightest(const DeviceMemory& memory) {
  std::optional<Tightness> least;
  double room = 2;
  for (const Kind kind : kKinds) {
    if (!is_used(memory, kind)) continue;
    std::optional<Bank> bank = bank_of(memory, kind);
    if (!bank) continue;
    const double here = share(bank->largest_free(), bank->region());
    if (here >= room) continue;
    room = here;
    least = Tightness{kind, *std::move(bank)};
  }
  return least;
}

Bytes collected_largest_free(const DeviceMemory& memory, Kind kind) {
  const bool is_alone =
      memory.device->processes.size() == 1 && memory.process->state == model::State::alive;
  return is_alone ? memory.device->free[kind].largest_per_bank : std::nullopt;
}

double room_of(const model::Snapshot& state, const MemoryRef& ref) {
  const DeviceMemory memory = outline(state, ref);
  double least = 1;
  for (const Kind kind : kKinds) {
    const auto& region = memory.regions[kind];
    if (!region || !is_used(memory, kind)) continue;
    const Bytes largest = collected_largest_free(memory, kind);
    if (!largest) {
      const DeviceMemory with_buffers = device_memory(state, ref);
      const auto found = tightest(with_buffers);
      return found ? share(found->bank.largest_free(), found->bank.region()) : 1;
    }
    least = std::min(least, share(*largest, *region));
  }
  return least;
}

void explain_tightest(const DeviceMemory& memory, Explanation& result) {
  const std::optional<Tightness> least = tightest(memory);
  if (!least) {
    result.sentence = "Nothing has failed, and what would fail first is not known.";
    return;
  }
  result.kind = least->kind;
  result.free_per_bank = least->bank.free_bytes();
  result.largest_free_per_bank = least->bank.largest_free();
  result.sentence = fmt::format(
      "Nothing has failed. {} would fail first: a buffer of more than {} in each bank does not "
      "fit; "
      "{} of {} are free.",
      title_of(least->kind), exact(least->bank.largest_free()), exact(least->bank.free_bytes()),
      exact(least->bank.bytes()));
  const auto headroom = memory.device->headroom_bytes_per_core;
  if (headroom && *headroom >= 0) {
    result.sentence +=
        fmt::format(" The circular buffers of a program may end {} higher than those of today.",
                    exact(static_cast<std::uint64_t>(*headroom)));
  }
  result.picture =
      Picture{.title = fmt::format("every {} bank", title_of(least->kind)),
              .bands = bands_of(least->bank.region().range, least->bank.holders(), 0, 0)};
  list_in_the_way({least->bank.holders().begin(), least->bank.holders().end()}, result);
}

}  // namespace ttmem::explain
