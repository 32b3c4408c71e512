// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/address.hpp"
#include "read/remote/fault.hpp"
#include "read/remote/http_client.hpp"

namespace ttmem::remote {

// What a document has beside devices and processes.
enum class Lists : std::uint8_t {
  none,
  all,  // allocations and programs
};

// What the server sees now. Waits for its answer, at most options.timeout.
[[nodiscard]] Answer<model::Snapshot> ask_snapshot(const Address& server, Lists lists,
                                                   const ClientOptions& options);

// "cannot read http://node7:9488: connection refused; start ..."
[[nodiscard]] Error error_of(const Address& server, const Fault& fault);

}  // namespace ttmem::remote
