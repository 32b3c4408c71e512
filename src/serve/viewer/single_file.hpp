// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ttmem::viewer {

// The page with its scripts, styles and this document (ttmem.view.v1) in one HTML file, which a
// browser opens from disk, without a server or a network.
[[nodiscard]] std::string single_file(std::string_view document);

}  // namespace ttmem::viewer
