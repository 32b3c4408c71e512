/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests calls of the C interface when memory runs out. For each call and each n, forks a child in
 * which the n-th memory allocation of the call fails. No call may change errno. Prints how many
 * allocations failed. Exits with 1 if a call changed errno or a child crashed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ttmem/ttmem.h>
#include <unistd.h>

enum { MARK = 4711, PASSED = 0, CHANGED = 1, NOT_REACHED = 2, MAX_ALLOCATIONS = 100 };

static __thread unsigned long
    left; /* which of the next allocations fails: 1 is the next one; 0: none fails */
static __thread int failed;

static int fails(void) {
  if (left == 0 || --left > 0) return 0;
  failed = 1;
  errno = ENOMEM;
  return 1;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return fails() ? NULL : __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}

static const ttmem_core_range grid = {0, 0, 7, 7};
static const uint32_t mesh[] = {0, 1};

static void open_device(void) {
  for (uint32_t id = 0; id < 2; ++id) {
    ttmem_device_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    info.id = id;
    info.arch = "wormhole_b0";
    info.grid_x = info.grid_y = 8;
    info.l1_bytes_per_core = 1499136;
    info.dram_channels = 12;
    info.dram_bytes_per_channel = 1 << 30;
    ttmem_device_open(&info);
  }
}
static ttmem_buffer buffer(uint64_t id) {
  ttmem_buffer one;
  memset(&one, 0, sizeof one);
  one.struct_size = sizeof one;
  one.type = TTMEM_DRAM;
  one.id = id;
  one.address = id << 20;
  one.bytes = one.bytes_per_bank = 2048;
  one.label = "a label that is longer than the room for it in the slot of an allocation";
  return one;
}
static void allocate(void) {
  for (uint64_t id = 1; id <= 3000; ++id) {
    const ttmem_buffer one = buffer(id);
    ttmem_buffer_alloc(0, &one);
  }
}
static void allocate_on_mesh(void) {
  const ttmem_buffer one = buffer(9000);
  ttmem_mesh_buffer_alloc(mesh, 2, &one);
}
static const ttmem_cb cb = {105664, 1024, &grid, 1, 0};
static void place(void) { ttmem_program_place(0, 1, &cb, 1); }
static void place_with(void) {
  ttmem_placement placement;
  memset(&placement, 0, sizeof placement);
  placement.struct_size = sizeof placement;
  placement.cb_size = sizeof cb;
  placement.program = 2;
  placement.cbs = &cb;
  placement.cb_count = 1;
  placement.name = "a program";
  ttmem_program_place_with(0, &placement);
}
static void place_on_mesh(void) { ttmem_mesh_program_place(mesh, 2, 3, &cb, 1); }
static void dispatch(void) { ttmem_program_dispatch(0, 1); }
static void dispatch_on_mesh(void) { ttmem_mesh_program_dispatch(mesh, 2, 3); }
static void replay(void) {
  const uint64_t programs[] = {1, 2, 3};
  ttmem_trace_replay(0, programs, 3);
}
static void load(void) { ttmem_kernel_load(0, 1, 4096, TTMEM_KERNEL_APP); }
static void unload(void) { ttmem_kernel_unload(0, 1); }
static void loose_cb(void) { ttmem_cb_alloc(0, 1, 4096); }
static void free_loose_cb(void) { ttmem_cb_free(0, 1); }
static void push(void) { ttmem_scope_push("a scope"); }
static void pop(void) { ttmem_scope_pop(); }
static void mark(void) { ttmem_mark("a moment"); }
static void fail(void) { ttmem_failure("out of memory"); }
static void destroy(void) { ttmem_program_destroy(3); }
static void free_one(void) { ttmem_buffer_free(0, TTMEM_DRAM, 7); }
static void free_on_mesh(void) { ttmem_mesh_buffer_free(mesh, 2, TTMEM_DRAM, 9000); }
static void close_device(void) { ttmem_device_close(0); }

static void (*const calls[])(void) = {
    open_device,   push,     allocate,    allocate_on_mesh, place,         place_with,
    place_on_mesh, dispatch, replay,      dispatch_on_mesh, load,          loose_cb,
    mark,          fail,     unload,      destroy,          free_loose_cb, free_one,
    free_on_mesh,  pop,      close_device};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* Makes all calls in order, in a new child. During calls[which], the allocation with this number
 * fails. Returns CHANGED if a call changed errno, PASSED if that allocation failed, or NOT_REACHED
 * if calls[which] made fewer allocations. */
static int try_one(size_t which, unsigned long allocation) {
  int result = NOT_REACHED;
  for (size_t i = 0; i < CALLS; ++i) {
    errno = MARK;
    failed = 0;
    left = i == which ? allocation : 0;
    calls[i]();
    left = 0;
    if (errno != MARK) return CHANGED;
    if (failed) result = PASSED;
  }
  return result;
}

int main(void) {
  unsigned long failures = 0;
  int bad = 0;
  for (size_t which = 0; which < CALLS; ++which) {
    int reached = 1;
    for (unsigned long allocation = 1; reached && allocation <= MAX_ALLOCATIONS; ++allocation) {
      const pid_t child = fork();
      if (child == 0) _exit(try_one(which, allocation));
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child) return 1;
      reached = !WIFEXITED(status) || WEXITSTATUS(status) != NOT_REACHED;
      failures += (unsigned long)reached;
      if (WIFEXITED(status) && WEXITSTATUS(status) != CHANGED) continue;
      fprintf(stderr, "call %zu, allocation %lu: %s\n", which, allocation,
              WIFEXITED(status) ? "errno changed" : "crashed");
      bad = 1;
    }
  }
  printf("%lu\n", failures);
  return bad;
}
