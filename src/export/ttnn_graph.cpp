// SPDX-License-Identifier: Apache-2.0
#include "export/ttnn_graph.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace ttmem::exporter {
namespace {

using nlohmann::json;

struct Rectangle {
  std::uint32_t x0, y0, x1, y1;
};

// Row by row; equal stretches of rows that follow each other are one.
std::vector<Rectangle> rectangles_of(const CoreMask& cores, std::uint32_t grid_x) {
  std::vector<Rectangle> found;
  for (std::uint32_t y = 0; y * grid_x < kMaxCores; ++y) {
    for (std::uint32_t x = 0; x < grid_x; ++x) {
      const auto has = [&](std::uint32_t at) {
        return at < grid_x && y * grid_x + at < kMaxCores && cores.test(y * grid_x + at);
      };
      if (!has(x)) continue;
      const std::uint32_t first = x;
      while (has(x + 1)) ++x;
      bool grown = false;
      for (Rectangle& other : found) {
        if (other.x0 != first || other.x1 != x || other.y1 + 1 != y) continue;
        other.y1 = y;
        grown = true;
        break;
      }
      if (!grown) found.push_back({first, y, x, y});
    }
  }
  return found;
}

class Graph {
 public:
  // Numbers are texts, as the writer of ttnn has them.
  void add(std::string_view type, json params) {
    const std::size_t id = nodes_.size();
    json node = {{"counter", id},
                 {"id", id},
                 {"node_type", type},
                 {"params", std::move(params)},
                 {"connections", json::array()}};
    nodes_.push_back(std::move(node));
  }
  [[nodiscard]] std::string text() const {
    return nodes_.dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  json nodes_ = json::array();
};

}  // namespace

std::string core_range_set(const CoreMask& cores, std::uint16_t grid_x) {
  std::string text;
  if (grid_x == 0) return "{}";
  for (const Rectangle& r : rectangles_of(cores, grid_x)) {
    text += fmt::format("{}[{}-{} - {}-{}]", text.empty() ? "" : ", ", r.x0, r.y0, r.x1, r.y1);
  }
  return fmt::format("{{{}}}", text);
}

std::string graph_of(const std::vector<SentProgram>& programs) {
  Graph graph;
  graph.add("capture_start", json::object());
  for (const SentProgram& program : programs) {
    const std::string device = fmt::format("{}", program.place);
    graph.add("function_start", {{"name", program.name}, {"inputs", "0"}, {"device_id", device}});
    if (program.layout != nullptr) {
      for (const recording::Cb& cb : *program.layout) {
        graph.add("circular_buffer_allocate",
                  {{"size", fmt::format("{}", cb.bytes)},
                   {"address", fmt::format("{}", cb.address)},
                   {"core_range_set", core_range_set(cb.cores, program.grid_x)},
                   {"globally_allocated", cb.global ? "1" : "0"},
                   {"device_id", device}});
      }
    }
    graph.add("circular_buffer_deallocate_all", {{"device_id", device}});
    graph.add("function_end", {{"name", program.name}});
  }
  graph.add("capture_end", json::object());
  return graph.text();
}

}  // namespace ttmem::exporter
