// SPDX-License-Identifier: Apache-2.0
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace ttmem::text {
namespace {

// Returns true if `c` needs no escape in a key. The result is the same in every locale.
bool is_plain_in_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string format_bytes(model::Bytes bytes, Scale scale) {
  return bytes ? format_bytes(*bytes, scale) : std::string(kUnknown);
}

std::string format_bytes(model::Bytes bytes, Units units, Scale scale) {
  if (!bytes || units == Units::automatic) return format_bytes(bytes, scale);
  return number_in(*bytes, units).append(" ").append(name_of(units));
}

std::string format_signed_bytes(std::optional<std::int64_t> bytes, Scale scale) {
  return format_signed_bytes(bytes, Units::automatic, scale);
}

std::string format_signed_bytes(std::optional<std::int64_t> bytes, Units units, Scale scale) {
  if (!bytes) return std::string(kUnknown);
  const auto magnitude = static_cast<std::uint64_t>(*bytes);
  return *bytes < 0 ? "-" + format_bytes(model::Bytes(0 - magnitude), units, scale)
                    : format_bytes(model::Bytes(magnitude), units, scale);
}

std::optional<double> share_of(model::Bytes used, model::Bytes capacity) {
  if (!used || !capacity || *capacity == 0) return std::nullopt;
  return static_cast<double>(*used) / static_cast<double>(*capacity);
}

std::string format_share(std::optional<double> share) {
  if (!share) return std::string(kUnknown);
  if (*share > 0 && *share < 0.005) return "<1%";
  if (*share < 1 && *share >= 0.995) return "99%";
  // A share of ten or more comes from a wrong figure; ">9x" keeps the width of the column.
  if (*share >= 9.995) return ">9x";
  return fmt::format("{:.0f}%", *share * 100);
}

std::string mark_estimate(const std::string& size, bool estimate) {
  return estimate && size != kUnknown ? "~" + size : size;
}

std::string format_count(std::optional<std::uint64_t> count) {
  return count ? fmt::format("{}", *count) : std::string(kUnknown);
}

std::string or_none(const std::string& text) { return text.empty() ? std::string(kNone) : text; }

std::string format_job(const Job& job) {
  if (!job.id.empty() || job.pod.empty()) return job.id;
  return job.pod_namespace.empty() ? job.pod : job.pod_namespace + "/" + job.pod;
}

std::string format_pid(std::int32_t pid, bool foreign, std::optional<std::int32_t> host_pid) {
  if (pid == 0) return "?";  // the driver does not report pids of other namespaces
  if (!foreign) return fmt::format("{}", pid);
  return host_pid ? fmt::format("{}/{}", *host_pid, pid) : fmt::format("?/{}", pid);
}

std::string format_pid(const model::Process& process) {
  return format_pid(process.pid, process.foreign_pid, process.host_pid);
}

std::string format_hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string format_age(std::uint64_t age_ns) {
  const std::uint64_t seconds = age_ns / 1'000'000'000;
  if (seconds < 1) return fmt::format("{}ms", age_ns / 1'000'000);
  if (seconds < 60) return fmt::format("{}.{}s", seconds, age_ns / 100'000'000 % 10);
  const std::uint64_t minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, seconds % 60);
  if (minutes < std::uint64_t{48} * 60) return fmt::format("{}h{:02}m", minutes / 60, minutes % 60);
  return fmt::format("{}d{:02}h", minutes / 60 / 24, minutes / 60 % 24);
}

std::string format_moment(std::int64_t time_ns) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  return ns < 1'000'000 ? fmt::format("{}us", ns / 1000) : format_age(ns);
}

std::string origin_or_none(const std::string& scope, const std::string& name) {
  const std::string text = model::origin_of(scope, name);
  return text.empty() ? "(no name)" : text;
}

std::string format_time(std::uint64_t unix_ns, std::int64_t utc_offset_seconds) {
  using std::chrono::seconds;
  const seconds since{static_cast<std::int64_t>(unix_ns / 1'000'000'000) + utc_offset_seconds};
  const auto day = std::chrono::floor<std::chrono::days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days{day}};
  const std::int64_t clock = (since - day).count();
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock / 3600, clock / 60 % 60, clock % 60);
}

std::string format_names(const std::vector<model::DeviceName>& names) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> parts;
  for (const model::DeviceName& name : names) {
    if (!name.bus_id.empty()) {
      parts.push_back(name.bus_id);
    } else if (name.uid) {
      parts.push_back(format_hex(*name.uid));
    } else {
      numbers.push_back(name.number);
    }
  }
  if (!numbers.empty()) parts.insert(parts.begin(), format_ids(numbers));
  return join(parts, ",");
}

std::string format_identity(const model::Device& device) {
  if (device.uid) return format_hex(*device.uid);
  return device.bus_id.empty() ? device.arch : device.bus_id;
}

std::string format_model(const std::string& board, const std::string& arch) {
  if (board.empty() || arch.empty()) return board + arch;
  return fmt::format("{} ({})", board, arch);
}

std::string format_device(const model::Device& device) {
  if (!device.shares_number) return fmt::format("{}", device.id);
  const std::string identity = format_identity(device);
  return fmt::format("{} ({})", device.id, identity.empty() ? "unknown chip" : identity);
}

std::string format_device_briefly(const model::Device& device) {
  const bool is_unique = device.uid || !device.bus_id.empty();
  return device.shares_number && is_unique ? format_identity(device) : format_device(device);
}

std::string key_of(const model::Device& device) {
  if (device.uid) return format_hex(*device.uid);
  return !device.bus_id.empty() ? device.bus_id : key_of_number(device.id, device.arch);
}

std::string key_of_number(std::uint32_t number, std::string_view arch) {
  std::string key = fmt::format("{}", number);
  if (!arch.empty()) key += ':';
  for (const char c : arch) {
    if (is_plain_in_key(c)) {
      key += c;
    } else {
      fmt::format_to(std::back_inserter(key), "%{:02x}", static_cast<unsigned char>(c));
    }
  }
  return key;
}

std::string format_devices(const std::vector<model::Device>& devices) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> parts;
  bool shared = false;
  for (const model::Device& device : devices) {
    shared = shared || device.shares_number;
    numbers.push_back(device.id);
    parts.push_back(format_device(device));
  }
  return shared ? join(parts, ", ") : format_ids(numbers);
}

std::string format_devices(const model::Snapshot& snapshot, const model::Allocation& allocation) {
  std::vector<std::uint32_t> numbers;
  std::vector<std::string> parts;
  bool shared = false;
  for (const std::uint32_t index : devices_of(allocation)) {
    if (index >= snapshot.devices.size()) return std::string(kUnknown);
    const model::Device& device = snapshot.devices[index];
    shared = shared || device.shares_number;
    numbers.push_back(device.id);
    parts.push_back(format_device_briefly(device));
  }
  return shared ? join(parts, ",") : format_ids(numbers);
}

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string result;
  for (const std::string& part : parts) {
    if (!result.empty()) result += between;
    result += part;
  }
  return result;
}

}  // namespace ttmem::text
