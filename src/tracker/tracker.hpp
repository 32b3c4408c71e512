// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ledger/device_ledger.hpp"
#include "ledger/footprint.hpp"
#include "segment/writer/segment_writer.hpp"
#include "tracker/clock.hpp"
#include "tracker/name_table.hpp"
#include "tracker/observer.hpp"
#include "tracker/receipt.hpp"

namespace ttmem::tracker {

struct LiveAllocation;

// Turns the calls of the C interface into figures, live records and events of this process's
// segment. Every figure in the segment is exact when a call returns.
//
// Not thread-safe: whoever calls holds one lock. Calls may throw std::bad_alloc; the tracker must
// then be given up. Bad arguments, unknown ids and a segment that cannot grow are counted in the
// segment and are no failure.
class Tracker {
 public:
  // Null when the segment cannot be made; `error` says why, for a log.
  [[nodiscard]] static std::unique_ptr<Tracker> start(
      const segment::SegmentWriter::Options& options, std::string* error);
  ~Tracker();

  // What returns a bool says whether the thing is live now. If not, the call is counted as bad or
  // dropped.
  void device_open(const ttmem_device_info& info);
  // `kept`: every receipt of that device that was not given back. They are void then.
  void device_close(std::uint32_t device, std::span<const Receipt> kept = {});
  void buffer_alloc(std::uint32_t device, const ttmem_buffer& buffer);
  void buffer_free(std::uint32_t device, std::uint32_t type, std::uint64_t id);
  // A null `name` keeps the one that the program has.
  bool program_place(std::uint32_t device, std::uint64_t program, std::span<const ttmem_cb> cbs,
                     const char* name = nullptr);
  void program_dispatch(std::uint32_t device, std::uint64_t program);
  void trace_replay(std::uint32_t device, std::span<const std::uint64_t> programs);
  bool cb_alloc(std::uint32_t device, std::uint64_t cb, std::uint64_t bytes);
  void cb_free(std::uint32_t device, std::uint64_t cb);
  void program_destroy(std::uint64_t program);  // on every device
  void program_remove(std::uint32_t device, std::uint64_t program);
  bool kernel_load(std::uint32_t device, std::uint64_t kernel, std::uint64_t bytes,
                   std::uint32_t role, bool is_estimate);
  void kernel_unload(std::uint32_t device, std::uint64_t kernel);

  // Buffers for whoever knows what is live, and need not have it looked up: the caller keeps the
  // receipt, and gives it back once, with the id.
  [[nodiscard]] bool take_buffer(std::uint32_t device, const ttmem_buffer& buffer,
                                 std::uint64_t now_ns, Receipt& receipt);
  void give_buffer(std::uint32_t device, std::uint64_t id, const Receipt& receipt,
                   std::uint64_t now_ns);
  // Of a buffer whose receipt was given back because the same one came again.
  void count_alloc_over_live(std::uint32_t device);

  // From now on told of every change; null: nobody. Must outlive the tracker's last call.
  void set_observer(Observer* observer) noexcept { observer_ = observer; }
  [[nodiscard]] segment::SegmentWriter& segment() noexcept { return *segment_; }
  // What a device holds now; null unless it is open. Stays where it is. In device.hpp.
  [[nodiscard]] inline const segment::DeviceRecord* figures(std::uint32_t device) const noexcept;
  // How wide the grid of a device is, open or closed: what numbers its cores. In device.hpp.
  [[nodiscard]] inline std::uint32_t columns(std::uint32_t device) const noexcept;
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
  struct Device;
  struct Request;
  enum class Change : bool { kAdd, kRemove };

  explicit Tracker(std::unique_ptr<segment::SegmentWriter> segment);

  // The open device of that id, which it opens with unknown capacities when there is none; null,
  // and the call is counted as dropped, when the segment holds no more devices.
  Device* device(std::uint32_t id);
  Device* find(std::uint32_t id) const noexcept;
  [[gnu::noinline, gnu::cold]] Device* open(std::uint32_t id, Device* known);
  Device* new_device(std::uint32_t id);

  static bool understand(Device& device, const ttmem_buffer& buffer, CoreMask& cores,
                         Request& request);
  static bool understand_cores(Device& device, std::span<const ttmem_core_range> ranges,
                               CoreMask& cores, Request& request);
  static bool has_room(const Device& device, const Request& request,
                       std::uint64_t freed_bytes = 0) noexcept;
  bool allocate(Device& device, const Request& request);
  void resize(Device& device, const Request& request, LiveAllocation& live);
  void release(Device& device, Kind kind, std::uint64_t id);
  // Into and out of the segment; what is live by which id is not their business.
  void enter(Device& device, const Request& request, std::uint64_t now_ns, Receipt& receipt);
  void remove(Device& device, std::uint64_t id, const Receipt& receipt, std::uint64_t now_ns);
  void account(Device& device, const Receipt& receipt, Change direction) noexcept;
  void write_slot(Device& device, const Request& request, const Receipt& receipt,
                  std::uint64_t born, std::uint64_t now_ns) noexcept;
  void clear_slot(const Receipt& receipt);
  void drop_allocations(Device& device, std::span<const Receipt> kept);
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
