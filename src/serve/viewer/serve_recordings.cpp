// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/serve_recordings.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "serve/http/http_server.hpp"
#include "serve/viewer/random_text.hpp"
#include "serve/viewer/recording_api.hpp"

namespace ttmem::viewer {

namespace asio = boost::asio;

Result<void> serve_recordings(std::vector<ShownRecording> runs, std::string document,
                              const ViewServerOptions& options) {
  // Ignores SIGPIPE. A write to a closed connection then returns an error code.
  std::signal(SIGPIPE, SIG_IGN);
  spdlog::set_level(spdlog::level::warn);
  const std::string secret = random_text();
  if (secret.empty()) return Error{"the system has no random numbers for the address of the page"};
  asio::io_context loop(1);
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  serve::HttpOptions http = options.http;
  // Needs no token, because the address has a secret.
  http.without_token = true;
  const RecordingApi api(std::move(runs), std::move(document), secret, http.assets);
  serve::HttpServer server(loop, http,
                           [&](const serve::HttpRequest& request, const serve::HostRule& hosts) {
                             return api.answer(request, hosts);
                           });
  Result<void> started = server.start();
  if (!started && options.any_port) {
    http.port = 0;
    server.stop();
    started = server.start();
  }
  if (!started) return started;
  signals.async_wait([&](const boost::system::error_code&, int) { loop.stop(); });
  if (options.ready) options.ready(fmt::format("{}{}/", server.url(), secret));
  loop.run();
  server.stop();
  // From now on another Ctrl-C ends the process, even while a long answer is being finished.
  signals.clear();
  return {};
}

}  // namespace ttmem::viewer
