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
#include "read/recording/recorder/origins.hpp"
#include "read/recording/recorder/process_events.hpp"
#include "read/recording/recorder/recorded_devices.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_image.hpp"
#include "segment/reader/segment_map.hpp"

namespace ttmem::recording {

// One process whose segment is recorded: writes what its events mean.
//
// In two steps, so that those of several processes can be merged: drain() reads events into memory,
// apply_next() writes the oldest of them.
//
// Not thread-safe; `writer` must outlive it.
class RecordedProcess {
 public:
  // `began_ns` is when the recording began, on the monotonic clock. The process began at `earliest`
  // of the recording or later, whatever its clock says.
  RecordedProcess(UniqueFd segment, std::uint64_t began_ns, Time earliest, Writer& writer);
  RecordedProcess(const RecordedProcess&) = delete;
  RecordedProcess& operator=(const RecordedProcess&) = delete;

  // False while the segment is incomplete: its process is starting.
  [[nodiscard]] bool begin();

  void drain();
  // When the oldest that was not yet applied happened; none: all was.
  [[nodiscard]] std::optional<Time> next_time() const;
  void apply_next();

  // What the process says of its devices by now.
  void refresh(Time time);

  // How often it entered and left its scopes by now.
  void note_scopes();

  // True if its process has ended, so that nothing new will come.
  [[nodiscard]] bool has_ended() const;
  // Once all of it was applied.
  void end(Time time);
  // Returns the segment. Call it after end(), and no other function afterwards.
  [[nodiscard]] UniqueFd take_segment() { return std::move(segment_); }

  [[nodiscard]] std::uint64_t events() const { return events_.seen(); }
  [[nodiscard]] std::uint64_t lost() const { return events_.lost(); }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  [[nodiscard]] std::uint32_t ring_records() const { return ring_records_; }
  [[nodiscard]] std::uint64_t used_bytes() const { return devices_.used_bytes(); }

 private:
  // A live row, by its slot.
  struct Live {
    RowId row = 0;  // 0: the slot is free
    std::uint64_t when_ns = 0;
    // Of an allocation, which may go on in another row.
    RowId request = 0;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> address{};
    RowId devices = 0;  // a set
  };
  using Slots = std::vector<Live>;

  void apply(const ProcessEvents::Step& step);
  void apply_event(const ProcessEvents::Step& step);
  void apply_allocation(const ProcessEvents::Step& step);
  void apply_free(const segment::EventRecord& event, Time time);
  void apply_place(const segment::EventRecord& event, Time time);
  void apply_dispatch(const segment::EventRecord& event, const Launch& launch, Time time);
  void close_device(std::uint32_t number, Time time);
  void read_layout(const segment::EventRecord& event,
                   std::span<const segment::EventDetails> details);

  void apply_bridge(const Bridge& bridge, Time time);
  void apply_live(const segment::LiveAllocation& live, Time time);
  void apply_live(const segment::LiveProgram& live, Time time);

  // A record of the segment as it is by now; none when it is being written.
  template <typename Slot>
  [[nodiscard]] std::optional<Slot> read_slot(const segment::RecordPlaces& places,
                                              std::uint32_t index) const;
  [[nodiscard]] RowId devices_of(const segment::EventRecord& event, Time time);
  // What an allocation says besides its event; none: it was gone before it could be read.
  struct Details {
    std::uint8_t flags = 0;  // of the slot
    segment::AllocationDetails record{};
  };
  [[nodiscard]] std::optional<Details> details_of(const ProcessEvents::Step& step) const;
  [[nodiscard]] RowId layout_of(const segment::EventRecord& event);
  void begin_allocation(Live live, std::uint32_t slot, Time time);
  void begin_program(const Program& program, std::uint32_t slot, std::uint64_t when_ns);
  RowId begin_row(const Live& live, Time time);
  void leave(Live& live, RowId devices, Time time, Ending ending);

  UniqueFd segment_;
  segment::FdSource source_;
  std::uint64_t began_ns_;
  Time earliest_;
  Writer& writer_;
  Process row_;
  std::uint64_t failures_ = 0;
  std::uint32_t ring_records_ = 0;  // that its ring holds
  ProcessEvents events_;
  Origins origins_;
  RecordedDevices devices_;
  const segment::SegmentImage* image_ = nullptr;  // of the bridge that is being applied
  Slots allocations_;
  Slots programs_;
  boost::unordered_flat_map<std::uint64_t, RowId> layouts_;   // by the number of the footprint
  boost::unordered_flat_map<std::uint64_t, RowId> launches_;  // of one program, by its number
};

}  // namespace ttmem::recording
