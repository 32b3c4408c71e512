// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_graph.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/safe_text.hpp"

namespace ttmem::exports {
namespace {

struct Rectangle {
  std::uint32_t x0, y0, x1, y1;
};

// Returns rectangles that cover the cores. Equal runs of cores in adjacent rows are one rectangle.
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

}  // namespace

std::string core_range_set(const CoreMask& cores, std::uint16_t grid_x) {
  std::string text;
  if (grid_x == 0) return "{}";
  for (const Rectangle& r : rectangles_of(cores, grid_x)) {
    text += fmt::format("{}[{}-{} - {}-{}]", text.empty() ? "" : ", ", r.x0, r.y0, r.x1, r.y1);
  }
  return fmt::format("{{{}}}", text);
}

TtnnGraph::TtnnGraph(std::size_t max_bytes) : max_bytes_(max_bytes) {
  add_node("capture_start", "");
}

// Writes numbers as texts, as ttnn's own writer does.
void TtnnGraph::add_node(std::string_view type, std::string_view params) {
  fmt::format_to(
      std::back_inserter(text_),
      R"({0}{{"connections":[],"counter":{1},"id":{1},"node_type":"{2}","params":{{{3}}}}})",
      nodes_ == 0 ? "" : ",", nodes_, type, params);
  ++nodes_;
}

bool TtnnGraph::add(const SentProgram& program) {
  const std::size_t bytes = text_.size();
  const std::size_t nodes = nodes_;
  const std::string name = json_text(nlohmann::json(program.name));
  add_node("function_start",
           fmt::format(R"("device_id":"{}","inputs":"0","name":{})", program.place, name));
  if (program.layout != nullptr) {
    for (const recording::RecordedCb& cb : *program.layout) {
      if (text_.size() > max_bytes_) break;
      add_node("circular_buffer_allocate",
               fmt::format(R"("address":"{}","core_range_set":"{}","device_id":"{}",)"
                           R"("globally_allocated":"{}","size":"{}")",
                           cb.address, core_range_set(cb.cores, program.grid_x), program.place,
                           cb.global ? 1 : 0, cb.bytes));
    }
  }
  add_node("circular_buffer_deallocate_all", fmt::format(R"("device_id":"{}")", program.place));
  add_node("function_end", fmt::format(R"("name":{})", name));
  if (text_.size() <= max_bytes_) return true;
  text_.resize(bytes);
  nodes_ = nodes;
  return false;
}

std::string TtnnGraph::take() {
  add_node("capture_end", "");
  text_ += ']';
  return std::move(text_);
}

}  // namespace ttmem::exports
