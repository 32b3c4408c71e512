// SPDX-License-Identifier: Apache-2.0
//
// Random recordings, with a model of everything written into them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "read/recording/file/writer.hpp"

namespace ttmem::recording {

// Returns a Wormhole device with only 12 cores.
inline RecordedDevice small_wormhole(RowId process, std::uint32_t number, std::uint64_t uid) {
  return {.process = process,
          .number = number,
          .uid = uid,
          .arch = "wormhole_b0",
          .board = "n150",
          .grid_x = 4,
          .grid_y = 3,
          .l1_bytes_per_core = 1'499'136,
          .l1_base = 105'664,
          .l1_small_bytes_per_core = 32'768,
          .dram_channels = 12,
          .dram_bytes_per_channel = 1ULL << 30,
          .trace_region_bytes = 12ULL << 20,
          .known_kinds = 0x7f,
          .resident_known = true};
}

struct WrittenAllocation {
  RowId row = 0;
  std::vector<RowId> devices;
  RecordedRequest request;
  std::string label;
  std::optional<std::uint64_t> address;
  Time begin = 0;
  std::optional<Time> end;
};

struct WrittenProgram {
  RowId row = 0;
  RowId device = 0;
  std::uint64_t number = 0;
  Layout layout;
  Time begin = 0;
  std::optional<Time> end;
};

struct WrittenDispatch {
  Time time = 0;
  RowId device = 0;
  std::uint64_t program = 0;
};

struct WrittenDevice {
  RecordedDevice device;
  bool relaid = false;  // true if a program got another layout on this device
};

// Writes random events of several processes on shared chips. The events concern buffers on one
// device and on meshes, buffers that end on some of their devices, buffers that change size,
// overlapping circular buffers, dispatches, closed and reopened devices, gaps, and a process that
// ends. No two events have the same time, except the two events of a change of size.
class RandomHistory {
 public:
  RandomHistory(Writer& writer, std::uint32_t seed, int steps) : writer_(writer), random_(seed) {
    for (std::int32_t p = 0; p < 2; ++p) {
      processes_.push_back(
          writer_.begin(RecordedProcess{.pid = 100 + p, .name = "model" + std::to_string(p)}));
    }
    open(0, 0);
    open(0, 1);
    open(1, 1);
    open(1, 2);
    for (int i = 0; i < steps; ++i) step();
  }

  std::map<RowId, WrittenDevice> devices;
  std::vector<WrittenAllocation> allocations;
  std::vector<WrittenProgram> programs;
  std::vector<WrittenDispatch> dispatches;
  std::vector<Time> times;

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  Time tick() {
    now_ += 1 + static_cast<Time>(below(5));
    times.push_back(now_);
    return now_;
  }

  void open(std::size_t process, std::uint32_t chip) {
    RecordedDevice device = small_wormhole(processes_[process], chip, 0xa0 + chip);
    device.begin_ns = tick();
    device.id = writer_.begin(device);
    devices[device.id].device = device;
  }

  std::vector<RowId> open_devices(std::optional<RowId> process = {}) const {
    std::vector<RowId> open;
    for (const auto& [row, written] : devices) {
      const bool of_it = !process || written.device.process == *process;
      if (!written.device.end_ns && of_it) open.push_back(row);
    }
    return open;
  }

  template <typename Item>
  Item* pick_live(std::vector<Item>& items) {
    std::vector<Item*> live;
    for (Item& item : items) {
      if (!item.end) live.push_back(&item);
    }
    return live.empty() ? nullptr : live[below(live.size())];
  }

  void step() {
    const std::uint64_t choice = below(100);
    if (open_devices().empty()) return;
    if (choice < 35) {
      allocate(tick(), random_set(), random_request());
    } else if (choice < 52) {
      if (auto* live = pick_live(allocations)) end(*live, tick(), Ending::freed);
    } else if (choice < 55) {
      if (auto* live = pick_live(allocations)) free_on_one(*live);
    } else if (choice < 60) {
      if (auto* live = pick_live(allocations)) resize(*live);
    } else if (choice < 75) {
      const std::vector<RowId> open = open_devices();
      place(tick(), open[below(open.size())], ++last_program_, random_layout());
    } else if (choice < 82) {
      if (auto* live = pick_live(programs)) end(*live, tick(), Ending::freed);
    } else if (choice < 85) {
      if (auto* live = pick_live(programs)) lay_out_again(*live);
    } else if (choice < 94) {
      if (auto* live = pick_live(programs)) dispatch(*live);
    } else if (choice < 96) {
      if (auto* live = pick_live(allocations)) end(*live, tick(), Ending::gap);
    } else if (choice < 99) {
      close_and_open();
    } else {
      writer_.add(Mark{.time_ns = tick(), .process = processes_[0], .name = "step"});
    }
  }

  std::vector<RowId> random_set() {
    const std::vector<RowId> open = open_devices();
    const RowId first = open[below(open.size())];
    if (below(3) != 0) return {first};
    return open_devices(devices[first].device.process);
  }

  RecordedRequest random_request() {
    static constexpr std::array kinds = {Kind::dram,     Kind::dram,  Kind::l1,    Kind::l1,
                                         Kind::l1_small, Kind::trace, Kind::kernel};
    RecordedRequest request;
    request.kind = kinds[below(kinds.size())];
    label_ = "label" + std::to_string(below(4));
    request.label = writer_.text(label_);
    request.scope = below(2) == 0 ? 0 : writer_.scope("layer." + std::to_string(below(3)));
    if (request.kind == Kind::kernel) {
      request.bytes = 100 * (1 + below(5));
      return request;
    }
    request.has_bytes_per_bank = true;
    request.banks = is_in_dram(request.kind) ? 12 : 12;
    request.bytes_per_bank = 32 * (1 + below(60));
    request.bytes = request.bytes_per_bank * request.banks - below(31);
    if (request.kind == Kind::l1 && below(4) == 0) {
      request.own_banks = true;
      request.cores = writer_.core_set(CoreMask::first(3));
      request.banks = 3;
    }
    return request;
  }

  // Returns a random address. Most addresses are inside the region of the kind; some are a little
  // outside.
  std::optional<std::uint64_t> random_address(Kind kind) {
    const std::uint64_t step = 32 * below(200);
    switch (kind) {
      case Kind::dram:
        return 1'048'640 + step * 1000;
      case Kind::l1:
        return 1'466'368 - 64'000 + step * 9;
      case Kind::l1_small:
        return 1'466'368 + 32 * below(900);
      case Kind::trace:
        return (1ULL << 30) - (1ULL << 20) + step;
      default:
        return std::nullopt;
    }
  }

  void allocate(Time time, std::vector<RowId> set, const RecordedRequest& request) {
    WrittenAllocation written;
    written.devices = std::move(set);
    written.request = request;
    written.label = label_;
    written.address = random_address(request.kind);
    written.begin = time;
    RecordedAllocation allocation;
    allocation.devices = writer_.device_set(written.devices);
    allocation.request = writer_.request(request);
    allocation.number = ++last_number_;
    allocation.address = written.address;
    allocation.begin_ns = time;
    written.row = writer_.begin(allocation);
    allocations.push_back(written);
  }

  void end(WrittenAllocation& allocation, Time time, Ending ending) {
    allocation.end = time;
    writer_.end_allocation(allocation.row, time, ending);
  }
  void free_on_one(WrittenAllocation& allocation) {
    if (allocation.devices.size() < 2) return;
    const RowId device = allocation.devices[below(allocation.devices.size())];
    end_on(static_cast<std::size_t>(&allocation - allocations.data()), device, tick(),
           Ending::freed);
  }
  // Ends the allocation on one of its devices. What ends is another item of `allocations`.
  void end_on(std::size_t index, RowId device, Time time, Ending ending) {
    WrittenAllocation part = allocations[index];
    if (part.devices.size() == 1) return end(allocations[index], time, ending);
    std::vector<RowId>& rest = allocations[index].devices;
    std::erase(rest, device);
    part.devices = {device};
    part.end = time;
    writer_.end_part(part.row, {.devices = writer_.device_set(part.devices),
                                .rest = writer_.device_set(rest),
                                .end_ns = time,
                                .ending = ending});
    allocations.push_back(std::move(part));
  }
  void end(WrittenProgram& program, Time time, Ending ending) {
    program.end = time;
    writer_.end_program(program.row, time, ending);
  }

  void resize(WrittenAllocation& allocation) {
    const Time time = tick();
    RecordedRequest request = allocation.request;
    request.bytes_per_bank += 32;
    label_ = allocation.label;
    std::vector<RowId> set = allocation.devices;
    end(allocation, time, Ending::changed);
    allocate(time, std::move(set), request);
  }

  Layout random_layout() {
    Layout layout;
    for (std::uint64_t i = 1 + below(3); i > 0; --i) {
      RecordedCb cb;
      cb.address = static_cast<std::uint32_t>(105'664 + 64 * below(40));
      cb.bytes = static_cast<std::uint32_t>(64 * (1 + below(30)));
      cb.global = below(6) == 0;
      const std::uint64_t bits = 1 + below(4095);
      cb.cores.words[0] = bits;
      layout.push_back(cb);
    }
    return layout;
  }

  void place(Time time, RowId device, std::uint64_t number, const Layout& layout) {
    WrittenProgram written;
    written.device = device;
    written.number = number;
    written.layout = layout;
    written.begin = time;
    RecordedProgram program;
    program.device = device;
    program.layout = writer_.layout(layout);
    program.number = number;
    program.name = writer_.text("program" + std::to_string(number % 3));
    program.begin_ns = time;
    written.row = writer_.begin(program);
    programs.push_back(written);
  }

  void lay_out_again(WrittenProgram& program) {
    const Time time = tick();
    const RowId device = program.device;
    const std::uint64_t number = program.number;
    end(program, time, Ending::changed);
    devices[device].relaid = true;
    place(time, device, number, random_layout());
  }

  void dispatch(const WrittenProgram& program) {
    WrittenDispatch written{tick(), program.device, program.number};
    Launch launch;
    launch.programs = {program.number};
    writer_.add(Dispatch{.time_ns = written.time,
                         .devices = writer_.device_set(std::vector<RowId>{program.device}),
                         .launch = writer_.launch(launch)});
    dispatches.push_back(written);
  }

  void close_and_open() {
    const std::vector<RowId> open = open_devices();
    WrittenDevice& written = devices[open[below(open.size())]];
    const RowId row = written.device.id;
    const Time time = tick();
    for (std::size_t i = 0, count = allocations.size(); i < count; ++i) {
      const std::vector<RowId>& on = allocations[i].devices;
      const bool on_it = std::find(on.begin(), on.end(), row) != on.end();
      if (!allocations[i].end && on_it) end_on(i, row, time, Ending::device_closed);
    }
    for (WrittenProgram& program : programs) {
      if (!program.end && program.device == row) end(program, time, Ending::device_closed);
    }
    written.device.end_ns = time;
    writer_.change(written.device);
    if (below(3) == 0) return;
    const std::size_t process = written.device.process == processes_[0] ? 0 : 1;
    this->open(process, written.device.number);
  }

  Writer& writer_;
  std::mt19937 random_;
  std::vector<RowId> processes_;
  Time now_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_program_ = 0;
  std::string label_;
};

}  // namespace ttmem::recording
