// SPDX-License-Identifier: Apache-2.0
//
// Explains arbitrary logs. Every failure in a log must get an explanation that can be printed. Each
// log is explained without a state of the memory, and with a state that has a free block and a
// clash. With that state, logs with similar numbers reach every suggestion.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyse/explain/explain.hpp"
#include "analyse/explain/explanation_json.hpp"
#include "analyse/explain/explanation_text.hpp"

namespace {

using ttmem::Kind;

void hold(ttmem::model::Snapshot& state, Kind kind, std::uint64_t address, std::uint64_t bytes) {
  ttmem::model::Allocation& held = state.allocations.emplace_back();
  held.kind = kind;
  held.address = address;
  held.bytes = bytes;
  held.bytes_per_bank = bytes;
}

ttmem::model::Snapshot some_state() {
  ttmem::model::Snapshot state;
  ttmem::model::Device& device = state.devices.emplace_back();
  device.arch = "wormhole_b0";
  device.l1_bytes_per_core = 1499136;
  device.l1_base = 105664;
  device.l1_small_region_bytes = 32768;
  device.dram_channels = 12;
  device.dram_capacity_bytes = 12ULL << 30;
  device.trace_capacity_bytes = 98304;
  device.processes.emplace_back();
  hold(state, Kind::l1, 851968, 307200);
  hold(state, Kind::l1_small, 1497088, 2048);
  hold(state, Kind::trace, 1073733632, 4096);
  hold(state, Kind::dram, 536870912, 1 << 20);
  ttmem::model::Program& program = state.programs.emplace_back();
  program.cbs.push_back({105664, 819200, ttmem::CoreMask::first(64), false});
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ttmem::model::Snapshot state = some_state();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ttmem::explain::FailureMessage& failure : ttmem::explain::find_failures(text)) {
    for (const ttmem::model::Snapshot* known : {&state, static_cast<decltype(&state)>(nullptr)}) {
      const auto explanation = ttmem::explain::explain(
          {.failure = failure, .state = known, .source = ttmem::explain::StateSource::chosen});
      if (ttmem::explain::explanation_text(explanation, {}).empty()) __builtin_trap();
      if (ttmem::explain::explanation_json(explanation).empty()) __builtin_trap();
    }
  }
  return 0;
}
