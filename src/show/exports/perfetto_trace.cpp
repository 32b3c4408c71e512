// SPDX-License-Identifier: Apache-2.0
#include "show/exports/perfetto_trace.hpp"

#include <algorithm>
#include <string>

namespace ttmem::exports {
namespace {

// The field numbers of Perfetto's proto files.
constexpr std::uint32_t kTracePacket = 1;
namespace in_packet {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, track_event = 11, track_descriptor = 60;
}  // namespace in_packet
namespace in_descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8,
                        child_ordering = 11, sibling_order_rank = 12, description = 14;
}  // namespace in_descriptor
namespace in_process {
constexpr std::uint32_t pid = 1, cmdline = 2, process_name = 6;
}  // namespace in_process
namespace in_counter {
constexpr std::uint32_t unit = 3, y_axis_share_key = 7;
}  // namespace in_counter
namespace in_event {
constexpr std::uint32_t debug_annotations = 4, type = 9, track_uuid = 11, categories = 22,
                        name = 23, counter_value = 30, callstack = 55, callstack_weight = 57;
}  // namespace in_event
namespace in_annotation {
constexpr std::uint32_t uint_value = 3, string_value = 6, name = 10;
}  // namespace in_annotation
namespace in_callstack {
constexpr std::uint32_t frames = 1, function_name = 1;
}  // namespace in_callstack

constexpr std::uint64_t kOrderedByRank = 3;  // TrackDescriptor.ChildTracksOrdering
constexpr std::uint64_t kUnitOfBytes = 3;    // CounterDescriptor.Unit
enum TrackEventType : std::uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
// Perfetto refuses events without a sequence id. The value of the id does not matter.
constexpr std::uint64_t kSequence = 1;

ProtoMessage event_of(TrackEventType type, TrackId track) {
  ProtoMessage message;
  message.add(in_event::type, std::uint64_t{type});
  message.add(in_event::track_uuid, track);
  return message;
}

}  // namespace

void Annotations::add(std::string_view name, std::uint64_t value) {
  ProtoMessage message;
  message.add(in_annotation::name, name);
  message.add(in_annotation::uint_value, value);
  fields_.add(in_event::debug_annotations, message);
}

void Annotations::add(std::string_view name, std::string_view value) {
  ProtoMessage message;
  message.add(in_annotation::name, name);
  message.add(in_annotation::string_value, value);
  fields_.add(in_event::debug_annotations, message);
}

void Annotations::set_stack(const Stack& stack, std::uint64_t bytes) {
  ProtoMessage frames;
  for (const std::string& name : stack) {
    ProtoMessage frame;
    frame.add(in_callstack::function_name, name);
    frames.add(in_callstack::frames, frame);
  }
  fields_.add(in_event::callstack, frames);
  fields_.add_double(in_event::callstack_weight, static_cast<double>(bytes));
}

void PerfettoTrace::write(const ProtoMessage& packet) {
  ProtoMessage framed;
  framed.add(kTracePacket, packet);
  output_.write(framed.bytes());
}

void PerfettoTrace::write_track(ProtoMessage& descriptor, TrackId parent, std::string_view name,
                                std::uint64_t rank) {
  descriptor.add(in_descriptor::uuid, ++last_);
  if (!name.empty()) descriptor.add(in_descriptor::name, name);
  if (parent != 0) descriptor.add(in_descriptor::parent_uuid, parent);
  descriptor.add(in_descriptor::child_ordering, kOrderedByRank);
  descriptor.add(in_descriptor::sibling_order_rank, rank);
  ProtoMessage packet;
  packet.add(in_packet::sequence_id, kSequence);
  packet.add(in_packet::track_descriptor, descriptor);
  write(packet);
}

TrackId PerfettoTrace::add_track(TrackId parent, std::string_view name, std::uint64_t rank,
                                 std::string_view description) {
  ProtoMessage message;
  if (!description.empty()) message.add(in_descriptor::description, description);
  write_track(message, parent, name, rank);
  return last_;
}

TrackId PerfettoTrace::add_counter(TrackId parent, std::string_view name, std::uint64_t rank,
                                   std::string_view scale) {
  ProtoMessage about;
  about.add(in_counter::unit, kUnitOfBytes);
  about.add(in_counter::y_axis_share_key, scale);
  ProtoMessage message;
  message.add(in_descriptor::counter, about);
  write_track(message, parent, name, rank);
  return last_;
}

TrackId PerfettoTrace::add_process(const recording::RecordedProcess& process) {
  ProtoMessage about;
  about.add_signed(in_process::pid, process.pid);
  if (!process.command.empty()) about.add(in_process::cmdline, valid_utf8(process.command));
  about.add(in_process::process_name, valid_utf8(process.name));
  ProtoMessage message;
  message.add(in_descriptor::process, about);
  write_track(message, 0, {}, 0);
  return last_;
}

void PerfettoTrace::write_event(recording::Time time, const ProtoMessage& event) {
  ProtoMessage packet;
  packet.add(in_packet::timestamp, static_cast<std::uint64_t>(std::max<recording::Time>(0, time)));
  packet.add(in_packet::sequence_id, kSequence);
  packet.add(in_packet::track_event, event);
  write(packet);
}

void PerfettoTrace::begin_slice(TrackId track, recording::Time time, std::string_view name,
                                std::string_view category, const Annotations& annotations) {
  ProtoMessage message = event_of(kSliceBegin, track);
  message.add(in_event::categories, category);
  message.add(in_event::name, name);
  message.add_fields(annotations.fields_);
  write_event(time, message);
}

void PerfettoTrace::end_slice(TrackId track, recording::Time time) {
  write_event(time, event_of(kSliceEnd, track));
}

void PerfettoTrace::add_instant(TrackId track, recording::Time time, std::string_view name,
                                std::string_view category, const Annotations& annotations) {
  ProtoMessage message = event_of(kInstant, track);
  message.add(in_event::categories, category);
  message.add(in_event::name, name);
  message.add_fields(annotations.fields_);
  write_event(time, message);
}

void PerfettoTrace::set_counter(TrackId track, recording::Time time, std::uint64_t value) {
  ProtoMessage message = event_of(kCounter, track);
  message.add(in_event::counter_value, value);
  write_event(time, message);
}

}  // namespace ttmem::exports
