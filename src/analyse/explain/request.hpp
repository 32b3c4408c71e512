// SPDX-License-Identifier: Apache-2.0
//
// A buffer for which there was no room, and what would have made some. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/explanation.hpp"

namespace ttmem::explain {

// What is known of the request and of the bank.
struct Request {
  Kind kind = Kind::dram;
  std::uint64_t needed = 0;  // in each bank
  Bytes total{};
  Bytes bank{};
  Bytes free{};
  Bytes largest{};
};

// Changes with which the request fits into the bank; `run` is what smallest_run() found.
void suggest_for_bank(const Request& request, const Bank& bank, const std::optional<Bank::Run>& run,
                      const DeviceMemory& memory, Explanation& result);

// A larger L1_SMALL or trace region; `memory` is null when nothing is known of what was held.
void suggest_larger_region(const Request& request, const DeviceMemory* memory, Explanation& result);

// The holders of a run, the largest first.
[[nodiscard]] std::vector<Holder> of_run(const Bank& bank, const Bank::Run& run);

}  // namespace ttmem::explain
