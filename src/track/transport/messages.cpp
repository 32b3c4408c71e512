// SPDX-License-Identifier: Apache-2.0
#include "track/transport/messages.hpp"

#include <ttmem/ttmem.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/shorten.hpp"

namespace ttmem::transport {
namespace {

using segment::AllocationSlot;
using segment::CbRecord;
using segment::DeviceRecord;
using segment::ProgramSlot;
using wire::Message;
using wire::MessageType;

constexpr std::uint64_t kMaxResent = std::numeric_limits<std::uint32_t>::max();

void begin(Message& to, MessageType type, const Sender& sender, const DeviceRecord& device,
           std::uint64_t unix_ns) noexcept {
  std::memset(static_cast<void*>(&to), 0, sizeof to);
  to.head.type = static_cast<std::uint8_t>(type);
  to.head.device_id = static_cast<std::int32_t>(device.id);
  to.head.process_id = sender.pid;
  to.head.timestamp_unix_ns = unix_ns;
}

// Fills in the fields from which a server computes the same used bytes as this process.
void add_banks(wire::ReportDetails& details, const DeviceRecord& device,
               const AllocationSlot& slot) noexcept {
  details.flags = static_cast<std::uint8_t>(slot.flags & ~segment::kLongLabel);
  // If the number of banks was unknown at the allocation, the allocation counts with its logical
  // size until it is freed.
  if (slot.banks == 0) {
    details.flags |= segment::kPerBankUnknown;
  } else {
    details.bytes_per_bank = slot.bytes_per_bank;
  }
  if (is_in_dram(static_cast<Kind>(slot.kind)) && slot.banks != device.dram_channels)
    details.banks = slot.banks;
  if ((slot.flags & segment::kNoCores) == 0) {
    std::copy(slot.cores.words.begin(), slot.cores.words.end(), std::begin(details.cores));
  }
}

std::uint64_t bytes_on_all_cores(const CbRecord& cb) noexcept {
  // A view of an L1 buffer takes no bytes of its own.
  return (cb.flags & segment::kCbGlobal) != 0 ? 0 : std::uint64_t{cb.bytes} * cb.cores.count();
}

void begin_cb(Message& to, MessageType type, const Sender& sender, const DeviceRecord& device,
              const ProgramSlot& program, const CbRecord* cb, std::uint32_t index,
              std::uint64_t unix_ns) noexcept {
  begin(to, type, sender, device, unix_ns);
  to.allocation.cb.program = program.program;
  to.allocation.cb.index = index;
  to.allocation.cb.count = program.cb_count;
  to.allocation.mark = wire::kDetailsMark;
  if (cb == nullptr) return;
  to.head.buffer_id = cb->address;
  to.allocation.address = cb->address;
}

// Fills in the fields that an allocation and its free share. Returns false if the message needs no
// details, because the allocation is a CB without an address.
bool begin_allocation(Message& to, bool is_free, const Sender& sender, const DeviceRecord& device,
                      const AllocationSlot& slot, std::uint64_t unix_ns) noexcept {
  const auto kind = static_cast<Kind>(slot.kind);
  const bool is_kernel = kind == Kind::kernel;
  const bool is_loose_cb = kind == Kind::cb;
  begin(to,
        is_kernel     ? (is_free ? MessageType::kernel_unload : MessageType::kernel_load)
        : is_loose_cb ? (is_free ? MessageType::cb_free : MessageType::cb_alloc)
                      : (is_free ? MessageType::free : MessageType::alloc),
        sender, device, unix_ns);
  to.head.buffer_id = slot.id;
  if (is_loose_cb) return false;
  to.head.buffer_type = is_kernel ? slot.role : buffer_type_of(kind);
  to.allocation.mark = wire::kDetailsMark;
  return true;
}

}  // namespace

void write_allocation(Message& to, const Sender& sender, const DeviceRecord& device,
                      const AllocationSlot& slot, std::string_view long_label) noexcept {
  const std::uint64_t unix_ns = slot.when_ns + sender.monotonic_to_unix_ns;
  const bool has_details = begin_allocation(to, false, sender, device, slot, unix_ns);
  to.head.size = slot.bytes;
  if (!has_details) return;
  to.allocation.address = slot.address;
  add_banks(to.allocation, device, slot);
  static_assert(sizeof to.allocation.label == sizeof slot.label);
  if ((slot.flags & segment::kLongLabel) == 0) {
    std::memcpy(to.allocation.label, slot.label, sizeof slot.label);
  } else {
    shorten(long_label, to.allocation.label);
  }
}

void write_free(Message& to, const Sender& sender, const DeviceRecord& device,
                const AllocationSlot& slot, std::uint64_t unix_ns) noexcept {
  begin_allocation(to, true, sender, device, slot, unix_ns);
}

void write_cb_alloc(Message& to, const Sender& sender, const DeviceRecord& device,
                    const ProgramSlot& program, const CbRecord* cb, std::uint32_t index) noexcept {
  begin_cb(to, MessageType::cb_alloc, sender, device, program, cb, index,
           program.when_ns + sender.monotonic_to_unix_ns);
  if (cb == nullptr) return;
  to.head.size = bytes_on_all_cores(*cb);
  to.allocation.bytes_per_bank = cb->bytes;
  to.allocation.flags = (cb->flags & segment::kCbGlobal) != 0 ? TTMEM_CB_GLOBAL : 0;
  std::copy(cb->cores.words.begin(), cb->cores.words.end(), std::begin(to.allocation.cores));
}

void write_cb_free(Message& to, const Sender& sender, const DeviceRecord& device,
                   const ProgramSlot& program, const CbRecord* cb, std::uint32_t index,
                   std::uint64_t unix_ns) noexcept {
  begin_cb(to, MessageType::cb_free, sender, device, program, cb, index, unix_ns);
}

std::uint32_t reports_of(const DeviceRecord& device) noexcept {
  const auto knows = [&](Kind kind) { return device.figures.kinds[kind].known != 0; };
  std::uint32_t what = 0;
  for (std::uint32_t type = 0; type < kBufferKinds.size(); ++type) {
    if (knows(kBufferKinds[type])) what |= 1U << type;
  }
  if (knows(Kind::kernel)) what |= TTMEM_REPORTS_KERNELS;
  if (device.programs_reported != 0) what |= TTMEM_REPORTS_PROGRAMS;
  return what;
}

void write_notice(Message& to, const Sender& sender, wire::ClientNotice report,
                  std::uint64_t unix_ns) noexcept {
  begin(to, MessageType::device_info_response, sender, DeviceRecord{}, unix_ns);
  to.head.buffer_id = sender.copy;
  to.device.is_available = static_cast<std::uint32_t>(report);
  to.device.mark = wire::kDetailsMark;
}

void write_device(Message& to, const Sender& sender, const DeviceRecord& device,
                  std::uint64_t events_dropped, std::uint64_t events_resent,
                  std::uint64_t unix_ns) noexcept {
  begin(to, MessageType::device_info_response, sender, device, unix_ns);
  to.head.size = device.trace_region_bytes;
  to.head.buffer_id = device.uid;
  wire::DeviceDetails& details = to.device;
  details.events_dropped = events_dropped;
  details.events_resent = static_cast<std::uint32_t>(std::min(events_resent, kMaxResent));
  details.grid_x = device.grid_x;
  details.grid_y = device.grid_y;
  details.l1_base = device.l1_base;
  details.l1_small_bytes_per_core = device.l1_small_bytes_per_core;
  const bool is_open = device.state == static_cast<std::uint32_t>(segment::DeviceState::open);
  details.is_available = is_open ? 1 : 0;
  details.dram_bytes_per_channel = device.dram_bytes_per_channel;
  details.dram_channels = device.dram_channels;
  details.l1_bytes_per_core = device.l1_bytes_per_core;
  static_assert(sizeof details.arch == sizeof device.arch);
  static_assert(sizeof details.board == sizeof device.board);
  std::memcpy(details.arch, device.arch, sizeof details.arch);
  std::memcpy(details.board, device.board, sizeof details.board);
  details.reports = reports_of(device);
  details.cb_estimate = device.cb_estimate;
  details.mark = wire::kDetailsMark;
}

}  // namespace ttmem::transport
