// SPDX-License-Identifier: Apache-2.0
#include "read/imports/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string_view>
#include <utility>

#include "base/core_mask.hpp"
#include "base/limits.hpp"
#include "base/parse_number.hpp"
#include "base/shorten.hpp"

namespace ttmem::imports {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxTextBytes = 200;  // maximum length of a name in the graph

// Limits of the parser's memory, which holds one text or number and one node. No real graph reaches
// these limits.
constexpr std::size_t kMaxTokenBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNodeValues = std::size_t{1} << 18;
constexpr std::size_t kMaxDepth = std::size_t{1} << 20;
constexpr std::size_t kMaxReasonBytes = 300;  // for the parser's message, which quotes the file

// Passes JSON on to the parser. Ends the input early if the parser would need too much memory.
class BoundedJson : public std::streambuf {
 public:
  explicit BoundedJson(std::istream& file) : file_(file) {}

  // Returns the reason why the input was ended early; empty if the whole input was passed on.
  [[nodiscard]] std::string_view problem() const {
    if (token_bytes_ > kMaxTokenBytes) return "it has a text or a number of more than 1 MiB";
    return depth_ > kMaxDepth ? "it has more than a million lists in lists" : "";
  }

 private:
  int_type underflow() override {
    if (!problem().empty()) return traits_type::eof();
    file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const auto end = buffer_.begin() + file_.gcount();
    const auto stop = std::find_if(buffer_.begin(), end, [this](char c) {
      take(c);
      return !problem().empty();
    });
    if (stop == buffer_.begin()) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + (stop - buffer_.begin()));
    return traits_type::to_int_type(buffer_.front());
  }

  void take(char c) {
    if (in_text_) {
      in_text_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
      ++token_bytes_;
      return;
    }
    in_text_ = c == '"';
    const bool ends_token =
        in_text_ || std::string_view(" \t\r\n[]{},:").find(c) != std::string_view::npos;
    token_bytes_ = ends_token ? 0 : token_bytes_ + 1;
    if (c == '[' || c == '{') ++depth_;
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
  }

  std::istream& file_;
  std::array<char, std::size_t{1} << 16> buffer_{};
  bool in_text_ = false;
  bool is_escaped_ = false;
  std::size_t token_bytes_ = 0;  // length of the present text or number so far
  std::size_t depth_ = 0;
};

constexpr std::array<std::pair<std::string_view, NodeType>, 11> kTypes = {
    {{"function_start", NodeType::function_start},
     {"function_end", NodeType::function_end},
     {"buffer", NodeType::buffer},
     {"buffer_allocate", NodeType::buffer_allocate},
     {"buffer_deallocate", NodeType::buffer_deallocate},
     {"circular_buffer_allocate", NodeType::circular_buffer_allocate},
     {"dataflow_buffer_allocate", NodeType::dataflow_buffer_allocate},
     {"scratchpad_allocate", NodeType::scratchpad_allocate},
     {"circular_buffer_deallocate_all", NodeType::circular_buffer_deallocate_all},
     {"tensor", NodeType::tensor},
     {"error", NodeType::error}}};

NodeType type_named(std::string_view name) {
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return NodeType::other;
}

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

// Parses a whole number, which may be spelled as text.
std::optional<std::uint64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_string()) return parse_number<std::uint64_t>(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::string text_of(const Json& object, const char* name) {
  const Json* const value = find(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>().substr(0, kMaxTextBytes)
                                                : std::string();
}

// Converts to lower case, because ttmem writes the names of architectures in lower case
// ("wormhole_b0").
char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Removes `before` from the beginning and `after` from the end of the text. For example, "Shape([1,
// 32])" becomes "[1, 32]". Returns the text unchanged unless it has `before` and `after`.
std::string strip(std::string text, std::string_view before, std::string_view after) {
  if (text.starts_with(before) && text.ends_with(after) &&
      text.size() >= before.size() + after.size()) {
    text = text.substr(before.size(), text.size() - before.size() - after.size());
  }
  return text;
}

// The parameters of a node. number() reads a missing or wrong parameter as 0, and optional() reads
// a wrong parameter as 0. problem() describes the first such parameter.
class Params {
 public:
  explicit Params(const Json& node) : params_(find(node, "params")) {}

  // Returns nullopt if the parameter is missing or not a number.
  [[nodiscard]] std::optional<std::uint64_t> if_number(const char* name) const {
    const Json* const value = at(name);
    return value == nullptr ? std::nullopt : whole(*value);
  }
  [[nodiscard]] std::optional<std::uint64_t> optional(const char* name, std::uint64_t max) {
    const Json* const value = at(name);
    if (value == nullptr) return std::nullopt;
    const auto number = whole(*value);
    if (number && *number <= max) return number;
    refuse(fmt::format("parameter '{}' is not a whole number from 0 to {}", name, max));
    return 0;
  }
  [[nodiscard]] std::uint64_t number(const char* name, std::uint64_t max) {
    const auto found = optional(name, max);
    if (!found) refuse(fmt::format("parameter '{}' is missing", name));
    return found.value_or(0);
  }
  // Returns false if the parameter is missing. ttnn writes "0" or "1"; its documentation writes
  // "false".
  [[nodiscard]] bool flag(const char* name) {
    const Json* const value = at(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    const std::string_view text = view(name);
    const auto number = whole(*value);
    if (text == "true" || number == 1) return true;
    if (text != "false" && number != 0) {
      refuse(fmt::format("parameter '{}' is not 0, 1, false or true", name));
    }
    return false;
  }
  [[nodiscard]] std::string text(const char* name) const {
    return params_ == nullptr ? std::string() : text_of(*params_, name);
  }
  // Returns the text in full, while text() cuts it to kMaxTextBytes.
  [[nodiscard]] std::string_view view(const char* name) const {
    const Json* const value = at(name);
    return value != nullptr && value->is_string() ? value->get_ref<const std::string&>()
                                                  : std::string_view();
  }

  void refuse(std::string reason) {
    if (problem_.empty()) problem_ = std::move(reason);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  [[nodiscard]] const Json* at(const char* name) const {
    return params_ == nullptr ? nullptr : find(*params_, name);
  }

  const Json* params_;
  std::string problem_;
};

// Returns the kind from the number in `buffer_type`, or, in older graphs, from the name in `type`.
Kind kind_of(Params& params) {
  if (const auto type = params.if_number("buffer_type"); type && *type < kBufferKinds.size()) {
    return kBufferKinds[*type];
  }
  const std::string name = params.text("type");
  if (name == "DRAM") return Kind::dram;
  if (name == "L1") return Kind::l1;
  if (name == "L1_SMALL") return Kind::l1_small;
  if (name == "TRACE") return Kind::trace;
  if (name == "SYSTEM_MEMORY") return Kind::system;
  params.refuse("parameter 'type' is not DRAM, L1, L1_SMALL, TRACE or SYSTEM_MEMORY");
  return Kind::dram;
}

// Receives the nodes one by one, as the JSON parser completes them.
class GraphReader {
 public:
  struct TooLarge {};

  // The callback of nlohmann's parser. Returns true if the parser must keep this part of the JSON.
  // Throws TooLarge if a node has more than kMaxNodeValues values.
  bool on_event(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth == 0 && event == Event::array_start) is_bare_ = has_graph_ = true;
    if (depth == 1 && event == Event::key && !is_bare_) {
      section_ = parsed.get<std::string>();
      is_wanted_ = section_ == "graph" || section_ == "devices" || section_ == "metadata";
      return is_wanted_;
    }
    if (is_wanted_ && ++values_ > kMaxNodeValues) throw TooLarge{};
    if (!is_bare_ && depth == 1 && section_ == "graph" && event == Event::array_start) {
      has_graph_ = true;
    }
    const bool is_in_list = depth == (is_bare_ ? 1 : 2) && (is_bare_ || section_ == "graph");
    const bool is_whole =
        event == Event::object_end || event == Event::array_end || event == Event::value;
    if (!is_in_list || !is_whole) return true;
    take_node(parsed);
    values_ = 0;
    return false;  // the parser frees the memory of this part
  }

  Result<Graph> finish(const Json& rest) {
    if (problem_) return *problem_;
    if (!has_graph_ || graph_.nodes.empty()) return Error{"it has no list of nodes"};
    if (const Json* const devices = find(rest, "devices"); devices != nullptr) take(*devices);
    if (const Json* const metadata = find(rest, "metadata"); metadata != nullptr) {
      const Json* const at = find(*metadata, "capture_timestamp_ns");
      if (at != nullptr) graph_.captured_unix_ns = whole(*at).value_or(0);
    }
    return std::move(graph_);
  }

 private:
  void refuse(const std::string& reason) {
    if (!problem_) {
      problem_ = Error{fmt::format("node {}: {}", graph_.nodes.size(), reason)};
    }
  }

  void take_node(const Json& json) {
    if (problem_) return;
    const Json* const counter = find(json, "counter");
    const auto number = counter == nullptr ? std::nullopt : whole(*counter);
    const std::string type = text_of(json, "node_type");
    if (!number || type.empty()) return refuse("'counter' or 'node_type' is missing");
    if (!graph_.nodes.empty() && *number <= graph_.nodes.back().counter) {
      return refuse(
          fmt::format("its counter {} does not follow {}", *number, graph_.nodes.back().counter));
    }
    Node node;
    node.type = type_named(type);
    node.counter = *number;
    take_connections(json, node);
    Params params(json);
    take_params(params, node);
    if (!params.problem().empty()) return refuse(type + ": " + params.problem());
    graph_.nodes.push_back(node);
  }

  static void take_connections(const Json& json, Node& node) {
    const Json* const connections = find(json, "connections");
    if (connections != nullptr && connections->is_array() && !connections->empty()) {
      node.connection = whole(connections->front());
    }
    if (const Json* const duration = find(json, "duration_ns"); duration != nullptr) {
      node.duration_ns = whole(*duration);
    }
  }

  void take_params(Params& params, Node& node) {
    switch (node.type) {
      case NodeType::function_start:
      case NodeType::function_end:
        node.text = text(params.text("name"));
        break;
      case NodeType::buffer_allocate:
      case NodeType::buffer_deallocate:
        take_buffer(params, node);
        break;
      case NodeType::circular_buffer_allocate:
        take_cb(params, node, "globally_allocated");
        break;
      case NodeType::dataflow_buffer_allocate:
        take_cb(params, node, "borrows_memory");
        break;
      case NodeType::scratchpad_allocate:
        take_cb(params, node, nullptr);
        break;
      case NodeType::tensor:
        node.text = text(strip(params.text("dtype"), "DataType::", "") + " " +
                         strip(params.text("shape"), "Shape(", ")"));
        break;
      case NodeType::error:
        node.text = text(params.text("error_operation") + ": " + params.text("error_type"));
        break;
      default:
        break;
    }
  }

  static void take_buffer(Params& params, Node& node) {
    node.kind = kind_of(params);
    node.bytes = params.number("size", kMaxBytes);
    node.address = params.optional("address", ~std::uint64_t{0}).value_or(0);
    node.bytes_per_bank = params.optional("max_size_per_bank", kMaxBytes);
    node.page_bytes = params.optional("page_size", kMaxBytes).value_or(0);
    if (const auto cores = params.optional("num_cores", kMaxCores)) node.is_sharded = *cores != 0;
  }

  void take_cb(Params& params, Node& node, const char* view) {
    node.bytes = params.number("size", kMaxCoreBytes);
    node.address = params.optional("address", kMaxCoreBytes).value_or(0);
    node.device_id =
        static_cast<std::int64_t>(params.optional("device_id", 0x7fff'ffff).value_or(0));
    node.is_view = view != nullptr && params.flag(view);
    const std::string spelled(params.view("core_range_set"));
    const auto [known, is_new] = core_sets_.try_emplace(spelled, graph_.core_sets.size());
    if (is_new) {
      const auto ranges = parse_core_range_set(spelled);
      if (!ranges) params.refuse("parameter 'core_range_set' is not one");
      graph_.core_sets.push_back(ranges.value_or(std::vector<CoreRange>{}));
    }
    node.cores = static_cast<std::uint32_t>(known->second);
  }

  std::uint32_t text(const std::string& text) {
    const auto [known, is_new] = texts_.try_emplace(text, graph_.texts.size());
    if (is_new) graph_.texts.push_back(text);
    return static_cast<std::uint32_t>(known->second);
  }

  void take(const Json& devices) {
    for (const Json& json : devices) {
      const auto number = [&json](const char* name, std::uint64_t max) {
        const Json* const value = find(json, name);
        const auto given = value == nullptr ? std::nullopt : whole(*value);
        return given && *given <= max ? *given : 0;
      };
      GraphDevice& device = graph_.devices.emplace_back();
      device.arch = text_of(json, "arch");
      std::ranges::transform(device.arch, device.arch.begin(), to_lower);
      device.grid_x = static_cast<std::uint16_t>(number("num_x_compute_cores", 256));
      device.grid_y = static_cast<std::uint16_t>(number("num_y_compute_cores", 256));
      device.l1_bytes_per_core =
          static_cast<std::uint32_t>(number("worker_l1_size", kMaxCoreBytes));
      device.l1_base =
          static_cast<std::uint32_t>(number("address_at_first_l1_cb_buffer", kMaxCoreBytes));
      device.l1_bank_bytes = static_cast<std::uint32_t>(number("l1_bank_size", kMaxCoreBytes));
      device.dram_channels = static_cast<std::uint32_t>(number("num_dram_channels", kMaxBanks));
      device.dram_bytes_per_channel = number("dram_size_per_channel", kMaxBytes);
    }
  }

  Graph graph_;
  std::size_t values_ = 0;  // values that the parser has kept since the last node
  std::map<std::string, std::size_t> texts_{{"", 0}};
  std::map<std::string, std::size_t> core_sets_;
  std::string section_;
  bool is_wanted_ = true;  // false: the section is skipped
  bool is_bare_ = false;
  bool has_graph_ = false;
  std::optional<Error> problem_;
};

// Removes the code at the beginning of nlohmann's messages: "[json.exception.parse_error.101] ".
std::string_view without_code(std::string_view message) {
  const std::size_t end = message.find("] ");
  return message.starts_with("[json") && end != message.npos ? message.substr(end + 2) : message;
}

}  // namespace

Result<Graph> read_graph(std::istream& input, const std::string& name) {
  GraphReader reader;
  BoundedJson bounded(input);
  std::istream json(&bounded);
  const auto not_a_graph = [&name](std::string_view why) {
    return Error{fmt::format("{} is no graph of ttnn: {}", name, why)};
  };
  try {
    const Json rest =
        Json::parse(json, [&reader](int depth, Json::parse_event_t event, Json& parsed) {
          return reader.on_event(depth, event, parsed);
        });
    Result<Graph> graph = reader.finish(rest);
    if (!graph) return not_a_graph(graph.error().message);
    return graph;
  } catch (const GraphReader::TooLarge&) {
    return not_a_graph(fmt::format("a node has more than {} values", kMaxNodeValues));
  } catch (const Json::exception& error) {
    if (!bounded.problem().empty()) return not_a_graph(bounded.problem());
    return not_a_graph(shortened(without_code(error.what()), kMaxReasonBytes));
  }
}

}  // namespace ttmem::imports
