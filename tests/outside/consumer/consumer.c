/* SPDX-License-Identifier: Apache-2.0
 *
 * A workload that includes only the installed header.
 *
 *   consumer once                          like `hold`, but frees everything at once and ends
 *   consumer hold                          allocates each kind of device memory and holds it
 *   consumer fork                          like `hold`, and a child holds its own buffer
 *   consumer random SEED                   random work on four devices until it is killed
 *   consumer crowd SEED THREADS SECONDS    random work on two devices by THREADS threads, then
 *                                          prints the bytes that they hold, and holds the memory
 *
 * A mode that holds memory prints a line on stdout, and ends when its stdin is closed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { GRID = 8, CORES = GRID * GRID, CHANNELS = 12, L1_BYTES = 1499136, L1_BASE = 105664 };

static const ttmem_core_range whole_grid = {0, 0, GRID - 1, GRID - 1};

static void open_device(uint32_t id) {
  ttmem_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  info.id = id;
  info.uid = 0xc0ffee00 + id;
  info.arch = "wormhole_b0";
  info.board = "n150";
  info.grid_x = GRID;
  info.grid_y = GRID;
  info.l1_bytes_per_core = L1_BYTES;
  info.l1_base = L1_BASE;
  info.l1_small_bytes_per_core = 32768;
  info.dram_channels = CHANNELS;
  info.dram_bytes_per_channel = 1073741824;
  info.trace_region_bytes = 0;
  ttmem_device_open(&info);
}

static void allocate(uint32_t device, ttmem_buffer_type type, uint64_t id, uint64_t address,
                     uint64_t bytes_per_bank, const char *label) {
  ttmem_buffer buffer;
  const int in_l1 = type == TTMEM_L1 || type == TTMEM_L1_SMALL;
  memset(&buffer, 0, sizeof buffer);
  buffer.struct_size = sizeof buffer;
  buffer.type = type;
  buffer.id = id;
  buffer.address = address;
  buffer.bytes = bytes_per_bank * (in_l1 ? CORES : CHANNELS);
  buffer.bytes_per_bank = bytes_per_bank;
  buffer.label = label;
  ttmem_buffer_alloc(device, &buffer);
}

static void place_named(uint32_t device, uint64_t program, uint64_t address, uint64_t bytes,
                        const char *name) {
  ttmem_cb cb = {address, bytes, &whole_grid, 1, 0};
  ttmem_placement placement;
  memset(&placement, 0, sizeof placement);
  placement.struct_size = sizeof placement;
  placement.cb_size = sizeof cb;
  placement.program = program;
  placement.cbs = &cb;
  placement.cb_count = 1;
  placement.name = name;
  ttmem_program_place_with(device, &placement);
}

static void place(uint32_t device, uint64_t program, uint64_t address, uint64_t bytes) {
  ttmem_cb cb = {address, bytes, &whole_grid, 1, 0};
  ttmem_program_place(device, program, &cb, 1);
}

/* Allocates 12 MiB of DRAM, 4 MiB of L1, 64 KiB of L1_SMALL, 48 KiB of trace, 8 MiB of CBs and
 * 100,000 bytes of kernels. */
static void allocate_one_of_each(uint32_t device) {
  open_device(device);
  allocate(device, TTMEM_DRAM, 1, 1048640, 1048576, "weights");
  allocate(device, TTMEM_L1, 2, 1400832, 65536, "activation");
  allocate(device, TTMEM_L1_SMALL, 3, 1498112, 1024, "semaphores");
  allocate(device, TTMEM_TRACE, 4, 1073737728, 4096, "trace");
  place_named(device, 7, L1_BASE, 131072, "decoder.0.matmul");
  ttmem_program_dispatch(device, 7);
  ttmem_kernel_load(device, 9, 100000, TTMEM_KERNEL_APP);
}

static void free_one_of_each(uint32_t device) {
  const uint64_t program = 7;
  ttmem_trace_replay(device, &program, 1);
  ttmem_buffer_free(device, TTMEM_DRAM, 1);
  ttmem_buffer_free(device, TTMEM_L1, 2);
  ttmem_buffer_free(device, TTMEM_L1_SMALL, 3);
  ttmem_buffer_free(device, TTMEM_TRACE, 4);
  ttmem_program_destroy(program);
  ttmem_kernel_unload(device, 9);
  ttmem_device_close(device);
}

static void wait_for_end_of_stdin(void) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

static int once(void) {
  allocate_one_of_each(0);
  free_one_of_each(0);
  printf("enabled %d\n", ttmem_enabled());
  return 0;
}

static int hold(void) {
  allocate_one_of_each(0);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  wait_for_end_of_stdin();
  return 0;
}

/* Forks. The child holds an L1 buffer, but none of its parent's allocations. */
static int hold_in_two(void) {
  int ready[2];
  char byte = 0;
  allocate_one_of_each(0);
  if (pipe(ready) != 0) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) {
    open_device(0);
    allocate(0, TTMEM_L1, 1, 1433600, 32768, "of the child");
    if (write(ready[1], "x", 1) != 1) return 1;
  } else {
    if (read(ready[0], &byte, 1) != 1) return 1;
    printf("ready %d %d\n", (int)getpid(), (int)child);
    fflush(stdout);
  }
  wait_for_end_of_stdin();
  return 0;
}

/* --- random work ------------------------------------------------------------------------------ */

enum { SLOTS = 48, PROGRAMS = 24, KERNELS = 8 };

/* The state of one thread. No two threads use the same id or address. The bytes that ttmem shows
 * are therefore the sum over all threads. */
typedef struct {
  uint64_t random;
  uint32_t thread, devices;
  uint64_t dram[4], l1[4], cb[4], kernels[4];      /* bytes that the thread holds on each device */
  uint64_t dram_size[4][SLOTS], l1_size[4][SLOTS]; /* bytes per bank; 0: no buffer */
  uint64_t cb_size[4][PROGRAMS], kernel_size[4][KERNELS];
} work;

static uint32_t draw(work *w, uint32_t below) { /* the generator xorshift64* */
  w->random ^= w->random >> 12;
  w->random ^= w->random << 25;
  w->random ^= w->random >> 27;
  return (uint32_t)((w->random * 0x2545F4914F6CDD1DULL) >> 33) % below;
}

static void toggle_dram(work *w, uint32_t device, uint32_t slot) {
  uint64_t *size = &w->dram_size[device][slot];
  const uint64_t id = 1 + w->thread * SLOTS + slot;
  if (*size != 0) {
    ttmem_buffer_free(device, TTMEM_DRAM, id);
    w->dram[device] -= *size * CHANNELS;
    *size = 0;
  } else {
    *size = 32 * (1 + draw(w, 2048));
    allocate(device, TTMEM_DRAM, id, 1048640 + id * 65536, *size, "random dram");
    w->dram[device] += *size * CHANNELS;
  }
}

static void toggle_l1(work *w, uint32_t device, uint32_t slot) {
  uint64_t *size = &w->l1_size[device][slot];
  const uint64_t id = 1 + w->thread * SLOTS + slot;
  if (*size != 0) {
    ttmem_buffer_free(device, TTMEM_L1, id);
    w->l1[device] -= *size * CORES;
    *size = 0;
  } else {
    *size = 16 * (1 + draw(w, 64));
    allocate(device, TTMEM_L1, id, L1_BYTES - 32768 - id * 1024, *size, "random l1");
    w->l1[device] += *size * CORES;
  }
}

/* Places or destroys a program. Each program has its own 1 KiB of L1 addresses. */
static void change_program(work *w, uint32_t device, uint32_t slot) {
  const uint64_t program = 1 + w->thread * PROGRAMS + slot;
  uint32_t d;
  if (draw(w, 4) == 0) {
    ttmem_program_destroy(program);
    for (d = 0; d < w->devices; ++d) {
      w->cb[d] -= w->cb_size[d][slot] * CORES;
      w->cb_size[d][slot] = 0;
    }
    return;
  }
  w->cb[device] -= w->cb_size[device][slot] * CORES;
  w->cb_size[device][slot] = 32 * (1 + draw(w, 32));
  w->cb[device] += w->cb_size[device][slot] * CORES;
  place(device, program, L1_BASE + program * 1024, w->cb_size[device][slot]);
  ttmem_program_dispatch(device, program);
}

static void toggle_kernel(work *w, uint32_t device, uint32_t slot) {
  uint64_t *size = &w->kernel_size[device][slot];
  const uint64_t kernel = 1 + w->thread * KERNELS + slot;
  if (*size != 0) {
    ttmem_kernel_unload(device, kernel);
    w->kernels[device] -= *size;
    *size = 0;
  } else {
    *size = 1 + draw(w, 4096);
    ttmem_kernel_load(device, kernel, *size, TTMEM_KERNEL_APP);
    w->kernels[device] += *size;
  }
}

static void do_something(work *w) {
  const uint32_t device = draw(w, w->devices);
  switch (draw(w, 8)) {
    case 0:
      toggle_kernel(w, device, draw(w, KERNELS));
      break;
    case 1:
    case 2:
      change_program(w, device, draw(w, PROGRAMS));
      break;
    case 3:
    case 4:
      toggle_l1(w, device, draw(w, SLOTS));
      break;
    default:
      toggle_dram(w, device, draw(w, SLOTS));
      break;
  }
}

static work *begin_work(uint64_t seed, uint32_t thread, uint32_t devices) {
  work *w = calloc(1, sizeof *w);
  if (w == NULL) exit(1);
  w->random = (seed * 1000003 + thread + 1) * 0x9E3779B97F4A7C15ULL | 1;
  w->thread = thread;
  w->devices = devices;
  return w;
}

static void random_until_killed(uint64_t seed) {
  uint32_t device;
  work *w = begin_work(seed, 0, 4);
  for (device = 0; device < 4; ++device) open_device(device);
  for (;;) {
    do_something(w);
    /* Sometimes closes a device, which frees everything on it, and opens the device again. */
    if (draw(w, 4096) == 0) {
      device = draw(w, 4);
      ttmem_device_close(device);
      open_device(device);
      memset(w->dram_size[device], 0, sizeof w->dram_size[device]);
      memset(w->l1_size[device], 0, sizeof w->l1_size[device]);
      memset(w->cb_size[device], 0, sizeof w->cb_size[device]);
      memset(w->kernel_size[device], 0, sizeof w->kernel_size[device]);
    }
  }
}

static struct timespec crowd_end;

static void *work_until_end(void *given) {
  struct timespec now;
  do {
    int i;
    for (i = 0; i < 256; ++i) do_something(given);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (now.tv_sec < crowd_end.tv_sec ||
           (now.tv_sec == crowd_end.tv_sec && now.tv_nsec < crowd_end.tv_nsec));
  return NULL;
}

static void say_totals(work **works, uint32_t threads, uint32_t devices) {
  uint32_t device, t;
  printf("{\"pid\": %d, \"devices\": [", (int)getpid());
  for (device = 0; device < devices; ++device) {
    uint64_t dram = 0, l1 = 0, cb = 0, kernels = 0;
    for (t = 0; t < threads; ++t) {
      dram += works[t]->dram[device];
      l1 += works[t]->l1[device];
      cb += works[t]->cb[device];
      kernels += works[t]->kernels[device];
    }
    printf(
        "%s{\"dram_bytes\": %llu, \"l1_bytes\": %llu, \"cb_bytes\": %llu, "
        "\"kernels_bytes\": %llu}",
        device == 0 ? "" : ", ", (unsigned long long)dram, (unsigned long long)l1,
        (unsigned long long)cb, (unsigned long long)kernels);
  }
  printf("]}\n");
  fflush(stdout);
}

static int crowd(uint64_t seed, uint32_t threads, double seconds) {
  enum { MAX_THREADS = 16, DEVICES = 2 };
  pthread_t running[MAX_THREADS];
  work *works[MAX_THREADS];
  uint32_t t;
  if (threads == 0 || threads > MAX_THREADS) return 2;
  for (t = 0; t < DEVICES; ++t) open_device(t);
  clock_gettime(CLOCK_MONOTONIC, &crowd_end);
  crowd_end.tv_sec += (time_t)seconds;
  for (t = 0; t < threads; ++t) {
    works[t] = begin_work(seed, t, DEVICES);
    if (pthread_create(&running[t], NULL, work_until_end, works[t]) != 0) return 1;
  }
  for (t = 0; t < threads; ++t) pthread_join(running[t], NULL);
  say_totals(works, threads, DEVICES);
  wait_for_end_of_stdin();
  for (t = 0; t < threads; ++t) free(works[t]);
  return 0;
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "";
  if (strcmp(mode, "once") == 0) return once();
  if (strcmp(mode, "hold") == 0) return hold();
  if (strcmp(mode, "fork") == 0) return hold_in_two();
  if (strcmp(mode, "random") == 0 && count == 3) {
    random_until_killed(strtoull(arguments[2], NULL, 10));
  }
  if (strcmp(mode, "crowd") == 0 && count == 5) {
    return crowd(strtoull(arguments[2], NULL, 10), (uint32_t)strtoul(arguments[3], NULL, 10),
                 strtod(arguments[4], NULL));
  }
  fprintf(stderr,
          "usage: consumer once | hold | fork | random SEED | crowd SEED THREADS SECONDS\n");
  return 2;
}
