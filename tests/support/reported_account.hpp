// SPDX-License-Identifier: Apache-2.0
//
// Two lists of the live allocations: the list that a server makes from the reports of libttmem, and
// the true list from the segment.
#pragma once

#include <gtest/gtest.h>
#include <ttmem/ttmem.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "segment/writer/segment_writer.hpp"
#include "track/transport/messages.hpp"
#include "track/wire/message.hpp"

namespace ttmem {

struct ReportedAccount {
  using Buffer = std::tuple<std::int32_t, int, std::uint64_t>;  // device, kind, id
  using Program = std::tuple<std::int32_t, std::uint64_t>;

  std::map<Buffer, std::uint64_t> live;                    // size in bytes
  std::map<Program, std::vector<std::uint64_t>> programs;  // bytes of each CB
  std::map<std::int32_t, std::uint32_t> kinds;  // bits of ttmem_set_reported() for each device
  std::vector<std::string> faults;  // descriptions of the reports that break the protocol
  std::vector<std::uint64_t> coming;
  std::uint64_t events_dropped = 0;
  std::size_t messages = 0;
  bool is_complete = false;  // true if all live allocations have been reported
  bool has_left = false;     // true if the last report was a goodbye

  void take(const wire::Message& message) {
    ++messages;
    switch (message.type()) {
      case wire::MessageType::alloc:
        return add(message, kBufferKinds.at(message.head.buffer_type));
      case wire::MessageType::kernel_load:
        return add(message, Kind::kernel);
      case wire::MessageType::free:
        return remove(message, kBufferKinds.at(message.head.buffer_type));
      case wire::MessageType::kernel_unload:
        return remove(message, Kind::kernel);
      case wire::MessageType::cb_alloc:
        return message.has_details() ? place(message) : add(message, Kind::cb);
      case wire::MessageType::cb_free:
        return message.has_details() ? destroy(message) : remove(message, Kind::cb);
      case wire::MessageType::device_info_response:
        return device(message);
      default:
        faults.push_back("a type that clients do not send");
    }
  }

  // Returns the live records of the segment. The writer of the segment must be idle during the
  // call.
  static ReportedAccount truth(segment::SegmentWriter& segment) {
    ReportedAccount account;
    for (std::uint32_t i = 0; i < segment.header().allocation_count; ++i) {
      const segment::AllocationSlot& slot = segment.allocation(i);
      if (slot.live == 0) continue;
      account.live[{device_of(segment, slot.device), slot.kind, slot.id}] = slot.bytes;
    }
    for (std::uint32_t i = 0; i < segment.header().program_count; ++i) {
      const segment::ProgramSlot& slot = segment.program(i);
      if (slot.live == 0) continue;
      auto& cbs = account.programs[{device_of(segment, slot.device), slot.program}];
      for (std::uint32_t cb = 0; cb < slot.cb_count; ++cb) {
        cbs.push_back(segment.cb(slot.first_cb + cb).bytes);
      }
    }
    for (std::uint32_t i = 0; i < segment.header().device_count; ++i) {
      const segment::DeviceRecord& device = segment.device(i);
      const bool is_open = device.state == static_cast<std::uint32_t>(segment::DeviceState::open);
      if (is_open && device.announced != 0) {
        account.kinds[device_of(segment, i)] = transport::reports_of(device);
      }
    }
    return account;
  }

  [[nodiscard]] bool knows_the_same_as(const ReportedAccount& other) const {
    return live == other.live && programs == other.programs && knows_the_kinds_of(other);
  }

 private:
  [[nodiscard]] bool knows_the_kinds_of(const ReportedAccount& other) const {
    return std::all_of(other.kinds.begin(), other.kinds.end(), [&](const auto& device) {
      const auto known = kinds.find(device.first);
      return (device.second & ~(known == kinds.end() ? 0 : known->second)) == 0;
    });
  }
  static std::int32_t device_of(const segment::SegmentWriter& segment, std::uint32_t record) {
    return static_cast<std::int32_t>(segment.device(record).id);
  }
  void add(const wire::Message& message, Kind kind) {
    const Buffer key{message.head.device_id, static_cast<int>(kind), message.head.buffer_id};
    if (!live.emplace(key, message.head.size).second) faults.push_back("reported twice");
    if (kind == Kind::cb) return;  // a CB without a program does not set TTMEM_REPORTS_PROGRAMS
    kinds[message.head.device_id] |=
        kind == Kind::kernel ? TTMEM_REPORTS_KERNELS : 1U << message.head.buffer_type;
  }
  void remove(const wire::Message& message, Kind kind) {
    const Buffer key{message.head.device_id, static_cast<int>(kind), message.head.buffer_id};
    if (live.erase(key) == 0) faults.push_back("freed and never reported");
  }
  void place(const wire::Message& message) {
    const auto& cb = message.allocation.cb;
    if (cb.index != coming.size()) faults.push_back("not the next CB of its program");
    if (cb.count > 0) coming.push_back(message.allocation.bytes_per_bank);
    if (cb.index + 1 < cb.count) return;
    programs[{message.head.device_id, cb.program}] = coming;
    kinds[message.head.device_id] |= TTMEM_REPORTS_PROGRAMS;
    coming.clear();
  }
  void destroy(const wire::Message& message) {
    const auto& cb = message.allocation.cb;
    const Program key{message.head.device_id, cb.program};
    if (!programs.contains(key)) faults.push_back("program freed and never reported");
    if (cb.index + 1 >= cb.count) programs.erase(key);
  }
  void device(const wire::Message& message) {
    using enum wire::ClientNotice;
    const auto report = static_cast<wire::ClientNotice>(message.device.is_available);
    if (messages == 1 && report != hello) faults.push_back("no hello");
    if (messages != 1 && report == hello) faults.push_back("a hello that is not the first message");
    if (report == complete && std::exchange(is_complete, true)) faults.push_back("complete twice");
    has_left = report == goodbye;
    if (report == closed) close(message.head.device_id);
    if (report == closed || report == opened) events_dropped = message.device.events_dropped;
    if (report == opened) kinds[message.head.device_id] |= message.device.reports;
  }
  void close(std::int32_t device) {
    std::erase_if(live, [&](const auto& entry) { return std::get<0>(entry.first) == device; });
    std::erase_if(programs, [&](const auto& entry) { return std::get<0>(entry.first) == device; });
  }
};

}  // namespace ttmem
