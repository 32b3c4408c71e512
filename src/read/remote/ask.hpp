// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/address.hpp"
#include "read/remote/fault.hpp"
#include "read/remote/http_client.hpp"

namespace ttmem::remote {

// The lists that a document has in addition to devices and processes.
enum class Lists : std::uint8_t {
  none,
  all,  // allocations and programs
};

// Returns the present snapshot of the server. Waits for the answer, at most options.timeout.
[[nodiscard]] Answer<model::Snapshot> ask_snapshot(const Address& server, Lists lists,
                                                   const ClientOptions& options);

// Describes a fault: "cannot read http://node7:9488: connection refused; start ..."
[[nodiscard]] Error error_of(const Address& server, const Fault& fault);

}  // namespace ttmem::remote
