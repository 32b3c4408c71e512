// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "read/remote/address.hpp"
#include "read/remote/http_client.hpp"
#include "show/fleet/fleet.hpp"
#include "show/fleet/promql.hpp"
#include "show/fleet/sum_up.hpp"

namespace ttmem::fleet {

// Returns the figures of all hosts that a Prometheus (or a compatible server) scrapes. Sends about
// twenty-five queries; the size of an answer grows with the number of hosts, not with their
// allocations. Takes at most twice the time that the options allow. Fails if the server does not
// answer. A refused query becomes a warning, and its figure is unknown.
[[nodiscard]] Result<Fleet> ask_prometheus(const remote::Address& server, const LabelNames& labels,
                                           const remote::ClientOptions& options, Order order);

}  // namespace ttmem::fleet
