// SPDX-License-Identifier: Apache-2.0
// Converts the JSON of a server back to a Snapshot, so that the views of this machine can show
// another machine. Pure functions, safe from any thread.
#pragma once

#include <string_view>

#include "read/model/snapshot.hpp"
#include "read/remote/fault.hpp"

namespace ttmem::remote {

// Reads the document of /api/v1/snapshot, with or without lists, from an untrusted server. All
// figures of the document are restored, and unknown figures stay unknown. The document does not
// contain Snapshot::left_at_close and the visits of scopes. Impossible values (a core outside of
// the grid, an allocation on a device that is not listed) are left out or become unknown. Takes
// time and memory in proportion to the text. Fails if the text is not this document (not JSON,
// another schema, cut off), or if a list is longer than on any machine (for example 100,000
// processes).
[[nodiscard]] Answer<model::Snapshot> read_snapshot(std::string_view json);

}  // namespace ttmem::remote
