// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "read/recording/file/rows.hpp"
#include "show/exports/output.hpp"
#include "show/exports/proto_writer.hpp"
#include "show/exports/stacks.hpp"

namespace ttmem::exports {

using TrackId = std::uint64_t;  // 0: none

// The arguments and the stack of a slice or an instant.
class Annotations {
 public:
  void add(std::string_view name, std::uint64_t value);
  void add(std::string_view name, std::string_view value);
  // Sets the stack. Perfetto adds up `bytes` in the flame graph of the selected slices.
  void set_stack(const Stack& stack, std::uint64_t bytes);

 private:
  friend class PerfettoTrace;
  ProtoMessage fields_;  // fields of a TrackEvent
};

// A trace of Perfetto (perfetto/trace/trace.proto), written packet by packet. A track must be added
// before its events. No strings are interned, so that every packet can be read alone. Texts must be
// UTF-8. A time before the begin of the recording is written as the begin. Not thread-safe.
class PerfettoTrace {
 public:
  explicit PerfettoTrace(Output& output) : output_(output) {}

  // Adds a track. Tracks of one parent are ordered by rank. Tracks of one parent with the same name
  // are shown as one track. Parent 0 is the top level.
  TrackId add_track(TrackId parent, std::string_view name, std::uint64_t rank,
                    std::string_view description = {});
  // Adds a counter of bytes. Counters with the same parent and `scale` share one y axis, so that
  // they can be compared by eye.
  TrackId add_counter(TrackId parent, std::string_view name, std::uint64_t rank,
                      std::string_view scale);
  TrackId add_process(const recording::RecordedProcess& process);

  void begin_slice(TrackId track, recording::Time time, std::string_view name,
                   std::string_view category, const Annotations& annotations);
  void end_slice(TrackId track, recording::Time time);
  void add_instant(TrackId track, recording::Time time, std::string_view name,
                   std::string_view category, const Annotations& annotations = {});
  void set_counter(TrackId track, recording::Time time, std::uint64_t value);

 private:
  void write(const ProtoMessage& packet);
  void write_track(ProtoMessage& descriptor, TrackId parent, std::string_view name,
                   std::uint64_t rank);
  void write_event(recording::Time time, const ProtoMessage& event);

  Output& output_;
  TrackId last_ = 0;
};

}  // namespace ttmem::exports
