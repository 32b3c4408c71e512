// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace dryrun_test {
namespace {

using nlohmann::json;
using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRange;
using tt::tt_metal::CoreRangeSet;
using tt::tt_metal::TensorMemoryLayout;

CoreRangeSet parse_cores(const json& rectangles) {
  std::vector<CoreRange> ranges;
  for (const json& r : rectangles) ranges.push_back(CoreRange({r[0], r[1]}, {r[2], r[3]}));
  return {std::move(ranges)};
}

CapturedDevice::Banks parse_banks(const json& line, const std::string& kind) {
  return {line.at(kind + "_banks"), line.at(kind + "_bank_bytes"), line.at(kind + "_alignment")};
}

CapturedDevice parse_device(const json& line) {
  return {line.at("device"),
          line.at("arch"),
          {line.at("grid")[0], line.at("grid")[1]},
          line.at("l1_bytes_per_core"),
          line.at("l1_base"),
          line.at("dram_channels"),
          line.at("dram_bytes_per_channel"),
          line.at("dram_base"),
          parse_banks(line, "dram"),
          parse_banks(line, "l1"),
          parse_banks(line, "l1_small"),
          parse_banks(line, "trace")};
}

AllocateBuffer parse_buffer(const json& line) {
  static const std::map<std::string, BufferType> types{{"DRAM", BufferType::DRAM},
                                                       {"L1", BufferType::L1},
                                                       {"L1_SMALL", BufferType::L1_SMALL},
                                                       {"TRACE", BufferType::TRACE}};
  static const std::map<std::string, TensorMemoryLayout> layouts{
      {"interleaved", TensorMemoryLayout::INTERLEAVED},
      {"height_sharded", TensorMemoryLayout::HEIGHT_SHARDED},
      {"width_sharded", TensorMemoryLayout::WIDTH_SHARDED},
      {"block_sharded", TensorMemoryLayout::BLOCK_SHARDED}};
  const bool on_mesh = line.contains("mesh_id");
  return {line.at("id"),
          on_mesh ? std::optional<int>(line.at("mesh_id")) : std::nullopt,
          on_mesh ? line.at("chips").at(0) : line.at("device"),
          types.at(line.at("type")),
          layouts.at(line.at("layout")),
          parse_cores(line.at("cores")),
          line.at("size"),
          line.at("page_size"),
          line.at("pages"),
          line.at("bottom_up"),
          line.at("addr"),
          line.at("bytes_per_bank"),
          line.at("banks")};
}

// Placements of several chips, and of several programs, interleave in a capture. A run is put
// together here from all its chips, and takes the place of its first event.
class RequestBuilder {
 public:
  void add(const json& line) {
    const std::string event = line.at("ev");
    if (event == "buffer_alloc") {
      requests_.push_back(parse_buffer(line));
    } else if (event == "buffer_free") {
      requests_.push_back(FreeBuffer{line.at("id")});
    } else if (event == "program_layout") {
      begin_layout(line.at("program"), line.at("device"));
    } else if (event == "cb_alloc") {
      add_cb(line);
    } else if (event == "program_unregister") {
      destroy(line.at("program"));
    } else if (event != "program_register" && event != "cb_free_all") {
      throw std::runtime_error("capture has an unknown event " + event);
    }
  }

  std::vector<Request> take() { return std::move(requests_); }

 private:
  RunProgram& current(std::uint64_t program) {
    return std::get<RunProgram>(requests_.at(runs_.at(program)));
  }

  void begin_layout(std::uint64_t program, int device) {
    const bool running = runs_.contains(program);
    const bool again = running && std::count(current(program).chips.begin(),
                                             current(program).chips.end(), device) > 0;
    if (!running || again) {
      runs_[program] = requests_.size();
      requests_.push_back(RunProgram{program, {}, {}});
    }
    current(program).chips.push_back(device);
  }

  void add_cb(const json& line) {
    RunProgram& run = current(line.at("program"));
    const CapturedCb cb{parse_cores(line.at("cores")), line.at("addr"), line.at("size"),
                        line.at("globally_allocated")};
    // All chips hold the same; the first one tells.
    if (line.at("device") == run.chips.front()) run.cbs.push_back(cb);
  }

  void destroy(std::uint64_t program) {
    // Once for each chip; the program dies on all of them with the first.
    if (runs_.erase(program) > 0) requests_.push_back(DestroyProgram{program});
  }

  std::vector<Request> requests_;
  std::map<std::uint64_t, std::size_t> runs_;  // of live programs: the index of the last run
};

}  // namespace

Capture read_capture(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Capture capture;
  RequestBuilder requests;
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text);
    if (line.at("ev") == "device") {
      capture.devices.push_back(parse_device(line));
    } else if (line.at("ev") == "mesh") {
      capture.meshes.push_back({line.at("mesh_id"), line.at("chips")});
    } else {
      requests.add(line);
      if (line.at("ev") == "buffer_alloc" || line.at("ev") == "cb_alloc") ++capture.answers;
    }
  }
  capture.requests = requests.take();
  return capture;
}

}  // namespace dryrun_test
