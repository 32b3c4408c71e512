// SPDX-License-Identifier: Apache-2.0
//
// The profile of github.com/google/pprof (proto/profile.proto), compressed with gzip. The sample
// types are the four types of Go's heap profiles, in Go's order, and two types for the peak.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <span>
#include <utility>

#include "base/gzip/gzip.hpp"
#include "show/exports/format.hpp"
#include "show/exports/holdings.hpp"
#include "show/exports/proto_writer.hpp"

namespace ttmem::exports {
namespace {

// The field numbers of profile.proto.
namespace in_profile {
constexpr std::uint32_t sample_type = 1, sample = 2, location = 4, function = 5, string_table = 6,
                        time_nanos = 9, duration_nanos = 10, comment = 13, default_sample_type = 14;
}  // namespace in_profile
namespace in_value_type {
constexpr std::uint32_t type = 1, unit = 2;
}  // namespace in_value_type
namespace in_sample {
constexpr std::uint32_t location_id = 1, value = 2, label = 3;
}  // namespace in_sample
namespace in_label {
constexpr std::uint32_t key = 1, str = 2, num = 3, num_unit = 4;
}  // namespace in_label
namespace in_location {
constexpr std::uint32_t id = 1, line = 4;
}  // namespace in_location
namespace in_line {
constexpr std::uint32_t function_id = 1;
}  // namespace in_line
namespace in_function {
constexpr std::uint32_t id = 1, name = 2, system_name = 3;
}  // namespace in_function

struct SampleType {
  std::string_view type;
  std::string_view unit;
};
constexpr std::array<SampleType, 6> kSampleTypes = {{{"alloc_objects", "count"},
                                                     {"alloc_space", "bytes"},
                                                     {"inuse_objects", "count"},
                                                     {"inuse_space", "bytes"},
                                                     {"peak_objects", "count"},
                                                     {"peak_space", "bytes"}}};
// The range of sample types in a profile, and the type that is shown first.
struct SampleTypes {
  std::size_t first;
  std::size_t count;
  std::string_view shown_first;
};
// Shows the peak first, because a run that ended well holds nothing at its end.
constexpr SampleTypes kAll = {0, 6, "peak_space"};
// An aggregated recording has only two sample types, because only the allocations that were never
// freed are known.
constexpr SampleTypes kOfAggregate = {2, 2, "inuse_space"};

std::array<std::uint64_t, kSampleTypes.size()> values_of(const StackHolding& row) {
  return {row.allocated.objects, row.allocated.bytes, row.at_end.objects,
          row.at_end.bytes,      row.at_peak.objects, row.at_peak.bytes};
}

// Writes the fields of a Profile as they become known. Their order in the file does not matter.
class Profile {
 public:
  Profile(GzipWriter& file, const SampleTypes& types) : file_(file), types_(types) {
    text("");  // entry 0 must be the empty text
    for (const auto& [type, unit] : std::span(kSampleTypes).subspan(types.first, types.count)) {
      ProtoMessage message;
      message.add(in_value_type::type, text(type));
      message.add(in_value_type::unit, text(unit));
      put(in_profile::sample_type, message);
    }
    put(in_profile::default_sample_type, text(types.shown_first));
  }

  void add_times(const recording::Reader& reader) {
    const recording::Run& run = reader.tables().run;
    if (run.started_unix_ns != 0) put(in_profile::time_nanos, run.started_unix_ns);
    put(in_profile::duration_nanos,
        static_cast<std::uint64_t>(std::max<recording::Time>(0, reader.end_ns())));
    if (!run.command.empty()) put(in_profile::comment, text(valid_utf8(run.command)));
  }

  void add(const recording::Tables& tables, const StackHolding& row) {
    const recording::RecordedDevice& device = tables.device(row.device);
    ProtoMessage message;
    std::vector<std::uint64_t> leaf_first;
    for (auto frame = row.stack.rbegin(); frame != row.stack.rend(); ++frame) {
      leaf_first.push_back(location_of(*frame));
    }
    message.add_packed(in_sample::location_id, leaf_first);
    const auto values = values_of(row);
    message.add_packed(in_sample::value, std::span(values).subspan(types_.first, types_.count));
    add_text_label(message, "device", fmt::format("{}", device.number));
    add_text_label(message, "pid", fmt::format("{}", tables.process(device.process).pid));
    add_text_label(message, "kind", name_of(row.kind));
    ProtoMessage bytes;
    bytes.add(in_label::key, text("bytes"));
    bytes.add(in_label::num, row.object_bytes);
    bytes.add(in_label::num_unit, text("bytes"));
    message.add(in_sample::label, bytes);
    put(in_profile::sample, message);
  }

 private:
  template <typename Value>
  void put(std::uint32_t field, const Value& value) {
    ProtoMessage part;
    part.add(field, value);
    file_.write(part.bytes());
  }

  std::uint64_t text(std::string_view text) {
    const auto [at, is_new] = texts_.try_emplace(std::string(text), texts_.size());
    if (is_new) put(in_profile::string_table, text);
    return at->second;
  }

  // Returns the location of a name. Each name has one location and one function, with the same id.
  std::uint64_t location_of(const std::string& name) {
    const auto [at, is_new] = locations_.try_emplace(name, locations_.size() + 1);
    const std::uint64_t id = at->second;
    if (!is_new) return id;
    ProtoMessage function;
    function.add(in_function::id, id);
    function.add(in_function::name, text(name));
    function.add(in_function::system_name, text(name));
    put(in_profile::function, function);
    ProtoMessage line;
    line.add(in_line::function_id, id);
    ProtoMessage location;
    location.add(in_location::id, id);
    location.add(in_location::line, line);
    put(in_profile::location, location);
    return id;
  }

  void add_text_label(ProtoMessage& message, std::string_view key, std::string_view value) {
    ProtoMessage part;
    part.add(in_label::key, text(key));
    part.add(in_label::str, text(value));
    message.add(in_sample::label, part);
  }

  GzipWriter& file_;
  const SampleTypes& types_;
  boost::unordered_flat_map<std::string, std::uint64_t> texts_;
  boost::unordered_flat_map<std::string, std::uint64_t> locations_;
};

}  // namespace

Result<Notes> write_pprof(const ExportJob& job, Output& output) {
  const auto holdings = read_holdings(job.reader, job.selection);
  if (!holdings) return holdings.error();
  GzipWriter file([&](std::string_view bytes) { output.write(bytes); });
  Profile profile(file, job.reader.tables().run.aggregate ? kOfAggregate : kAll);
  profile.add_times(job.reader);
  for (const StackHolding& row : holdings->rows) profile.add(job.reader.tables(), row);
  file.finish();
  return Notes{};
}

}  // namespace ttmem::exports
