// SPDX-License-Identifier: Apache-2.0
#include "cli/server_options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "analyse/selection/select.hpp"
#include "base/environment.hpp"
#include "cli/arguments.hpp"
#include "cli/terminal.hpp"
#include "read/collector/collector.hpp"
#include "read/remote/address.hpp"
#include "read/remote/token.hpp"
#include "text/format.hpp"

namespace ttmem::cli {
namespace {

Result<std::optional<remote::Address>> parse_server(const std::string& text) {
  auto address = remote::parse_address(text);
  if (!address) return Error{"--server: " + address.error().message};
  return std::optional(std::move(*address));
}

}  // namespace

void add_client(Command& app, CommonOptions& common) {
  app.add_option("--token-file", "FILE", common.token_file,
                 "File with the token of the server ($TTMEM_TOKEN_FILE)");
  app.add_option("--timeout", "SECONDS", common.timeout_seconds,
                 std::bind_front(parse_positive, "--timeout"),
                 "How long a server may take to answer (2)");
}

void add_server(Command& app, CommonOptions& common) {
  app.add_option("--server", "URL", common.server, parse_server,
                 "Show another machine, where `ttmem serve` runs: node7, https://proxy/node7");
  add_client(app, common);
}

Result<remote::ClientOptions> client_options(const CommonOptions& common) {
  return client_options(
      common, common.token_file.empty() ? environment("TTMEM_TOKEN_FILE") : common.token_file);
}

Result<remote::ClientOptions> client_options(const CommonOptions& common,
                                             const std::string& token_file) {
  remote::ClientOptions options;
  options.timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(common.timeout_seconds * 1000));
  if (token_file.empty()) return options;
  Result<std::string> token = remote::read_token(token_file);
  if (!token) return token.error();
  options.token = std::move(*token);
  return options;
}

Result<model::Snapshot> take_snapshot(const CommonOptions& common, remote::Lists lists) {
  if (!common.server && !common.token_file.empty())
    return Error{"--token-file belongs to --server, which is missing"};
  if (!common.server) return collector::collect(segment_directory());
  const Result<remote::ClientOptions> client = client_options(common);
  if (!client) return client.error();
  remote::Answer<model::Snapshot> answer = remote::ask_snapshot(*common.server, lists, *client);
  if (answer.failed) return remote::error_of(*common.server, answer.fault);
  return std::move(answer.value);
}

Result<model::Snapshot> current_snapshot(const CommonOptions& common, remote::Lists lists) {
  Result<model::Snapshot> snapshot = take_snapshot(common, lists);
  const std::vector<model::DeviceName>& devices = common.devices;
  if (!snapshot || devices.empty()) return snapshot;
  const std::vector<model::DeviceName> missing = selection::missing_devices(*snapshot, devices);
  if (missing.empty()) return selection::select_devices(std::move(*snapshot), devices);
  // Prints the warnings, because a warning may say why a device is missing.
  print_warnings(snapshot->warnings);
  const std::string present =
      snapshot->devices.empty()
          ? "no process uses any device right now"
          : (snapshot->devices.size() == 1 ? "there is only " : "there are ") +
                text::format_devices(snapshot->devices);
  return Error{fmt::format("no device {}; {}", text::format_names(missing), present)};
}

}  // namespace ttmem::cli
