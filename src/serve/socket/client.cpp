// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ttmem::serve {
namespace {

using Effect = Change::Effect;
using Refusal = Change::Refusal;
using wire::Message;
using wire::MessageType;

static_assert(wire::kMaxDeviceId < 1 << 16, "fits into HoldingKey::where");
std::uint32_t device_of(const Message& report) {
  return static_cast<std::uint32_t>(report.head.device_id);
}

HoldingKey program_of(const Message& report) {
  return HoldingKey::of(report.allocation.cb.program, device_of(report), HoldingKey::kPrograms);
}

// Returns a buffer with the facts of the holding. Does not set the address.
ttmem_buffer buffer_of(const Holding& holding) {
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = static_cast<ttmem_buffer_type>(buffer_type_of(holding.kind));
  buffer.id = holding.id;
  buffer.bytes = holding.bytes;
  return buffer;
}

bool fill_kernel_request(tracker::TrackedDevice& device, const Message& report,
                         tracker::AllocationRequest& request) {
  const bool estimate = report.has_details() && (report.allocation.flags & segment::kEstimate) != 0;
  return tracker::fill_kernel_request(device, report.head.buffer_id, report.head.size,
                                      report.head.buffer_type, estimate, request);
}

std::string text_of(std::span<const char> field) {
  return {field.data(), ::strnlen(field.data(), field.size())};
}

}  // namespace

Result<std::unique_ptr<Client>> Client::start(const std::string& directory,
                                              segment::SegmentWriter::Process process,
                                              DeviceTotals& totals, const std::uint64_t* now_ns) {
  segment::SegmentWriter::Options options;
  options.directory = directory;
  options.event_chunks = 1;
  options.for_client = process;
  auto tracker = tracker::Tracker::start(options);
  if (!tracker) {
    return Error{fmt::format(
        "cannot create a segment for process {} ({}): {}; free space there (`ttmem clean` removes "
        "what dead processes left), or set TTMEM_DIR",
        process.pid, process.name, tracker.error().message)};
  }
  return std::unique_ptr<Client>(
      new Client(std::move(*tracker), std::move(process), totals, now_ns));
}

std::uint64_t Client::bytes_of(std::uint32_t device, Kind kind) const noexcept {
  const tracker::TrackedDevice* known = tracker_->devices.find(device);
  return known != nullptr && known->is_open() ? known->figures().kinds[kind].used_bytes : 0;
}

std::uint32_t Client::columns_of(std::uint32_t device) const noexcept {
  const tracker::TrackedDevice* known = tracker_->devices.find(device);
  return known != nullptr ? known->columns() : tracker::kUnknownGridSide;
}

template <typename Act>
void Client::update_cb_totals(std::uint32_t device, Act&& act) {
  const std::uint64_t before = bytes_of(device, Kind::cb);
  act();
  totals_.change(device, Kind::cb, before, bytes_of(device, Kind::cb));
}

Change Client::apply(ConnectionId connection, const Message& report) {
  const bool details = report.has_details();
  // Limits the type to a valid value, because the FREE of an original client may have any type.
  const Kind kind =
      kBufferKinds[std::min<std::uint8_t>(report.head.buffer_type, wire::kMaxBufferType)];
  const auto typed = static_cast<std::uint8_t>(kind);
  const auto named = [&](std::uint8_t space) {
    return HoldingKey::of(report.head.buffer_id, device_of(report), space);
  };
  switch (report.type()) {
    case MessageType::alloc:
      return details
                 ? load(connection, named(typed), kind, report)
                 : allocate(connection, named(HoldingKey::kUntypedBuffers), kind, report.head.size);
    case MessageType::free:
      return free(connection, details ? named(typed) : named(HoldingKey::kUntypedBuffers), kind);
    case MessageType::cb_alloc:
      return allocate(connection, named(HoldingKey::kLooseCbs), Kind::cb, report.head.size);
    case MessageType::cb_free:
      return details ? destroy(program_of(report))
                     : free(connection, named(HoldingKey::kLooseCbs), Kind::cb);
    case MessageType::kernel_load:
      return load(connection, named(HoldingKey::kKernels), Kind::kernel, report);
    case MessageType::kernel_unload:
      return free(connection, named(HoldingKey::kKernels), Kind::kernel);
    default:
      return apply_device(connection, report);
  }
}

// Most reports are handled in allocate() or free(). These two functions therefore inline all
// functions that they call, except functions for rare cases.
[[gnu::flatten]] Change Client::allocate(ConnectionId connection, const HoldingKey& key, Kind kind,
                                         std::uint64_t bytes) {
  const auto [holding, is_new] = holdings_.insert(key, connection, kind, bytes);
  if (!is_new) return allocate_again(connection, holding, kind, bytes);
  if (!track_plain(*holding)) return refuse(holding, kind, bytes);
  return {.kind = kind, .bytes = bytes};
}

// Handles an object that is allocated again. The object is counted once, at its largest size.
Change Client::allocate_again(ConnectionId connection, Holding* holding, Kind kind,
                              std::uint64_t bytes) {
  if (holdings_.add(*holding, connection)) {
    holdings_.merge(*holding, [this](ConnectionId id) {
      return !connections_.contains(id) && !libraries_.contains(id);
    });
  }
  Change change{.effect = Effect::held_already,
                .kind = kind,
                .bytes = bytes,
                .references = holdings_.references(*holding)};
  if (bytes <= holding->bytes) return change;
  const Holding before = *holding;
  release(before);
  holding->bytes = bytes;
  holding->kind = kind;
  if (track_plain(*holding)) return change;
  // The tracker refused the larger size, so the object keeps its earlier size.
  holding->bytes = before.bytes;
  holding->kind = before.kind;
  change.effect = Effect::refused;
  change.refusal = refusal_;
  return track_plain(*holding) ? change : refuse(holding, kind, bytes);
}

// Handles a kernel, or a buffer that libttmem reports. If the object is already held, the new
// report replaces the earlier report. For example, a kernel is loaded again after an eviction.
Change Client::load(ConnectionId connection, const HoldingKey& key, Kind kind,
                    const Message& report) {
  const Change counted{.kind = kind, .bytes = report.head.size};
  const auto [holding, is_new] = holdings_.insert(key, connection, kind, report.head.size);
  if (!is_new) {
    // A client that reconnects reports its holdings again, perhaps before its old connection ends.
    const bool came_back = holding->connection != connection;
    holdings_.transfer_to(*holding, connection);
    holding->bytes = report.head.size;
    if (!key.is_buffer() && !came_back) {
      resize_kernel(*holding, report);
      return counted;
    }
    if (!came_back) tracker_->devices.find(key.device())->count_alloc_over_live();
    release(*holding);
  }
  const bool taken =
      key.is_buffer() ? track_detailed(*holding, report) : track_kernel(*holding, report);
  return taken ? counted : refuse(holding, kind, report.head.size);
}

// Erases a holding that the tracker refused.
Change Client::refuse(Holding* holding, Kind kind, std::uint64_t bytes) {
  holdings_.erase(holding);
  return {.effect = Effect::refused, .refusal = refusal_, .kind = kind, .bytes = bytes};
}

Refusal Client::no_device() noexcept {
  const bool full = tracker_->process.segment().header().device_count < segment::kMaxDevices;
  return full ? Refusal::segment_full : Refusal::too_many_devices;
}

[[gnu::flatten]] Change Client::free(ConnectionId connection, const HoldingKey& key, Kind kind) {
  Holding* holding = holdings_.find(key);
  if (holding == nullptr) {
    count_unknown_free(key.device());
    return {.effect = Effect::not_held, .kind = kind};
  }
  Change change{.kind = holding->kind, .bytes = holding->bytes};
  change.references = holdings_.remove_one(*holding, connection);
  if (change.references > 0) {
    change.effect = Effect::still_held;
  } else {
    release(*holding);
    holdings_.erase(holding);
  }
  return change;
}

// Destroys the program on every device, for all connections that placed it.
Change Client::destroy(const HoldingKey& key) {
  Change change{.effect = Effect::not_held, .kind = Kind::cb};
  if (const Holding* holding = holdings_.find(key)) {
    change = {.kind = holding->kind, .bytes = holding->bytes, .references = 0};
  }
  tracker_->devices.for_each([&](const tracker::TrackedDevice& device) {
    if (!device.is_open()) return;
    Holding* there = holdings_.find(HoldingKey::of(key.id, device.id, HoldingKey::kPrograms));
    if (there == nullptr) return;
    release(*there);
    holdings_.erase(there);
  });
  return change;
}

// Tracks a buffer or CB of an original client. Uses only the holding, which has all facts that an
// original client reports.
bool Client::track_plain(Holding& holding) {
  if (!holding.key().is_buffer()) return track_cb(holding);
  ttmem_buffer buffer = buffer_of(holding);
  buffer.address = holding.id;  // original clients use the address as the number of a buffer
  return track_buffer(holding, buffer);
}

template <typename Fill>
bool Client::track(Holding& holding, Fill&& fill_request) {
  const std::uint32_t id = holding.key().device();
  tracker::TrackedDevice* device = tracker_->devices.find_or_open(id);
  if (device == nullptr) return fail(no_device());
  tracker::AllocationRequest request;
  tracker::Receipt& receipt = holding.receipt;
  if (!fill_request(*device, request)) return fail(Refusal::bad_argument);
  if (!tracker_->allocations.allocate(*device, request, *now_ns_, receipt))
    return fail(Refusal::total);
  totals_.change(id, receipt.kind, 0, receipt.used_bytes);
  return true;
}

bool Client::track_buffer(Holding& holding, const ttmem_buffer& buffer) {
  return track(holding, [&](tracker::TrackedDevice& device, tracker::AllocationRequest& request) {
    return tracker::fill_buffer_request(device, buffer, request);
  });
}

bool Client::track_cb(Holding& holding) {
  return track(holding, [&](tracker::TrackedDevice& device, tracker::AllocationRequest& request) {
    return tracker::fill_cb_request(device, holding.id, holding.bytes, request);
  });
}

bool Client::track_kernel(Holding& holding, const Message& report) {
  return track(holding, [&](tracker::TrackedDevice& device, tracker::AllocationRequest& request) {
    return fill_kernel_request(device, report, request);
  });
}

void Client::resize_kernel(Holding& holding, const Message& report) {
  const std::uint32_t id = holding.key().device();
  tracker::TrackedDevice& device = *tracker_->devices.find(id);
  tracker::AllocationRequest request;
  tracker::Receipt& receipt = holding.receipt;
  const std::uint64_t before = receipt.used_bytes;
  if (!fill_kernel_request(device, report, request)) return;
  tracker_->allocations.resize(device, request, receipt, *now_ns_);
  totals_.change(id, receipt.kind, before, receipt.used_bytes);
}

bool Client::track_detailed(Holding& holding, const Message& report) {
  const wire::ReportDetails& details = report.allocation;
  const std::string label = text_of(details.label);
  ttmem_buffer buffer = buffer_of(holding);
  buffer.address = details.address;
  buffer.bytes_per_bank = details.bytes_per_bank;
  buffer.label = label.empty() ? nullptr : label.c_str();
  ranges_.clear();
  const bool in_dram = is_in_dram(holding.kind);
  if (in_dram && details.banks > 0) {
    // For DRAM only the number of banks matters, so one range with this number of banks is enough.
    ranges_.push_back({0, 0, static_cast<std::uint16_t>(details.banks - 1), 0});
  } else if (!in_dram && (details.flags & segment::kNoCores) == 0) {
    CoreMask cores;
    std::copy(std::begin(details.cores), std::end(details.cores), cores.words.begin());
    append_ranges(cores, columns_of(device_of(report)));
  }
  buffer.cores = ranges_.empty() ? nullptr : ranges_.data();
  buffer.core_ranges = static_cast<std::uint32_t>(ranges_.size());
  buffer.flags = (details.flags & segment::kOwnBanks) != 0 ? TTMEM_BUFFER_OWN_BANKS : 0;
  return track_buffer(holding, buffer);
}

void Client::release(const Holding& holding) {
  holding.key().is_program() ? release_program(holding.key()) : release_allocation(holding);
}

void Client::release_allocation(const Holding& holding) {
  const std::uint32_t device = holding.key().device();
  const tracker::Receipt& receipt = holding.receipt;
  tracker_->allocations.release(*tracker_->devices.find(device), receipt, *now_ns_);
  totals_.change(device, receipt.kind, receipt.used_bytes, 0);
}

void Client::release_program(const HoldingKey& key) {
  tracker::TrackedDevice* device = tracker_->devices.find(key.device());
  if (device == nullptr) return;
  update_cb_totals(key.device(), [&] { tracker_->programs.remove(*device, key.id); });
}

void Client::count_unknown_free(std::uint32_t id) {
  tracker::TrackedDevice* device = tracker_->devices.find_or_open(id);
  if (device != nullptr) device->count_unknown_free();
}

// Appends one range for each run of adjacent cores in a row.
void Client::append_ranges(const CoreMask& cores, std::uint32_t columns) {
  const std::size_t first = ranges_.size();
  cores.for_each([&](std::uint32_t core) {
    const auto x = static_cast<std::uint16_t>(core % columns);
    const auto y = static_cast<std::uint16_t>(core / columns);
    const bool goes_on =
        ranges_.size() > first && ranges_.back().y0 == y && ranges_.back().x1 + 1 == x;
    if (goes_on) {
      ranges_.back().x1 = x;
    } else {
      ranges_.push_back({x, y, x, y});
    }
  });
}

Change Client::place(ConnectionId connection, std::uint32_t device, std::uint64_t program,
                     std::span<const ReportedCb> cbs) {
  Change change;
  change.kind = Kind::cb;
  ranges_.clear();
  cbs_.clear();
  const std::uint32_t columns = columns_of(device);
  for (const ReportedCb& cb : cbs) {
    const std::size_t first = ranges_.size();
    append_ranges(cb.cores, columns);
    const auto count = static_cast<std::uint32_t>(ranges_.size() - first);
    cbs_.push_back({cb.address, cb.bytes, nullptr, count, cb.flags});
    change.bytes += cb.bytes * cb.cores.count();
  }
  // Sets the pointers into ranges_ only now. ranges_ does not grow any more, so the pointers stay
  // valid.
  std::size_t first = 0;
  for (ttmem_cb& cb : cbs_) {
    cb.cores = ranges_.data() + first;
    first += cb.core_ranges;
  }
  tracker::TrackedDevice* target = tracker_->devices.find_or_open(device);
  if (target == nullptr) {
    change.effect = Effect::refused;
    change.refusal = no_device();
    return change;
  }
  update_cb_totals(device, [&] { tracker_->programs.place(*target, program, cbs_); });
  const HoldingKey key = HoldingKey::of(program, device, HoldingKey::kPrograms);
  Holding* holding = holdings_.insert(key, connection, change.kind, change.bytes).first;
  holdings_.transfer_to(*holding, connection);
  holding->bytes = change.bytes;
  return change;
}

Change Client::apply_device(ConnectionId connection, const Message& report) {
  const std::uint64_t copy = report.head.buffer_id;
  switch (static_cast<wire::ClientNotice>(report.device.is_available)) {
    case wire::ClientNotice::closed:
      return close(device_of(report));
    case wire::ClientNotice::hello:
      remove_reports(libraries_.hello(connection, copy));
      break;
    case wire::ClientNotice::complete:
      complete(connection);
      break;
    case wire::ClientNotice::goodbye:
      say_goodbye(copy);
      break;
    default:
      return open(report);
  }
  return {.effect = Effect::noted};
}

void Client::count_dropped(const wire::DeviceDetails& reported) {
  const std::uint64_t resent =
      std::min<std::uint64_t>(reported.events_resent, reported.events_dropped);
  const std::uint64_t lost = reported.events_dropped - resent;
  if (lost > events_dropped_) {
    tracker_->process.count_dropped_calls(lost - events_dropped_);
    events_dropped_ = lost;
  }
  if (resent > events_resent_) {
    tracker_->process.count_dropped_calls(resent - events_resent_);
    missing_events_ += resent - events_resent_;
    events_resent_ = resent;
  }
}

// Handles a connection that has reported all live objects. The figures are then exact again, unless
// a newer connection has replaced `connection`.
void Client::complete(ConnectionId connection) {
  remove_reports(libraries_.complete(
      connection, [this](ConnectionId id) { return connections_.contains(id); }));
  if (!is_replaced(connection))
    tracker_->process.count_recorded_calls(std::exchange(missing_events_, 0));
}

// Handles the goodbye of a copy of libttmem. If another copy or an original client may still
// report, removes the reports of this copy. Otherwise the client ends soon, and its holdings are
// removed with its segment.
void Client::say_goodbye(std::uint64_t copy) {
  const LibraryConnections::Ids gone = libraries_.goodbye(copy);
  const bool others = has_originals_ || !libraries_.all_left() ||
                      !std::all_of(connections_.begin(), connections_.end(),
                                   [this](ConnectionId id) { return libraries_.contains(id); });
  exits_ = !others && !gone.empty();
  if (others) remove_reports(gone);
}

Change Client::open(const Message& report) {
  const wire::DeviceDetails& reported = report.device;
  count_dropped(reported);
  const std::string arch = text_of(reported.arch);
  const std::string board = text_of(reported.board);
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = device_of(report);
  info.uid = report.head.buffer_id;
  info.arch = arch.empty() ? nullptr : arch.c_str();
  info.board = board.empty() ? nullptr : board.c_str();
  info.grid_x = reported.grid_x;
  info.grid_y = reported.grid_y;
  info.l1_bytes_per_core = reported.l1_bytes_per_core;
  info.l1_base = reported.l1_base;
  info.l1_small_bytes_per_core = reported.l1_small_bytes_per_core;
  info.dram_channels = reported.dram_channels;
  info.dram_bytes_per_channel = reported.dram_bytes_per_channel;
  info.trace_region_bytes = report.head.size;
  // Updates the CB totals too, because the tracker places the programs again if the grid becomes
  // known late.
  update_cb_totals(info.id, [&] { tracker_->device_open(info); });
  if (reported.reports != 0) {
    tracker_->devices.set_reported(info.id, reported.reports & ~TTMEM_REPORTS_DISPATCHES);
  }
  tracker_->devices.set_cb_estimate(info.id, reported.cb_estimate != 0);
  return {.effect = Effect::opened};
}

Change Client::close(std::uint32_t device) {
  for (const auto& [id, bytes] : held()) {
    if (id != device) continue;
    for (const Kind kind : kAllKinds) {
      totals_.change(device, kind, bytes[kind], 0);
    }
  }
  for (const Holding& gone : holdings_.erase_device(device)) {
    if (!gone.key().is_program())
      tracker_->allocations.release_at_close(*tracker_->devices.find(device), gone.receipt);
  }
  tracker_->device_close(device);
  return {.effect = Effect::closed};
}

void Client::add_connection(ConnectionId connection) {
  connections_.insert(connection);
  if (!std::exchange(exits_, false)) return;
  for (const Holding& gone : holdings_.erase_all()) release(gone);
}

void Client::remove_connection(ConnectionId connection, EndOfConnection end) {
  connections_.erase(connection);
  if (end == EndOfConnection::refused) {
    remove_reports({&connection, 1});
  } else if (!libraries_.contains(connection)) {
    has_originals_ = true;
  }
  libraries_.ended(connection);
}

void Client::remove_reports(std::span<const ConnectionId> connections) {
  if (connections.empty()) return;
  for (const Holding& gone : holdings_.remove_connections(connections)) release(gone);
}

std::vector<std::pair<std::uint32_t, KindBytes>> Client::held() const {
  std::vector<std::pair<std::uint32_t, KindBytes>> devices;
  tracker_->devices.for_each([&](const tracker::TrackedDevice& device) {
    if (!device.is_open()) return;
    KindBytes& bytes = devices.emplace_back(device.id, KindBytes{}).second;
    for (const Kind kind : kAllKinds) bytes[kind] = device.figures().kinds[kind].used_bytes;
  });
  return devices;
}

void Client::subtract_from_totals() {
  for (const auto& [device, bytes] : held()) {
    for (const Kind kind : kAllKinds) {
      totals_.change(device, kind, bytes[kind], 0);
    }
  }
}

void Client::leave_as_evidence() {
  subtract_from_totals();
  tracker_->process.leave_as_evidence();
  tracker_.reset();
}

Client::~Client() {
  if (tracker_ != nullptr) subtract_from_totals();
}

}  // namespace ttmem::serve
