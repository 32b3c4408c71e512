// SPDX-License-Identifier: Apache-2.0
//
// The options --server, --token-file and --timeout, and the snapshot of this or another machine.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/ask.hpp"
#include "read/remote/http_client.hpp"

namespace ttmem::cli {

// Adds --token-file and --timeout, for commands that send requests to servers.
void add_client(Command& app, CommonOptions& common);
// Adds --token-file, --timeout and --server.
void add_server(Command& app, CommonOptions& common);

// Return the options of a client, with the token in the file `token_file`; no token if `token_file`
// is empty. The first function uses the file of --token-file or TTMEM_TOKEN_FILE. Fail if the token
// cannot be used.
[[nodiscard]] Result<remote::ClientOptions> client_options(const CommonOptions& common);
[[nodiscard]] Result<remote::ClientOptions> client_options(const CommonOptions& common,
                                                           const std::string& token_file);

// Returns the present snapshot of all devices of this machine, or of the machine of --server. Fails
// if the server does not answer. The snapshot has at least the lists in `lists`.
[[nodiscard]] Result<model::Snapshot> take_snapshot(const CommonOptions& common,
                                                    remote::Lists lists);

// Returns the present snapshot of the devices in the options (empty: all). Fails if a device does
// not exist.
[[nodiscard]] Result<model::Snapshot> current_snapshot(const CommonOptions& common,
                                                       remote::Lists lists = remote::Lists::all);

}  // namespace ttmem::cli
