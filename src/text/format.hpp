// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people. The same in every locale; unknown is "n/a". Pure, safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/format_bytes.hpp"
#include "base/format_ids.hpp"
#include "base/plural.hpp"
#include "read/model/device_name.hpp"
#include "read/model/snapshot.hpp"
#include "text/units.hpp"

namespace ttmem::text {

inline constexpr std::string_view kUnknown = "n/a";
inline constexpr std::string_view kNone = "-";  // known, and there is none

using ttmem::format_bytes;
using ttmem::Scale;
[[nodiscard]] std::string format_bytes(model::Bytes bytes, Scale scale = Scale::device);
// In the units asked for; `scale` matters only when they are automatic.
[[nodiscard]] std::string format_bytes(model::Bytes bytes, Units units,
                                       Scale scale = Scale::device);
// With a sign when negative.
[[nodiscard]] std::string format_signed_bytes(std::optional<std::int64_t> bytes,
                                              Scale scale = Scale::device);
[[nodiscard]] std::string format_signed_bytes(std::optional<std::int64_t> bytes, Units units,
                                              Scale scale = Scale::device);

// Empty when one side is unknown or there is no capacity.
[[nodiscard]] std::optional<double> share_of(model::Bytes used, model::Bytes capacity);
// "32%". Rounded, but only zero is "0%", less than half a percent is "<1%", and only all is "100%".
[[nodiscard]] std::string format_share(std::optional<double> share);

// "~0.20 MiB": an estimate, or a sum with one in it.
[[nodiscard]] std::string mark_estimate(const std::string& size, bool estimate);

[[nodiscard]] std::string format_count(std::optional<std::uint64_t> count);
using ttmem::plural;
// "4711"; of another pid namespace "81234/7": the pid here and the one there, "?/7": unknown here.
// The text, or "-" when it is empty.
[[nodiscard]] std::string or_none(const std::string& text);
// The job, else the pod; empty: unknown.
[[nodiscard]] std::string format_job(const Job& job);
[[nodiscard]] std::string format_pid(std::int32_t pid, bool foreign,
                                     std::optional<std::int32_t> host_pid);
[[nodiscard]] std::string format_pid(const model::Process& process);
[[nodiscard]] std::string format_hex(std::uint64_t value);
// "420ms", "12.3s", "5m12s", "3h05m", "2d04h".
[[nodiscard]] std::string format_age(std::uint64_t age_ns);
// A moment of a recording, since that began: "12us", else as an age. What was before is 0.
[[nodiscard]] std::string format_moment(std::int64_t time_ns);
// "decoder.0/attention/kv", "(no name)"
[[nodiscard]] std::string origin_or_none(const std::string& scope, const std::string& name);
// "2026-08-22 12:00:05".
[[nodiscard]] std::string format_time(std::uint64_t unix_ns, std::int64_t utc_offset_seconds);
using ttmem::format_ids;
// "0-3,6,0x1f00a"
[[nodiscard]] std::string format_names(const std::vector<model::DeviceName>& names);
// "0"; "0 (0x1f00a)" when another chip has the same number.
[[nodiscard]] std::string format_device(const model::Device& device);
// The same for a column: "0", or "0x1f00a".
[[nodiscard]] std::string format_device_briefly(const model::Device& device);
// By which programs find it again: its uid, or else its PCI address or key_of_number(). Devices of
// different model::name_of() have different keys.
[[nodiscard]] std::string key_of(const model::Device& device);
// "0:wormhole_b0"; "0" when the architecture is unknown. It always has the architecture, so that it
// stays when another chip of that number comes. Anybody may have written that name: all but letters
// of ASCII, digits, _ and - are escaped as %2c, so that a key is safe in JSON and in lists.
[[nodiscard]] std::string key_of_number(std::uint32_t number, std::string_view arch);
// All devices, for people who named another: "0-3", "0 (0x1f00a), 0 (0x1f00b)".
[[nodiscard]] std::string format_devices(const std::vector<model::Device>& devices);
// Where an allocation of the snapshot lies: "3", of a mesh "0-31".
[[nodiscard]] std::string format_devices(const model::Snapshot& snapshot,
                                         const model::Allocation& allocation);
// The fragments, joined.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace ttmem::text
