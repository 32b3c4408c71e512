/* SPDX-License-Identifier: Apache-2.0
 *
 *   flood PAIRS HELD [before|after|both]
 *
 * Allocates HELD buffers of 24 KiB on device 0. Then allocates and frees one more buffer PAIRS
 * times, as fast as possible. Then frees the HELD buffers and ends right after the last free. With
 * `before` or `after` it prints a line and waits for a byte on stdin, before or after the pairs.
 * With `both` it waits before and after them; before the second wait it allocates one more buffer,
 * which it never frees. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { CHANNELS = 12, PER_BANK = 2048 };

static void allocate(uint64_t id) {
  ttmem_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  buffer.struct_size = sizeof buffer;
  buffer.type = TTMEM_DRAM;
  buffer.id = id;
  buffer.address = id << 20;
  buffer.bytes = CHANNELS * PER_BANK;
  buffer.bytes_per_bank = PER_BANK;
  ttmem_buffer_alloc(0, &buffer);
}

static void hold(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  if (read(0, &byte, 1) < 0) perror("stdin");
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const uint64_t pairs = strtoull(argv[1], NULL, 10);
  const uint64_t held = strtoull(argv[2], NULL, 10);
  const char *pause = argc > 3 ? argv[3] : "";
  ttmem_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.arch = "wormhole_b0";
  info.grid_x = info.grid_y = 8;
  info.dram_channels = CHANNELS;
  info.dram_bytes_per_channel = 1 << 30;
  ttmem_device_open(&info);
  for (uint64_t id = 1; id <= held; ++id) allocate(id);
  const int both = strcmp(pause, "both") == 0;
  if (both || strcmp(pause, "before") == 0) hold();
  for (uint64_t i = 0; i < pairs; ++i) {
    allocate(held + 1);
    ttmem_buffer_free(0, TTMEM_DRAM, held + 1);
  }
  if (both) allocate(held + 1);
  if (both || strcmp(pause, "after") == 0) hold();
  for (uint64_t id = 1; id <= held; ++id) ttmem_buffer_free(0, TTMEM_DRAM, id);
  return 0;
}
