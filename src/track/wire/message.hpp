// SPDX-License-Identifier: Apache-2.0
//
// The message of the allocation server: 144 bytes, little-endian, no framing, the same in both
// directions (docs/reference/server.md has the table). An original client fills only the head.
// libttmem also sends details, which `kDetailsMark` announces and an original server ignores.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ttmem::wire {

static_assert(std::endian::native == std::endian::little);

enum class MessageType : std::uint8_t {
  alloc = 1,
  free = 2,
  query = 3,
  response = 4,
  dump_remaining = 5,
  device_info_query = 6,
  device_info_response = 7,
  cb_alloc = 8,
  cb_free = 9,
  kernel_load = 10,
  kernel_unload = 11,
  dump_kernels = 12,
};

struct Head {
  std::uint8_t type;  // MessageType; any other value is an error of the sender
  std::uint8_t reserved0[3];
  std::int32_t device_id;  // -1: no device, or the device with the uid in `buffer_id` (names_uid())
  std::uint64_t size;
  std::uint8_t buffer_type;  // ttmem_buffer_type; in kernel_load: ttmem_kernel_role
  std::uint8_t reserved1[3];
  std::int32_t process_id;
  std::uint64_t buffer_id;  // id of a buffer (usually the address), CB or kernel
  std::uint64_t timestamp_unix_ns;
};

struct ServerAnswer {
  std::uint64_t dram_bytes;
  std::uint64_t l1_bytes;
  std::uint64_t l1_small_bytes;
  std::uint64_t trace_bytes;
  std::uint64_t cb_bytes;
  std::uint64_t kernel_bytes;
  std::uint64_t total_dram_size;
  std::uint64_t total_l1_size;
  std::uint32_t arch_type;  // 0 invalid, 1 Grayskull, 2 Wormhole_B0, 3 Blackhole, 4 Quasar
  std::uint32_t num_dram_channels;
  std::uint32_t dram_size_per_channel;
  std::uint32_t l1_size_per_core;
  std::uint32_t is_available;
  std::uint32_t num_devices;
  std::uint32_t kernel_ring_size;
  std::uint32_t kernel_ring_used;
  std::uint32_t kernel_ring_programs;
  std::uint32_t mark;
};

// The place of a CB in its program. The CBs of a program arrive in order. The message of the last
// CB places the program. The cb_free of any CB removes the program.
struct CbOfProgram {
  std::uint64_t program;
  std::uint32_t index;
  std::uint32_t count;
  std::uint64_t reserved[2];
};

// The details of one buffer, kernel or CB, in all reports except device_info_response.
struct ReportDetails {
  std::uint64_t address;
  std::uint64_t bytes_per_bank;  // for CBs: bytes on each core; 0 means unknown
  // Number of DRAM banks, if the allocator covers only some; 0: all DRAM banks, or a buffer in L1
  std::uint32_t banks;
  std::uint16_t flags;  // AllocationFlags of the segment; for CBs: ttmem_cb::flags
  std::uint16_t reserved0;
  std::uint64_t cores[4];  // CoreMask::words; no cores if `flags` has kNoCores
  union {
    char label[32];  // for buffers and kernels
    CbOfProgram cb;  // for CBs
  };
  std::uint8_t reserved1[12];
  std::uint32_t mark;
};

// The meaning of a device_info_response from a client. The value is in DeviceDetails::is_available.
// The last three values are about the connection, not a device; Head::buffer_id is then the number
// of the copy of libttmem.
enum class ClientNotice : std::uint32_t {
  closed = 0,
  opened = 1,
  hello = 2,  // the first message from libttmem
  // All live objects were reported. Reports over earlier connections no longer count.
  complete = 3,
  goodbye = 4,  // a clean exit, or libttmem gives up: the process holds nothing
};

// The details of a device_info_response from a client. When a device was opened or closed,
// Head::size is the size of the trace region and Head::buffer_id is the chip's unique id.
struct DeviceDetails {
  std::uint64_t events_dropped;  // number of events that this client has dropped so far
  std::uint16_t grid_x;
  std::uint16_t grid_y;
  std::uint32_t l1_base;
  std::uint32_t l1_small_bytes_per_core;
  std::uint32_t is_available;  // ClientNotice
  std::uint64_t dram_bytes_per_channel;
  std::uint32_t dram_channels;
  std::uint32_t l1_bytes_per_core;
  char arch[16];          // not terminated if all 16 bytes are used
  char board[32];         // not terminated if all 32 bytes are used
  std::uint32_t reports;  // bits of ttmem_set_reported(), except dispatches, which have no message
  std::uint32_t cb_estimate;    // 1: the figures of the CBs are an estimate
  std::uint32_t events_resent;  // number of dropped events that the resend repaired
  std::uint32_t mark;
};

// The value of `mark`, the last word of a message, if the message has details. In an original
// message, the last word is padding.
inline constexpr std::uint32_t kDetailsMark = 0x4d454d54;  // "TMEM"

struct Message {
  Head head;
  union {
    ServerAnswer answer;
    ReportDetails allocation;
    DeviceDetails device;
  };

  [[nodiscard]] MessageType type() const noexcept { return static_cast<MessageType>(head.type); }
  [[nodiscard]] bool has_details() const noexcept { return answer.mark == kDetailsMark; }
};

inline constexpr std::size_t kMessageBytes = 144;
static_assert(sizeof(Message) == kMessageBytes);
static_assert(std::is_trivially_copyable_v<Message>);
static_assert(offsetof(Head, device_id) == 4);
static_assert(offsetof(Head, size) == 8);
static_assert(offsetof(Head, buffer_type) == 16);
static_assert(offsetof(Head, process_id) == 20);
static_assert(offsetof(Head, buffer_id) == 24);
static_assert(offsetof(Head, timestamp_unix_ns) == 32);
static_assert(offsetof(Message, answer) == 40);
static_assert(offsetof(ServerAnswer, total_dram_size) == 88 - 40);
static_assert(offsetof(ServerAnswer, arch_type) == 104 - 40);
static_assert(offsetof(ServerAnswer, is_available) == 120 - 40);
static_assert(offsetof(ServerAnswer, kernel_ring_size) == 128 - 40);
static_assert(offsetof(ServerAnswer, mark) == 140 - 40);
static_assert(offsetof(ReportDetails, cores) == 64 - 40);
static_assert(offsetof(ReportDetails, label) == 96 - 40);
static_assert(offsetof(ReportDetails, mark) == 140 - 40);
static_assert(offsetof(DeviceDetails, arch) == 80 - 40);
static_assert(offsetof(DeviceDetails, reports) == 128 - 40);
static_assert(offsetof(DeviceDetails, cb_estimate) == 132 - 40);
static_assert(offsetof(DeviceDetails, events_resent) == 136 - 40);
static_assert(offsetof(DeviceDetails, mark) == 140 - 40);

}  // namespace ttmem::wire
