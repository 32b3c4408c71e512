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
  for (const json& r : rectangles) {
    ranges.push_back(CoreRange({r.at(0), r.at(1)}, {r.at(2), r.at(3)}));
  }
  return {std::move(ranges)};
}

CapturedDevice::Banks parse_banks(const json& line, const std::string& kind) {
  return {line.at(kind + "_banks"), line.at(kind + "_bank_bytes"), line.at(kind + "_alignment")};
}

CapturedDevice parse_device(const json& line) {
  return {line.at("device"),
          line.at("arch"),
          {line.at("grid").at(0), line.at("grid").at(1)},
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

template <typename T>
T parse_name(const json& line, const char* key, const std::map<std::string, T>& names) {
  const std::string name = line.at(key);
  const auto found = names.find(name);
  if (found == names.end()) {
    throw std::runtime_error(std::string("unknown ") + key + " \"" + name + "\"");
  }
  return found->second;
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
      {"block_sharded", TensorMemoryLayout::BLOCK_SHARDED},
      {"nd_sharded", TensorMemoryLayout::ND_SHARDED}};
  const bool on_mesh = line.contains("mesh_id");
  return {line.at("id"),
          on_mesh ? std::optional<int>(line.at("mesh_id")) : std::nullopt,
          on_mesh ? line.at("chips").get<std::vector<int>>() : std::vector<int>{line.at("device")},
          parse_name(line, "type", types),
          parse_name(line, "layout", layouts),
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
  void add(std::size_t number, const json& line) {
    const std::string event = line.at("ev");
    if (event == "buffer_alloc") {
      requests_.push_back({number, parse_buffer(line)});
    } else if (event == "buffer_free") {
      requests_.push_back({number, FreeBuffer{line.at("id")}});
    } else if (event == "program_layout") {
      begin_layout(number, line.at("program"), line.at("device"));
    } else if (event == "cb_alloc") {
      add_cb(number, line);
    } else if (event == "program_register") {
      const auto run = runs_.find(line.at("program"));
      if (run != runs_.end()) run->second.complete = true;
    } else if (event == "program_unregister") {
      destroy(number, line.at("program"));
    } else if (event != "cb_free_all") {
      throw std::runtime_error("unknown event \"" + event + "\"");
    }
  }

  std::vector<Request> take() { return std::move(requests_); }

 private:
  struct Run {
    std::size_t request;    // its index
    bool complete = false;  // no further chip belongs to it
  };

  RunProgram& at(const Run& run) { return std::get<RunProgram>(requests_[run.request].what); }

  static RunProgram::OnChip* find_chip(RunProgram& run, int chip) {
    const auto found = std::find_if(run.chips.begin(), run.chips.end(),
                                    [chip](const auto& each) { return each.chip == chip; });
    return found == run.chips.end() ? nullptr : &*found;
  }

  void begin_layout(std::size_t number, std::uint64_t program, int chip) {
    const auto running = runs_.find(program);
    if (running == runs_.end() || running->second.complete ||
        find_chip(at(running->second), chip) != nullptr) {
      runs_[program] = {requests_.size()};
      requests_.push_back({number, RunProgram{program, {}}});
    }
    at(runs_[program]).chips.push_back({chip, {}});
  }

  void add_cb(std::size_t number, const json& line) {
    const std::uint64_t program = line.at("program");
    const int chip = line.at("device");
    const auto running = runs_.find(program);
    if (running == runs_.end() || find_chip(at(running->second), chip) == nullptr) {
      begin_layout(number, program, chip);
    }
    find_chip(at(runs_[program]), chip)
        ->cbs.push_back({parse_cores(line.at("cores")), line.at("addr"), line.at("size"),
                         line.at("globally_allocated")});
  }

  void destroy(std::size_t number, std::uint64_t program) {
    // Once for each chip; the program dies on all of them with the first.
    if (runs_.erase(program) > 0) requests_.push_back({number, DestroyProgram{program}});
  }

  std::vector<Request> requests_;
  std::map<std::uint64_t, Run> runs_;  // of live programs: the last run
};

void add_line(Capture& capture, RequestBuilder& requests, std::size_t number,
              const std::string& text) {
  const json line = json::parse(text);
  const std::string event = line.at("ev");
  if (event == "device") {
    capture.devices.push_back(parse_device(line));
  } else if (event == "mesh") {
    capture.meshes.push_back({line.at("mesh_id"), line.at("chips")});
  } else {
    requests.add(number, line);
    if (event == "buffer_alloc" || event == "cb_alloc") ++capture.answers;
  }
}

}  // namespace

const CapturedDevice::Banks& CapturedDevice::banks(BufferType type) const {
  switch (type) {
    case BufferType::L1:
      return l1;
    case BufferType::L1_SMALL:
      return l1_small;
    case BufferType::TRACE:
      return trace;
    default:
      return dram;
  }
}

Capture read_capture(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  Capture capture;
  RequestBuilder requests;
  std::size_t number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      add_line(capture, requests, number, text);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (capture.devices.empty()) throw std::runtime_error(path + ": has no device line");
  capture.requests = requests.take();
  return capture;
}

}  // namespace dryrun_test
