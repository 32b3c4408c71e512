// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers for people. The output is the same in every locale. An unknown number becomes
// "n/a". Pure, safe from any thread.
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
inline constexpr std::string_view kNone = "-";  // for a value that is known to be absent

using ttmem::format_bytes;
using ttmem::Scale;
[[nodiscard]] std::string format_bytes(model::Bytes bytes, Scale scale = Scale::device);
// Formats in the given units. `scale` is used only for Units::automatic.
[[nodiscard]] std::string format_bytes(model::Bytes bytes, Units units,
                                       Scale scale = Scale::device);
// Formats a negative size with a minus sign.
[[nodiscard]] std::string format_signed_bytes(std::optional<std::int64_t> bytes,
                                              Scale scale = Scale::device);
[[nodiscard]] std::string format_signed_bytes(std::optional<std::int64_t> bytes, Units units,
                                              Scale scale = Scale::device);

// Returns nullopt if either size is unknown or the capacity is 0.
[[nodiscard]] std::optional<double> share_of(model::Bytes used, model::Bytes capacity);
// Formats a share as "32%", rounded. A share above zero and below half a percent becomes "<1%", a
// share below 1 becomes at most "99%", and a share of about 10 or more becomes ">9x".
[[nodiscard]] std::string format_share(std::optional<double> share);

// Adds a "~" to a size that is an estimate or contains one: "~0.20 MiB".
[[nodiscard]] std::string mark_estimate(const std::string& size, bool estimate);

[[nodiscard]] std::string format_count(std::optional<std::uint64_t> count);
using ttmem::plural;
// Returns the text, or "-" if the text is empty.
[[nodiscard]] std::string or_none(const std::string& text);
// Returns the id of the job. If the id is unknown, returns the pod as "namespace/pod". Returns an
// empty text if both are unknown.
[[nodiscard]] std::string format_job(const Job& job);
// Formats a pid as "4711". Formats a pid of another pid namespace as "81234/7": the pid in the
// reader's namespace, then the pid in the other namespace. "?/7" means that the pid in the reader's
// namespace is unknown, and "?" that both pids are unknown.
[[nodiscard]] std::string format_pid(std::int32_t pid, bool foreign,
                                     std::optional<std::int32_t> host_pid);
[[nodiscard]] std::string format_pid(const model::Process& process);
[[nodiscard]] std::string format_hex(std::uint64_t value);
// Formats a duration as "420ms", "12.3s", "5m12s", "3h05m" or "2d04h".
[[nodiscard]] std::string format_age(std::uint64_t age_ns);
// Formats a time since the start of a recording: below a millisecond as "12us", else like
// format_age(). A time before the start becomes 0.
[[nodiscard]] std::string format_moment(std::int64_t time_ns);
// Returns "decoder.0/attention/kv", or "(no name)" if scope and name are empty.
[[nodiscard]] std::string origin_or_none(const std::string& scope, const std::string& name);
// Formats a wall-clock time as "2026-08-22 12:00:05".
[[nodiscard]] std::string format_time(std::uint64_t unix_ns, std::int64_t utc_offset_seconds);
using ttmem::format_ids;
// Formats device names as "0-3,6,0x1f00a".
[[nodiscard]] std::string format_names(const std::vector<model::DeviceName>& names);
// Returns the identity by which a person distinguishes chips with the same number: the uid, else
// the PCI address, else the architecture. Returns an empty text if all are unknown.
[[nodiscard]] std::string format_identity(const model::Device& device);
// Returns board and architecture as "n300 (wormhole_b0)". If one of them is unknown, returns only
// the other. Returns an empty text if both are unknown.
[[nodiscard]] std::string format_model(const std::string& board, const std::string& arch);
// Formats a device as "0", or as "0 (0x1f00a)" if another chip has the same number.
[[nodiscard]] std::string format_device(const model::Device& device);
// Formats a device for a column: "0", or its uid or PCI address if another chip has the
// same number. Returns format_device() if both are unknown.
[[nodiscard]] std::string format_device_briefly(const model::Device& device);
// Returns a key that identifies a device across snapshots: its uid if known, else its PCI address
// if known, else key_of_number(). Devices with different model::name_of() have different keys.
[[nodiscard]] std::string key_of(const model::Device& device);
// Returns "0:wormhole_b0", or "0" if the architecture is unknown. A known architecture is always
// part of the key, so that the key stays the same when another chip with that number appears.
// Processes report the architecture and may report any text: characters other than ASCII letters,
// digits, _ and - are escaped as in %2c, so that a key is safe in JSON and in lists.
[[nodiscard]] std::string key_of_number(std::uint32_t number, std::string_view arch);
// Lists all devices, for an error message about a device name that does not exist: "0-3", "0
// (0x1f00a), 0 (0x1f00b)".
[[nodiscard]] std::string format_devices(const std::vector<model::Device>& devices);
// Returns the devices on which an allocation of the snapshot lies: "3", or "0-31" for a mesh.
[[nodiscard]] std::string format_devices(const model::Snapshot& snapshot,
                                         const model::Allocation& allocation);
// Joins the parts, with `between` between two parts.
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view between);

}  // namespace ttmem::text
