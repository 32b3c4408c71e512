// SPDX-License-Identifier: Apache-2.0
#include "serve/viewer/moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "base/safe_text.hpp"
#include "base/shorten.hpp"
#include "read/recording/playback/playback.hpp"
#include "show/views/json.hpp"
#include "text/format.hpp"

namespace ttmem::viewer {
namespace {

constexpr std::size_t kLongestList = 20'000;
// The maximum length of a name. A longer name loses its middle, because every row of the page
// repeats the name.
constexpr std::size_t kMaxNameBytes = 512;

std::uint64_t size_of(const model::Allocation& allocation) {
  return allocation.physical_bytes.value_or(allocation.bytes);
}
std::uint64_t size_of(const model::Program& program) { return program.physical_bytes; }

// Returns the indices of the kLongestList largest items, in ascending order of the indices.
template <typename Item>
std::vector<std::size_t> largest(const std::vector<Item>& items) {
  std::vector<std::size_t> places(items.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= kLongestList) return places;
  const auto end = places.begin() + kLongestList;
  std::nth_element(places.begin(), end, places.end(), [&](std::size_t a, std::size_t b) {
    return size_of(items[a]) > size_of(items[b]);
  });
  places.erase(end, places.end());
  std::sort(places.begin(), places.end());
  return places;
}

std::uint64_t hash_of_devices(const model::Snapshot& snapshot, const model::Allocation& one) {
  std::size_t seed = 0;
  for (const std::uint32_t device : devices_of(one)) {
    boost::hash_combine(seed, snapshot.devices[device].id);
    boost::hash_combine(seed, snapshot.devices[device].uid.value_or(0));
  }
  return seed;
}

// Adds the chips and the process to a row. The row itself has device numbers and pids, but several
// chips may share a device number, and several processes a pid.
std::string placed(const model::Snapshot& snapshot, std::span<const std::uint32_t> devices,
                   std::uint64_t segment, std::string_view row) {
  std::string keys;
  for (const std::uint32_t device : devices) {
    fmt::format_to(std::back_inserter(keys), "{}\"{}\"", keys.empty() ? "" : ",",
                   text::key_of(snapshot.devices[device]));
  }
  return fmt::format(R"("keys":[{}],"segment":{},"row":{})", keys, segment, row);
}

std::string joined(const Texts& texts) {
  std::string all;
  all.reserve(texts.bytes() + texts.all().size());
  for (const std::string* text : texts.all()) {
    if (!all.empty()) all += ',';
    all += *text;
  }
  return all;
}

std::string joined(const LiveRows& rows) {
  std::string all;
  for (const LiveRows::Row& row : rows.rows()) {
    if (!all.empty()) all += ',';
    fmt::format_to(std::back_inserter(all), R"({{"first":{},"last":{},"begin_ns":{},{}}})",
                   row.first, row.last, row.begin_ns, row.text);
  }
  return all;
}

}  // namespace

void MomentTables::add(const ChosenMoment& moment, model::Snapshot snapshot) {
  std::vector<std::string> devices;
  for (model::Device& device : snapshot.devices) {
    const std::size_t figures = figures_.number_of(views::figures_json(device));
    const std::string key = text::key_of(device);
    const std::string cores =
        device.cores.empty() ? "null" : fmt::format("{}", number_of_cores(key, device.cores));
    devices.push_back(fmt::format(R"(["{}",{},{}])", key, figures, cores));
    // Clears the CB total. Rows of programs would otherwise contain their share of the total. A
    // share differs at each moment, so a row with the share could not be stored once. The page
    // computes the shares.
    device.kinds[Kind::cb] = {};
  }
  moments_.push_back(fmt::format(R"({{"time_ns":{},"why":{},"devices":[{}]}})", moment.time_ns,
                                 json_text(nlohmann::json(moment.why)), fmt::join(devices, ",")));
  add_allocations(snapshot, moment.time_ns);
  add_programs(snapshot, moment.time_ns);
}

std::size_t MomentTables::number_of_cores(const std::string& key,
                                          const std::vector<model::Core>& cores) {
  const auto [last, is_new] = last_cores_.try_emplace(key);
  if (is_new || last->second.cores != cores) {
    last->second = {.cores = cores, .number = cores_.number_of(views::cores_json(cores))};
  }
  return last->second.number;
}

void MomentTables::add_allocations(const model::Snapshot& snapshot, Time now) {
  const std::vector<std::size_t> places = largest(snapshot.allocations);
  left_out_ = std::max(left_out_, snapshot.allocations.size() - places.size());
  for (const std::size_t place : places) {
    const model::Allocation& one = snapshot.allocations[place];
    const std::int64_t begin = now - static_cast<std::int64_t>(one.age_ns);
    const RowKey key{one.segment, static_cast<std::uint64_t>(one.kind), one.id,
                     static_cast<std::uint64_t>(begin), hash_of_devices(snapshot, one)};
    allocations_.add(moments_.size() - 1, key, begin, [&] {
      model::Allocation timeless = one;
      timeless.age_ns = 0;
      timeless.label = shortened(timeless.label, kMaxNameBytes);
      timeless.scope = shortened(timeless.scope, kMaxNameBytes);
      return placed(snapshot, devices_of(one), one.segment,
                    views::allocation_json(snapshot, timeless));
    });
  }
}

void MomentTables::add_programs(const model::Snapshot& snapshot, Time now) {
  const std::vector<std::size_t> places = largest(snapshot.programs);
  left_out_ = std::max(left_out_, snapshot.programs.size() - places.size());
  for (const std::size_t place : places) {
    const model::Program& one = snapshot.programs[place];
    const std::int64_t begin = now - static_cast<std::int64_t>(one.age_ns);
    const model::Device& device = snapshot.devices[one.device];
    const RowKey key{one.segment,
                     device.id,
                     device.uid.value_or(0),
                     one.program,
                     static_cast<std::uint64_t>(begin),
                     one.exclusive_bytes,
                     one.resident_cores};
    programs_.add(moments_.size() - 1, key, begin, [&] {
      model::Program timeless = one;
      timeless.age_ns = 0;
      timeless.name = shortened(timeless.name, kMaxNameBytes);
      timeless.scope = shortened(timeless.scope, kMaxNameBytes);
      const std::size_t layout = layouts_.number_of(views::cbs_json(snapshot, one));
      timeless.cbs.clear();
      return fmt::format(
          "\"cbs\":{},{}", layout,
          placed(snapshot, {&one.device, 1}, one.segment, views::program_json(snapshot, timeless)));
    });
  }
}

std::string MomentTables::json() const {
  return fmt::format(
      R"("moments":[{}],"figures":[{}],"cores":[{}],"layouts":[{}],"allocations":[{}],"programs":[{}])",
      fmt::join(moments_, ","), joined(figures_), joined(cores_), joined(layouts_),
      joined(allocations_), joined(programs_));
}

std::size_t MomentTables::bytes() const {
  return figures_.bytes() + cores_.bytes() + layouts_.bytes() + allocations_.bytes() +
         programs_.bytes();
}

Result<std::optional<MomentTables>> play(const recording::Reader& reader,
                                         const std::vector<ChosenMoment>& moments,
                                         PlayLimits& limits,
                                         const std::function<void(double)>& progress) {
  if (moments.size() > limits.moments) return std::optional<MomentTables>();
  recording::Playback playback(reader);
  std::optional<MomentTables> tables(std::in_place);
  std::size_t device_rows = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (const auto done = playback.advance_to(moments[i].time_ns); !done) return done.error();
    model::Snapshot snapshot = playback.snapshot();
    for (const model::Device& device : snapshot.devices) device_rows += device.processes.size();
    tables->add(moments[i], std::move(snapshot));
    if (tables->bytes() > limits.bytes) return std::optional<MomentTables>();
    if (device_rows > limits.device_rows) {
      limits.moments = i;
      return std::optional<MomentTables>();
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(moments.size()));
  }
  return tables;
}

}  // namespace ttmem::viewer
