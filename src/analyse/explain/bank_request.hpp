// SPDX-License-Identifier: Apache-2.0
//
// Suggests changes with which a buffer that did not fit would have fitted. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyse/explain/bank.hpp"
#include "analyse/explain/explanation.hpp"

namespace ttmem::explain {

// The known facts about a request and its bank.
struct BankRequest {
  Kind kind = Kind::dram;
  std::uint64_t needed = 0;  // bytes in each bank
  Bytes total{};
  Bytes banks{};  // number of banks
  Bytes bank{};
  Bytes free{};
  Bytes largest{};
};

// Suggests changes with which the request fits into the bank. `run` is the result of
// smallest_run().
void suggest_for_bank(const BankRequest& request, const Bank& bank,
                      const std::optional<Bank::Run>& run, const DeviceMemory& memory,
                      Explanation& result);

// Suggests a larger L1_SMALL or trace region. `memory` is null if the held buffers are unknown.
void suggest_larger_region(const BankRequest& request, const DeviceMemory* memory,
                           Explanation& result);

// Returns the holders of a run, the largest first.
[[nodiscard]] std::vector<BufferHolder> of_run(const Bank& bank, const Bank::Run& run);

}  // namespace ttmem::explain
