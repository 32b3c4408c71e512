// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "read/recording/file/writer.hpp"
#include "read/recording/recorder/device_recorder.hpp"
#include "read/recording/recorder/origins.hpp"
#include "read/recording/recorder/process_events.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_image.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::recording {

// Records one process: reads the events of its segment and writes rows.
//
// drain() reads events into memory, and apply_next() writes the oldest event in memory. The two
// steps let the Recorder merge the events of several processes.
//
// Not thread-safe; `writer` must outlive this object.
class ProcessRecorder {
 public:
  // `began_ns` is the time at which the recording began, on the monotonic clock. `earliest` is a
  // time of the recording: the process began then or later, even if its own clock shows an earlier
  // time.
  ProcessRecorder(UniqueFd segment, std::uint64_t began_ns, Time earliest, Writer& writer);
  ProcessRecorder(const ProcessRecorder&) = delete;
  ProcessRecorder& operator=(const ProcessRecorder&) = delete;

  // Writes the row of the process. Returns false while the segment is incomplete, because the
  // process is still starting.
  [[nodiscard]] bool begin();

  void drain();
  // Returns the time of the oldest event that is not yet applied, or nullopt if all are applied.
  [[nodiscard]] std::optional<Time> next_time() const;
  void apply_next();

  // Writes the present facts and figures of the devices.
  void refresh(Time time);

  // Writes how often the process has entered and left its scopes so far.
  void note_scopes();

  // Finds out whether the process has ended. `now` is a time before this call, by the coarse clock.
  void look_for_end(Time now);
  // Returns true if look_for_end() has found that the process has ended. No event will follow.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  // Returns true if the process is about to end: it was killed, for example, but the kernel has not
  // yet closed its files.
  [[nodiscard]] bool is_ending() const;
  // Ends all rows of the process at the time at which it ended, which is `now` at the latest. Call
  // it after all events are applied.
  void end(Time now);
  // Returns the row of the process after end().
  [[nodiscard]] const RecordedProcess& row() const { return row_; }
  // Returns true if the pid of row() is a pid of this pid namespace.
  [[nodiscard]] bool is_in_own_namespace() const { return is_in_own_namespace_; }
  // Returns the segment. Call it after end(), and no other function afterwards.
  [[nodiscard]] UniqueFd take_segment() { return std::move(segment_); }

  [[nodiscard]] std::uint64_t events() const { return events_.seen(); }
  [[nodiscard]] std::uint64_t lost() const { return events_.lost(); }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  [[nodiscard]] std::uint32_t ring_records() const { return ring_records_; }
  [[nodiscard]] std::uint64_t used_bytes() const { return devices_.used_bytes(); }

 private:
  // The row of a live allocation or program. The index in Slots is its slot.
  struct Live {
    RowId row = 0;  // 0: the slot is free
    std::uint64_t when_ns = 0;
    // Only allocations use the following three fields.
    RowId request = 0;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> address{};
    RowId devices = 0;  // the device set of an allocation, or the device of a program
  };
  using Slots = std::vector<Live>;

  void apply(const ProcessEvents::Step& step);
  void apply_event(const ProcessEvents::Step& step);
  void apply_allocation(const ProcessEvents::Step& step);
  void apply_free(const segment::EventRecord& event, Time time);
  void apply_place(const segment::EventRecord& event, Time time);
  void apply_destroy(const segment::EventRecord& event, Time time);
  void apply_dispatch(const segment::EventRecord& event, const Launch& launch, Time time);
  void close_device(std::uint32_t number, Time time);
  void read_layout(const segment::EventRecord& event,
                   std::span<const segment::EventDetails> details);

  void apply_bridge(const Bridge& bridge, Time time);
  [[nodiscard]] Time end_of_gap(const Bridge& bridge) const;
  void apply_live(const segment::LiveAllocation& live, Time time);
  void apply_live(const segment::LiveProgram& live, Time time);

  // Reads the present record of the segment. Returns nullopt while the record is being written.
  template <typename Slot>
  [[nodiscard]] std::optional<Slot> read_slot(const segment::RecordPlaces& places,
                                              std::uint32_t index) const;
  [[nodiscard]] RowId devices_of(const segment::EventRecord& event, Time time);
  // The facts about an allocation that its event does not contain.
  struct Details {
    std::uint8_t flags = 0;  // flags of the slot
    segment::AllocationDetails record{};
  };
  [[nodiscard]] std::optional<Details> details_of(const ProcessEvents::Step& step) const;
  [[nodiscard]] RowId layout_of(const segment::EventRecord& event);
  void begin_allocation(Live live, std::uint32_t slot, Time time);
  void begin_program(const RecordedProgram& program, std::uint32_t slot, std::uint64_t when_ns);
  [[nodiscard]] Time end_time(const segment::Header* header, Time now) const;
  void leave(Live& live, RowId devices, Time time, Ending ending);
  bool leave_all_but(Live& live, RowId devices, Time time, Ending ending);

  UniqueFd segment_;
  segment::FdSource source_;
  std::uint64_t began_ns_;
  Time earliest_;
  Writer& writer_;
  RecordedProcess row_;
  std::uint64_t failures_ = 0;
  std::uint32_t ring_records_ = 0;  // capacity of the ring
  bool is_in_own_namespace_ = false;
  std::uint64_t start_time_ticks_ = 0;
  bool has_ended_ = false;
  Time alive_ns_ = -kMaxTime;    // last time at which the process was seen alive
  Time applied_ns_ = -kMaxTime;  // time of the last step that was applied
  ProcessEvents events_;
  Origins origins_;
  DeviceRecorder devices_;
  const segment::SegmentImage* image_ = nullptr;  // image of the bridge that is being applied
  Slots allocations_;
  Slots programs_;
  boost::unordered_flat_map<std::uint64_t, RowId> layouts_;  // by number of the footprint
  // Launches of one program, by program number.
  boost::unordered_flat_map<std::uint64_t, RowId> launches_;
};

}  // namespace ttmem::recording
