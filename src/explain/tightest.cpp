// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>

#include "explain/bank.hpp"
#include "explain/causes.hpp"
#include "explain/wording.hpp"

namespace ttmem::explain {
namespace {

// What is left of one kind, as a share of its region: the smallest one fails first.
struct Tightness {
  Kind kind = Kind::dram;
  Bank bank;

  [[nodiscard]] double share() const {
    return static_cast<double>(bank.largest_free()) / static_cast<double>(bank.bytes());
  }
};

std::optional<Tightness> tightest(const DeviceMemory& memory) {
  std::optional<Tightness> least;
  for (const Kind kind : {Kind::dram, Kind::l1, Kind::l1_small}) {
    const auto& region = memory.regions[kind];
    if (!region || memory.without_address[kind] != 0) continue;
    // A region of its own for something that nobody uses is no bottleneck.
    if (kind == Kind::l1_small && memory.holders[kind].empty()) continue;
    auto bank = Bank::make(kind, *region, memory.holders[kind]);
    if (!bank) continue;
    Tightness each{kind, *std::move(bank)};
    if (!least || each.share() < least->share()) least = std::move(each);
  }
  return least;
}

}  // namespace

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
