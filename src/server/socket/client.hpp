// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/core_mask.hpp"
#include "base/result.hpp"
#include "server/socket/holdings.hpp"
#include "tracker/tracker.hpp"
#include "wire/check.hpp"
#include "wire/message.hpp"

namespace ttmem::server {

using KindBytes = PerKind<std::uint64_t>;

// What all clients of a server hold together, for its log. Devices as wire::fault_of() allows them.
class DeviceTotals {
 public:
  [[nodiscard]] std::uint64_t get(std::uint32_t device, Kind kind) const {
    return devices_[device][kind];
  }
  void change(std::uint32_t device, Kind kind, std::uint64_t before, std::uint64_t after) {
    devices_[device][kind] += after - before;  // the wrap-around of unsigned numbers makes it right
  }

 private:
  std::vector<KindBytes> devices_ = std::vector<KindBytes>(wire::kMaxDeviceId + 1);
};

// What a report did.
struct Change {
  enum class Effect : std::uint8_t {
    kCounted,
    kHeldAlready,  // allocated once more: counted once, and wants one free more
    kStillHeld,    // freed once: `references` are left
    kNotHeld,      // freed, but nobody allocated it
    kRefused,      // allocated, but the tracker does not take it: not held, and in no figure
    kWaiting,      // a CB of a program of which more are to come
    kOpened,
    kClosed,
  };

  Effect effect = Effect::kCounted;
  Kind kind = Kind::dram;
  std::uint64_t bytes = 0;       // of what the message is about
  std::uint64_t references = 1;  // how often it is held now
};

// One CB as libttmem tells it.
struct ToldCb {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;  // of ttmem_cb
  CoreMask cores;
};

// A process that reports over the socket: its tracker, and the segment that the server keeps for it
// as if the process had written it. One thread: that of the event loop.
//
// Reports must have passed wire::fault_of(). What they say may still be wrong (a free of something
// unknown, more devices than fit); then it is counted in the segment, and is no failure.
class Client {
 public:
  // Fails when the segment cannot be made; the message says why and what to do.
  // `totals` is kept up to date; at `now_ns` is when the reports of buffers came. Both outlive the
  // client.
  [[nodiscard]] static Result<std::unique_ptr<Client>> start(
      const std::string& directory, segment::SegmentWriter::Process process, DeviceTotals& totals,
      const std::uint64_t* now_ns);
  ~Client();  // out of the totals
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] const segment::SegmentWriter::Process& process() const { return process_; }
  [[nodiscard]] const std::string& segment_path() const { return tracker_->segment_path(); }

  // Any report but a CB with details, which place() takes with the others of its program.
  Change apply(ConnectionId connection, const wire::Message& report);
  Change place(ConnectionId connection, std::uint32_t device, std::uint64_t program,
               std::span<const ToldCb> cbs);

  // Prepares for a report that apply() will get soon. Helps only if it is about a buffer.
  [[gnu::always_inline]] void prefetch(const wire::Message& report) const noexcept {
    const std::uint8_t space =
        report.has_details() ? report.head.buffer_type : std::uint8_t{HoldingKey::kUntypedBuffers};
    holdings_.prefetch(HoldingKey::of(report.head.buffer_id,
                                      static_cast<std::uint32_t>(report.head.device_id), space));
  }

  // The connection ended: what it alone had allocated is freed.
  void forget(ConnectionId connection);

  // What is held on each device.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, KindBytes>> held() const;
  // Buffers, kernels, CBs and programs.
  [[nodiscard]] std::size_t holdings() const { return holdings_.size(); }

  // Removes the segment. Nothing but held() may be called afterwards.
  void finish() noexcept { tracker_->finish(); }

 private:
  Client(std::unique_ptr<tracker::Tracker> tracker, segment::SegmentWriter::Process process,
         DeviceTotals& totals, const std::uint64_t* now_ns)
      : tracker_(std::move(tracker)),
        process_(std::move(process)),
        totals_(totals),
        now_ns_(now_ns) {}

  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t device, Kind kind) const noexcept;
  // What is never inlined here is kept out of allocate() and free(), which are flat.
  Change allocate(ConnectionId connection, const HoldingKey& key, Kind kind, std::uint64_t bytes);
  [[gnu::noinline]] Change allocate_again(ConnectionId connection, Holding* holding, Kind kind,
                                          std::uint64_t bytes);
  [[gnu::noinline]] Change refuse(Holding* holding, Kind kind, std::uint64_t bytes);
  [[gnu::noinline]] Change load(ConnectionId connection, const HoldingKey& key, Kind kind,
                                const wire::Message& report);
  Change free(ConnectionId connection, const HoldingKey& key, Kind kind);
  [[gnu::noinline]] Change destroy(const HoldingKey& program);
  [[gnu::noinline]] Change open(const wire::Message& report);
  [[gnu::noinline]] Change close(std::uint32_t device);
  [[nodiscard]] std::uint32_t columns_of(std::uint32_t device) const noexcept;
  // Runs `act`, which changes the CBs of programs on that device, and keeps the totals.
  template <typename Act>
  void counting_cbs(std::uint32_t device, Act&& act);
  // Into the tracker; false: it refuses.
  inline bool take_plain(Holding& holding);
  template <typename Understand>
  bool take(Holding& holding, Understand&& understand);
  inline bool take_buffer(Holding& holding, const ttmem_buffer& buffer);
  [[gnu::noinline]] bool take_detailed(Holding& holding, const wire::Message& report);
  [[gnu::noinline]] bool take_cb(Holding& holding);
  bool take_kernel(Holding& holding, const wire::Message& report);
  void resize_kernel(Holding& holding, const wire::Message& report);
  // Out of the tracker.
  inline void give(const Holding& holding);
  inline void give_allocation(const Holding& holding);
  [[gnu::noinline]] void give_program(const HoldingKey& key);
  [[gnu::noinline]] void count_unknown_free(std::uint32_t device);
  void append_ranges(const CoreMask& cores, std::uint32_t columns);

  std::unique_ptr<tracker::Tracker> tracker_;
  segment::SegmentWriter::Process process_;
  DeviceTotals& totals_;
  const std::uint64_t* now_ns_;
  Holdings holdings_;
  std::uint64_t events_dropped_ = 0;      // as the client said last
  std::vector<ttmem_core_range> ranges_;  // kept for their memory
  std::vector<ttmem_cb> cbs_;
};

}  // namespace ttmem::server
