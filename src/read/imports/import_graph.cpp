// SPDX-License-Identifier: Apache-2.0
#include "read/imports/import_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/core_mask.hpp"
#include "base/limits.hpp"
#include "base/plural.hpp"
#include "read/imports/event_writer.hpp"
#include "read/imports/functions.hpp"
#include "read/imports/upstream_peaks.hpp"

namespace ttmem::imports {
namespace {

using recording::RowId;
using recording::Time;

constexpr std::uint64_t kMaxDurationNs = 1ULL << 52;  // maximum for a function: fifty days

const Node* find_node(const Graph& graph, std::optional<std::uint64_t> counter) {
  if (!counter) return nullptr;
  const auto at = std::ranges::lower_bound(graph.nodes, *counter, {}, &Node::counter);
  return at == graph.nodes.end() || at->counter != *counter ? nullptr : &*at;
}

// Returns the mask of the cores. device_of() has ensured that the cores fit into a mask.
CoreMask mask_of(const std::vector<CoreRange>& ranges, std::uint32_t columns) {
  CoreMask mask;
  for (const CoreRange& range : ranges) {
    for (std::uint32_t y = range.y0; y <= range.y1; ++y) {
      for (std::uint32_t x = range.x0; x <= range.x1; ++x) mask.set(y * columns + x);
    }
  }
  return mask;
}

// A clock for a graph, which has no times. Each event takes one nanosecond. A function takes the
// duration that the graph gives, but at least the time of its events.
class GraphClock {
 public:
  [[nodiscard]] Time now() const { return now_; }
  void tick() { ++now_; }
  void finish(Time begin, std::uint64_t duration_ns) {
    now_ = std::max(now_, begin + static_cast<Time>(std::min(duration_ns, kMaxDurationNs)));
  }

 private:
  Time now_ = 0;
};

class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const recording::RecordedDevice& device,
              recording::Writer& writer)
      : graph_(graph),
        device_(device),
        writer_(writer),
        event_writer_(writer),
        devices_(writer.device_set(std::vector<RowId>{device.id})) {
    for (const auto& ranges : graph.core_sets) masks_.push_back(mask_of(ranges, device.grid_x));
  }

  Imported write() {
    for (const Node& node : graph_.nodes) {
      const std::uint64_t before = events_;
      apply(node);
      if (events_ != before) clock_.tick();
    }
    event_writer_.settle();
    for (const Node* node : functions_.never_ended()) {
      mark("never ended: " + graph_.text(*node));
    }
    Imported imported;
    imported.what = "a graph of ttnn";
    imported.events = events_;
    imported.allocations = event_writer_.allocations();
    imported.programs = event_writer_.programs();
    imported.end_ns = clock_.now();
    imported.notes = notes();
    return imported;
  }

 private:
  void apply(const Node& node) {
    switch (node.type) {
      case NodeType::function_start:
        functions_.begin(graph_, node, clock_.now());
        break;
      case NodeType::function_end:
        if (const auto ended = functions_.end(node); ended && node.duration_ns) {
          clock_.finish(ended->begin, *node.duration_ns);
        }
        break;
      case NodeType::buffer_allocate:
        allocate(node);
        break;
      case NodeType::buffer_deallocate:
        free(node);
        break;
      case NodeType::circular_buffer_allocate:
      case NodeType::dataflow_buffer_allocate:
      case NodeType::scratchpad_allocate:
        add_cb(node);
        break;
      case NodeType::circular_buffer_deallocate_all:
        end_program();
        break;
      case NodeType::error:
        mark("error: " + graph_.text(node));
        break;
      default:
        return;
    }
    ++events_;
  }

  void allocate(const Node& node) {
    recording::RecordedRequest request;
    request.kind = node.kind;
    request.bytes = node.bytes;
    request.has_bytes_per_bank = node.bytes_per_bank.has_value();
    request.bytes_per_bank = node.bytes_per_bank.value_or(0);
    request.banks = banks_of(node.kind);
    request.label = writer_.text(label_of(node));
    request.scope = scope();
    request.layout.page_bytes = node.page_bytes;
    if (node.is_sharded) {
      using Spread = BufferLayout::Spread;
      request.layout.spread = *node.is_sharded ? Spread::sharded : Spread::interleaved;
    }
    recording::RecordedAllocation allocation;
    allocation.devices = devices_;
    allocation.request = writer_.request(request);
    allocation.number = node.connection.value_or(node.counter);
    if (node.address != 0) allocation.address = node.address;
    allocation.begin_ns = clock_.now();
    event_writer_.allocate(allocation);
  }

  void free(const Node& node) {
    const bool was_live =
        node.connection && event_writer_.free(devices_, *node.connection, clock_.now());
    if (!was_live) ++unknown_frees_;
  }

  // A mesh program has the same layout on all chips. Only the CBs of its first chip are written.
  void add_cb(const Node& node) {
    if (!program_) begin_program(node);
    if (program_->device_id != node.device_id) return;
    recording::RecordedCb cb;
    cb.bytes = static_cast<std::uint32_t>(node.bytes);
    cb.global = node.is_view;
    cb.cores = masks_[node.cores];
    cb.address = static_cast<std::uint32_t>(is_unplaced_cb(node) ? next_free(node) : node.address);
    event_writer_.add_cb(device_.id, program_->number, cb, clock_.now());
  }

  void begin_program(const Node& node) {
    program_ = CurrentProgram{++programs_, node.device_id, {}};
    program_->ends.fill(device_.l1_base);
    recording::RecordedProgram program;
    program.device = device_.id;
    program.number = programs_;
    program.scope = scope();
    if (const auto* function = functions_.innermost()) {
      program.name = writer_.text(graph_.text(*function->node));
    }
    event_writer_.lay_out(program, clock_.now());
  }

  void end_program() {
    if (program_) event_writer_.end_program(device_.id, program_->number, clock_.now());
    program_.reset();
  }

  // Returns an address for a CB that has none: the first address behind all CBs that the program
  // already has on the cores of this CB.
  std::uint64_t next_free(const Node& node) {
    std::uint64_t address = 0;
    auto& ends = program_->ends;
    const CoreMask& cores = masks_[node.cores];
    cores.for_each([&](std::uint32_t core) { address = std::max(address, ends[core]); });
    cores.for_each([&](std::uint32_t core) { ends[core] = address + node.bytes; });
    return std::min(address, kMaxCoreBytes);
  }

  // Returns the type and shape of the buffer's first tensor as its label; empty if there is no
  // tensor.
  [[nodiscard]] std::string label_of(const Node& node) const {
    const Node* const buffer = find_node(graph_, node.connection);
    const Node* const tensor = buffer == nullptr ? nullptr : find_node(graph_, buffer->connection);
    return tensor != nullptr && tensor->type == NodeType::tensor ? graph_.text(*tensor)
                                                                 : std::string();
  }

  // Returns 0, which means unknown, if there is no report.
  [[nodiscard]] std::uint32_t banks_of(Kind kind) const {
    if (graph_.devices.empty() || kind == Kind::system) return 0;
    const GraphDevice& reported = graph_.devices.front();
    return is_in_dram(kind) ? reported.dram_channels
                            : std::uint32_t{reported.grid_x} * reported.grid_y;
  }

  [[nodiscard]] std::uint32_t scope() {
    return functions_.innermost() == nullptr ? 0 : writer_.scope(functions_.innermost()->path);
  }

  void mark(const std::string& name) {
    writer_.add(recording::Mark{clock_.now(), device_.process, name});
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (!shows_programs(graph_.nodes)) {
      notes.emplace_back(
          "programs came from the program cache, so the graph does not show their circular "
          "buffers: "
          "those figures are unknown");
    }
    if (unknown_frees_ != 0) {
      notes.push_back(
          fmt::format("{} of buffers from before the capture: what was held then is "
                      "not in the graph",
                      plural(unknown_frees_, "free", "frees")));
    }
    if (device_.cb_estimate) {
      notes.emplace_back(
          "the graph has no addresses of circular buffers (NO_DISPATCH): they are placed one "
          "behind the other");
    }
    const auto never_ended = functions_.never_ended();
    if (!never_ended.empty()) {
      notes.push_back(fmt::format("{} never ended, the innermost is {}",
                                  plural(never_ended.size(), "function", "functions"),
                                  graph_.text(*never_ended.back())));
    }
    return notes;
  }

  struct CurrentProgram {
    std::uint64_t number = 0;
    std::int64_t device_id = 0;
    std::array<std::uint64_t, kMaxCores> ends{};  // end of the CBs on each core
  };

  const Graph& graph_;
  const recording::RecordedDevice& device_;
  recording::Writer& writer_;
  EventWriter event_writer_;
  RowId devices_;
  std::vector<CoreMask> masks_;  // by index in Graph::core_sets
  GraphClock clock_;
  Functions functions_;
  std::optional<CurrentProgram> program_;  // nullopt between two programs
  std::uint64_t programs_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace

Imported write_graph(const Graph& graph, const recording::RecordedDevice& device,
                     recording::Writer& writer) {
  return GraphWriter(graph, device, writer).write();
}

}  // namespace ttmem::imports
