// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::server {

// Sends systemd a state such as "READY=1" over $NOTIFY_SOCKET; does nothing when that is unset or
// nobody listens. The protocol is one datagram, so libsystemd is not needed.
void notify_systemd(std::string_view state);

}  // namespace ttmem::server
