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

// Return the memory of the largest bank, and of all banks together, of any known chip. `kind` is
// one of kBankKinds.
[[nodiscard]] std::uint64_t largest_known_bank(Kind kind);
[[nodiscard]] std::uint64_t largest_known_memory(Kind kind);

// The part of each bank that a request cannot use, because it belongs to a region (trace, L1_SMALL)
// or is reserved by the runtime.
struct SetApart {
  std::string sentence{};        // says how much is set apart
  std::uint64_t region_bytes{};  // without the part that the runtime reserves; a lower bound
};
// Returns what is set apart if the banks of the message are smaller than the banks of the chip. The
// chip follows from the number and the size of the banks. Returns nullopt for kinds other than DRAM
// and L1, for banks that no known chip has, and for banks from which only the runtime's own part is
// missing.
[[nodiscard]] std::optional<SetApart> set_apart(const BankRequest& request);

}  // namespace ttmem::explain
