// SPDX-License-Identifier: Apache-2.0
//
// From the JSON of a server back to the Snapshot that it was made of, so that the views of this
// machine show another one. Pure, safe from any thread.
#pragma once

#include <string_view>

#include "read/model/snapshot.hpp"
#include "read/remote/fault.hpp"

namespace ttmem::remote {

// The document of /api/v1/snapshot, with or without the lists; whoever wrote it. All that the
// document has is as it was, unknown included; Snapshot::left_at_close and the visits of scopes are
// not in it. What cannot be (a core outside of the grid, an allocation on a device that is not
// listed) is left out or unknown. Takes time and memory in proportion to the text. Fails when the
// text is not this document (not JSON, of another schema, cut off) or has more of something than
// any machine (100,000 processes).
[[nodiscard]] Answer<model::Snapshot> read_snapshot(std::string_view json);

}  // namespace ttmem::remote
