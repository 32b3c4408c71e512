// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace ttmem {

// The uid that the kernel shows for every user that the current user namespace does not map.
inline constexpr uid_t kOverflowUid = 65534;

// Returns true if a process of user `own` may report to a server of user `server`. Any user can
// listen at a path in /tmp, so a process reports only to servers of root and of its own user.
[[nodiscard]] constexpr bool may_tell(uid_t server, uid_t own) noexcept {
  return server == 0 || (server == own && server != kOverflowUid);
}

}  // namespace ttmem
