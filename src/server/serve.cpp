// SPDX-License-Identifier: Apache-2.0
#include "server/serve.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>

#include "server/http_server.hpp"
#include "server/observatory.hpp"
#include "server/socket_server.hpp"

namespace ttmem::server {
namespace {

namespace asio = boost::asio;

void log_to_stderr(bool quiet) {
  auto log = spdlog::stderr_logger_st("server");
  log->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %n: %v");
  log->set_level(quiet ? spdlog::level::warn : spdlog::level::info);
  spdlog::set_default_logger(std::move(log));
}

void tick_every_second(asio::steady_timer& timer, Observatory& observatory) {
  timer.expires_after(std::chrono::seconds(1));
  timer.async_wait([&](const boost::system::error_code& error) {
    if (error) return;
    observatory.tick();
    tick_every_second(timer, observatory);
  });
}

}  // namespace

int serve(const ServeOptions& options) {
  log_to_stderr(options.quiet);
  asio::io_context loop(1);
  Observatory observatory(options.directory,
                          {options.reap, options.process_metrics, options.history});
  SocketServer socket(loop, observatory, options);
  HttpServer http(loop, observatory, options);
  for (const Result<void>& started : {socket.start(), http.start()}) {
    if (started) continue;
    spdlog::error("{}", started.error().message);
    return 1;
  }
  asio::steady_timer timer(loop);
  tick_every_second(timer, observatory);
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int number) {
    spdlog::info("stopping: signal {}", number);
    loop.stop();
  });
  loop.run();
  http.stop();
  socket.stop();
  return 0;
}

}  // namespace ttmem::server
