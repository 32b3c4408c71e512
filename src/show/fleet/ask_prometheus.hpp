// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "read/remote/address.hpp"
#include "read/remote/http_client.hpp"
#include "show/fleet/fleet.hpp"
#include "show/fleet/promql.hpp"
#include "show/fleet/sum_up.hpp"

namespace ttmem::fleet {

// What a Prometheus (or what speaks as one) knows of all hosts that it scrapes: some
// twenty-five queries, whose answers grow with the hosts and not with what they hold. Waits twice
// as long as the options allow at most. Fails when it does not answer. A query that it refuses is a
// warning, and its figure unknown.
[[nodiscard]] Result<Fleet> ask_prometheus(const remote::Address& server, const LabelNames& labels,
                                           const remote::ClientOptions& options, Order order);

}  // namespace ttmem::fleet
