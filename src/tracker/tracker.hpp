// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ledger/device_ledger.hpp"
#include "ledger/footprint.hpp"
#include "segment/writer/segment_writer.hpp"
#include "tracker/clock.hpp"
#include "tracker/device.hpp"
#include "tracker/name_table.hpp"
#include "tracker/observer.hpp"
#include "tracker/receipt.hpp"
#include "tracker/request.hpp"

namespace ttmem::tracker {

// Turns what a process allocates and frees into figures, live records and events of its segment.
// Every figure in the segment is exact when a call returns.
//
// What is live by which id is not its business: an allocation gives a receipt, which the caller
// keeps and gives back once. IdTracker does so for the C interface, the server for its clients.
//
// Not thread-safe: whoever calls holds one lock. Calls may throw std::bad_alloc; the tracker must
// then be given up. Bad arguments and a segment that cannot grow are counted in the segment and are
// no failure.
class Tracker {
 public:
  // Fails when the segment cannot be made.
  [[nodiscard]] static Result<std::unique_ptr<Tracker>> start(
      const segment::SegmentWriter::Options& options);
  explicit Tracker(std::unique_ptr<segment::SegmentWriter> segment);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // The open device of that id, which it opens with unknown capacities when there is none. Null,
  // and the call is counted as dropped, when the segment holds no more devices.
  [[nodiscard]] Device* device(std::uint32_t id) {
    Device* found = find(id);
    if (found != nullptr && found->is_open()) [[likely]] {
      return found;
    }
    return open(id, found);
  }
  // Open or closed; null when it was never open.
  [[nodiscard]] Device* find(std::uint32_t id) const noexcept {
    if (id < by_id_.size()) [[likely]] {
      return by_id_[id];
    }
    return find_rare(id);
  }
  void device_open(const ttmem_device_info& info);
  // Nothing when it is not open. Every receipt of the device was released or left before.
  void device_close(std::uint32_t device);

  // Buffers, kernels and CBs without an address. False, and counted as a bad argument: the sum
  // would be absurd.
  [[nodiscard]] bool allocate(Device& device, const Request& request, std::uint64_t now_ns,
                              Receipt& receipt);
  void release(Device& device, const Receipt& receipt, std::uint64_t now_ns);
  // It has another size now, and the receipt says so. Refused as an allocation is; then it stays as
  // it was.
  void resize(Device& device, const Request& request, Receipt& receipt, std::uint64_t now_ns);
  // It is live when its device closes: goes without an event, and is counted as left.
  void leave(Device& device, const Receipt& receipt);

  // False: the device has no record, and the call is counted as dropped. A null `name` keeps the
  // one that the program has.
  bool program_place(std::uint32_t device, std::uint64_t program, std::span<const ttmem_cb> cbs,
                     const char* name = nullptr);
  void program_dispatch(std::uint32_t device, std::uint64_t program);
  void trace_replay(std::uint32_t device, std::span<const std::uint64_t> programs);
  void program_destroy(std::uint64_t program);  // on every device
  void program_remove(std::uint32_t device, std::uint64_t program);

  // From now on told of every change; null: nobody. Must outlive the tracker's last call.
  void set_observer(Observer* observer) noexcept { observer_ = observer; }
  [[nodiscard]] segment::SegmentWriter& segment() noexcept { return *segment_; }
  // Calls visit(record) for every open device.
  template <typename Visitor>
  void for_each_device(Visitor&& visit) const {
    for (std::uint32_t i = 0; i < segment_->header().device_count; ++i) {
      const segment::DeviceRecord& record = segment_->device(i);
      if (record.state == static_cast<std::uint32_t>(segment::DeviceState::kOpen)) visit(record);
    }
  }

  [[nodiscard]] const std::string& segment_path() const noexcept { return segment_->path(); }

  // Calls that cannot be understood or held; they are in no figure.
  void count_dropped_calls(std::uint64_t calls) noexcept;
  void count_dropped_call() noexcept { count_dropped_calls(1); }

  // The process ends in good order: the segment goes.
  void finish() noexcept { segment_->finish(); }
  // In a forked child: lets go of the parent's segment. Nothing else may be called afterwards, not
  // even the destructor.
  void abandon() noexcept { segment_->abandon(); }

 private:
  enum class Change : bool { kAdd, kRemove };

  [[nodiscard]] Device* find_rare(std::uint32_t id) const noexcept;
  [[gnu::noinline, gnu::cold]] Device* open(std::uint32_t id, Device* known);
  Device* new_device(std::uint32_t id);

  void account(Device& device, const Receipt& receipt, Change direction) noexcept;
  void write_slot(Device& device, const Request& request, const Receipt& receipt,
                  std::uint64_t born, std::uint64_t now_ns) noexcept;
  void clear_slot(const Receipt& receipt);
  void renumber_buffers(Device& device, std::uint32_t columns_before) noexcept;

  ledger::FootprintRef footprint_of(Device& device, std::span<const ttmem_cb> cbs);
  static std::uint64_t first_word(const Device& device) noexcept;
  static std::vector<ledger::Cb> decode(const Device& device, std::span<const std::uint64_t> key);
  void publish_footprint(ledger::Footprint& footprint) noexcept;
  void retire_footprint(ledger::Footprint& footprint) noexcept;
  void publish_program(Device& device, ledger::Placement& placement);
  bool rename(ledger::Placement& placement, const char* name);
  void publish_name(Device& device, const ledger::Placement& placement) noexcept;
  void clear_slot(ledger::Placement& placement);
  void publish_cb_figures(Device& device) noexcept;
  void remove_program(Device& device, std::uint64_t program);
  void forget_program(Device& device, ledger::Placement& placement);
  void drop_programs(Device& device);
  void renumber_programs(Device& device);

  std::unique_ptr<segment::SegmentWriter> segment_;
  Observer* observer_ = nullptr;
  ledger::FootprintTable footprints_;  // before the devices, whose programs refer to it
  std::uint64_t footprint_number_ = 0;
  NameTable names_;
  std::vector<std::uint64_t> key_;  // of the footprint looked for, kept for its memory
  std::array<std::unique_ptr<Device>, segment::kMaxDevices> devices_;  // by record
  std::array<Device*, 256> by_id_{};  // the common small ids; others are searched
};

}  // namespace ttmem::tracker
