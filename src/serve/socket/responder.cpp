// SPDX-License-Identifier: Apache-2.0
#include "serve/socket/responder.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

#include "base/clock.hpp"
#include "read/model/device_name.hpp"
#include "serve/socket/event_log.hpp"
#include "text/format.hpp"
#include "track/wire/check.hpp"

namespace ttmem::serve {
namespace {

using model::Allocation;
using model::Device;
using model::Process;
using model::Snapshot;
using wire::Message;
using wire::MessageType;

constexpr std::size_t kLargest = 10;

std::uint32_t arch_number(std::string_view arch) {
  if (arch == "grayskull") return 1;
  if (arch == "wormhole_b0") return 2;
  if (arch == "blackhole") return 3;
  return arch == "quasar" ? 4 : 0;
}

// Converts a value for a field of 32 bits. A value that does not fit becomes 0, which is unknown.
std::uint32_t narrow(std::uint64_t value) {
  return value <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(value) : 0;
}

bool is_used_by(const Device& device, pid_t pid) {
  return std::any_of(device.processes.begin(), device.processes.end(), [&](const Process& process) {
    return process.host_pid.value_or(process.pid) == pid;
  });
}

// Returns the chip that a question names by its uid. If the question has a device number instead,
// returns the chip with this number, and all devices with this number whose uid is unknown. If
// several chips have this number, chooses the chip that the asking process uses.
std::vector<const Device*> find_devices(const Snapshot& snapshot, const wire::Head& question,
                                        pid_t pid) {
  const Device* chip = nullptr;
  std::vector<const Device*> found;
  for (const Device& device : snapshot.devices) {
    if (wire::names_uid(question)) {
      if (device.uid == question.buffer_id) return {&device};
      continue;
    }
    if (!has_number(device, static_cast<std::uint32_t>(question.device_id))) continue;
    if (!device.uid) {
      found.push_back(&device);
    } else if (chip == nullptr || (is_used_by(device, pid) && !is_used_by(*chip, pid))) {
      chip = &device;
    }
  }
  if (chip != nullptr) found.insert(found.begin(), chip);
  return found;
}

// Counts the chips. Devices with unknown uid count as one chip per device number. They are not
// counted if a device with a known uid has the same number.
std::uint32_t count_devices(const Snapshot& snapshot) {
  std::size_t chips = 0;
  std::set<std::uint32_t> named;
  std::set<std::uint32_t> unnamed;
  for (const Device& device : snapshot.devices) {
    chips += device.uid ? 1 : 0;
    (device.uid ? named : unnamed).insert(device.id);
  }
  for (const std::uint32_t id : unnamed) chips += named.contains(id) ? 0 : 1;
  return narrow(chips);
}

void fill_answer(const Device& device, wire::ServerAnswer& answer) {
  answer.total_dram_size = device.dram_capacity_bytes.value_or(0);
  answer.total_l1_size = device.l1_capacity_bytes.value_or(0);
  answer.arch_type = arch_number(device.arch);
  answer.num_dram_channels = device.dram_channels;
  if (device.dram_channels != 0) {
    answer.dram_size_per_channel = narrow(answer.total_dram_size / device.dram_channels);
  }
  answer.l1_size_per_core = narrow(device.l1_bytes_per_core.value_or(0));
}

void add_to_answer(const Device& device, wire::ServerAnswer& answer) {
  const auto used = [&](Kind kind) { return device.used(kind).value_or(0); };
  answer.dram_bytes += used(Kind::dram);
  answer.l1_bytes += used(Kind::l1);
  answer.l1_small_bytes += used(Kind::l1_small);
  answer.trace_bytes += used(Kind::trace);
  answer.cb_bytes += used(Kind::cb);
  answer.kernel_bytes += used(Kind::kernel);
  answer.kernel_ring_programs += narrow(device.programs.value_or(0));
  answer.is_available = 1;
}

std::string who(const Process& process) {
  return fmt::format("process {} ({}){}", process.pid, process.name,
                     process.state == model::State::dead ? ", dead," : "");
}

std::string kinds_of(const Process& process) {
  KindBytes bytes{};
  for (const Kind kind : kDeviceKinds) bytes[kind] = process.used(kind).value_or(0);
  return text_of_kinds(bytes);
}

// Adds one line for each of the largest allocations that `wanted` accepts.
template <typename Wanted>
void add_largest(const Snapshot& snapshot, Wanted&& wanted, std::vector<std::string>& lines) {
  std::vector<const Allocation*> chosen;
  for (const Allocation& allocation : snapshot.allocations) {
    if (wanted(allocation)) chosen.push_back(&allocation);
  }
  const auto shown = std::min(chosen.size(), kLargest);
  std::partial_sort(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(shown),
                    chosen.end(),
                    [](const Allocation* a, const Allocation* b) { return a->bytes > b->bytes; });
  for (std::size_t i = 0; i < shown; ++i) {
    const Allocation& one = *chosen[i];
    lines.push_back(fmt::format("device {}: {} {} {} of process {}{}{}",
                                text::format_devices(snapshot, one), name_of(one.kind), one.id,
                                log_bytes(one.bytes), one.pid,
                                one.persistent ? ", loaded until the device closes" : "",
                                one.label.empty() ? "" : ", " + one.label));
  }
  if (chosen.size() > shown) lines.push_back(fmt::format("and {} more", chosen.size() - shown));
}

}  // namespace

std::vector<std::string> remaining_lines(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const Device& device : snapshot.devices) {
    for (const Process& process : device.processes) {
      const std::string kinds = kinds_of(process);
      lines.push_back(fmt::format("device {}: {} holds {}", text::format_device(device),
                                  who(process), kinds.empty() ? "nothing" : kinds));
    }
  }
  if (lines.empty()) lines.emplace_back("nobody holds anything");
  add_largest(
      snapshot, [](const Allocation& one) { return one.kind != Kind::kernel; }, lines);
  return lines;
}

std::vector<std::string> kernel_lines(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const Device& device : snapshot.devices) {
    const auto text = [](const model::Bytes& bytes) { return bytes ? log_bytes(*bytes) : "n/a"; };
    lines.push_back(fmt::format("device {}: kernels {}, of which persistent {}",
                                text::format_device(device), text(device.used(Kind::kernel)),
                                text(device.kernels_persistent_bytes)));
  }
  if (lines.empty()) lines.emplace_back("no device is in use");
  add_largest(
      snapshot, [](const Allocation& one) { return one.kind == Kind::kernel; }, lines);
  return lines;
}

const Snapshot& Responder::snapshot(bool with_allocations) {
  if (snapshot_ == nullptr || (with_allocations && !has_allocations_)) {
    snapshot_ = with_allocations ? &get_all_() : &get_figures_();
    has_allocations_ = with_allocations;
  }
  return *snapshot_;
}

Message Responder::answer(const Message& question, pid_t pid) {
  const bool dump = question.type() == MessageType::dump_remaining ||
                    question.type() == MessageType::dump_kernels;
  const Snapshot& now = snapshot(dump);
  if (dump) {
    const bool kernels = question.type() == MessageType::dump_kernels;
    for (const std::string& line : kernels ? kernel_lines(now) : remaining_lines(now)) {
      spdlog::info("[{}] [PID {}] {}", name_of(question.type()), pid, line);
    }
  }
  Message answer{};
  answer.head.type = static_cast<std::uint8_t>(question.type() == MessageType::device_info_query
                                                   ? MessageType::device_info_response
                                                   : MessageType::response);
  answer.head.device_id = question.head.device_id;
  answer.head.process_id = question.head.process_id;
  answer.head.timestamp_unix_ns = clock_ns(CLOCK_REALTIME);
  const std::vector<const Device*> devices = find_devices(now, question.head, pid);
  if (!devices.empty()) fill_answer(*devices.front(), answer.answer);
  for (const Device* device : devices) add_to_answer(*device, answer.answer);
  if (question.head.device_id == -1 && !wire::names_uid(question.head))
    answer.answer.is_available = now.devices.empty() ? 0 : 1;
  answer.answer.num_devices = count_devices(now);
  return answer;
}

}  // namespace ttmem::serve
