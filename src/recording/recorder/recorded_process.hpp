// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/unique_fd.hpp"
#include "recording/file/writer.hpp"
#include "recording/recorder/origins.hpp"
#include "recording/recorder/recorded_devices.hpp"
#include "segment/reader/byte_source.hpp"
#include "segment/reader/event_reader.hpp"
#include "segment/reader/segment_image.hpp"

namespace ttmem::recording {

// One process whose segment is recorded: reads its events and writes what they mean.
//
// Events are told in two steps, so that those of several processes can be merged: drain() reads
// them into memory, apply_next() writes the oldest of them. What a slow recorder has lost is
// bridged: the live list of the segment tells what is there after the gap.
//
// Not thread-safe; `writer` must outlive it.
class RecordedProcess {
 public:
  // `began_ns` is when the recording began, on the monotonic clock.
  RecordedProcess(UniqueFd segment, std::uint64_t began_ns, Writer& writer);
  ~RecordedProcess();
  RecordedProcess(const RecordedProcess&) = delete;
  RecordedProcess& operator=(const RecordedProcess&) = delete;

  // False while the segment is incomplete: its process is starting.
  [[nodiscard]] bool begin();

  // Reads what is new. Once it holds as much as it may, the rest stays in the ring.
  void drain();
  // When the oldest that was not yet applied happened; none: all was.
  [[nodiscard]] std::optional<Time> next_time() const;
  void apply_next();

  // What the process says of its devices by now.
  void refresh(Time time);

  // True if its process has ended, so that nothing new will come.
  [[nodiscard]] bool has_ended() const;
  // Once all of it was applied.
  void end(Time time);

  [[nodiscard]] std::int32_t pid() const { return row_.pid; }
  [[nodiscard]] std::uint64_t events() const { return seen_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::uint64_t used_bytes() const { return devices_.used_bytes(); }

 private:
  // A live row, by its slot.
  struct Live {
    RowId row = 0;   // 0: the slot is free
    RowId what = 0;  // request or layout
    std::uint64_t number = 0;
    std::uint64_t when_ns = 0;
    std::optional<std::uint64_t> address{};
    RowId devices = 0;  // a set
  };
  using Slots = std::vector<Live>;

  // What was read at once, and how far it is applied.
  struct Batch {
    segment::Events events;
    std::size_t next = 0;
    std::size_t next_details = 0;
    std::optional<segment::SegmentImage> image;  // what is live after the lost ones that follow
    bool is_gap = false;  // the image follows lost events, not the time before the recording
    Time image_time = 0;
    std::uint64_t lost = 0;     // events before the image
    std::size_t next_live = 0;  // of the image: allocations, then programs
    [[nodiscard]] bool has_event() const { return next < events.events.size(); }
  };

  [[nodiscard]] Time time_of(std::uint64_t when_ns) const;
  void take_image(Batch& batch);
  void count_lost(std::uint64_t all);
  void apply(const segment::EventRecord& event, std::span<const segment::EventDetails> details,
             Time time);
  void apply_allocation(const segment::EventRecord& event,
                        std::span<const segment::EventDetails> details, Time time);
  void apply_free(const segment::EventRecord& event, Time time);
  void apply_place(const segment::EventRecord& event, Time time);
  void apply_dispatch(const segment::EventRecord& event, const Launch& launch, Time time);
  void close_device(std::uint32_t number, Time time);
  void read_layout(const segment::EventRecord& event,
                   std::span<const segment::EventDetails> details);

  [[nodiscard]] RowId devices_of(const segment::EventRecord& event, Time time);
  [[nodiscard]] segment::AllocationDetails details_of(const segment::EventRecord& event) const;
  [[nodiscard]] RowId layout_of(const segment::EventRecord& event);
  void begin_allocation(Live live, std::uint32_t slot, std::optional<std::uint64_t> address,
                        Time time);
  RowId begin_row(const Live& live, Time time);
  void leave(Live& live, RowId devices, Time time, Ending ending);

  void bridge(const Batch& batch);
  void apply_live(const segment::SegmentImage& image, std::size_t index, Time time);
  void apply_live(const segment::SegmentImage& image, const segment::LiveAllocation& live,
                  Time time);
  void apply_live(const segment::SegmentImage& image, const segment::LiveProgram& live, Time time);

  UniqueFd segment_;
  segment::FdSource source_;
  std::uint64_t began_ns_;
  Writer& writer_;
  Process row_;
  Origins origins_;
  RecordedDevices devices_;
  std::uint64_t read_up_to_ = 0;  // number of an event
  bool attached_ = false;         // something was read
  Time last_;                     // of what was applied
  std::deque<Batch> batches_;
  std::size_t waiting_ = 0;  // events in the batches
  Slots allocations_;
  Slots programs_;
  boost::unordered_flat_map<std::uint64_t, RowId> layouts_;   // by the number of the footprint
  boost::unordered_flat_map<std::uint64_t, RowId> launches_;  // of one program, by its number
  std::uint64_t before_ = 0;                                  // events before the recording
  std::uint64_t seen_ = 0;                                    // events that were read
  std::uint64_t lost_ = 0;
};

}  // namespace ttmem::recording
