// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttmem::server {

// Tells systemd a state such as "READY=1" over $NOTIFY_SOCKET; does nothing when there is none, and
// when it does not listen. One datagram is the whole protocol, so libsystemd is not needed for it.
void notify_systemd(std::string_view state);

}  // namespace ttmem::server
