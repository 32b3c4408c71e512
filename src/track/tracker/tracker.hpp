// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ttmem/ttmem.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "segment/writer/segment_writer.hpp"
#include "track/ledger/device_ledger.hpp"
#include "track/ledger/footprint.hpp"
#include "track/tracker/clock.hpp"
#include "track/tracker/device.hpp"
#include "track/tracker/device_set_table.hpp"
#include "track/tracker/mesh.hpp"
#include "track/tracker/observer.hpp"
#include "track/tracker/receipt.hpp"
#include "track/tracker/request.hpp"
#include "track/tracker/text_table.hpp"

namespace ttmem::tracker {

// Writes what a process allocates and frees into its segment: figures, live records and events.
// Every figure in the segment is exact when a call returns.
//
// The tracker does not find allocations by id. allocate() fills a receipt, which the caller stores
// and passes to release() once. IdTracker does so for the C interface, the server for its clients.
//
// Not thread-safe: the caller holds a lock. Calls may throw std::bad_alloc; the tracker must not be
// used any more then. Bad arguments and a segment that cannot grow are counted in the segment, and
// are no failure.
class Tracker {
 public:
  // Fails when the segment cannot be created.
  [[nodiscard]] static Result<std::unique_ptr<Tracker>> start(
      const segment::SegmentWriter::Options& options);
  explicit Tracker(std::unique_ptr<segment::SegmentWriter> segment);
  ~Tracker();
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  // The open device with that id; opens it with unknown capacities if necessary. Null, and the call
  // is counted as dropped, when the segment has no room for another device.
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
    return find_by_search(id);
  }
  void device_open(const ttmem_device_info& info);
  // True if device_open() would give the device another grid.
  [[nodiscard]] bool changes_grid(const ttmem_device_info& info) const noexcept;
  // What this process reports of a device from now on: bits of ttmem_reports().
  void reports(std::uint32_t device, std::uint32_t what);
  // What this process cannot report: the same bits, on every device. `why` may be null.
  void not_seen(std::uint32_t what, const char* why);
  // Whether the CB figures of a device are an estimate. Does nothing when it is not open.
  void cb_estimate(std::uint32_t device, bool is_estimate);
  // Does nothing when it is not open. The caller has released every receipt of the device before.
  void device_close(std::uint32_t device);

  // For buffers, kernels and CBs without an address. False, and counted as a bad argument, when the
  // sum of the kind would exceed kMaxTotalBytes.
  [[nodiscard]] bool allocate(Device& device, const Request& request, std::uint64_t now_ns,
                              Receipt& receipt);
  void release(Device& device, const Receipt& receipt, std::uint64_t now_ns);
  // Changes the size, also in the receipt. Changes nothing when allocate() would return false.
  void resize(Device& device, const Request& request, Receipt& receipt, std::uint64_t now_ns);
  // Releases what is live when its device closes: writes no event, and counts it as left.
  void release_at_close(Device& device, const Receipt& receipt);

  // The devices of the list. Opens those that are not open; one that is named again is a bad
  // argument, and one for which the segment has no room is counted as a dropped call. `list` is not
  // empty. Valid until the next call.
  [[nodiscard]] Mesh& mesh(std::span<const std::uint32_t> list) {
    KnownMesh& known = meshes_[(list.front() + list.size()) % meshes_.size()];
    if (known.shapes == shapes_ &&
        std::equal(list.begin(), list.end(), known.list.begin(), known.list.end())) [[likely]] {
      return known.mesh;
    }
    return look_up(list, known);
  }
  // The number of a set in the segment; 0: it has no room for it.
  [[nodiscard]] std::uint32_t set_number(const DeviceMask& devices) {
    return sets_.number_of(devices);
  }
  // A device by the index of its record.
  [[nodiscard]] Device& at(std::uint32_t record) const noexcept { return *devices_[record]; }

  // The same for a buffer that lies on each of the devices, which have the same shape: one slot and
  // one event. The caller has checked that each has_room(). Without a number of the set it is in
  // the figures and not in the list. Only for a tracker without an observer.
  void allocate_on(const DeviceMask& devices, std::uint32_t set, const Request& request,
                   std::uint64_t now_ns, Receipt& receipt);
  // Releases it on `devices`, whose number is `set`. It stays on `rest`, also in the receipt.
  void release_on(const DeviceMask& devices, std::uint32_t set, const DeviceMask& rest,
                  Receipt& receipt, std::uint64_t now_ns);
  // Releases what is live when one of its devices closes, and stays on the rest.
  void release_on_at_close(Device& device, const DeviceMask& rest, Receipt& receipt);
  // True if the slot names cores.
  [[nodiscard]] bool is_on_cores(const Receipt& receipt) const noexcept;
  // Gives the buffer a slot for `device` alone, which gets a receipt of its own. Figures stay.
  [[nodiscard]] Receipt split_off(Device& device, const DeviceMask& rest, Receipt& receipt);

  // False, and counted as a dropped call, when the segment has no room for the device. A null
  // `name` leaves the name of the program as it is.
  bool program_place(std::uint32_t device, std::uint64_t program, std::span<const ttmem_cb> cbs,
                     const char* name = nullptr);
  // On each of the devices.
  void program_place(const DeviceMask& devices, std::uint64_t program,
                     std::span<const ttmem_cb> cbs, const char* name = nullptr);
  void program_dispatch(std::uint32_t device, std::uint64_t program);
  void program_dispatch(const DeviceMask& devices, std::uint64_t program);
  void trace_replay(std::uint32_t device, std::span<const std::uint64_t> programs);
  void program_destroy(std::uint64_t program);  // on every device
  void program_remove(std::uint32_t device, std::uint64_t program);

  // What is allocated and placed from now on lies in this scope; 0: in none.
  void set_scope(std::uint32_t scope) noexcept { scope_ = scope; }
  // The number of the scope of this name in the current one; 0: there is no room for it.
  [[nodiscard]] std::uint32_t scope_named(const char* name) {
    return texts_.scope_in(scope_, name);
  }
  // As TextTable has it.
  [[nodiscard]] std::uint32_t* enter_scope(std::uint32_t scope) noexcept {
    return texts_.enter_scope(scope);
  }
  [[nodiscard]] std::uint32_t* open_visits(std::uint32_t scope) const noexcept {
    return texts_.open_visits(scope);
  }
  // Of a scope: the one that it lies in, and its own name.
  [[nodiscard]] std::uint32_t outer_scope(std::uint32_t scope) const noexcept {
    return texts_.parent_of(scope);
  }
  [[nodiscard]] std::string_view name_of_scope(std::uint32_t scope) const noexcept {
    return texts_.name_of(scope);
  }
  // A moment with a name, for those who read the events.
  void mark(const char* name);

  // Memory did not suffice, and `text` says for what: notes it, and keeps the state of this moment
  // in a file. The same text, or more around it, without anything taken since is the same failure,
  // which somebody passes on: nothing happens.
  void failure(std::string_view text);
  // The process ends well: what was kept is not needed.
  void forget_failure() noexcept { segment_->drop_failed(); }

  // `observer` is called for every change; may be null. Must outlive the tracker's last call.
  void set_observer(Observer* observer) noexcept { observer_ = observer; }
  [[nodiscard]] bool has_observer() const noexcept { return observer_ != nullptr; }
  [[nodiscard]] segment::SegmentWriter& segment() noexcept { return *segment_; }
  // Calls visit(record) for every open device.
  template <typename Visitor>
  void for_each_device(Visitor&& visit) const {
    for (std::uint32_t i = 0; i < segment_->device_count(); ++i) {
      const segment::DeviceRecord& record = segment_->device(i);
      if (record.state == static_cast<std::uint32_t>(segment::DeviceState::open)) visit(record);
    }
  }

  [[nodiscard]] const std::string& segment_path() const noexcept { return segment_->path(); }

  // Counts calls that are in no figure: their arguments are unusable, or there is no room.
  void count_dropped_calls(std::uint64_t calls) noexcept;
  // Subtracts calls from the dropped calls: they have been recorded after all.
  void count_recorded_calls(std::uint64_t calls) noexcept;
  void count_dropped_call() noexcept { count_dropped_calls(1); }

  // For a clean exit: removes the segment.
  void finish() noexcept { segment_->finish(); }
  void discard() noexcept { segment_->discard(); }
  // For a client that ended: lets go of its segment, which stays. Only the destructor may follow.
  void leave_as_evidence() noexcept {
    segment_->leave_as_evidence();
    segment_.reset();
  }
  // For a forked child: unmaps the parent's segment. Nothing else may be called afterwards, not
  // even the destructor.
  void abandon() noexcept { segment_->abandon(); }
  // For a child that was forked inside a call: lets go of the parent's lock. The call may go on.
  void close_file() noexcept { segment_->close_file(); }

 private:
  enum class Change : bool { add, remove };
  // What a slot says of where its allocation is.
  struct Where {
    std::uint32_t number;  // of the record of the device, or of the set
    bool is_set = false;
  };

  void set_known(Device& device, std::uint32_t what, bool known);
  [[nodiscard]] Device* find_by_search(std::uint32_t id) const noexcept;
  [[gnu::noinline, gnu::cold]] Device* open(std::uint32_t id, Device* known);
  Device* new_device(std::uint32_t id);

  Mesh& look_up(std::span<const std::uint32_t> list, KnownMesh& known);
  void add_to(Mesh& mesh, const Device& device);

  static void account(DeviceRecord& record, const Receipt& receipt, Change direction) noexcept;
  static void fill_receipt(const Request& request, Receipt& receipt) noexcept;
  void write_slot(Where where, const Request& request, const Receipt& receipt, std::uint64_t born,
                  std::uint64_t now_ns) noexcept;
  [[nodiscard]] static std::uint8_t flags_of(Where where, const Request& request) noexcept;
  // Where an event says that something is: the id of a device, or the number of a set.
  void write_alloc_event(Where where, const Request& request, const Receipt& receipt,
                         std::uint64_t now_ns) noexcept;
  void write_free_event(Where where, const Receipt& receipt, std::uint64_t now_ns) noexcept;
  // Tells a recorder again what a slot says, which has changed without a call for it.
  void tell_again(std::uint32_t slot) noexcept;
  [[nodiscard]] std::uint64_t exact_time() const noexcept;
  [[nodiscard]] std::uint64_t taken_so_far() const noexcept;
  void write_failure_event(std::string_view text, std::uint64_t when_ns);
  [[gnu::noinline]] std::uint32_t number_of_label(const char* label) noexcept;
  void clear_slot(const Receipt& receipt);
  static void count_left_at_close(Device& device, const Receipt& receipt) noexcept;
  void move_slot(const DeviceMask& devices, Receipt& receipt);
  // Calls write(where): once for a set that has a number, else for each device.
  template <typename Write>
  void for_events(const DeviceMask& devices, std::uint32_t set, Write&& write);
  void renumber_buffers(Device& device, std::uint32_t columns_before) noexcept;

  void place(Device& device, std::uint64_t program, ledger::FootprintRef footprint,
             const char* name);
  void dispatch(Device& device, std::uint64_t program);
  ledger::FootprintRef footprint_of(Device& device, std::span<const ttmem_cb> cbs);
  static std::uint64_t first_word(const Device& device) noexcept;
  static std::vector<ledger::Cb> decode(const Device& device, std::span<const std::uint64_t> key);
  void publish_footprint(ledger::Footprint& footprint) noexcept;
  void retire_footprint(ledger::Footprint& footprint) noexcept;
  void write_place_event(const Device& device, const ledger::Placement& placement,
                         std::uint64_t time) noexcept;
  void write_dispatch_event(segment::EventType type, std::uint32_t where,
                            std::uint64_t program) noexcept;
  void write_replay_event(const Device& device, std::span<const std::uint64_t> programs) noexcept;
  void publish_program(Device& device, ledger::Placement& placement);
  bool rename(ledger::Placement& placement, const char* name);
  void publish_name(Device& device, const ledger::Placement& placement) noexcept;
  void clear_slot(ledger::Placement& placement);
  void publish_cb_figures(Device& device) noexcept;
  static void report_dispatches(Device& device) noexcept;
  void remove_program(Device& device, std::uint64_t program);
  void forget_program(Device& device, ledger::Placement& placement);
  void drop_programs(Device& device);
  void renumber_programs(Device& device);

  std::unique_ptr<segment::SegmentWriter> segment_;
  Observer* observer_ = nullptr;
  ledger::FootprintTable footprints_;  // before the devices, whose programs refer to it
  std::uint64_t footprint_number_ = 0;
  TextTable texts_;
  std::uint32_t scope_ = 0;
  DeviceSetTable sets_;
  KnownMeshes meshes_;
  std::uint64_t shapes_ = 1;            // grows when a device opens, closes or gets another shape
  std::vector<std::uint64_t> key_;      // of a footprint; a member, so that its memory is reused
  std::uint64_t placements_ = 0;        // ever
  std::uint64_t taken_at_failure_ = 0;  // taken_so_far() at the last failure
  std::array<std::unique_ptr<Device>, segment::kMaxDevices> devices_;  // by record
  std::array<Device*, 256> by_id_{};  // the common small ids; others are searched
};

}  // namespace ttmem::tracker
