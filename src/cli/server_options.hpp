// SPDX-License-Identifier: Apache-2.0
//
// --server: the Snapshot of another machine, for commands that show one.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "read/model/snapshot.hpp"
#include "read/remote/ask.hpp"
#include "read/remote/http_client.hpp"

namespace ttmem::cli {

// --token-file and --timeout, of commands that ask servers.
void add_client(Command& app, CommonOptions& common);
// These, and --server.
void add_server(Command& app, CommonOptions& common);

// How to ask. Fails when the token cannot be used. Without `token_file` it is that of --token-file
// or TTMEM_TOKEN_FILE; an empty name: no token.
[[nodiscard]] Result<remote::ClientOptions> client_options(const CommonOptions& common);
[[nodiscard]] Result<remote::ClientOptions> client_options(const CommonOptions& common,
                                                           const std::string& token_file);

// What is held now on all devices: of this machine, or of --server. Fails when that does not
// answer. `lists` is what is needed; there may be more.
[[nodiscard]] Result<model::Snapshot> take_snapshot(const CommonOptions& common,
                                                    remote::Lists lists);

// The same on the devices that the options name, or on all. Fails when there is no such device.
[[nodiscard]] Result<model::Snapshot> current_snapshot(const CommonOptions& common,
                                                       remote::Lists lists = remote::Lists::all);

}  // namespace ttmem::cli
