// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "read/recording/file/rows.hpp"

namespace ttmem::cli {

struct RecordServerOptions {
  std::string file;  // empty: named by the host
  bool overwrite = false;
  std::optional<std::int32_t> pid{};          // none: all processes there
  std::optional<recording::Time> duration{};  // none: until a signal, or until `pid` has ended
};

// `ttmem record --server`: looks at another machine again and again, and records what differs.
// Returns an exit code.
[[nodiscard]] int record_server(const RecordServerOptions& options, const CommonOptions& common);

}  // namespace ttmem::cli
