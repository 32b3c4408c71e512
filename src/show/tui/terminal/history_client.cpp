// SPDX-License-Identifier: Apache-2.0
#include "show/tui/terminal/history_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "base/parse_number.hpp"

namespace ttmem::tui {
namespace {

constexpr std::size_t kLargestAnswer = 4 * 1024 * 1024;
constexpr std::size_t kMaxPoints = ChartHistory::kMaxSamples;

model::Bytes bytes_of(const nlohmann::json& point, const char* key) {
  const auto found = point.find(key);
  if (found == point.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace

std::optional<remote::Address> server_address(const char* environment) {
  remote::Address server{.host = "127.0.0.1"};
  const std::string_view text = environment == nullptr ? "" : environment;
  if (text.empty()) return server;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host == "localhost" || host.empty()) host = "127.0.0.1";
  if (!host.starts_with("127.")) return std::nullopt;
  server.port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  if (server.port == 0) return std::nullopt;
  server.host = host;
  return server;
}

ServerHistory parse_history(std::string_view json) {
  ServerHistory history;
  if (is_nested_too_deep(json)) return history;
  const nlohmann::json answer = nlohmann::json::parse(json, nullptr, false);
  if (!answer.is_object() || answer.value("schema", nlohmann::json()) != "ttmem.history.v1") {
    return history;
  }
  const auto points = answer.find("points");
  if (points == answer.end() || !points->is_array()) return history;
  history.answered = true;
  if (const auto id = answer.find("directory_id"); id != answer.end() && id->is_string()) {
    history.directory_id = id->get<std::string>();
  }
  std::vector<ChartSample>& samples = history.samples;
  for (const nlohmann::json& point : *points) {
    const model::Bytes time = point.is_object() ? bytes_of(point, "time_unix_ns") : std::nullopt;
    if (!time || samples.size() >= kMaxPoints) continue;
    samples.push_back({*time, bytes_of(point, "dram_bytes"), bytes_of(point, "l1_used_bytes"),
                       bytes_of(point, "l1_bytes"), bytes_of(point, "l1_small_bytes"),
                       bytes_of(point, "cb_bytes"), bytes_of(point, "kernels_bytes")});
  }
  std::stable_sort(samples.begin(), samples.end(), [](const ChartSample& a, const ChartSample& b) {
    return a.time_unix_ns < b.time_unix_ns;
  });
  return history;
}

ServerHistory fetch_history(const remote::Address& server, const model::DeviceName& device,
                            std::uint32_t seconds, const remote::ClientOptions& client) {
  const std::string name =
      device.uid ? fmt::format("{:#x}", *device.uid) : fmt::format("{}", device.number);
  const remote::Answer<std::string> answer =
      remote::fetch(server, fmt::format("/api/v1/history?device={}&seconds={}", name, seconds),
                    kLargestAnswer, client);
  return answer.failed ? ServerHistory() : parse_history(answer.value);
}

}  // namespace ttmem::tui
