// SPDX-License-Identifier: Apache-2.0
#include "server/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tracker/device.hpp"
#include "wire/check.hpp"

namespace ttmem::server {
namespace {

using Effect = Change::Effect;
using wire::Message;
using wire::Type;

static_assert(wire::kMaxDeviceId < 1 << 16, "fits into HoldingKey::where");
std::uint32_t device_of(const Message& report) {
  return static_cast<std::uint32_t>(report.head.device_id);
}

// What the report allocates or frees.
std::pair<HoldingKey, std::uint8_t> subject_of(const Message& report) {
  const auto named = [&](std::uint64_t id, std::uint8_t space) {
    return HoldingKey::of(id, device_of(report), space);
  };
  const std::uint64_t id = report.head.buffer_id;
  switch (report.type()) {
    case Type::kCbAlloc:
    case Type::kCbFree:
      return {report.has_details() ? named(report.allocation.cb.program, HoldingKey::kPrograms)
                                   : named(id, HoldingKey::kLooseCbs),
              std::uint8_t{segment::kLooseCbKind}};
    case Type::kKernelLoad:
    case Type::kKernelUnload:
      return {named(id, HoldingKey::kKernels), std::uint8_t{segment::kKernelKind}};
    default: {
      const std::uint8_t type = report.head.buffer_type;
      return {named(id, report.has_details() ? type : std::uint8_t{HoldingKey::kUntypedBuffers}),
              // An original client's FREE may say anything.
              std::min<std::uint8_t>(type, wire::kMaxBufferType)};
    }
  }
}

std::uint64_t bytes_in(const segment::DeviceRecord& record, std::uint8_t kind) {
  return kind == segment::kLooseCbKind ? record.cb_physical_bytes : record.kinds[kind].used_bytes;
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
  options.kept_for = process;
  std::string error;
  auto tracker = tracker::Tracker::start(options, &error);
  if (tracker == nullptr) {
    return Error{fmt::format(
        "cannot keep a segment for process {} ({}): {}; free space there (`ttmem clean` removes "
        "what dead processes left), or set TTMEM_DIR",
        process.pid, process.name, error)};
  }
  return std::unique_ptr<Client>(
      new Client(std::move(tracker), std::move(process), totals, now_ns));
}

std::uint64_t Client::bytes_of(std::uint32_t device, std::uint8_t kind) const noexcept {
  const segment::DeviceRecord* record = tracker_->figures(device);
  return record != nullptr ? bytes_in(*record, kind) : 0;
}

template <typename Act>
void Client::counting(std::uint32_t device, std::uint8_t kind, Act&& act) {
  const segment::DeviceRecord* record = tracker_->figures(device);
  const std::uint64_t before = record != nullptr ? bytes_in(*record, kind) : 0;
  act();
  // A record stays where it is for the life of the tracker.
  if (record == nullptr) record = tracker_->figures(device);
  totals_.change(device, kind, before, record != nullptr ? bytes_in(*record, kind) : 0);
}

Change Client::apply(ConnectionId connection, const Message& report) {
  Change change;
  if (report.type() == Type::kDeviceInfoResponse) {
    const bool opened = report.device.is_available != 0;
    change.effect = opened ? Effect::kOpened : Effect::kClosed;
    opened ? open(report) : close(device_of(report));
    return change;
  }
  const auto [key, kind] = subject_of(report);
  change.kind = kind;
  change.bytes = report.head.size;
  switch (report.type()) {
    case Type::kFree:
    case Type::kCbFree:
    case Type::kKernelUnload:
      free(connection, key, change);
      break;
    default:
      // Kernels come back after an eviction, and libttmem allocates a number once.
      const bool counts =
          key.space() == HoldingKey::kUntypedBuffers || key.space() == HoldingKey::kLooseCbs;
      counts ? allocate(connection, key, report, change) : load(connection, key, report, change);
  }
  return change;
}

// The same number again counts once, at its largest size.
void Client::allocate(ConnectionId connection, const HoldingKey& key, const Message& report,
                      Change& change) {
  const auto [holding, is_new] = holdings_.insert(key, connection, change.kind, report.head.size);
  if (is_new) return take(key, change.kind, report);
  holdings_.add(*holding, connection);
  change.effect = Effect::kHeldAlready;
  change.references = holdings_.references(*holding);
  if (report.head.size <= holding->bytes) return;
  give(key, holding->kind);
  holding->bytes = report.head.size;
  holding->kind = change.kind;
  take(key, change.kind, report);
}

void Client::load(ConnectionId connection, const HoldingKey& key, const Message& report,
                  Change& change) {
  const auto [holding, is_new] = holdings_.insert(key, connection, change.kind, report.head.size);
  if (!is_new) {
    // A client that came back says again what it holds, before its old connection is seen to end.
    if (holding->connection != connection) give(key, holding->kind);
    holdings_.belong_to(*holding, connection);
    holding->bytes = report.head.size;
  }
  take(key, change.kind, report);
}

void Client::free(ConnectionId connection, const HoldingKey& key, Change& change) {
  Holding* holding = holdings_.find(key);
  if (holding == nullptr) {
    change.effect = Effect::kNotHeld;
    give(key, change.kind);  // which counts it as unknown
    return;
  }
  change.kind = holding->kind;
  change.bytes = holding->bytes;
  holdings_.remove_one(*holding, connection);
  change.references = holdings_.references(*holding);
  if (change.references > 0) {
    change.effect = Effect::kStillHeld;
    return;
  }
  holdings_.erase(holding);
  give(key, change.kind);
}

void Client::take(const HoldingKey& key, std::uint8_t kind, const Message& report) {
  const wire::Head& head = report.head;
  if (report.type() == Type::kAlloc && !report.has_details()) return take_plain(key, kind, head);
  counting(key.device(), kind, [&] {
    if (report.type() == Type::kCbAlloc) {
      tracker_->cb_alloc(key.device(), key.id, head.size);
    } else if (report.type() == Type::kKernelLoad) {
      const bool estimate =
          report.has_details() && (report.allocation.flags & segment::kEstimate) != 0;
      tracker_->kernel_load(key.device(), key.id, head.size,
                            static_cast<ttmem_kernel_role>(head.buffer_type), estimate);
    } else {
      take_detailed(key.device(), report);
    }
  });
}

// Flat, as is its counterpart: these two are most of what a server does.
[[gnu::flatten]] void Client::take_plain(const HoldingKey& key, std::uint8_t kind,
                                         const wire::Head& head) {
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = static_cast<ttmem_buffer_type>(head.buffer_type);
  buffer.id = key.id;
  buffer.address = key.id;  // what the original client passes for a number
  buffer.bytes = head.size;
  counting(key.device(), kind, [&] { tracker_->buffer_alloc(key.device(), buffer, *now_ns_); });
}

[[gnu::flatten]] void Client::give_buffer(const HoldingKey& key, std::uint8_t kind) {
  counting(key.device(), kind,
           [&] { tracker_->buffer_free(key.device(), kind, key.id, *now_ns_); });
}

void Client::take_detailed(std::uint32_t device, const Message& report) {
  const wire::AllocationDetails& details = report.allocation;
  const std::string label = text_of(details.label);
  ttmem_buffer buffer{};
  buffer.struct_size = sizeof buffer;
  buffer.type = static_cast<ttmem_buffer_type>(report.head.buffer_type);
  buffer.id = report.head.buffer_id;
  buffer.address = details.address;
  buffer.bytes = report.head.size;
  buffer.bytes_per_bank = details.bytes_per_bank;
  buffer.label = label.empty() ? nullptr : label.c_str();
  ranges_.clear();
  const bool in_dram = buffer.type == TTMEM_DRAM || buffer.type == TTMEM_TRACE;
  if (in_dram && details.banks > 0) {
    // Which banks does not matter, and how many does.
    ranges_.push_back({0, 0, static_cast<std::uint16_t>(details.banks - 1), 0});
  } else if (!in_dram && (details.flags & segment::kNoCores) == 0) {
    CoreMask cores;
    std::copy(std::begin(details.cores), std::end(details.cores), cores.words.begin());
    append_ranges(cores, columns_of(device));
  }
  buffer.cores = ranges_.empty() ? nullptr : ranges_.data();
  buffer.core_ranges = static_cast<std::uint32_t>(ranges_.size());
  tracker_->buffer_alloc(device, buffer, *now_ns_);
}

void Client::give(const HoldingKey& key, std::uint8_t kind) {
  if (key.space() == HoldingKey::kPrograms) return destroy(key.id);
  const bool is_cb = key.space() == HoldingKey::kLooseCbs;
  if (!is_cb && key.space() != HoldingKey::kKernels) return give_buffer(key, kind);
  counting(key.device(), kind, [&] {
    is_cb ? tracker_->cb_free(key.device(), key.id) : tracker_->kernel_unload(key.device(), key.id);
  });
}

// Goes from every device.
void Client::destroy(std::uint64_t program) {
  constexpr std::uint8_t kind = segment::kLooseCbKind;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> before;
  tracker_->for_each_device([&](const segment::DeviceRecord& record) {
    before.emplace_back(record.id, record.cb_physical_bytes);
    Holding* holding = holdings_.find(HoldingKey::of(program, record.id, HoldingKey::kPrograms));
    if (holding != nullptr) holdings_.erase(holding);
  });
  tracker_->program_destroy(program);
  for (const auto& [device, bytes] : before) {
    totals_.change(device, kind, bytes, bytes_of(device, kind));
  }
}

std::uint32_t Client::columns_of(std::uint32_t device) const noexcept {
  const segment::DeviceRecord* record = tracker_->figures(device);
  return record != nullptr && record->grid_x != 0 ? record->grid_x : tracker::kUnknownGridSide;
}

// Row by row, each run of neighbours one range.
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
                     std::span<const ToldCb> cbs) {
  Change change;
  change.kind = segment::kLooseCbKind;
  ranges_.clear();
  cbs_.clear();
  const std::uint32_t columns = columns_of(device);
  for (const ToldCb& cb : cbs) {
    const std::size_t first = ranges_.size();
    append_ranges(cb.cores, columns);
    const auto count = static_cast<std::uint32_t>(ranges_.size() - first);
    cbs_.push_back({cb.address, cb.bytes, nullptr, count, cb.flags});
    change.bytes += cb.bytes * cb.cores.count();
  }
  // The ranges have stopped moving.
  std::size_t first = 0;
  for (ttmem_cb& cb : cbs_) {
    cb.cores = ranges_.data() + first;
    first += cb.core_ranges;
  }
  counting(device, change.kind, [&] { tracker_->program_place(device, program, cbs_); });
  const HoldingKey key = HoldingKey::of(program, device, HoldingKey::kPrograms);
  Holding* holding = holdings_.insert(key, connection, change.kind, change.bytes).first;
  holdings_.belong_to(*holding, connection);
  holding->bytes = change.bytes;
  return change;
}

void Client::open(const Message& report) {
  const wire::DeviceDetails& told = report.device;
  if (told.events_dropped > events_dropped_) {
    tracker_->count_dropped_calls(told.events_dropped - events_dropped_);
    events_dropped_ = told.events_dropped;
  }
  const std::string arch = text_of(told.arch);
  const std::string board = text_of(told.board);
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = device_of(report);
  info.uid = report.head.buffer_id;
  info.arch = arch.empty() ? nullptr : arch.c_str();
  info.board = board.empty() ? nullptr : board.c_str();
  info.grid_x = told.grid_x;
  info.grid_y = told.grid_y;
  info.l1_bytes_per_core = told.l1_bytes_per_core;
  info.l1_base = told.l1_base;
  info.l1_small_bytes_per_core = told.l1_small_bytes_per_core;
  info.dram_channels = told.dram_channels;
  info.dram_bytes_per_channel = told.dram_bytes_per_channel;
  info.trace_region_bytes = report.head.size;
  // A grid that becomes known late places the programs anew.
  counting(info.id, segment::kLooseCbKind, [&] { tracker_->device_open(info); });
}

void Client::close(std::uint32_t device) {
  for (const auto& [id, bytes] : held()) {
    if (id != device) continue;
    for (std::uint8_t kind = 0; kind < segment::kKinds; ++kind) {
      totals_.change(device, kind, bytes[kind], 0);
    }
  }
  tracker_->device_close(device);
  holdings_.erase_device(device);
}

void Client::forget(ConnectionId connection) {
  for (const Holding& gone : holdings_.leave(connection)) give(gone.key(), gone.kind);
}

std::vector<std::pair<std::uint32_t, KindBytes>> Client::held() const {
  std::vector<std::pair<std::uint32_t, KindBytes>> devices;
  tracker_->for_each_device([&](const segment::DeviceRecord& record) {
    KindBytes& bytes = devices.emplace_back(record.id, KindBytes{}).second;
    for (std::uint8_t kind = 0; kind < segment::kKinds; ++kind) {
      bytes[kind] = bytes_of(record.id, kind);
    }
  });
  return devices;
}

Client::~Client() {
  for (const auto& [device, bytes] : held()) {
    for (std::uint8_t kind = 0; kind < segment::kKinds; ++kind) {
      totals_.change(device, kind, bytes[kind], 0);
    }
  }
}

}  // namespace ttmem::server
