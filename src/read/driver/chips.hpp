// SPDX-License-Identifier: Apache-2.0
// The chips that the kernel driver shows, used or idle, and the processes that have them open. The
// driver does not report how much memory a process holds. Any file of the driver may be missing,
// for example with an older driver or older firmware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttmem::driver {

// Values that the firmware measures. nullopt if unknown.
struct Sensors {
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<std::uint32_t> aiclk_mhz;

  friend bool operator==(const Sensors&, const Sensors&) = default;
};

// A chip with a PCIe link of its own. Chips that are reached through other chips are not listed.
struct Chip {
  // N of /dev/tenstorrent/N, as this process sees it. In a container, the host may use another N.
  std::uint32_t number = 0;
  bool has_node = false;  // /dev/tenstorrent/N exists; a container sees only its own chips there
  bool may_open = false;  // this user may read and write /dev/tenstorrent/N
  std::string bus_id;     // "0000:01:00.0"; empty: unknown
  std::string card;       // "n300"; empty: unknown
  std::string arch;       // "wormhole_b0"; empty: unknown
  std::string firmware;   // "19.4.2.0"; empty: unknown
  std::optional<std::uint64_t> asic_id;
  std::optional<std::uint64_t> serial;  // of the board
  bool in_reset = false;  // the driver knows the chip, but the firmware does not answer
  // Pids of the processes that have the chip open, ascending. 0 stands for all processes of pid
  // namespaces that this process cannot see.
  std::vector<std::int32_t> holders;
  // True if `holders` is the driver's own list; false if /proc was searched, which may miss some
  // holders.
  bool holders_known = false;

  friend bool operator==(const Chip&, const Chip&) = default;
};

struct Driver {
  bool loaded = false;           // the driver has a folder in /sys or devices in /dev
  std::string version;           // empty: unknown
  std::vector<Chip> chips;       // ascending by number
  std::vector<Sensors> sensors;  // sensors[i] belongs to chips[i]
  bool nodes_hidden = false;     // this user may not read the directory /dev/tenstorrent
  std::uint32_t not_here = 0;    // number of chips in /sys without a file in /dev

  friend bool operator==(const Driver&, const Driver&) = default;
};

// Reads the driver's files below `root`. `root` is an empty string, except in tests, which set
// TTMEM_SYSROOT. Opens no device, because opening would wake the device. Never fails; a value that
// cannot be read is unknown.
[[nodiscard]] Driver read_driver(const std::string& root);

}  // namespace ttmem::driver
