// SPDX-License-Identifier: Apache-2.0
#include "serve/daemon/serve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "base/environment.hpp"
#include "base/parse_number.hpp"
#include "cli/commands.hpp"
#include "cli/http_address.hpp"
#include "read/remote/token.hpp"

namespace ttmem::cli {
namespace {

constexpr const char* kServeExamples = R"(
Examples:
  ttmem serve                          socket, HTTP on 127.0.0.1:9488, reaper;
                                       the page is http://127.0.0.1:9488/
  ttmem serve 2> server.log            then: grep CB_FREE server.log
  ttmem serve --quiet                  warnings only, no line per event
  ttmem serve --socket /run/tt.sock --socket-mode 0660
                                       for a group; clients set TTMEM_SOCKET
  curl 127.0.0.1:9488/metrics          for Prometheus
  curl 127.0.0.1:9488/api/v1/snapshot  the JSON of `ttmem --json`
  (umask 077; openssl rand -hex 32 > token)
  ttmem serve --http 0.0.0.0:9488 --token-file token
                                       for other machines: ttmem --server HOST --token-file token
  ttmem serve --http 127.0.0.1:0       any free port; the log says which)";

Result<unsigned> parse_mode(const std::string& text) {
  const auto mode = parse_number<unsigned>(text, 8);
  if (mode && *mode <= 0777) return *mode;
  return Error{fmt::format("--socket-mode {} is not an octal mode; try --socket-mode 0660", text)};
}

struct Typed {
  serve::ServeOptions options;
  std::string assets;
  std::uint64_t history_seconds = 86400;
  std::string token_file;
  bool no_reap = false;
  bool no_process_metrics = false;
  bool insecure = false;
};

int serve(const Typed& typed) {
  serve::ServeOptions options = typed.options;
  options.reap = !typed.no_reap;
  options.process_metrics = !typed.no_process_metrics;
  options.http.assets = typed.assets;
  if (!typed.token_file.empty()) {
    Result<std::string> token = remote::read_token(typed.token_file);
    if (!token) return complain(token.error().message, kFailure);
    options.http.token = std::move(*token);
  }
  options.http.without_token = typed.insecure;
  options.http.directory = options.socket.directory;
  options.history = std::chrono::seconds(typed.history_seconds);
  if (options.socket.path.empty()) {
    options.socket.path = socket_path();
    const bool named = *environment("TTMEM_SOCKET") != '\0';
    if (!named) options.socket.safe_path = ::geteuid() == 0 ? kRootSocket : user_socket();
  }
  return serve::serve(options);
}

}  // namespace

void add_serve(Command& app) {
  auto typed = std::make_shared<Typed>();
  serve::ServeOptions& options = typed->options;
  options.socket.directory = segment_directory();
  Command command = app.add_subcommand(
      "serve", "Socket server, HTTP API, Prometheus metrics, history, reaper of dead processes",
      kServeExamples);
  command.add_option("--socket", "TEXT", options.socket.path,
                     "Unix socket for clients ($TTMEM_SOCKET; else /tmp/tt_allocation_server.sock, "
                     "and another one in a directory that only this user can write to)");
  command.add_option("--socket-mode", "TEXT", options.socket.mode, parse_mode,
                     "Permissions of the socket, octal (0666 as root, else 0600)");
  command.add_option(
      "--http", "TEXT=127.0.0.1:9488", options.http,
      [](const std::string& text) { return parse_http(text, serve::HttpOptions{}.port); },
      "ADDRESS:PORT of the HTTP API");
  command.add_option("--token-file", "FILE", typed->token_file,
                     "Answer only requests with the token in FILE; needed beyond loopback");
  command.add_flag(
      "--insecure-no-token", typed->insecure,
      "Listen beyond loopback without a token: everybody who can connect can read everything");
  command.add_option("--assets", "DIR", typed->assets,
                     "For work on the page: a folder whose files replace the built-in files");
  command.add_option("--history", "UINT", typed->history_seconds, "Seconds of history to keep");
  command.add_flag("--quiet", options.quiet, "Log warnings only");
  command.add_flag("--no-reap", typed->no_reap, "Do not remove the segments of dead processes");
  command.add_flag("--no-process-metrics", typed->no_process_metrics,
                   "Leave out metrics with process labels");
  command.does([typed] { return serve(*typed); });
}

}  // namespace ttmem::cli
