// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::viewer {

// Returns one HTML file with the page, its scripts and styles, and this document (ttmem.view.v1). A
// browser opens the file from disk, without a server or a network.
[[nodiscard]] std::string single_file(std::string_view document);

}  // namespace ttmem::viewer
