/* SPDX-License-Identifier: Apache-2.0
 *
 * ttmem: the C interface of the tracker (libttmem.so). A program calls these functions when it
 * allocates and frees memory on a Tenstorrent device; `ttmem` then shows who holds what.
 *
 *   #include <stdio.h>
 *   #include <ttmem/ttmem.h>
 *
 *   int main(void) {
 *     ttmem_device_info info = {.struct_size = sizeof info, .id = 0, .arch = "wormhole_b0",
 *                               .grid_x = 8, .grid_y = 8, .l1_bytes_per_core = 1499136,
 *                               .dram_channels = 12, .dram_bytes_per_channel = 1u << 30};
 *     ttmem_device_open(&info);
 *
 *     ttmem_buffer weights = {.struct_size = sizeof weights, .type = TTMEM_DRAM, .id = 1,
 *                             .address = 1048640, .bytes = 1310720, .bytes_per_bank = 110592,
 *                             .label = "layers.0.weight"};
 *     ttmem_buffer_alloc(0, &weights);
 *
 *     const ttmem_core_range grid = {0, 0, 7, 7};
 *     const ttmem_cb input = {.address = 105664, .bytes = 4096, .cores = &grid, .core_ranges = 1};
 *     ttmem_program_place(0, 1, &input, 1);
 *     ttmem_program_dispatch(0, 1);
 *
 *     puts("Type ttmem in another terminal. Enter ends this program.");
 *     getchar();
 *     ttmem_program_destroy(1);
 *     ttmem_buffer_free(0, TTMEM_DRAM, 1);
 *     ttmem_device_close(0);
 *   }
 *
 *   cc program.c $(pkg-config --cflags --libs ttmem) -o program
 *   TT_ALLOC_TRACKING_ENABLED=1 ./program
 *
 * Sections: version, devices, buffers, circular buffers and programs, kernels, meshes, scopes and
 * marks, failures, former names.
 *
 * Tracking: a process is tracked if its environment has TT_ALLOC_TRACKING_ENABLED=1 at the first
 * call. `ttmem run` sets this variable, whose name comes from the original tracking tools. In a
 * process that is not tracked, every function returns after one branch.
 *
 * Threads: any thread may call any function at any time, also after fork() (the child starts
 * without devices and allocations) and during exit (the call does nothing). If a signal handler has
 * interrupted a call of its own thread, a call from the handler returns at once and counts as
 * dropped. Any other call from a signal handler is as unsafe as a call of malloc().
 *
 * Errors: no function fails visibly, throws, prints, or waits for a reader. Bad arguments, calls
 * that shared memory has no room for, and frees of unknown ids are counted; `ttmem` shows the
 * counts.
 *
 * Pointers: the library reads pointers only during the call, and copies strings. If a label or name
 * is longer than 120 bytes, its middle is left out.
 *
 * Ids: the caller chooses the ids. The id of a buffer is unique among the live buffers of its type
 * on its device. The id of a kernel is unique among the kernels of its device, and the id of a
 * loose CB among the loose CBs of its device. The id of a program is unique in the process, and is
 * the same on all devices of the program.
 *
 * Devices: a call for a device that is not open opens the device with unknown capacities. Only
 * ttmem_device_close() and ttmem_cb_estimate() ignore a device that is not open.
 *
 * Structures: set `struct_size` to sizeof the structure. A structure of another version of this
 * header may be shorter or longer: missing fields are unknown, additional fields are ignored. A
 * call with a `struct_size` that is 0, or too small for the mandatory fields, is dropped.
 */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

#include <stdint.h>

/* ---- Version ---------------------------------------------------------------------------------
 *
 * The build reads the version from here. TTMEM_VERSION is one number for comparisons: 10203 is
 * 1.2.3. */
#define TTMEM_VERSION_MAJOR 0
#define TTMEM_VERSION_MINOR 1
#define TTMEM_VERSION_PATCH 0
#define TTMEM_VERSION \
  (TTMEM_VERSION_MAJOR * 10000 + TTMEM_VERSION_MINOR * 100 + TTMEM_VERSION_PATCH)

#if defined(__GNUC__)
#define TTMEM_API __attribute__((visibility("default")))
#else
#define TTMEM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if this process is tracked, and 0 if tracking is off or could not start. */
TTMEM_API int ttmem_enabled(void);

/* ---- Devices --------------------------------------------------------------------------------- */

/* A device. A field that is 0 or null is unknown, and is shown as unknown. */
typedef struct {
  uint32_t struct_size;
  uint32_t id;              /* number of the chip in this process */
  uint64_t uid;             /* the chip's own number, which is the same in every process */
  const char *arch, *board; /* "wormhole_b0", "n300" */
  uint16_t grid_x, grid_y;  /* size of the grid of compute cores */
  uint32_t l1_bytes_per_core, l1_base, l1_small_bytes_per_core;
  uint32_t dram_channels;
  uint64_t dram_bytes_per_channel, trace_region_bytes;
} ttmem_device_info;

/* Opens a device, or adds the facts in `info` to an open device: fields that are unknown in `info`
 * keep their values. An open device keeps its buffers, programs and kernels. */
TTMEM_API void ttmem_device_open(const ttmem_device_info *info);

/* Closes a device and removes everything on the device. Allocations that are still live, except
 * persistent kernels, are counted in the anomaly left_at_close. Does nothing if the device is
 * not open. */
TTMEM_API void ttmem_device_close(uint32_t device);

/* Kinds of memory that a process reports. Combine the values with |; unknown bits are ignored. The
 * value of a single buffer type is 1u << type. */
#define TTMEM_REPORTS_BUFFERS 0x1fu    /* all buffer types */
#define TTMEM_REPORTS_PROGRAMS 0x20u   /* programs and their circular buffers */
#define TTMEM_REPORTS_KERNELS 0x40u    /* kernels */
#define TTMEM_REPORTS_DISPATCHES 0x80u /* dispatches and replayed traces: resident CBs */

/* States that this process reports everything that it does with these kinds on `device`. Figures
 * of these kinds are then 0 until something is allocated. Without this call, the figures of a
 * kind are unknown until the first call about the kind. This function is for runtimes with
 * hooks, not for a program that reports only some of its memory. */
TTMEM_API void ttmem_set_reported(uint32_t device, uint32_t kinds);

/* States that this process cannot report everything that it does with these kinds, on any
 * device. The figures of each kind become unknown, until the next call about the kind. `why` is
 * a sentence of at most 120 bytes, which `ttmem` shows as a warning. The sentence says which
 * memory is not seen, the reason, and the next step. The first 4 different sentences are shown
 * as long as the process lives; later sentences are ignored. `why` may be null or empty. */
TTMEM_API void ttmem_set_unseen(uint32_t kinds, const char *why);

/* ---- Buffers --------------------------------------------------------------------------------- */

/* The values of TT-Metal's BufferType. SYSTEM is host memory, which is counted but is not memory of
 * the device. */
typedef enum {
  TTMEM_DRAM = 0,
  TTMEM_L1 = 1,
  TTMEM_SYSTEM = 2,
  TTMEM_L1_SMALL = 3,
  TTMEM_TRACE = 4
} ttmem_buffer_type;

/* A rectangle of logical compute cores. Both corners are included. */
typedef struct {
  uint16_t x0, y0, x1, y1;
} ttmem_core_range;

/* Flags of a buffer. Only `ttmem fit` uses the last four flags, to place the buffer on another
 * board. */

/* The allocator of the buffer covers only `cores`, for example because the allocator belongs to a
 * sub-device. The buffer then takes no bytes in other banks. The flag is ignored if `cores` is
 * null. */
#define TTMEM_BUFFER_OWN_BANKS 1u
/* The pages are spread over all banks in turn (interleaved). */
#define TTMEM_BUFFER_INTERLEAVED 2u
/* The pages lie in shards, in the banks of `cores`. For a buffer in DRAM, the core (x, 0) stands
 * for bank x. */
#define TTMEM_BUFFER_SHARDED 4u
/* The end of the bank from which the buffer was allocated. If neither of these two flags is set,
 * the buffer was allocated from the usual end: the bottom for DRAM and TRACE, the top for L1 and
 * L1_SMALL. */
#define TTMEM_BUFFER_BOTTOM_UP 8u
#define TTMEM_BUFFER_TOP_DOWN 16u

/* A buffer. The runtime's allocator works in lockstep: the buffer takes [address, address +
 * bytes_per_bank) in every bank of the device, even in banks that hold none of its bytes. */
typedef struct {
  uint32_t struct_size;
  ttmem_buffer_type type;
  uint64_t id;             /* names the buffer for ttmem_buffer_free(); 0: the address is the id.
                              Add 1 to TT-Metal's unique ids, because they begin at 0 */
  uint64_t address, bytes; /* bytes: the logical size */
  uint64_t bytes_per_bank; /* 0: unknown */
  const ttmem_core_range *cores; /* the cores that hold the bytes (shards); null: every bank */
  uint32_t core_ranges;          /* number of ranges in `cores` */
  const char *label;             /* name of the operation or tensor; may be null */
  uint32_t flags;                /* TTMEM_BUFFER_... */
  uint32_t reserved;             /* 0 */
  uint64_t page_bytes;           /* 0: unknown */
} ttmem_buffer;

/* Adds a buffer. A buffer with the id of a live buffer replaces the live buffer, and counts as an
 * anomaly. A buffer of 0 bytes is live and is listed. */
TTMEM_API void ttmem_buffer_alloc(uint32_t device, const ttmem_buffer *buffer);

/* Removes a buffer. `id` is the id that was given to ttmem_buffer_alloc(), or the buffer's
 * address if that id was 0. If no such buffer is live, no figure changes, and an unknown free is
 * counted. */
TTMEM_API void ttmem_buffer_free(uint32_t device, ttmem_buffer_type type, uint64_t id);

/* ---- Circular buffers (CBs) and programs ----------------------------------------------------- */

/* Flag of a CB: the CB is a view on an L1 buffer. Only the buffer's bytes count. */
#define TTMEM_CB_GLOBAL 1u

/* A circular buffer: [address, address + bytes) in the L1 of each of its cores. */
typedef struct {
  uint64_t address, bytes;
  const ttmem_core_range *cores;
  uint32_t core_ranges; /* number of ranges in `cores` */
  uint32_t flags;       /* TTMEM_CB_GLOBAL */
} ttmem_cb;

/* A program and its CBs. */
typedef struct {
  uint32_t struct_size;
  uint32_t cb_size; /* sizeof(ttmem_cb): the distance between two CBs, so that ttmem_cb can grow */
  uint64_t program;
  const ttmem_cb *cbs;
  uint32_t cb_count;
  uint32_t reserved; /* 0 */
  const char *name;  /* shown for the program; may be null */
} ttmem_placement;

/* Places a program on a device: its CBs have addresses from now on. Placing a program again with
 * the same CBs changes nothing; other CBs replace the earlier CBs. A program without CBs
 * (`count` 0, or `cbs` null) is listed and takes no memory. A program with more than 1024 CBs
 * counts in every figure, but is missing in the list of programs. */
TTMEM_API void ttmem_program_place(uint32_t device, uint64_t program, const ttmem_cb *cbs,
                                   uint32_t count);

/* Places a program that has a name. A null or empty name keeps the name that the program has on
 * `device`. A process has room for at least 16384 different names; later names may be missing. A
 * call with a `cb_size` below sizeof(ttmem_cb) is dropped. */
TTMEM_API void ttmem_program_place_with(uint32_t device, const ttmem_placement *placement);

/* Makes a program resident: from now on, the cores of the program on `device` hold its CBs. If the
 * program is not placed on `device`, no figure changes, and an unknown program is counted. */
TTMEM_API void ttmem_program_dispatch(uint32_t device, uint64_t program);

/* Makes a replayed trace resident: each core then holds the CBs of the program that takes the
 * most bytes on the core. A program that is not placed on `device` is ignored, and counts as an
 * unknown program. Does nothing if `count` is 0. */
TTMEM_API void ttmem_trace_replay(uint32_t device, const uint64_t *programs, uint32_t count);

/* Removes a program from every device. Does nothing if the program is placed on no device. */
TTMEM_API void ttmem_program_destroy(uint64_t program);

/* Marks the CB figures of this process on `device` as an estimate, or as exact if `is_estimate` is
 * 0. Closing the device makes the figures exact again. This function is for a runtime whose hooks
 * do not report the program of a CB, or the end of a program. Does nothing if the device is not
 * open. */
TTMEM_API void ttmem_cb_estimate(uint32_t device, int is_estimate);

/* Adds a loose CB, of which the caller knows only an id and the size. The CB counts in the CB
 * bytes of the device, but for no core and for no program. If an id is added several times, the CB
 * counts once, with its largest size, until the id has been freed as often as it was added. */
TTMEM_API void ttmem_cb_alloc(uint32_t device, uint64_t id, uint64_t bytes);

/* Undoes one ttmem_cb_alloc(). If no such CB is live, no figure changes, and an unknown free is
 * counted. */
TTMEM_API void ttmem_cb_free(uint32_t device, uint64_t id);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* FABRIC and DISPATCH kernels stay loaded until the device closes; they are shown as persistent. */
typedef enum {
  TTMEM_KERNEL_APP = 0,
  TTMEM_KERNEL_FABRIC = 1,
  TTMEM_KERNEL_DISPATCH = 2
} ttmem_kernel_role;

/* Adds a kernel. `bytes` is the total size of the kernel on all cores of the device. If the kernel
 * is loaded already, `bytes` replaces its size. */
TTMEM_API void ttmem_kernel_load(uint32_t device, uint64_t kernel, uint64_t bytes,
                                 ttmem_kernel_role role);

/* Adds a kernel whose size is an estimate. The size is shown as an estimate everywhere. */
TTMEM_API void ttmem_kernel_load_estimate(uint32_t device, uint64_t kernel, uint64_t bytes,
                                          ttmem_kernel_role role);

/* Removes a kernel. One call is enough, even if the kernel was loaded several times. If the kernel
 * is not loaded, no figure changes, and an unknown free is counted. */
TTMEM_API void ttmem_kernel_unload(uint32_t device, uint64_t kernel);

/* ---- Meshes: several devices in one call -------------------------------------------------------
 *
 * Each function has the effect of one call per device, in the order of the list. But all devices
 * of one shape (grid, DRAM channels) share one record of a buffer: the buffer is shown in one row
 * with all these devices, and readers find it on all of them or on none. `address`, `bytes` and
 * `bytes_per_bank` are the values on one device.
 *
 * A buffer of a mesh may be freed on some of its devices, by either free function or by closing a
 * device. The buffer then stays on the other devices. If the buffer is not live on a device of the
 * list, the device counts an unknown free.
 *
 * A call is dropped if the list is empty (null, or `count` 0) or has more than
 * TTMEM_MESH_MAX_DEVICES entries. A device that is listed twice counts once, and its repetition
 * counts as a bad argument. A process has room for TTMEM_MESH_MAX_DEVICES devices. Each further
 * device of a list counts as a dropped call, and the other devices of the list count as usual. */
#define TTMEM_MESH_MAX_DEVICES 128u
TTMEM_API void ttmem_mesh_buffer_alloc(const uint32_t *devices, uint32_t count,
                                       const ttmem_buffer *buffer);
TTMEM_API void ttmem_mesh_buffer_free(const uint32_t *devices, uint32_t count,
                                      ttmem_buffer_type type, uint64_t id);
TTMEM_API void ttmem_mesh_program_place(const uint32_t *devices, uint32_t count, uint64_t program,
                                        const ttmem_cb *cbs, uint32_t cb_count);
TTMEM_API void ttmem_mesh_program_place_with(const uint32_t *devices, uint32_t count,
                                             const ttmem_placement *placement);
TTMEM_API void ttmem_mesh_program_dispatch(const uint32_t *devices, uint32_t count,
                                           uint64_t program);

/* ---- Scopes and marks ------------------------------------------------------------------------ */

/* Begins or ends a scope of this thread. Allocations and programs of the thread carry the path
 * of all scopes around the call: "decoder.0/attention". Scopes nest up to 64 deep. A process has
 * room for at least 16384 different scopes. A scope that is nested deeper, or for which there is
 * no room, is ignored: its allocations count for the enclosing scope. A pop without a push does
 * nothing. A null or empty name is shown as "(unnamed)". A forked child starts in the scopes of
 * its parent. With TTMEM_TRANSPORT=socket, scopes are not reported. */
TTMEM_API void ttmem_scope_push(const char *name);
TTMEM_API void ttmem_scope_pop(void);

/* Gives this moment a name, such as "iteration 7" or "weights loaded". */
TTMEM_API void ttmem_mark(const char *name);

/* ---- Failures -------------------------------------------------------------------------------- */

/* Reports that the runtime is out of memory; `text` is the runtime's message. A copy of the
 * process's segment is kept beside the segment, for `ttmem explain` and for the end of `ttmem
 * run`. A later failure replaces the copy. If the text is longer than 1024 bytes, its middle is
 * left out.
 *
 * Call this function before any memory is freed again, once per failure. A call reports no new
 * failure if nothing was allocated or placed since the last failure, and the first line of `text`
 * contains, or is contained in, the first line of that failure. A null or empty text counts as a
 * dropped call. The call takes milliseconds.
 *
 * No copy is kept with TTMEM_TRANSPORT=socket, or if there is no room for the copy. A copy takes
 * as much space as the segment without its events. If this is more than 128 MiB, no copy is
 * made. The copy is removed if the process exits with status 0. */
TTMEM_API void ttmem_report_failure(const char *text);

/* ---- Former names ------------------------------------------------------------------------------
 *
 * Programs that use these names keep working. */
TTMEM_API void ttmem_reports(uint32_t device, uint32_t what);  /* ttmem_set_reported() */
TTMEM_API void ttmem_not_seen(uint32_t what, const char *why); /* ttmem_set_unseen() */
TTMEM_API void ttmem_failure(const char *text);                /* ttmem_report_failure() */

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_TTMEM_H */
