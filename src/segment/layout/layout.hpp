// SPDX-License-Identifier: Apache-2.0
//
// The layout of a segment: one shared-memory file per tracked process.
// docs/internals/segment-layout.md is the specification with a picture; the assertions of this
// header enforce the specification.
//
// Roles: ONE process writes the segment (its tracker, under one lock). Any process may read the
// segment; readers never write.
//
// Invariants that readers rely on:
//  1. `Header::magic` is stored last, after the writer holds the flock of the file.
//  2. A record with `seq` is being written while `seq` is odd. A reader that finds the same even
//     `seq` before and after its copy has an untorn copy. stable_copy.hpp explains why.
//  3. `Header::events` only grows. `born` of a slot is the number of the event that created the
//     slot. If a reader first reads T from `events`, and then finds several live slots whose `born`
//     is at most T, all these slots were live at event T.
//  4. A chunk's kind is stored before `Header::chunk_count` covers the chunk, and never changes.
//  5. Every 8-byte figure is stored in one piece: a single figure is never torn.
//
// All numbers are little-endian. Times are CLOCK_MONOTONIC nanoseconds unless the name contains
// "unix".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/anomalies.hpp"
#include "base/bit_mask.hpp"
#include "base/core_mask.hpp"
#include "base/kind_figures.hpp"

namespace ttmem::segment {

inline constexpr std::uint64_t kMagic = 0x4745534d454d5454;  // "TTMEMSEG"
// Each version only adds to the version before it (docs/internals/segment-layout.md), so a reader
// accepts all versions up to its own.
inline constexpr std::uint32_t kLayoutVersion = 4;
inline constexpr std::uint32_t kOldestLayoutVersion = 1;

inline constexpr std::uint32_t kHeaderBytes = 16384;  // the Header and the chunk table
inline constexpr std::uint32_t kChunkTableOffset = 512;
inline constexpr std::uint32_t kChunkBytes = 65536;
inline constexpr std::uint32_t kMaxChunks = 8192;  // 8192 chunks together take 512 MiB
inline constexpr std::uint32_t kFailureOffset = kChunkTableOffset + kMaxChunks;
inline constexpr std::uint32_t kJobOffset = 9856;
inline constexpr std::uint32_t kRunOffset = 10560;
inline constexpr std::uint32_t kMaxDevices = 128;
// The suffix of the name of a proxy segment. A server writes the proxy segment for a client, and
// holds its lock.
inline constexpr std::string_view kProxySuffix = ".socket";
// Part of the name of a segment that an ended process left for a reader. The pid and the pid
// namespace of the reader follow, as in TTMEM_KEEP_FOR: `....ended.4711.4026531836`. A reader sets
// TTMEM_KEEP_FOR for the processes that it starts. At a clean exit, these processes rename their
// segments instead of removing them. Only the reader that set TTMEM_KEEP_FOR reads the renamed
// segments, and removes them.
inline constexpr std::string_view kKeptSuffix = ".ended.";
// Part of the name of a symbolic link that a process leaves when it cannot have a segment. An errno
// and a pid namespace follow: `....untracked.28.4026531836`. The target of the link is
// public_run_ids() of $TTMEM_RUN, or "-" if there are none. A link is used, and not a file, because
// a link needs no space.
inline constexpr std::string_view kUntrackedSuffix = ".untracked.";
// kFailedSuffix ends the name of a copy of the segment, made when the process ran out of memory.
// kUnfinishedSuffix ends the name while the copy is being made.
inline constexpr std::string_view kFailedSuffix = ".failed";
inline constexpr std::string_view kUnfinishedSuffix = ".failed.new";

inline constexpr std::uint32_t kMaxCbsPerProgram =
    1024;  // the CB records of a program lie in one chunk
// The maximum number of different names, long labels and scopes of a process.
inline constexpr std::uint32_t kMaxTexts = 65536;
inline constexpr std::uint32_t kMaxScopeDepth = 64;

inline constexpr std::uint32_t kMaxDeviceSets = 2048;  // 2048 sets fill one chunk
inline constexpr std::uint32_t kMaxNotSeen = 4;  // maximum number of texts in Header::not_seen

// A set of devices. The numbers are the indices of the device records.
using DeviceMask = BitMask<kMaxDevices>;

// The type of the records in a chunk. All chunks of one kind together form one array, in the order
// of the file.
enum class ChunkKind : std::uint8_t {
  none = 0,
  device = 1,
  allocation = 2,
  program = 3,
  cb = 4,
  event = 5,
  text = 6,
  device_set = 7,
};

// `client_ended` occurs only in a proxy segment: the server holds the lock of a proxy segment, so
// the lock does not show whether the client lives.
enum class ExitState : std::uint32_t { running = 0, clean = 1, client_ended = 2 };

struct Header {
  // The following fields are fixed before `magic` is stored.
  std::uint64_t magic;
  std::uint32_t layout_version;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t device_bytes;
  std::uint32_t allocation_bytes;
  std::uint32_t program_bytes;
  std::uint32_t cb_bytes;
  std::uint32_t event_bytes;
  std::int32_t pid;  // in the writer's pid namespace
  std::uint32_t uid;
  std::uint64_t start_time_ticks;  // field 22 of /proc/PID/stat
  std::uint8_t boot_id[16];
  std::uint64_t created_unix_ns;
  std::uint64_t created_ns;
  char name[32];      // as in /proc/PID/comm
  char command[256];  // arguments joined by blanks, truncated
  std::uint32_t text_bytes;
  std::uint32_t pid_namespace;  // namespace of `pid`: inode of /proc/self/ns/pid; 0 means unknown

  // The following fields change while the process lives.
  std::uint32_t exit_state;
  std::uint32_t chunk_count;
  // Each count is the number of records of one array that were ever used. Readers read no record
  // beyond the count.
  std::uint32_t device_count;
  std::uint32_t allocation_count;
  std::uint32_t program_count;
  std::uint32_t cb_count;
  std::uint32_t event_capacity;       // number of records in the ring
  std::int32_t last_error;            // errno of the last failed attempt to grow the file; 0: none
  std::uint64_t events;               // number of the newest ring record; the first record is 1
  std::uint64_t dropped_allocations;  // have no slot, but count in the figures
  std::uint64_t dropped_programs;
  std::uint64_t dropped_calls;  // ignored calls: bad arguments, or no room
  std::uint64_t dropped_names;  // program names that were not stored for lack of room
  std::uint32_t text_count;     // counts text records, like the counts above
  std::uint32_t client_uid;     // in a proxy segment: user of the client
  std::uint32_t device_set_count;
  std::uint32_t device_set_bytes;  // fixed before `magic` is stored; 0 in layout 1
  std::uint32_t
      not_seen[kMaxNotSeen];    // numbers of the texts of ttmem_set_unseen(); 0 ends the list
  std::uint32_t event_details;  // 1: details follow the events; fixed before `magic` is stored
  std::uint32_t reserved0;
  std::uint64_t event_count;  // number of events without detail records; only if event_details is 1
  std::uint64_t ended_ns;     // time of the exit, if `exit_state` is `clean`; 0 means unknown
};

// The last failure of the process (ttmem_report_failure()). Lies at kFailureOffset.
struct FailureRecord {
  std::uint32_t seq;
  std::uint32_t text_bytes;
  std::uint64_t number;  // number of failures so far; 0 means none
  std::uint64_t when_ns;
  std::uint64_t when_unix_ns;
  std::uint64_t not_kept;       // number of failures that left no copy of the segment
  std::int32_t not_kept_error;  // errno of the last attempt to copy the segment; 0: it succeeded
  std::uint32_t reserved;
  char run[48];  // first id in RunRecord::ids; empty means none
  char text[1024];
};

// The job of the process (base/job.hpp). Lies at kJobOffset and is fixed before `magic` is stored.
// A text ends with a zero byte, unless it fills its field.
struct JobRecord {
  char id[64];
  char step[32];
  char partition[64];
  char rank[16];
  char ranks[16];
  char pod[256];
  char pod_uid[64];
  char pod_namespace[64];
  char container[128];
};

// The runs of the process. Lies at kRunOffset and is fixed before `magic` is stored. All bytes are
// zero if the process belongs to no run, or if its library is older than this record.
struct RunRecord {
  // The ids of $TTMEM_RUN, separated by kRunSeparator. The innermost run comes first. Ends with a
  // zero byte.
  char ids[512];
};
inline constexpr char kRunSeparator = ',';

struct CoreFigures {
  std::uint32_t cb_bytes;           // size of the union of the CBs of all live programs
  std::uint32_t cb_resident_bytes;  // size of the CBs of the program that was dispatched last
  std::uint32_t cb_end;             // end address of the highest CB; 0 means no CB
  std::uint32_t reserved;
};

enum class DeviceState : std::uint32_t { free = 0, open = 1, closed = 2 };

// The figures of a device. For kernels, `kinds` has one sum, and `kernel_role_bytes` has one sum
// for each role.
struct DeviceFigures {
  std::uint64_t l1_total_bytes;  // L1 + L1_SMALL + CB physical + kernels
  std::uint64_t l1_total_peak_bytes;
  std::uint64_t loose_cb_bytes;  // size of the CBs that were reported without an address
  std::uint64_t cb_resident_bytes;
  std::uint64_t programs;
  std::uint64_t kernel_estimated_bytes;  // the part of the kernels' bytes that is an estimate
  std::array<std::uint64_t, 3> kernel_role_bytes;  // bytes of kernels, by ttmem_kernel_role
  Anomalies anomalies;
  PerKind<KindFigures> kinds;  // the used bytes of `cb` are the physical bytes
};

// The maximum of each peak over all earlier periods in which the device was open. Closing the
// device ends a period.
struct PastPeaks {
  std::uint64_t l1_total_bytes;
  PerKind<std::uint64_t> kinds;
};

inline constexpr std::size_t kFiguresOffset = 128;
inline constexpr std::size_t kCoresSeqOffset = 4092;

struct DeviceRecord {
  std::uint32_t seq;  // sequence number of all fields before `cores_seq`
  std::uint32_t state;
  std::uint32_t id;
  std::uint32_t announced;  // 1: described by ttmem_device_open; 0: only named by other calls
  std::uint64_t uid;
  char arch[16];
  char board[32];
  std::uint16_t grid_x;
  std::uint16_t grid_y;
  std::uint32_t l1_bytes_per_core;
  std::uint32_t l1_base;
  std::uint32_t l1_small_bytes_per_core;
  std::uint32_t dram_channels;
  std::uint32_t
      resident_reported;  // 0: no dispatch was reported yet, so resident bytes are unknown
  std::uint64_t dram_bytes_per_channel;
  std::uint64_t trace_region_bytes;
  std::uint64_t opened_ns;
  std::uint32_t
      programs_reported;      // 0: no program was placed yet, so the number of programs is unknown
  std::uint32_t cb_estimate;  // 1: the figures of the CBs are estimates

  DeviceFigures figures;
  PastPeaks past_peaks;
  std::uint8_t
      reserved1[kCoresSeqOffset - kFiguresOffset - sizeof(DeviceFigures) - sizeof(PastPeaks)];

  std::uint32_t cores_seq;  // sequence number of `cores`
  CoreFigures cores[kMaxCores];
};

enum AllocationFlags : std::uint8_t {
  kNoCores = 1,  // `cores` is no set of cores; the buffer is in all banks, or in some DRAM banks
  kPerBankUnknown = 2,  // `bytes_per_bank` is unknown
  kNoAddress = 4,       // `address` is unknown
  kEstimate = 8,        // `bytes` is an estimate
  kOwnBanks = 16,       // the buffer's allocator covers only `cores`, or only `banks` banks of DRAM
  kLongLabel = 32,      // the first four bytes of `label` are the number of the label's text
  kOnSet = 64,  // `device` is the number of a device set: the allocation is the same on each device
                // of the set
  kScoped = 128,  // the last four bytes of `label` are the number of a scope
};

// The layout of a buffer, stored in the field `role` (for a kernel, the field contains its role).
// If no bit is set, the layout is unknown.
enum LayoutBits : std::uint8_t {
  kInterleaved = 1,
  kSharded = 2,
  kBottomUp = 4,
  kTopDown = 8,
  kHasPages = 16,  // `cores` contains a Pages; only set together with kNoCores
};

// The pages of a buffer with kNoCores. Stored in the field `cores`.
struct Pages {
  std::uint64_t page_bytes;
  std::uint32_t
      shard_banks;  // for shards in DRAM: one past the last bank that has a shard; 0 means none
  std::uint32_t reserved0;
  std::uint64_t reserved1[2];
};
static_assert(sizeof(Pages) == sizeof(CoreMask));

struct AllocationSlot {
  std::uint32_t seq;
  std::uint8_t live;   // 1 means live
  std::uint8_t kind;   // Kind
  std::uint8_t flags;  // AllocationFlags
  std::uint8_t role;   // ttmem_kernel_role of a kernel, or LayoutBits of a buffer
  std::uint64_t born;  // number of the event that created the slot
  std::uint64_t when_ns;
  std::uint64_t id;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t bytes_per_bank;
  std::uint32_t banks;   // number of banks used; 0 means unknown
  std::uint32_t device;  // index of the device record, or number of a device set (kOnSet)
  CoreMask cores;        // cores that hold the buffer's bytes; see kNoCores, kHasPages
  char label[32];        // not terminated if full; see kLongLabel, kScoped
};

struct ProgramSlot {
  std::uint32_t seq;
  std::uint32_t live;
  std::uint64_t born;
  std::uint64_t when_ns;
  std::uint64_t program;
  std::uint64_t footprint;  // CbRecord::footprint of the program's CBs; 0 means no CBs
  std::uint32_t first_cb;   // index of the first CB record; the program's other records follow
  std::uint32_t cb_count;
  std::uint32_t device;          // index of the device record
  std::uint32_t resident_cores;  // number of cores to which this program was dispatched last
  std::uint32_t name;            // index of the name's TextRecord plus one; 0 means no name
  std::uint32_t scope;           // index of the scope's TextRecord plus one; 0 means no scope
};

enum CbFlags : std::uint32_t { kCbGlobal = 1 };

// One CB. All programs with the same footprint share these records, on all devices.
struct CbRecord {
  std::uint64_t footprint;  // unique number of the footprint; stored last; 0 means free
  std::uint32_t address;
  std::uint32_t bytes;
  std::uint32_t flags;  // CbFlags
  std::uint32_t reserved0;
  CoreMask cores;
  std::uint64_t reserved1;
};

// The visits of a scope. Stored in the scope's text record, if the name of the scope leaves room
// there. There is no sequence number, so a reader may see figures of different moments, but no torn
// figure. `open` is stored after the times.
struct ScopeRecord {
  char name[96];
  std::uint32_t entered;    // number of visits; 0 means unknown, or that the text is no scope
  std::uint32_t open;       // number of visits that have not ended, over all threads
  std::uint64_t last_ns;    // when `open` last changed from 0 to 1, by a coarse clock
  std::uint64_t before_ns;  // previous value of `last_ns`; 0 means none
};

// A text that is written once and never changed: a name, a long label or a scope. Each text has
// only one record, however often it is used. For a scope, the upper half of `length` is the number
// of the enclosing scope's text.
struct TextRecord {
  std::uint64_t length;  // stored last; 0 means incomplete
  union {
    char text[120];     // not terminated
    ScopeRecord scope;  // for a scope whose name fits into `scope.name`
  };
};
inline constexpr unsigned kParentShift = 32;

// A set of devices of a mesh. The record is written once and never changed. All buffers on exactly
// these devices refer to the same record. The number of a set is the index of its record plus one.
struct DeviceSetRecord {
  std::uint64_t count;  // number of devices; stored last; 0 means incomplete
  DeviceMask devices;
  std::uint64_t reserved;
};

enum class EventType : std::uint8_t {
  alloc = 1,
  free = 2,
  program_place = 3,
  program_destroy = 4,
  device_open = 5,
  device_close = 6,
  set_alloc = 7,  // alloc on each device of a set; `device_id` is the number of the set
  set_free = 8,
  mark = 9,  // `id` is the number of the mark's text
  // The following events, except `failure`, occur only in a ring with details.
  footprint = 10,     // `id` is the footprint's number; its CbRecords follow
  dispatch = 11,      // `id` is the program
  set_dispatch = 12,  // dispatch to each device of a set; `device_id` is the number of the set
  trace_replay = 13,  // `id` is the number of programs; their ids follow
  failure = 14,       // the process ran out of memory; also written to a ring without details
};

enum DestroyFlags : std::uint8_t {
  kDeviceCloses = 1,  // the device is being closed with the program on it; device_close follows
};

// Event n is record (n - 1) % event_capacity of the ring.
//
// If Header::event_details is 1, detail records follow an event. They have numbers too: the next
// event has the number after the last detail record. The detail records of each type are:
// - `alloc` and `set_alloc`: one AllocationDetails
// - `footprint`: `bytes` CbRecords
// - `trace_replay`: the ids of its programs, 8 bytes each, in as many records as needed
// - `failure`: the text, `bytes` long, in as many records as needed
struct EventRecord {
  std::uint64_t number;  // stored last; 0 while the record is being written
  std::uint64_t when_ns;
  std::uint8_t type;        // EventType
  std::uint8_t kind;        // Kind; only for an allocation or a free
  std::uint8_t flags;       // AllocationFlags of an allocation, DestroyFlags of program_destroy
  std::uint8_t role;        // role field of the allocation's slot
  std::uint32_t device_id;  // id of the device, or number of a device set
  std::uint64_t id;         // id of the buffer, kernel or program
  std::uint64_t address;    // address, or for program_place the number of the footprint (0: none)
  std::uint64_t bytes;      // size, or for program_place the logical bytes of its CBs
  // For program_place, this field has the number of the name in its lower half, and the number of
  // the scope in its upper half.
  std::uint64_t bytes_per_bank;
  std::uint32_t banks;
  std::uint32_t slot;  // slot of the allocation or program; kNoSlot means none
};

inline constexpr std::uint32_t kNoSlot = 0xffffffff;
// The detail record of an allocation: the last two fields of the allocation's slot.
struct AllocationDetails {
  CoreMask cores;
  char label[32];
};
// The maximum number of detail records after an event.
inline constexpr std::uint32_t kMaxEventDetails = kMaxCbsPerProgram;

static_assert(sizeof(Header) == kChunkTableOffset);
static_assert(offsetof(Header, layout_version) == 8);
static_assert(offsetof(Header, header_bytes) == 12);
static_assert(offsetof(Header, chunk_bytes) == 16);
static_assert(offsetof(Header, device_bytes) == 20);
static_assert(offsetof(Header, allocation_bytes) == 24);
static_assert(offsetof(Header, program_bytes) == 28);
static_assert(offsetof(Header, cb_bytes) == 32);
static_assert(offsetof(Header, event_bytes) == 36);
static_assert(offsetof(Header, pid) == 40);
static_assert(offsetof(Header, uid) == 44);
static_assert(offsetof(Header, start_time_ticks) == 48);
static_assert(offsetof(Header, boot_id) == 56);
static_assert(offsetof(Header, created_unix_ns) == 72);
static_assert(offsetof(Header, created_ns) == 80);
static_assert(offsetof(Header, name) == 88);
static_assert(offsetof(Header, command) == 120);
static_assert(offsetof(Header, text_bytes) == 376);
static_assert(offsetof(Header, pid_namespace) == 380);
static_assert(offsetof(Header, exit_state) == 384);
static_assert(offsetof(Header, chunk_count) == 388);
static_assert(offsetof(Header, device_count) == 392);
static_assert(offsetof(Header, allocation_count) == 396);
static_assert(offsetof(Header, program_count) == 400);
static_assert(offsetof(Header, cb_count) == 404);
static_assert(offsetof(Header, event_capacity) == 408);
static_assert(offsetof(Header, last_error) == 412);
static_assert(offsetof(Header, events) == 416);
static_assert(offsetof(Header, dropped_allocations) == 424);
static_assert(offsetof(Header, dropped_programs) == 432);
static_assert(offsetof(Header, dropped_calls) == 440);
static_assert(offsetof(Header, dropped_names) == 448);
static_assert(offsetof(Header, text_count) == 456);
static_assert(offsetof(Header, client_uid) == 460);
static_assert(offsetof(Header, device_set_count) == 464);
static_assert(offsetof(Header, device_set_bytes) == 468);
static_assert(offsetof(Header, not_seen) == 472);
static_assert(offsetof(Header, event_details) == 488);
static_assert(offsetof(Header, event_count) == 496);
static_assert(offsetof(Header, ended_ns) == 504);

static_assert(sizeof(FailureRecord) == 1120);
static_assert(offsetof(FailureRecord, text_bytes) == 4);
static_assert(offsetof(FailureRecord, number) == 8);
static_assert(offsetof(FailureRecord, when_ns) == 16);
static_assert(offsetof(FailureRecord, when_unix_ns) == 24);
static_assert(offsetof(FailureRecord, not_kept) == 32);
static_assert(offsetof(FailureRecord, not_kept_error) == 40);
static_assert(offsetof(FailureRecord, run) == 48);
static_assert(offsetof(FailureRecord, text) == 96);

static_assert(kFailureOffset + sizeof(FailureRecord) <= kJobOffset);
static_assert(kJobOffset + sizeof(JobRecord) <= kRunOffset);
static_assert(kRunOffset + sizeof(RunRecord) <= kHeaderBytes);
static_assert(sizeof(RunRecord) == 512);
static_assert(sizeof(JobRecord) == 704);
static_assert(offsetof(JobRecord, step) == 64);
static_assert(offsetof(JobRecord, partition) == 96);
static_assert(offsetof(JobRecord, rank) == 160);
static_assert(offsetof(JobRecord, ranks) == 176);
static_assert(offsetof(JobRecord, pod) == 192);
static_assert(offsetof(JobRecord, pod_uid) == 448);
static_assert(offsetof(JobRecord, pod_namespace) == 512);
static_assert(offsetof(JobRecord, container) == 576);

static_assert(offsetof(DeviceFigures, kernel_role_bytes) == 48);
static_assert(offsetof(DeviceFigures, kernel_estimated_bytes) == 40);
static_assert(offsetof(DeviceFigures, l1_total_bytes) == 0);
static_assert(offsetof(DeviceFigures, l1_total_peak_bytes) == 8);
static_assert(offsetof(DeviceFigures, loose_cb_bytes) == 16);
static_assert(offsetof(DeviceFigures, cb_resident_bytes) == 24);
static_assert(offsetof(DeviceFigures, programs) == 32);
static_assert(offsetof(DeviceFigures, anomalies) == 72);
static_assert(offsetof(DeviceFigures, kinds) == 128, "each kind in a cache line of its own");
static_assert(sizeof(CoreFigures) == 16);
static_assert(sizeof(DeviceRecord) == 8192);
static_assert(offsetof(DeviceRecord, state) == 4);
static_assert(offsetof(DeviceRecord, id) == 8);
static_assert(offsetof(DeviceRecord, announced) == 12);
static_assert(offsetof(DeviceRecord, uid) == 16);
static_assert(offsetof(DeviceRecord, arch) == 24);
static_assert(offsetof(DeviceRecord, board) == 40);
static_assert(offsetof(DeviceRecord, grid_x) == 72);
static_assert(offsetof(DeviceRecord, grid_y) == 74);
static_assert(offsetof(DeviceRecord, l1_bytes_per_core) == 76);
static_assert(offsetof(DeviceRecord, l1_base) == 80);
static_assert(offsetof(DeviceRecord, l1_small_bytes_per_core) == 84);
static_assert(offsetof(DeviceRecord, dram_channels) == 88);
static_assert(offsetof(DeviceRecord, resident_reported) == 92);
static_assert(offsetof(DeviceRecord, dram_bytes_per_channel) == 96);
static_assert(offsetof(DeviceRecord, trace_region_bytes) == 104);
static_assert(offsetof(DeviceRecord, opened_ns) == 112);
static_assert(offsetof(DeviceRecord, programs_reported) == 120);
static_assert(offsetof(DeviceRecord, cb_estimate) == 124);
static_assert(offsetof(DeviceRecord, figures) == kFiguresOffset);
static_assert(offsetof(DeviceRecord, past_peaks) == 704);
static_assert(offsetof(DeviceRecord, cores_seq) == kCoresSeqOffset);
static_assert(offsetof(DeviceRecord, cores) == 4096);

static_assert(sizeof(AllocationSlot) == 128);
static_assert(offsetof(AllocationSlot, live) == 4);
static_assert(offsetof(AllocationSlot, kind) == 5);
static_assert(offsetof(AllocationSlot, flags) == 6);
static_assert(offsetof(AllocationSlot, role) == 7);
static_assert(offsetof(AllocationSlot, born) == 8);
static_assert(offsetof(AllocationSlot, when_ns) == 16);
static_assert(offsetof(AllocationSlot, id) == 24);
static_assert(offsetof(AllocationSlot, address) == 32);
static_assert(offsetof(AllocationSlot, bytes) == 40);
static_assert(offsetof(AllocationSlot, bytes_per_bank) == 48);
static_assert(offsetof(AllocationSlot, banks) == 56);
static_assert(offsetof(AllocationSlot, device) == 60);
static_assert(offsetof(AllocationSlot, cores) == 64);
static_assert(offsetof(AllocationSlot, label) == 96);

static_assert(sizeof(ProgramSlot) == 64);
static_assert(offsetof(ProgramSlot, live) == 4);
static_assert(offsetof(ProgramSlot, born) == 8);
static_assert(offsetof(ProgramSlot, when_ns) == 16);
static_assert(offsetof(ProgramSlot, program) == 24);
static_assert(offsetof(ProgramSlot, footprint) == 32);
static_assert(offsetof(ProgramSlot, first_cb) == 40);
static_assert(offsetof(ProgramSlot, cb_count) == 44);
static_assert(offsetof(ProgramSlot, device) == 48);
static_assert(offsetof(ProgramSlot, resident_cores) == 52);
static_assert(offsetof(ProgramSlot, name) == 56);

static_assert(sizeof(CbRecord) == 64);
static_assert(offsetof(CbRecord, address) == 8);
static_assert(offsetof(CbRecord, bytes) == 12);
static_assert(offsetof(CbRecord, flags) == 16);
static_assert(offsetof(CbRecord, cores) == 24);

static_assert(sizeof(TextRecord) == 128);
static_assert(offsetof(TextRecord, text) == 8);
static_assert(offsetof(TextRecord, scope) == 8);
static_assert(sizeof(ScopeRecord) == sizeof TextRecord::text);
static_assert(offsetof(ScopeRecord, entered) == 96);
static_assert(offsetof(ScopeRecord, open) == 100);
static_assert(offsetof(ScopeRecord, last_ns) == 104);
static_assert(offsetof(ScopeRecord, before_ns) == 112);

static_assert(sizeof(DeviceSetRecord) == 32);
static_assert(offsetof(DeviceSetRecord, devices) == 8);

static_assert(sizeof(EventRecord) == 64);
static_assert(offsetof(EventRecord, when_ns) == 8);
static_assert(offsetof(EventRecord, type) == 16);
static_assert(offsetof(EventRecord, kind) == 17);
static_assert(offsetof(EventRecord, device_id) == 20);
static_assert(offsetof(EventRecord, id) == 24);
static_assert(offsetof(EventRecord, address) == 32);
static_assert(offsetof(EventRecord, flags) == 18);
static_assert(offsetof(EventRecord, bytes) == 40);
static_assert(offsetof(EventRecord, bytes_per_bank) == 48);
static_assert(offsetof(EventRecord, banks) == 56);
static_assert(offsetof(EventRecord, slot) == 60);
static_assert(sizeof(AllocationDetails) == sizeof(EventRecord));
static_assert(sizeof(CbRecord) == sizeof(EventRecord));
static_assert(offsetof(AllocationSlot, cores) + sizeof(AllocationDetails) ==
              sizeof(AllocationSlot));

static_assert(kChunkBytes % sizeof(DeviceRecord) == 0);
static_assert(kChunkBytes / sizeof(CbRecord) == kMaxCbsPerProgram);
static_assert(kChunkBytes / sizeof(DeviceSetRecord) == kMaxDeviceSets);

}  // namespace ttmem::segment
