// SPDX-License-Identifier: Apache-2.0
//
// Reports 32 chips with 140 cores each, the maximum number of cores of a chip. The memory use of
// every chip changes ten times a second. Prints "ready" and ends when its standard input closes.
// measure_page.py runs this program.
#include <poll.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "workload.hpp"

namespace {

constexpr std::uint32_t kChips = 32;
constexpr ttmem_core_range kAllCores = {0, 0, 13, 9};
constexpr ttmem_core_range kHalf = {0, 0, 13, 4};

void open(std::uint32_t chip) {
  ttmem_device_info info = ttmem::fixtures::wormhole(chip);
  info.arch = "blackhole";
  info.board = "galaxy";
  info.grid_x = kAllCores.x1 + 1;
  info.grid_y = kAllCores.y1 + 1;
  ttmem_device_open(&info);
}

// Places a circular buffer on all cores in even steps, and on half of the cores in odd steps. The
// size of the circular buffer differs from its size in the previous step.
void place(std::uint32_t chip, std::uint64_t step) {
  const std::uint64_t bytes = 65536 + 4096 * ((step + chip) % 64);
  const ttmem_cb cb = {ttmem::bench::kL1Base, bytes, step % 2 == 0 ? &kAllCores : &kHalf, 1, 0};
  ttmem_program_place(chip, 1, &cb, 1);
}

bool is_over() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 100) > 0;
}

}  // namespace

int main() {
  for (std::uint32_t chip = 0; chip < kChips; ++chip) {
    open(chip);
    place(chip, 0);
  }
  std::puts("ready");
  std::fflush(stdout);
  for (std::uint64_t step = 1; !is_over(); ++step) {
    for (std::uint32_t chip = 0; chip < kChips; ++chip) {
      const ttmem_buffer buffer = ttmem::bench::dram_buffer(step);
      ttmem_buffer_alloc(chip, &buffer);
      if (step > 100) ttmem_buffer_free(chip, TTMEM_DRAM, step - 100);
      place(chip, step);
    }
  }
  return 0;
}
