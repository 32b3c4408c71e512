// SPDX-License-Identifier: Apache-2.0
#include "serve/http/http_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyse/selection/select.hpp"
#include "base/directory_id.hpp"
#include "serve/http/documents.hpp"
#include "serve/http/http_query.hpp"
#include "serve/http/page.hpp"
#include "serve/http/request_rules.hpp"
#include "show/views/json.hpp"
#include "text/format.hpp"

namespace ttmem::serve {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kMetrics = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::uint64_t kDefaultHistorySeconds = 600;
constexpr std::uint64_t kMaxHistorySeconds = 86400;
// The maximum number of entries in a list. A longer list is cut and marked as truncated. An entry
// takes about 360 bytes of text.
constexpr std::uint64_t kMaxListEntries = 100'000;

HttpResponse make_response(unsigned status, const char* content_type, std::string body) {
  HttpResponse response;
  response.status = status;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

HttpResponse ok(const char* content_type, std::string body) {
  return make_response(200, content_type, std::move(body));
}

HttpResponse index(const RequestTarget&, HttpHandler&) {
  return ok(
      kText,
      "ttmem serve: memory of Tenstorrent devices\n\n"
      "/                                           the page\n"
      "/metrics                                    for Prometheus\n"
      "/api/v1/snapshot?device=0-3,0x1f00a         the JSON of `ttmem --json`\n"
      "/api/v1/snapshot?lists=1&kind=              also allocations and programs\n"
      "/api/v1/allocations?pid=&device=&kind=&limit=  the JSON of `ttmem allocs --json`\n"
      "/api/v1/programs?pid=&device=&limit=        the JSON of `ttmem programs --json`\n"
      "/api/v1/history?device=0&seconds=600        use over time, up to a day\n"
      "/api/v1/postmortems                         processes that died with memory\n"
      "/api/v1/changes?after=&brief=&cores=&cores_after=  what changed since the last answer\n"
      "/healthz                                    200 while it can read the segments\n");
}

HttpResponse health(const RequestTarget&, HttpHandler& handler) {
  if (handler.machine().up()) return ok(kText, "ok\n");
  return make_response(
      503, kText, "cannot read the directory of the segments; /api/v1/snapshot has the warning\n");
}

HttpResponse metrics(const RequestTarget&, HttpHandler& handler) {
  return ok(kMetrics, handler.machine().metrics());
}

HttpResponse no_device(const std::vector<model::DeviceName>& missing,
                       const std::vector<model::Device>& present) {
  return error_response(
      404, fmt::format("no device {}; {}", text::format_names(missing),
                       present.empty() ? "no process uses any device right now"
                                       : "there are " + text::format_devices(present)));
}

// Calls use(snapshot, names), where `names` are the devices in the query. An empty list means all
// devices.
template <typename Use>
HttpResponse on_devices(const RequestTarget& target, HttpHandler& handler, Use&& use) {
  const auto names = devices_in(target);
  if (!names) return error_response(400, names.error().message);
  const model::Snapshot& snapshot = handler.machine().snapshot();
  const auto missing = selection::missing_devices(snapshot, *names);
  if (!missing.empty()) return no_device(missing, snapshot.devices);
  return use(snapshot, *names);
}

model::Snapshot on_these(model::Snapshot snapshot, const std::vector<model::DeviceName>& names) {
  return names.empty() ? std::move(snapshot)
                       : selection::select_devices(std::move(snapshot), names);
}

HttpResponse snapshot(const RequestTarget& target, HttpHandler& handler) {
  const auto lists = number_in(target, "lists", 1);
  if (!lists) return error_response(400, lists.error().message);
  const auto kinds = kinds_in(target);
  if (!kinds) return error_response(400, kinds.error().message);
  return on_devices(target, handler, [&](const model::Snapshot& all, const auto& names) {
    if (!*lists) {
      const model::Snapshot selected = on_these(selection::without_lists(all), names);
      return ok(kJson, views::snapshot_json(selected, views::JsonLayout::line));
    }
    // Leaves the body empty. A worker calls `later` to compute the body, because writing a long
    // list takes long.
    HttpResponse response;
    response.later =
        [selected = on_these(selection::cut_lists(all, names, *kinds, kMaxListEntries), names)] {
          return ok(kJson, views::snapshot_with_lists_json(selected, views::JsonLayout::line));
        };
    return response;
  });
}

Result<std::optional<std::int32_t>> pid_in(const RequestTarget& target) {
  const auto pid = number_in(target, "pid", std::numeric_limits<std::int32_t>::max());
  if (!pid) return pid.error();
  return *pid ? std::optional(static_cast<std::int32_t>(**pid)) : std::nullopt;
}

Result<std::size_t> limit_in(const RequestTarget& target) {
  const auto limit = number_in(target, "limit", kMaxListEntries);
  if (!limit) return limit.error();
  return static_cast<std::size_t>(limit->value_or(kMaxListEntries));
}

// Lets a worker compute the body, because writing 100,000 entries takes nearly a second.
HttpResponse allocations(const RequestTarget& target, HttpHandler& handler) {
  const auto pid = pid_in(target);
  if (!pid) return error_response(400, pid.error().message);
  auto kinds = kinds_in(target);
  if (!kinds) return error_response(400, kinds.error().message);
  const auto limit = limit_in(target);
  if (!limit) return error_response(400, limit.error().message);
  const selection::AllocationFilter filter{.pid = *pid, .kinds = std::move(*kinds)};
  return on_devices(target, handler, [&](const model::Snapshot& all, const auto& names) {
    auto first = selection::first_allocations(all, filter, names, *limit);
    model::Snapshot around = selection::without_lists(all);
    around.allocations = std::move(first.items);
    HttpResponse response;
    response.later = [selected = on_these(std::move(around), names), total = first.total] {
      return ok(kJson, views::allocations_json(selected, selected.allocations,
                                               views::JsonLayout::line, total));
    };
    return response;
  });
}

HttpResponse programs(const RequestTarget& target, HttpHandler& handler) {
  const auto pid = pid_in(target);
  if (!pid) return error_response(400, pid.error().message);
  const auto limit = limit_in(target);
  if (!limit) return error_response(400, limit.error().message);
  return on_devices(target, handler, [&](const model::Snapshot& all, const auto& names) {
    auto first = selection::first_programs(all, *pid, names, *limit);
    model::Snapshot around = selection::without_lists(all);
    around.programs = std::move(first.items);
    HttpResponse response;
    response.later = [selected = on_these(std::move(around), names), total = first.total] {
      return ok(kJson,
                views::programs_json(selected, selected.programs, views::JsonLayout::line, total));
    };
    return response;
  });
}

// Returns an empty history if the device exists but has no recorded points. Returns nullopt if
// there is no such device.
std::optional<HistoryRange> empty_history(const model::Snapshot& now,
                                          const model::DeviceName& name) {
  for (const model::Device& device : now.devices) {
    if (!has_name(device, name)) continue;
    HistoryRange range;
    range.id = device.id;
    range.uid = device.uid;
    return range;
  }
  return std::nullopt;
}

HttpResponse history(const RequestTarget& target, HttpHandler& handler) {
  const auto ids = devices_in(target);
  if (!ids) return error_response(400, ids.error().message);
  if (ids->size() != 1) {
    return error_response(400, "device: exactly one is needed; write for example device=0");
  }
  const auto named = handler.machine().history().named(ids->front());
  if (named.size() > 1) {
    return error_response(400, fmt::format("device: several chips are called {}: {}; name one by "
                                           "its uid",
                                           text::format_names(*ids), text::format_devices(named)));
  }
  const auto seconds = number_in(target, "seconds", kMaxHistorySeconds);
  if (!seconds) return error_response(400, seconds.error().message);
  const model::Snapshot& now = handler.machine().last();
  auto range = handler.machine().history().range(
      ids->front(), seconds->value_or(kDefaultHistorySeconds), now.time_unix_ns);
  if (!range) range = empty_history(now, ids->front());
  if (!range) return no_device(*ids, handler.machine().history().devices());
  return ok(kJson, history_json(*range, directory_id(handler.options().directory)));
}

HttpResponse postmortems(const RequestTarget&, HttpHandler& handler) {
  const model::Snapshot& now = handler.machine().last();
  return ok(kJson, postmortems_json(handler.machine().postmortems(), now.time_unix_ns, now.host));
}

HttpResponse changes(const RequestTarget& target, HttpHandler& handler) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const auto after = number_in(target, "after", most);
  if (!after) return error_response(400, after.error().message);
  const auto cores_after = number_in(target, "cores_after", most);
  if (!cores_after) return error_response(400, cores_after.error().message);
  const auto brief = number_in(target, "brief", 1);
  if (!brief) return error_response(400, brief.error().message);
  const auto cores = device_in(target, "cores");
  if (!cores) return error_response(400, cores.error().message);
  return ok(kJson, handler.changes().since({*after, *cores, *cores_after, *brief == 1}));
}

struct Endpoint {
  std::string_view path;
  HttpResponse (*answer)(const RequestTarget&, HttpHandler&);
  std::vector<std::string> parameters;
};

const Endpoint* endpoint_of(std::string_view path) {
  static const std::array<Endpoint, 9> endpoints = {{
      {"/api", index, {}},
      {"/metrics", metrics, {}},
      {"/healthz", health, {}},
      {"/api/v1/snapshot", snapshot, {"device", "lists", "kind"}},
      {"/api/v1/allocations", allocations, {"pid", "device", "kind", "limit"}},
      {"/api/v1/programs", programs, {"pid", "device", "limit"}},
      {"/api/v1/history", history, {"device", "seconds"}},
      {"/api/v1/postmortems", postmortems, {}},
      {"/api/v1/changes", changes, {"after", "brief", "cores", "cores_after"}},
  }};
  const auto found = std::find_if(endpoints.begin(), endpoints.end(),
                                  [&](const Endpoint& one) { return one.path == path; });
  return found != endpoints.end() ? &*found : nullptr;
}

}  // namespace

HttpResponse HttpHandler::answer(const HttpRequest& request, const HostRule& hosts) {
  const Result<RequestTarget> target = parse_target(request.target);
  if (!target) return error_response(400, target.error().message);
  if (auto refused = refused_host(request, *target, hosts)) return std::move(*refused);
  const Endpoint* endpoint = endpoint_of(target->path);
  std::optional<HttpResponse> page;
  if (endpoint == nullptr) page = page_response(request, target->path, options_.assets);
  if (endpoint == nullptr && !page) {
    return error_response(404,
                          fmt::format("there is no {}; /api lists what there is", target->path));
  }
  // Requires the token for all endpoints except /healthz, because a health probe has no token. The
  // page needs no token either: it has no figures and asks the user for the token.
  if (endpoint != nullptr && endpoint->answer != health) {
    if (auto refused = refused_token(request, options_.token)) return std::move(*refused);
  }
  if (auto refused = refused_form(request, target->path)) return std::move(*refused);
  if (page) return std::move(*page);
  const Result<void> names = check_names(*target, endpoint->parameters);
  if (!names) return error_response(400, names.error().message);
  return endpoint->answer(*target, *this);
}

const Changes& HttpHandler::changes() {
  const model::Snapshot& last = machine_.last();
  if (last.time_unix_ns != changes_time_ns_) {
    changes_time_ns_ = last.time_unix_ns;
    changes_.update(last, {machine_.changes(), machine_.postmortems().total()});
  }
  return changes_;
}

}  // namespace ttmem::serve
