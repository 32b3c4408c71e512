// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core_mask.hpp"
#include "base/result.hpp"
#include "serve/socket/holdings.hpp"
#include "serve/socket/library_connections.hpp"
#include "track/tracker/tracker.hpp"
#include "track/wire/check.hpp"
#include "track/wire/message.hpp"

namespace ttmem::serve {

using KindBytes = PerKind<std::uint64_t>;

// What all clients of a server hold together, for its log. Devices as wire::fault_of() accepts
// them.
class DeviceTotals {
 public:
  [[nodiscard]] std::uint64_t get(std::uint32_t device, Kind kind) const {
    return devices_[device][kind];
  }
  void change(std::uint32_t device, Kind kind, std::uint64_t before, std::uint64_t after) {
    devices_[device][kind] += after - before;  // right also when it wraps around
  }

 private:
  std::vector<KindBytes> devices_ = std::vector<KindBytes>(wire::kMaxDeviceId + 1);
};

// What a report did.
struct Change {
  enum class Effect : std::uint8_t {
    counted,
    held_already,  // allocated once more: counted once, and needs one more free
    still_held,    // freed once: `references` are left
    not_held,      // freed, but not allocated
    refused,       // allocated, but ignored: not held, and in no figure
    opened,
    closed,
    waiting,  // a CB of a program that is not complete yet
    noted,    // it is about the connection
  };
  enum class Refusal : std::uint8_t { too_many_devices, segment_full, bad_argument, total };

  Effect effect = Effect::counted;
  Refusal refusal = Refusal::bad_argument;  // why, with kRefused
  Kind kind = Kind::dram;
  std::uint64_t bytes = 0;       // of what the message is about
  std::uint64_t references = 1;  // how often it is held now
};

// Why a connection ended.
enum class EndOfConnection : std::uint8_t {
  closed,
  refused,  // by the server, because the messages made no sense: nothing that it said counts
};

// One CB as libttmem reports it.
struct ReportedCb {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;  // of ttmem_cb
  CoreMask cores;
};

// A process that reports over the socket: its tracker and its proxy segment, which has the contents
// that the process itself would have written. One thread: that of the event loop.
//
// Reports must have passed wire::fault_of(). They may still be wrong (a free of something unknown,
// too many devices): the segment counts that, and it is no failure.
class Client {
 public:
  // Fails when the segment cannot be created; the message says why and what to do. The client
  // updates `totals`, and reads the time of reports from `now_ns`. Both must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Client>> start(
      const std::string& directory, segment::SegmentWriter::Process process, DeviceTotals& totals,
      const std::uint64_t* now_ns);
  ~Client();  // subtracts what it holds from the totals
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const segment::SegmentWriter::Process& process() const { return process_; }
  [[nodiscard]] const std::string& segment_path() const {
    return tracker_->process.segment().path();
  }

  // For any report except a CB with details: place() gets all CBs of a program together.
  Change apply(ConnectionId connection, const wire::Message& report);
  Change place(ConnectionId connection, std::uint32_t device, std::uint64_t program,
               std::span<const ReportedCb> cbs);

  // Prepares for a report that apply() will get soon. Helps only if it is about a buffer.
  [[gnu::always_inline]] void prefetch(const wire::Message& report) const noexcept {
    const std::uint8_t space =
        report.has_details() ? report.head.buffer_type : std::uint8_t{HoldingKey::kUntypedBuffers};
    holdings_.prefetch(HoldingKey::of(report.head.buffer_id,
                                      static_cast<std::uint32_t>(report.head.device_id), space));
  }

  void add_connection(ConnectionId connection);
  // The connection ended. What was allocated over it stays, for that is the process's, unless it
  // was refused.
  void remove_connection(ConnectionId connection, EndOfConnection end);
  [[nodiscard]] bool is_connected() const { return !connections_.empty(); }
  // True if a later connection replaces this one, and what it still sends must not be applied.
  [[nodiscard]] bool is_replaced(ConnectionId connection) const {
    return libraries_.is_replaced(connection);
  }

  // False also when all that it holds was reported by libttmem, which has said goodbye.
  [[nodiscard]] bool holds_anything() const { return holdings() > 0 && !exits_; }
  [[nodiscard]] std::vector<std::pair<std::uint32_t, KindBytes>> held() const;
  // Buffers, kernels, CBs and programs.
  [[nodiscard]] std::size_t holdings() const { return holdings_.size(); }

  // Removes the segment. Nothing but held() may be called afterwards.
  void finish() noexcept { tracker_->process.segment().finish(); }
  // Lets go of the segment, which stays as that of a dead process. Nothing may be called
  // afterwards.
  void leave_as_evidence();

 private:
  Client(std::unique_ptr<tracker::Tracker> tracker, segment::SegmentWriter::Process process,
         DeviceTotals& totals, const std::uint64_t* now_ns)
      : tracker_(std::move(tracker)),
        process_(std::move(process)),
        totals_(totals),
        now_ns_(now_ns) {}

  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t device, Kind kind) const noexcept;
  // allocate() and free() inline all that they call, except what is marked noinline.
  Change allocate(ConnectionId connection, const HoldingKey& key, Kind kind, std::uint64_t bytes);
  [[gnu::noinline]] Change allocate_again(ConnectionId connection, Holding* holding, Kind kind,
                                          std::uint64_t bytes);
  [[gnu::noinline]] Change refuse(Holding* holding, Kind kind, std::uint64_t bytes);
  [[gnu::noinline]] Change load(ConnectionId connection, const HoldingKey& key, Kind kind,
                                const wire::Message& report);
  Change free(ConnectionId connection, const HoldingKey& key, Kind kind);
  [[gnu::noinline]] Change destroy(const HoldingKey& program);
  [[gnu::noinline]] Change apply_device(ConnectionId connection, const wire::Message& report);
  Change open(const wire::Message& report);
  Change close(std::uint32_t device);
  void count_dropped(const wire::DeviceDetails& reported);
  void complete(ConnectionId connection);
  void say_goodbye(std::uint64_t copy);
  void remove_reports(std::span<const ConnectionId> connections);
  void subtract_from_totals();
  [[nodiscard]] std::uint32_t columns_of(std::uint32_t device) const noexcept;
  // Runs `act`, which changes the CBs of programs on that device, and updates the totals.
  template <typename Act>
  void update_cb_totals(std::uint32_t device, Act&& act);
  // Each allocates in the tracker. False when that is refused: refusal_ says why.
  inline bool track_plain(Holding& holding);
  template <typename Fill>
  bool track(Holding& holding, Fill&& fill_request);
  inline bool track_buffer(Holding& holding, const ttmem_buffer& buffer);
  [[gnu::noinline]] bool track_detailed(Holding& holding, const wire::Message& report);
  [[gnu::noinline]] bool track_cb(Holding& holding);
  bool track_kernel(Holding& holding, const wire::Message& report);
  void resize_kernel(Holding& holding, const wire::Message& report);
  bool fail(Change::Refusal why) noexcept {
    refusal_ = why;
    return false;
  }
  // Why the tracker cannot add a device.
  [[nodiscard, gnu::cold, gnu::noinline]] Change::Refusal no_device() noexcept;
  inline void release(const Holding& holding);
  inline void release_allocation(const Holding& holding);
  [[gnu::noinline]] void release_program(const HoldingKey& key);
  [[gnu::noinline]] void count_unknown_free(std::uint32_t device);
  void append_ranges(const CoreMask& cores, std::uint32_t columns);

  std::unique_ptr<tracker::Tracker> tracker_;
  segment::SegmentWriter::Process process_;
  DeviceTotals& totals_;
  const std::uint64_t* now_ns_;
  Holdings holdings_;
  std::set<ConnectionId> connections_;
  LibraryConnections libraries_;
  bool has_originals_ = false;  // connections that ended and were not libttmem's
  bool exits_ = false;          // libttmem said goodbye, and nothing else has reported
  Change::Refusal refusal_ = Change::Refusal::bad_argument;
  std::uint64_t events_dropped_ = 0;      // lost for good, as last reported by the client
  std::uint64_t events_resent_ = 0;       // made good by a resend, as last reported by the client
  std::uint64_t missing_events_ = 0;      // the part of events_resent_ whose resend is not complete
  std::vector<ttmem_core_range> ranges_;  // members, so that their memory is reused
  std::vector<ttmem_cb> cbs_;
};

}  // namespace ttmem::serve
