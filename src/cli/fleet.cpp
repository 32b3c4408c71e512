// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/server_options.hpp"
#include "cli/watch.hpp"
#include "show/fleet/ask_hosts.hpp"
#include "show/fleet/ask_prometheus.hpp"
#include "show/fleet/fleet_json.hpp"
#include "show/fleet/fleet_text.hpp"
#include "show/fleet/servers.hpp"
#include "show/fleet/sum_up.hpp"
#include "text/units.hpp"

namespace ttmem::cli {
namespace {

using fleet::Fleet;

constexpr const char* kFleetExamples = R"(
Examples:
  ttmem fleet --server node1,node2,node3      the tightest hosts, and who holds what
  ttmem fleet --servers-from hosts.txt        one host per line
  scontrol show hostnames | ttmem fleet --servers-from -
  ttmem fleet --prometheus prometheus:9090    all hosts that Prometheus scrapes
  ttmem fleet --servers-from hosts.txt --watch 5
  ttmem fleet --prometheus URL --json | jq '.jobs[] | [.job, .dram_bytes]'

The tightest host comes first: the least headroom on a core, then the least DRAM on a device. Hosts that do
not answer are at the end, with the reason; then sums are "at least". docs/guides/fleet.md explains the columns.)";

struct FleetOptions {
  std::vector<std::vector<remote::Address>> servers;  // the servers of each --server
  std::string servers_from;
  std::optional<remote::Address> prometheus;
  fleet::LabelNames labels;
  fleet::Order order = fleet::Order::headroom;
  std::optional<double> watch;  // seconds between two requests; nullopt: one request
};

Result<std::vector<remote::Address>> parse_server_list(const std::string& text) {
  auto servers = fleet::parse_servers(text);
  if (!servers) return Error{"--server: " + servers.error().message};
  return servers;
}

Result<std::optional<remote::Address>> parse_prometheus(const std::string& text) {
  constexpr std::uint16_t port = 9090;
  auto address = remote::parse_address(text, port);
  if (!address) return Error{"--prometheus: " + address.error().message};
  return std::optional(std::move(*address));
}

// Returns all named servers without duplicates. Fails if a file with servers cannot be read.
Result<std::vector<remote::Address>> servers_of(const FleetOptions& options) {
  std::vector<remote::Address> all;
  for (const auto& some : options.servers) all.insert(all.end(), some.begin(), some.end());
  if (!options.servers_from.empty()) {
    auto some = fleet::read_servers(options.servers_from);
    if (!some) return some.error();
    all.insert(all.end(), some->begin(), some->end());
  }
  return fleet::each_once(std::move(all));
}

// A function that sends one request to each server, or one set of queries to Prometheus.
using Ask = std::function<Result<Fleet>()>;

Ask ask_prometheus(const FleetOptions& options, remote::ClientOptions client) {
  return [&options, client = std::move(client)] {
    return fleet::ask_prometheus(*options.prometheus, options.labels, client, options.order);
  };
}

Ask ask_servers(const std::vector<remote::Address>& servers, remote::ClientOptions client,
                fleet::Order order) {
  auto asker = std::make_shared<fleet::HostAsker>(servers, std::move(client));
  return [asker, order]() -> Result<Fleet> { return fleet::sum_up(asker->ask(), order); };
}

std::string own_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<Fleet> ask_now(const Ask& ask) {
  Result<Fleet> found = ask();
  if (!found) return found;
  found->host = own_name();
  found->time_unix_ns =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::system_clock::now().time_since_epoch())
                                     .count());
  return found;
}

int show_once(const Ask& ask, const CommonOptions& common) {
  const Result<Fleet> found = ask_now(ask);
  if (!found) return complain(found.error().message, kFailure);
  // Prints only the refused queries, because the table shows the errors of hosts. With --json,
  // prints nothing, because the JSON contains the refused queries too.
  if (!common.json) print_warnings(found->refused);
  const int printed = print(common.json ? fleet_json(*found, views::JsonLayout::pretty)
                                        : fleet_text(*found, 0, text_options(common)));
  return found->total.answered == 0 ? kFailure : printed;
}

int watch_loop(const Ask& ask, const CommonOptions& common, double seconds) {
  const bool redraw = !common.json && stdout_is_terminal();
  return watch(seconds, redraw ? WatchMode::redraw : WatchMode::append, [&]() -> std::string {
    const Result<Fleet> found = ask_now(ask);
    if (!found && redraw) return found.error().message + "\n";
    if (!found) {
      say(found.error().message);
      return {};
    }
    if (common.json) return fleet_json(*found, views::JsonLayout::line);
    // Leaves the last row of the terminal free for the cursor.
    const std::size_t rows = redraw ? terminal_rows() - 1 : 0;
    return fleet_text(*found, rows, text_options(common)) + (redraw ? "" : "\n");
  });
}

int run(const FleetOptions& options, const CommonOptions& common) {
  const Result<std::vector<remote::Address>> servers = servers_of(options);
  if (!servers) return complain(servers.error().message, kFailure);
  const bool any_list = !options.servers.empty() || !options.servers_from.empty();
  if (options.prometheus && any_list) {
    return complain("--prometheus knows its hosts: leave out --server and --servers-from", kUsage);
  }
  if (!options.prometheus && servers->empty()) {
    return complain(
        any_list ? "the list of servers is empty; name at least one"
                 : "no server is named; use --server URLS, --servers-from FILE or --prometheus URL",
        kUsage);
  }
  if (options.labels != fleet::LabelNames() && !options.prometheus) {
    return complain("--host-label and --job-label belong to --prometheus", kUsage);
  }
  // For Prometheus, reads the token only from --token-file and not from TTMEM_TOKEN_FILE, because
  // Prometheus must not get the token of ttmem's servers.
  Result<remote::ClientOptions> client =
      options.prometheus ? client_options(common, common.token_file) : client_options(common);
  if (!client) return complain(client.error().message, kFailure);
  const Ask ask = options.prometheus ? ask_prometheus(options, std::move(*client))
                                     : ask_servers(*servers, std::move(*client), options.order);
  return options.watch ? watch_loop(ask, common, *options.watch) : show_once(ask, common);
}

}  // namespace

void add_fleet(Command& app, CommonOptions& common) {
  auto options = std::make_shared<FleetOptions>();
  Command command = app.add_subcommand(
      "fleet", "Many hosts, one line each, the tightest first; sums by job", kFleetExamples);
  command.add_list("--server", "URLS", options->servers, parse_server_list,
                   "Hosts where `ttmem serve` runs: node1,node2:9500,https://proxy/node3");
  command.add_option(
      "--servers-from", "FILE", options->servers_from,
      "Read the hosts from a file, one per line, # for comments; - is standard input");
  command.add_option("--prometheus", "URL", options->prometheus, parse_prometheus,
                     "Ask the Prometheus that scrapes the hosts");
  command.add_option("--host-label", "LABEL", options->labels.host,
                     parse_for("--host-label", fleet::parse_label),
                     "Label of Prometheus that names a host (instance)");
  command.add_option("--job-label", "LABEL", options->labels.job,
                     parse_for("--job-label", fleet::parse_label),
                     "Label of Prometheus that names a batch job (exported_job)");
  command.add_option("--sort", "ORDER", options->order, parse_for("--sort", fleet::parse_order),
                     "Order of the hosts: headroom, dram, l1, processes, host (headroom)");
  command.add_option("-l,--watch", "SECONDS", options->watch,
                     std::bind_front(parse_positive, "--watch"),
                     "Repeat every SECONDS until Ctrl-C");
  command.add_flag("--json", common.json, "As JSON, schema ttmem.fleet.v1");
  add_color(command, common);
  command.add_option("--units", "UNIT", common.units, parse_for("--units", text::parse_units),
                     "Unit of sizes: auto, bytes, MiB, GiB");
  add_client(command, common);
  command.does([options, &common] { return run(*options, common); });
}

}  // namespace ttmem::cli
