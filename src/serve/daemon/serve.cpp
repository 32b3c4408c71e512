// SPDX-License-Identifier: Apache-2.0
#include "serve/daemon/serve.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/unique_fd.hpp"
#include "serve/daemon/log.hpp"
#include "serve/http/http_handler.hpp"
#include "serve/http/http_server.hpp"
#include "serve/observatory/observatory.hpp"
#include "serve/socket/socket_server.hpp"
#include "show/views/prometheus.hpp"

namespace ttmem::serve {
namespace {

namespace asio = boost::asio;

// Sends systemd a state such as "READY=1" over $NOTIFY_SOCKET. Does nothing if the variable is
// unset or no process listens. The protocol is one datagram, so libsystemd is not needed.
void notify_systemd(std::string_view state) {
  const std::string_view path = environment("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  // A name with @ is an abstract socket, not a file
  if (path.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  ::sendto(socket.get(), state.data(), state.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), size);
}

void tick_every_second(asio::steady_timer& timer, Observatory& observatory) {
  timer.expires_after(std::chrono::seconds(1));
  timer.async_wait([&](const boost::system::error_code& error) {
    if (error) return;
    observatory.tick();
    // Writes the lines that still wait because standard error was full.
    spdlog::default_logger()->flush();
    tick_every_second(timer, observatory);
  });
}

void add_responses(const HttpServer& http, std::vector<views::ServerFigure>& figures) {
  for (const auto& [status, count] : http.responses()) {
    figures.push_back({.name = "ttmem_server_http_responses_total",
                       .help = "Responses of the server, by status.",
                       .counter = true,
                       .labels = {{"code", std::to_string(status)}},
                       .value = static_cast<double>(count)});
  }
}

bool started(const Result<void>& result) {
  if (!result) spdlog::error("{}", result.error().message);
  return result.has_value();
}

}  // namespace

int serve(const ServeOptions& options) {
  // Ignores SIGPIPE. A write to a closed connection or log then returns an error code.
  std::signal(SIGPIPE, SIG_IGN);
  const std::shared_ptr<spdlog::logger> events = log_to_stderr(options.quiet);
  asio::io_context loop(1);
  // Handles the signals before the server starts, so that no signal is lost.
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  Observatory observatory(options.socket.directory,
                          {options.reap, options.process_metrics, options.history});
  SocketServer socket(loop, observatory, options.socket, events);
  HttpHandler handler(observatory, options.http, clock_ns(CLOCK_REALTIME) / 1000);
  HttpServer http(loop, options.http, [&](const HttpRequest& request, const HostRule& hosts) {
    return handler.answer(request, hosts);
  });
  observatory.add_figures(
      [&](std::vector<views::ServerFigure>& figures) { add_responses(http, figures); });
  // Initializes the counters before a client can connect, so that all changes are counted.
  (void)observatory.figures();
  if (!started(socket.start())) return 1;
  if (!started(http.start())) {
    socket.stop();
    return 1;
  }
  asio::steady_timer timer(loop);
  tick_every_second(timer, observatory);
  signals.async_wait([&](const boost::system::error_code&, int number) {
    spdlog::info("stopping: {}", number == SIGINT ? "SIGINT" : "SIGTERM");
    loop.stop();
  });
  notify_systemd("READY=1");
  loop.run();
  notify_systemd("STOPPING=1");
  timer.cancel();
  http.stop();
  socket.stop();
  return 0;
}

}  // namespace ttmem::serve
