// SPDX-License-Identifier: Apache-2.0
#include "server/daemon/serve.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "cli/commands.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kExamples = R"(
Examples:
  ttmem serve                          socket, HTTP on 127.0.0.1:9488, reaper
  ttmem serve 2> server.log            then: grep CB_FREE server.log
  ttmem serve --quiet                  warnings only, no line per event
  ttmem serve --socket /run/tt.sock --socket-mode 0660
                                       for a group; clients set TTMEM_SOCKET
  curl 127.0.0.1:9488/metrics          for Prometheus
  curl 127.0.0.1:9488/api/v1/snapshot  the JSON of `ttmem --json`
  ttmem serve --http 127.0.0.1:0       any free port; the log says which)";

struct Typed {
  std::string socket;
  std::string socket_mode;
  std::string http = "127.0.0.1:9488";
  std::uint64_t history_seconds = 86400;
  bool quiet = false;
  bool no_reap = false;
  bool no_process_metrics = false;
};

// "127.0.0.1:9488", "[::1]:9488"
Result<void> parse_http(const std::string& text, server::HttpOptions& options) {
  const auto colon = text.rfind(':');
  const auto port = parse_number<std::uint16_t>(std::string_view(text).substr(colon + 1));
  if (colon == std::string::npos || colon == 0 || !port) {
    return Error{fmt::format("--http {} is not ADDRESS:PORT; try --http 127.0.0.1:9488", text)};
  }
  options.port = *port;
  options.address = text.substr(0, colon);
  if (options.address.front() == '[' && options.address.back() == ']') {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  return {};
}

Result<server::ServeOptions> options_of(const Typed& typed) {
  server::ServeOptions options;
  options.socket.directory = segment_directory();
  options.socket.path = typed.socket.empty() ? socket_path() : typed.socket;
  if (!typed.socket_mode.empty()) {
    const auto mode = parse_number<unsigned>(typed.socket_mode, 8);
    if (!mode || *mode > 0777) {
      return Error{fmt::format("--socket-mode {} is not an octal mode; try --socket-mode 0660",
                               typed.socket_mode)};
    }
    options.socket.mode = *mode;
  }
  const Result<void> http = parse_http(typed.http, options.http);
  if (!http) return http.error();
  options.quiet = typed.quiet;
  options.reap = !typed.no_reap;
  options.process_metrics = !typed.no_process_metrics;
  options.history = std::chrono::seconds(typed.history_seconds);
  return options;
}

int serve(const Typed& typed) {
  const Result<server::ServeOptions> options = options_of(typed);
  return options ? server::serve(*options) : complain(options.error().message, kUsage);
}

}  // namespace

void add_serve(Command& app, Action& action) {
  auto typed = std::make_shared<Typed>();
  Command command = app.add_subcommand(
      "serve", "Socket server, HTTP API, Prometheus metrics, history, reaper of dead processes");
  command.add_option("--socket", typed->socket,
                     "Unix socket for clients ($TTMEM_SOCKET, /tmp/tt_allocation_server.sock)");
  command.add_option("--socket-mode", typed->socket_mode,
                     "Permissions of the socket, octal (0666 as root, else 0600)");
  command.add_option("--http", typed->http, "ADDRESS:PORT of the HTTP API").capture_default_str();
  command.add_option("--history", typed->history_seconds, "Seconds of history to keep")
      .capture_default_str();
  command.add_flag("--quiet", typed->quiet, "Log warnings only");
  command.add_flag("--no-reap", typed->no_reap, "Do not remove the segments of dead processes");
  command.add_flag("--no-process-metrics", typed->no_process_metrics,
                   "Leave out metrics with process labels");
  command.footer(kExamples);
  command.callback([typed, &action] { action = [typed] { return serve(*typed); }; });
}

}  // namespace ttmem::cli
