/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank of a job: holds memory of a known size on device 0.
 *
 *   worker UID DRAM_BYTES_PER_BANK CB_BYTES_PER_CORE
 *
 * Prints "PID DRAM_BYTES CB_BYTES L1_BYTES" when it holds the memory. For each byte on stdin it
 * allocates and frees one more buffer and prints "done". Ends when stdin is closed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { GRID = 8, CHANNELS = 12, L1_PER_BANK = 4096 };

static void allocate(ttmem_buffer_type type, uint64_t id, uint64_t address,
                     uint64_t bytes_per_bank) {
  ttmem_buffer buffer;
  memset(&buffer, 0, sizeof buffer);
  buffer.struct_size = sizeof buffer;
  buffer.type = type;
  buffer.id = id;
  buffer.address = address;
  buffer.bytes = bytes_per_bank * (type == TTMEM_DRAM ? CHANNELS : GRID * GRID);
  buffer.bytes_per_bank = bytes_per_bank;
  buffer.label = "weights";
  ttmem_buffer_alloc(0, &buffer);
}

int main(int argc, char **argv) {
  const ttmem_core_range grid = {0, 0, GRID - 1, GRID - 1};
  ttmem_device_info info;
  ttmem_cb cb = {105664, 0, &grid, 1, 0};
  uint64_t per_bank;
  char byte;
  if (argc != 4) return 2;
  per_bank = strtoull(argv[2], NULL, 0);
  cb.bytes = strtoull(argv[3], NULL, 0);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.uid = strtoull(argv[1], NULL, 0);
  info.arch = "wormhole_b0";
  info.board = "n150";
  info.grid_x = info.grid_y = GRID;
  info.l1_bytes_per_core = 1499136;
  info.l1_base = 105664;
  info.dram_channels = CHANNELS;
  info.dram_bytes_per_channel = 1073741824;
  ttmem_device_open(&info);
  allocate(TTMEM_DRAM, 1, 1 << 20, per_bank);
  allocate(TTMEM_L1, 2, 1 << 20, L1_PER_BANK); /* the headroom ends at its address */
  ttmem_program_place(0, 1, &cb, 1);
  ttmem_program_dispatch(0, 1);
  printf("%d %" PRIu64 " %" PRIu64 " %d\n", (int)getpid(), per_bank * CHANNELS,
         cb.bytes * GRID * GRID, L1_PER_BANK * GRID * GRID);
  fflush(stdout);
  while (read(0, &byte, 1) == 1) {
    allocate(TTMEM_DRAM, 3, 1 << 30, 32);
    ttmem_buffer_free(0, TTMEM_DRAM, 3);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
