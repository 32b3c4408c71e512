// SPDX-License-Identifier: Apache-2.0
//
// Compares the figures of a message with the chips of the table of boards. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyse/explain/bank_request.hpp"
#include "base/kinds.hpp"

namespace ttmem::explain {

// Return the size of the largest bank, and of the largest memory (all banks of a chip together),
// among all known chips. `kind` must be one of kBankKinds.
[[nodiscard]] std::uint64_t largest_known_bank(Kind kind);
[[nodiscard]] std::uint64_t largest_known_memory(Kind kind);

// The part of each bank that a request cannot use, because it belongs to a region (trace, L1_SMALL)
// or is reserved by the runtime.
struct SetApart {
  std::string sentence{};        // says how much is set apart
  std::uint64_t region_bytes{};  // lower bound, without the part that the runtime reserves
};
// Returns the part that is set apart, if the banks in the message are smaller than the banks of the
// chip. Recognises the chip by the number and the size of the banks. Returns nullopt for kinds
// other than DRAM and L1, for banks that no known chip has, and if the runtime's own part is the
// only missing part.
[[nodiscard]] std::optional<SetApart> set_apart(const BankRequest& request);

}  // namespace ttmem::explain
