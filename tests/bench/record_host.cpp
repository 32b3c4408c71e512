// SPDX-License-Identifier: Apache-2.0
//
// A workload that measure_record.py records.
//
// `record_host pair` prints how many nanoseconds an allocation and its free take in the fastest of
// many rounds.
//
// `record_host RATE SECONDS` allocates and frees buffers for SECONDS seconds. RATE is the number of
// allocations plus the number of frees in a second. Prints the sum of its allocations and frees.
#include <ttmem/ttmem.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

void open_device() {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.arch = "wormhole_b0";
  info.grid_x = 8;
  info.grid_y = 8;
  info.l1_bytes_per_core = 1499136;
  info.dram_channels = 12;
  info.dram_bytes_per_channel = 1 << 30;
  ttmem_device_open(&info);
}

ttmem_buffer buffer(std::uint64_t id, const char* label) {
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = TTMEM_DRAM;
  buffer.id = id;
  buffer.address = id % 512 * 32768;
  buffer.bytes_per_bank = 64 * (1 + id % 200);
  buffer.bytes = buffer.bytes_per_bank * 12;
  buffer.label = label;
  return buffer;
}

void print_pair() {
  constexpr int rounds = 200;
  constexpr int pairs = 2000;  // the event ring has room for the events of one round
  double fastest = 1e9;
  const ttmem_buffer wanted = buffer(1, nullptr);
  for (int i = 0; i < rounds; ++i) {
    const auto begin = Clock::now();
    for (int k = 0; k < pairs; ++k) {
      ttmem_buffer_alloc(0, &wanted);
      ttmem_buffer_free(0, TTMEM_DRAM, 1);
    }
    fastest = std::min(fastest, Seconds(Clock::now() - begin).count() / pairs * 1e9);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::printf("%.1f\n", fastest);
}

// Imitates a model that holds some hundred buffers of many sizes. The buffers are named after
// layers.
void keep_rate(double rate, double seconds) {
  std::vector<std::string> labels;
  for (int i = 0; i < 32; ++i) labels.push_back("layers." + std::to_string(i) + ".activation");
  constexpr std::uint64_t live = 200;
  constexpr int at_once = 50;
  std::uint64_t id = 0;
  std::uint64_t events = 0;
  const auto begin = Clock::now();
  for (double passed = 0; passed < seconds; passed = Seconds(Clock::now() - begin).count()) {
    while (static_cast<double>(events) < passed * rate) {
      for (int i = 0; i < at_once; ++i) {
        ++id;
        const ttmem_buffer wanted = buffer(id, labels[id % labels.size()].c_str());
        ttmem_buffer_alloc(0, &wanted);
        if (id > live) ttmem_buffer_free(0, TTMEM_DRAM, id - live);
      }
      events += 2 * at_once;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::printf("%llu\n", static_cast<unsigned long long>(2 * id - std::min(id, live)));
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  if (argc == 2 && std::string_view(argv[1]) == "pair") {
    print_pair();
  } else if (argc == 3) {
    keep_rate(std::atof(argv[1]), std::atof(argv[2]));
  } else {
    std::fputs("usage: record_host pair | record_host RATE SECONDS\n", stderr);
    return 2;
  }
  return 0;
}
