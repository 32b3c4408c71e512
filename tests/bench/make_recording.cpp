// SPDX-License-Identifier: Apache-2.0
//
// Writes a recording that looks like a long run of a model. The recording has weights, then
// iterations over layers whose operations allocate and free buffers. It also has dispatches of
// cached programs, and a mark for each iteration.
//
//   make_recording FILE [EVENTS [DEVICES [LARGER]]]
//
// LARGER is the number of bytes added to each circular buffer.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "read/recording/file/writer.hpp"

namespace {

using namespace ttmem;
using namespace ttmem::recording;

constexpr std::uint32_t kLayers = 32;
constexpr std::uint32_t kOps = 12;  // number of operations in each layer
constexpr std::uint32_t kL1Top = 1'499'136;

class Model {
 public:
  Model(Writer& writer, std::uint32_t devices, std::uint32_t larger) : writer_(writer) {
    const RowId process =
        writer.begin(RecordedProcess{.pid = 4711, .name = "python3", .user = "ada"});
    std::vector<RowId> mesh;
    for (std::uint32_t i = 0; i < devices; ++i) mesh.push_back(open(process, i));
    mesh_ = writer.device_set(mesh);
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) add_weights(layer);
    for (std::uint32_t i = 0; i < kLayers * kOps; ++i) add_program(mesh, i, larger);
    for (std::uint32_t i = 0; i < kLayers * kOps; ++i) add_request(i);
  }

  // Runs iterations until at least `events` events are written.
  void run(std::uint64_t events) {
    for (std::uint64_t iteration = 0; events_ < events; ++iteration) {
      if (iteration % 64 == 0) add_cache();  // DRAM use grows until the end of the run
      writer_.add(Mark{.time_ns = now_, .process = 1, .name = fmt::format("token {}", iteration)});
      for (std::uint32_t op = 0; op < kLayers * kOps && events_ < events; ++op) run_op(op);
      if (!writer_.commit()) std::exit(1);
    }
    while (!live_.empty()) free_oldest();
  }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Time now() const { return now_; }

 private:
  struct Live {
    RowId row;
    std::uint32_t bytes_per_bank;
  };

  RowId open(RowId process, std::uint32_t number) {
    return writer_.begin(RecordedDevice{.process = process,
                                        .number = number,
                                        .uid = 0x1000ULL + number,
                                        .arch = "wormhole_b0",
                                        .board = "n300",
                                        .grid_x = 8,
                                        .grid_y = 8,
                                        .l1_bytes_per_core = kL1Top,
                                        .l1_base = 105'664,
                                        .dram_channels = 12,
                                        .dram_bytes_per_channel = 1ULL << 30,
                                        .known_kinds = 0x3f,
                                        .resident_known = true});
  }

  RecordedRequest request(Kind kind, std::uint32_t banks, std::uint64_t per_bank,
                          const std::string& scope, const std::string& label) {
    RecordedRequest made;
    made.kind = kind;
    made.banks = banks;
    made.has_bytes_per_bank = true;
    made.bytes_per_bank = per_bank;
    made.bytes = per_bank * banks;
    made.scope = writer_.scope(scope);
    made.label = writer_.text(label);
    made.layout.spread = BufferLayout::Spread::interleaved;
    made.layout.page_bytes = 1024;
    return made;
  }

  void add_weights(std::uint32_t layer) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const RecordedRequest weight = request(
          Kind::dram, 12, 1'048'576, fmt::format("decoder.{}", layer), fmt::format("weight.{}", i));
      writer_.begin(RecordedAllocation{.devices = mesh_,
                                       .request = writer_.request(weight),
                                       .number = ++number_,
                                       .address = dram_,
                                       .begin_ns = ++now_});
      dram_ += weight.bytes_per_bank;
    }
  }

  void add_cache() {
    const RecordedRequest page = request(Kind::dram, 12, 32'768, "cache", "page");
    writer_.begin(RecordedAllocation{.devices = mesh_,
                                     .request = writer_.request(page),
                                     .number = ++number_,
                                     .address = dram_,
                                     .begin_ns = ++now_});
    dram_ += page.bytes_per_bank;
    ++events_;
  }

  void add_program(const std::vector<RowId>& mesh, std::uint32_t index, std::uint32_t larger) {
    Layout layout;
    std::uint32_t address = 105'664;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t bytes = 2048 * (1 + (index + i) % 7) + larger;
      layout.push_back({address, bytes, false, CoreMask::first(64 - 8 * (index % 3))});
      address += bytes;
    }
    for (const RowId device : mesh) {
      writer_.begin(RecordedProgram{.device = device,
                                    .layout = writer_.layout(layout),
                                    .number = index + 1,
                                    .name = writer_.text(fmt::format("op{}", index % kOps)),
                                    .scope = writer_.scope(fmt::format("decoder.{}", index / kOps)),
                                    .begin_ns = ++now_});
    }
    Launch launch;
    launch.programs = {index + 1};
    launches_.push_back(writer_.launch(launch));
  }

  void add_request(std::uint32_t index) {
    requests_.push_back(request(Kind::l1, 64, 1024 * (1 + index % 40),
                                fmt::format("decoder.{}/attention", index / kOps),
                                fmt::format("activation.{}", index % kOps)));
    request_rows_.push_back(writer_.request(requests_.back()));
  }

  // Runs one operation. Frees the oldest buffers until fewer than 12 are live, then allocates the
  // output of the operation.
  void run_op(std::uint32_t op) {
    now_ += 200;
    const auto per_bank = static_cast<std::uint32_t>(requests_[op].bytes_per_bank);
    while (live_.size() >= 12) free_oldest();
    l1_ = l1_ < 700'000 ? kL1Top : l1_;
    l1_ -= per_bank;
    const RowId row = writer_.begin(RecordedAllocation{.devices = mesh_,
                                                       .request = request_rows_[op],
                                                       .number = ++number_,
                                                       .address = l1_,
                                                       .begin_ns = now_});
    live_.push_back({row, per_bank});
    ++events_;
    if (op % 2 == 0) {
      writer_.add(Dispatch{.time_ns = now_ + 50, .devices = mesh_, .launch = launches_[op]});
      ++events_;
    }
  }

  void free_oldest() {
    now_ += 100;
    writer_.end_allocation(live_.front().row, now_, Ending::freed);
    live_.erase(live_.begin());
    ++events_;
  }

  Writer& writer_;
  RowId mesh_ = 0;
  Time now_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t dram_ = 1'048'640;
  std::uint64_t l1_ = kL1Top;
  std::vector<RowId> launches_;
  std::vector<RecordedRequest> requests_;
  std::vector<RowId> request_rows_;
  std::vector<Live> live_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: make_recording FILE [EVENTS [DEVICES [LARGER]]]\n");
    return 2;
  }
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  recording::Run run;
  run.command = "python3 model.py";
  auto writer = Writer::create(argv[1], run, true);
  if (!writer) {
    fmt::print(stderr, "{}\n", writer.error().message);
    return 1;
  }
  Model model(**writer, static_cast<std::uint32_t>(number(3, 1)),
              static_cast<std::uint32_t>(number(4, 0)));
  model.run(number(2, 10'000'000));
  run.events = model.events();
  run.ended_ns = model.now();
  return (*writer)->finish(run) ? 0 : 1;
}
