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

// The bytes that all clients of a server hold together, for the server's log. Every device number
// must have passed wire::fault_of().
class DeviceTotals {
 public:
  [[nodiscard]] std::uint64_t get(std::uint32_t device, Kind kind) const {
    return devices_[device][kind];
  }
  void change(std::uint32_t device, Kind kind, std::uint64_t before, std::uint64_t after) {
    // The difference may wrap around. The sum is still correct, because all numbers are unsigned.
    devices_[device][kind] += after - before;
  }

 private:
  std::vector<KindBytes> devices_ = std::vector<KindBytes>(wire::kMaxDeviceId + 1);
};

// The effect of a report.
struct Change {
  enum class Effect : std::uint8_t {
    counted,
    held_already,  // allocated again: counted once, but one more free is needed
    still_held,    // freed once, but still held `references` times
    not_held,      // freed, but was not allocated
    refused,       // an allocation that was ignored: it is not held, and is in no figure
    opened,
    closed,
    waiting,  // waits for the other CBs of the program
    noted,    // a report about the connection itself
  };
  enum class Refusal : std::uint8_t { too_many_devices, segment_full, bad_argument, total };

  Effect effect = Effect::counted;
  Refusal refusal = Refusal::bad_argument;  // the reason, if `effect` is refused
  Kind kind = Kind::dram;
  std::uint64_t bytes = 0;       // for the log: the size that was allocated or freed
  std::uint64_t references = 1;  // number of frees after which the object is no longer held
};

// The reason why a connection ended.
enum class EndOfConnection : std::uint8_t {
  closed,
  refused,  // the server ended the connection because of bad messages; none of its reports counts
};

// One CB as libttmem reports it.
struct ReportedCb {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;  // flags of ttmem_cb
  CoreMask cores;
};

// One process that reports over the socket: its tracker and its proxy segment. The proxy segment
// has the same contents that the process itself would have written. Used by one thread: the thread
// of the event loop.
//
// Every report must have passed wire::fault_of(). A report may still be wrong, for example a free
// of an unknown buffer. The segment counts a wrong report; the call does not fail.
class Client {
 public:
  // Fails if the segment cannot be created; the message contains the reason and the next step. The
  // client updates `totals`, and reads the time of reports from `now_ns`. Both must outlive the
  // client.
  [[nodiscard]] static Result<std::unique_ptr<Client>> start(
      const std::string& directory, segment::SegmentWriter::Process process, DeviceTotals& totals,
      const std::uint64_t* now_ns);
  ~Client();  // subtracts the held bytes from the totals
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const segment::SegmentWriter::Process& process() const { return process_; }
  [[nodiscard]] const std::string& segment_path() const {
    return tracker_->process.segment().path();
  }

  // apply() takes any report except a CB with details. place() takes all CBs of a program together.
  Change apply(ConnectionId connection, const wire::Message& report);
  Change place(ConnectionId connection, std::uint32_t device, std::uint64_t program,
               std::span<const ReportedCb> cbs);

  // The connections of libttmem. The registry keeps them after the client ends. A connection that
  // was made before a goodbye may be read after the goodbye, and is then recognized as outdated.
  [[nodiscard]] const LibraryConnections& libraries() const { return libraries_; }
  void restore_libraries(LibraryConnections libraries) { libraries_ = std::move(libraries); }

  // Prefetches the holding of a report that apply() will get soon. Only useful for buffers.
  [[gnu::always_inline]] void prefetch(const wire::Message& report) const noexcept {
    const std::uint8_t space =
        report.has_details() ? report.head.buffer_type : std::uint8_t{HoldingKey::kUntypedBuffers};
    holdings_.prefetch(HoldingKey::of(report.head.buffer_id,
                                      static_cast<std::uint32_t>(report.head.device_id), space));
  }

  void add_connection(ConnectionId connection);
  // Handles the end of a connection. Keeps the allocations that were reported over the connection,
  // because the process still holds them. Removes them if the server refused the connection.
  void remove_connection(ConnectionId connection, EndOfConnection end);
  [[nodiscard]] bool is_connected() const { return !connections_.empty(); }
  // Returns true if a later connection replaces `connection`. The remaining reports of `connection`
  // must then be ignored.
  [[nodiscard]] bool is_replaced(ConnectionId connection) const {
    return libraries_.is_replaced(connection);
  }

  // Returns false if the client holds nothing, or if libttmem reported all holdings and said
  // goodbye.
  [[nodiscard]] bool holds_anything() const { return holdings() > 0 && !exits_; }
  [[nodiscard]] std::vector<std::pair<std::uint32_t, KindBytes>> held() const;
  // Returns the number of buffers, kernels, CBs and programs.
  [[nodiscard]] std::size_t holdings() const { return holdings_.size(); }

  // Removes the segment. Only held() may be called afterwards.
  void finish() noexcept { tracker_->process.segment().finish(); }
  // Closes the segment, which remains as the segment of a dead process. No function may be called
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
  // allocate() and free() inline all functions that they call, except noinline functions.
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
  // Runs `act`, which changes the CBs of programs on the device, and updates the totals.
  template <typename Act>
  void update_cb_totals(std::uint32_t device, Act&& act);
  // Each function adds an allocation to the tracker. If the tracker refuses the allocation, the
  // function returns false and stores the reason in refusal_.
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
  // Returns the reason why the tracker cannot add a device.
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
  bool has_originals_ = false;  // true if an original client's connection has ended
  bool exits_ = false;          // true if libttmem said goodbye, and no other connection reported
  Change::Refusal refusal_ = Change::Refusal::bad_argument;
  std::uint64_t events_dropped_ = 0;      // number of lost events that the client reported last
  std::uint64_t events_resent_ = 0;       // number of resent events that the client reported last
  std::uint64_t missing_events_ = 0;      // resent events, or 0 if their resend is complete
  std::vector<ttmem_core_range> ranges_;  // a member, like cbs_, so that its memory is reused
  std::vector<ttmem_cb> cbs_;
};

}  // namespace ttmem::serve
