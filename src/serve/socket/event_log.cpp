// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/event_log.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>

#include "track/wire/check.hpp"

namespace ttmem::serve {
namespace {

using Effect = Change::Effect;
using wire::MessageType;

template <typename Out>
Out append_bytes(Out out, std::uint64_t bytes) {
  constexpr double kib = 1024;
  const auto value = static_cast<double>(bytes);
  if (bytes == 0 || value >= 0.01 * kib * kib) {
    return fmt::format_to(out, "{:.2f} MiB", value / kib / kib);
  }
  if (bytes >= 1024) return fmt::format_to(out, "{:.2f} KiB", value / kib);
  return fmt::format_to(out, "{} B", bytes);
}

std::string text_of(const wire::DeviceDetails& device, Effect effect) {
  if (effect == Effect::closed) return "closed";
  std::string text = "opened";
  if (device.grid_x != 0) text += fmt::format(", {}x{} cores", device.grid_x, device.grid_y);
  if (device.dram_channels != 0) {
    text += fmt::format(", {} DRAM channels of {}", device.dram_channels,
                        log_bytes(device.dram_bytes_per_channel));
  }
  return text;
}

constexpr std::array kReasons = {"a process can have at most 128 devices",
                                 "the segment is full; free space in TTMEM_DIR",
                                 "its address, its size or its number of banks is impossible",
                                 "the device would hold more than 2^61 bytes of this kind"};
static_assert(segment::kMaxDevices == 128 && tracker::kMaxTotalBytes == 1ULL << 61);

}  // namespace

std::string log_bytes(std::uint64_t bytes) {
  std::string text;
  append_bytes(std::back_inserter(text), bytes);
  return text;
}

std::string text_of_kinds(const KindBytes& bytes) {
  std::string text;
  for (const Kind kind : kAllKinds) {
    if (bytes[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(kind), log_bytes(bytes[kind]));
  }
  return text;
}

void EventLog::write(const wire::Message& report, pid_t pid, const Change& change,
                     const DeviceTotals& totals) {
  const std::uint64_t total =
      totals.get(static_cast<std::uint32_t>(report.head.device_id), change.kind);
  fmt::memory_buffer line;
  auto out = fmt::appender(line);
  fmt::format_to(out, "[{}] [PID {}] device {}: ", name_of(report.type()), pid,
                 report.head.device_id);
  if (report.type() == MessageType::device_info_response) {
    fmt::format_to(out, "{}", text_of(report.device, change.effect));
  } else if (change.effect == Effect::not_held) {
    fmt::format_to(out, "ignored: {} is not allocated (total ", report.head.buffer_id);
    fmt::format_to(append_bytes(out, total), ")");
  } else if (change.effect == Effect::refused) {
    fmt::format_to(out, "ignored: {} (total ",
                   kReasons.at(static_cast<std::size_t>(change.refusal)));
    fmt::format_to(append_bytes(out, total), ")");
  } else {
    const bool frees = report.type() == MessageType::free ||
                       report.type() == MessageType::cb_free ||
                       report.type() == MessageType::kernel_unload;
    *out++ = frees ? '-' : '+';
    append_bytes(out, change.bytes);
    fmt::format_to(out, " (total ");
    append_bytes(out, total);
    fmt::format_to(out, ") {}", name_of(change.kind));
    if (change.effect == Effect::held_already) {
      fmt::format_to(out, ", counted once, held {} times", change.references);
    } else if (change.effect == Effect::still_held) {
      fmt::format_to(out, ", still held {} time{}", change.references,
                     change.references == 1 ? "" : "s");
    }
  }
  logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace ttmem::serve
