// SPDX-License-Identifier: Apache-2.0
//
// Handles requests as the server does. Beast's parser parses them with the settings of a server
// connection, then the handler answers. An input has the bytes that arrive on one connection, with
// any number of requests.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "serve/http/http_connection.hpp"
#include "serve/http/http_handler.hpp"
#include "support/fixed_machine.hpp"

namespace ttmem::fuzz {
namespace {

using serve::HttpResponse;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// A snapshot of two devices with allocations, independent of this machine.
struct World {
  World() {
    model::Snapshot& snapshot = machine.state;
    snapshot.time_unix_ns = 1'700'000'000'000'000'000;
    for (std::uint32_t id = 0; id < 2; ++id) {
      model::Device& device = snapshot.devices.emplace_back();
      device.id = id;
      device.kinds[Kind::dram].set(&KindFigures::used_bytes, 4096);
      model::Process& process = device.processes.emplace_back();
      process.pid = 7;
      process.name = "a\"b";
      model::Allocation& allocation = snapshot.allocations.emplace_back();
      allocation.device = id;
      allocation.pid = 7;
      allocation.bytes = 4096;
    }
    machine.recorded.record(snapshot);
  }

  FixedMachine machine;
  serve::HttpHandler handler{machine, {}, 1};
};

void check(const HttpResponse& response) {
  require(response.status >= 200 && response.status <= 599, "a status of HTTP");
  require(!response.content_type.empty(), "a body of some type");
  require(response.body.empty() == (response.status == 304), "a body, but with 304");
  require((response.status == 405) == !response.allow.empty(), "Allow comes with 405");
}

}  // namespace
}  // namespace ttmem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttmem;
  static fuzz::World world;
  const serve::HostRule hosts{.address = "127.0.0.1", .port = 9488};
  std::size_t at = 0;
  while (at < size) {
    serve::HttpParser parser;
    parser.header_limit(serve::kMaxHeaderBytes);
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(data + at, size - at), error);
    if (error) {
      if (const auto response = serve::response_to(error)) fuzz::check(*response);
      break;
    }
    if (!parser.is_header_done() || used == 0) break;
    const serve::HttpRequest request = serve::request_of(parser);
    serve::HttpResponse response = world.handler.answer(request, hosts);
    if (response.later) response = response.later();
    fuzz::check(response);
    if (request.hosts.size() == 1 && response.status == 200) {
      fuzz::require(hosts.allows(request.hosts.front()), "only our own hosts are answered");
    }
    if (request.has_body || !parser.keep_alive()) break;
    at += used;
  }
  return 0;
}
