/* SPDX-License-Identifier: Apache-2.0
 *
 * ttmem: the C interface of the tracker (libttmem.so).
 *
 * A runtime, or any program, calls these functions when it allocates and frees memory on a
 * Tenstorrent device; `ttmem` and its relatives then show who holds what.
 *
 * - Tracking is off unless the environment has TT_ALLOC_TRACKING_ENABLED=1 at the first call.
 *   Off, every function returns after one branch.
 * - Every function may be called from any thread at any time, also after fork() (the child begins
 *   with nothing) and during exit (then it does nothing).
 * - A call from a signal handler that interrupted a call of the same thread returns at once, and is
 *   counted as dropped. Other calls from handlers are as safe as malloc() is there.
 * - Nothing here fails visibly, throws, prints or waits for a reader. What could not be recorded
 *   (no shared memory left, bad arguments, a free of something unknown) is counted, and `ttmem`
 *   shows the count.
 * - Pointers are only read during the call. Strings are copied; of labels and names longer than 120
 *   bytes the middle is left out.
 * - Ids are the caller's. A buffer's is unique among the live buffers of its type on its device, a
 *   kernel's among the kernels and a CB's among the CBs of its device; another device or type may
 *   use the same number. A program's is unique in the process, and the same on all its devices.
 * - A device that is not open is opened, with unknown capacities, by every call that names it but
 *   ttmem_device_close.
 * - A structure with `struct_size` may be shorter or longer than this header's: missing fields are
 *   unknown, further ones are ignored. Set it to sizeof; a call that leaves it 0 is dropped.
 */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

#include <stdint.h>

/* The version of this header, written here alone: the build takes it from here. One number, to be
 * compared: 10203 is 1.2.3. */
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

/* The numbers of TT-Metal's BufferType. SYSTEM is host memory: counted, not device memory. */
typedef enum {
  TTMEM_DRAM = 0,
  TTMEM_L1 = 1,
  TTMEM_SYSTEM = 2,
  TTMEM_L1_SMALL = 3,
  TTMEM_TRACE = 4
} ttmem_buffer_type;

/* FABRIC and DISPATCH kernels stay loaded until the device closes: shown as persistent. */
typedef enum {
  TTMEM_KERNEL_APP = 0,
  TTMEM_KERNEL_FABRIC = 1,
  TTMEM_KERNEL_DISPATCH = 2
} ttmem_kernel_role;

/* Logical compute cores; both corners are included. */
typedef struct {
  uint16_t x0, y0, x1, y1;
} ttmem_core_range;

/* Zero or null means unknown, and is shown as unknown. `id` is the chip's logical number in this
 * process; `uid` is the chip's own number, the same in every process. */
typedef struct {
  uint32_t struct_size;
  uint32_t id;
  uint64_t uid;
  const char *arch, *board; /* "wormhole_b0", "n300" */
  uint16_t grid_x, grid_y;  /* the compute grid */
  uint32_t l1_bytes_per_core, l1_base, l1_small_bytes_per_core;
  uint32_t dram_channels;
  uint64_t dram_bytes_per_channel, trace_region_bytes;
} ttmem_device_info;

/* A buffer takes [address, address + bytes_per_bank) in every bank of the device: the runtime's
 * allocator works in lockstep. `cores` says where its bytes lie (the shards); none: in every bank.
 * `id` names the buffer for ttmem_buffer_free; 0 means that the address is the id (TT-Metal's
 * unique ids begin at 0: pass them plus one). `bytes_per_bank` 0 means unknown. */
typedef struct {
  uint32_t struct_size;
  ttmem_buffer_type type;
  uint64_t id, address, bytes, bytes_per_bank;
  const ttmem_core_range *cores;
  uint32_t core_ranges; /* how many there are in `cores` */
  const char *label;    /* op or tensor name, may be null */
  uint32_t flags;
  uint32_t reserved;   /* 0 */
  uint64_t page_bytes; /* 0 means unknown */
} ttmem_buffer;

/* The buffer's allocator covers `cores` and no other banks, as that of a sub-device does: the range
 * is taken there only. Without `cores` it means nothing. */
#define TTMEM_BUFFER_OWN_BANKS 1u

/* How its pages lie: one after the other in all banks, or as shards in those of `cores` (of a DRAM
 * buffer these are banks, (x, 0)). And from which end of the bank it was taken, where that is not
 * the usual one: DRAM and TRACE from the bottom, L1 and L1_SMALL from the top. With none of a pair
 * that is unknown, or usual. `ttmem fit` needs this and `page_bytes` to place a buffer on another
 * board; no figure depends on it. */
#define TTMEM_BUFFER_INTERLEAVED 2u
#define TTMEM_BUFFER_SHARDED 4u
#define TTMEM_BUFFER_BOTTOM_UP 8u
#define TTMEM_BUFFER_TOP_DOWN 16u

/* One circular buffer: [address, address + bytes) of the L1 of each of its cores. */
typedef struct {
  uint64_t address, bytes;
  const ttmem_core_range *cores;
  uint32_t core_ranges; /* how many there are in `cores` */
  uint32_t flags;
} ttmem_cb;

/* A view on an L1 buffer, whose bytes are counted there and not again. */
#define TTMEM_CB_GLOBAL 1u

/* Where a program lies. `cb_size` is sizeof(ttmem_cb): the distance from one CB to the next, so
 * that CBs may grow. */
typedef struct {
  uint32_t struct_size;
  uint32_t cb_size;
  uint64_t program;
  const ttmem_cb *cbs;
  uint32_t cb_count;
  uint32_t reserved; /* 0 */
  const char *name;  /* shown for the program, may be null */
} ttmem_placement;

/* 1 when this process is tracked, 0 when tracking is off or could not start. */
TTMEM_API int ttmem_enabled(void);

/* Announces a device, or more of what is known of it: unknown fields keep what was known. Opening
 * an open device keeps what it holds. */
TTMEM_API void ttmem_device_open(const ttmem_device_info *info);

/* What a process reports of a device: a bit 1u << type for each buffer type, and these. */
#define TTMEM_REPORTS_BUFFERS 0x1fu    /* all buffer types */
#define TTMEM_REPORTS_PROGRAMS 0x20u   /* programs and their circular buffers */
#define TTMEM_REPORTS_KERNELS 0x40u    /* kernels */
#define TTMEM_REPORTS_DISPATCHES 0x80u /* dispatches and replayed traces: what is resident */

/* From now on this process reports all that it does with the memory of these kinds on `device`: as
 * long as it reports nothing, it holds nothing of them, and that is shown as 0. Without this call
 * a kind is unknown until the first call that reports it. For a runtime with hooks; a program that
 * reports by hand what it likes does not call this. Bits add up, and unknown ones are ignored. */
TTMEM_API void ttmem_reports(uint32_t device, uint32_t what);

/* This process cannot report all that it does with the memory of these kinds, on any device: they
 * are unknown again, until a call reports them. `why` is a sentence for the warnings that `ttmem`
 * shows, of at most 120 bytes: what is not seen, the reason, the next step. The first 4 different
 * ones are kept for the life of the process. A null or empty one is none. */
TTMEM_API void ttmem_not_seen(uint32_t what, const char *why);

/* Everything on the device is gone. What was still allocated is counted as left. Does nothing when
 * the device is not open. */
TTMEM_API void ttmem_device_close(uint32_t device);

/* A live id is replaced by the new buffer, and counted as an anomaly. A buffer of 0 bytes is live,
 * and is listed. */
TTMEM_API void ttmem_buffer_alloc(uint32_t device, const ttmem_buffer *buffer);

/* The buffer is gone. `id` is that of the allocation, or the address where that was 0. When no such
 * buffer is live, no figure changes and an unknown free is counted. */
TTMEM_API void ttmem_buffer_free(uint32_t device, ttmem_buffer_type type, uint64_t id);

/* The CBs of `program` have addresses on `device` from now on. The same layout again changes
 * nothing; another layout replaces the earlier one. Without CBs (`count` 0, or `cbs` null) the
 * program is listed, and takes no memory. A program with more than 1024 CBs is in every figure, but
 * not in the list of programs. */
TTMEM_API void ttmem_program_place(uint32_t device, uint64_t program, const ttmem_cb *cbs,
                                   uint32_t count);

/* The same with a name. A null or empty name keeps the one that the program has on `device`;
 * another one replaces it. A process may give at least 16384 different names; for later ones there
 * may be no room. A `cb_size` below that of this header drops the call. */
TTMEM_API void ttmem_program_place_with(uint32_t device, const ttmem_placement *placement);

/* `program` was sent to `device`: its CBs are what its cores hold now. A program that was not
 * placed on `device` changes no figure, and is counted as unknown. */
TTMEM_API void ttmem_program_dispatch(uint32_t device, uint64_t program);

/* A captured trace of these programs is replayed: each core holds the largest of them. Those that
 * were not placed on `device` are counted as unknown. A trace of no programs changes nothing. */
TTMEM_API void ttmem_trace_replay(uint32_t device, const uint64_t *programs, uint32_t count);

/* The program is gone, from every device it was placed on. Does nothing when it was placed on
 * none. */
TTMEM_API void ttmem_program_destroy(uint64_t program);

/* Where something comes from. What this thread allocates and places between a push and its pop
 * carries the path of all scopes that it is in: "decoder.0/attention". Scopes belong to a thread
 * and are nested, at most 64 deep; deeper ones, and those for which there is no room (a process may
 * have at least 16384 different ones), count as the one around them. A pop without a push does
 * nothing. A null or empty name is shown as "(unnamed)". A child that is forked inside scopes
 * begins in them. Clients of a server (TTMEM_TRANSPORT=socket) do not report scopes. */
TTMEM_API void ttmem_scope_push(const char *name);
TTMEM_API void ttmem_scope_pop(void);

/* This moment has a name: an iteration, the end of loading. */
TTMEM_API void ttmem_mark(const char *name);

/* The runtime said, in these words, that memory did not suffice. What this process holds at this
 * moment is kept, so that it is known after everything was freed and the process is gone (`ttmem
 * explain`, and at the end of `ttmem run`): beside its segment, at most once; a later failure takes
 * the place of an earlier one. Of a text longer than 1024 bytes the middle is left out. Nothing is
 * kept when there is no room for it (it takes what the segment takes without its events, at most
 * 128 MiB), nor with TTMEM_TRANSPORT=socket; it is gone when the process exits with 0.
 *
 * Call it before memory is freed again, once for each failure: the same text again, or with more
 * around it, is taken for the same failure until something is allocated or placed. A null or empty
 * text counts as a dropped call. It takes milliseconds. */
TTMEM_API void ttmem_failure(const char *text);

/* The same on each device of a mesh, in one call: every device's figures are what they are after
 * one call for each device of the list, in its order, and no reader finds some of the devices
 * without the others in the list of allocations. A buffer is then one record, and one row with all
 * of its devices; `address`, `bytes` and `bytes_per_bank` are those on one device. Devices of
 * another shape (grid, DRAM channels) than the others get a record of their own.
 *
 * The buffer of a mesh may be freed on some of its devices, by either free, or by closing one of
 * them: it stays on the others. A device on which it is not live counts an unknown free.
 *
 * A list without devices (null, or `count` 0) or with more than TTMEM_MESH_MAX_DEVICES drops the
 * call. A device that is named again counts once, and as a bad argument. A device for which there
 * is no room (a process may have TTMEM_MESH_MAX_DEVICES of them) counts as a dropped call, and the
 * others of the list count. */
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

/* With `is_estimate` not 0, the CB figures of this process on `device` are an estimate from now on:
 * shown, and always marked as one. For a runtime whose hooks do not say which program its CBs
 * belong to, or which program is gone. 0 makes them exact again, and so does closing the device.
 * Does nothing when the device is not open. */
TTMEM_API void ttmem_cb_estimate(uint32_t device, int is_estimate);

/* For callers that know of a CB only its number and size: counted in the CB bytes of the device, in
 * no core's, and in no program. The same id again counts once, at its largest size, until it was
 * freed as often as it was allocated. */
TTMEM_API void ttmem_cb_alloc(uint32_t device, uint64_t id, uint64_t bytes);

/* Undoes one ttmem_cb_alloc. When no such CB is live, no figure changes and an unknown free is
 * counted. */
TTMEM_API void ttmem_cb_free(uint32_t device, uint64_t id);

/* `bytes` is what the kernel takes on the whole device. Loading a loaded kernel again replaces
 * its size. */
TTMEM_API void ttmem_kernel_load(uint32_t device, uint64_t kernel, uint64_t bytes,
                                 ttmem_kernel_role role);

/* The same for a size that is only an estimate: shown, and always marked as one. */
TTMEM_API void ttmem_kernel_load_estimate(uint32_t device, uint64_t kernel, uint64_t bytes,
                                          ttmem_kernel_role role);

/* The kernel is gone, however often it was loaded. When it is not loaded, no figure changes and an
 * unknown free is counted. */
TTMEM_API void ttmem_kernel_unload(uint32_t device, uint64_t kernel);

#ifdef __cplusplus
}
#endif

#endif /* TTMEM_TTMEM_H */
