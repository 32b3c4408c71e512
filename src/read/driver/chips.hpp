// SPDX-License-Identifier: Apache-2.0
//
// The chips that the kernel driver shows, used or idle, and who has them open. No file of the
// driver tells how much memory anybody holds. Every file may be missing: an older driver or
// firmware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ttmem::driver {

// What the firmware measures. An empty optional is unknown.
struct Sensors {
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<std::uint32_t> aiclk_mhz;

  friend bool operator==(const Sensors&, const Sensors&) = default;
};

// A chip with a PCIe link of its own. Chips that are reached through others do not appear.
struct Chip {
  std::uint32_t number = 0;  // N of /dev/tenstorrent/N; a container may have it under another one
  bool has_node = false;     // that file is there: in a container, the chip was handed to it
  bool may_open = false;     // this user may use it
  std::string bus_id;        // "0000:01:00.0"; empty: unknown
  std::string card;          // "n300"; empty: unknown
  std::string arch;          // "wormhole_b0"; empty: unknown
  std::string firmware;      // "19.4.2.0"; empty: unknown
  std::optional<std::uint64_t> asic_id;
  std::optional<std::uint64_t> serial;  // of the board
  bool in_reset = false;                // the driver has the chip, and the firmware does not answer
  // The processes that have it open, ascending; 0 stands for those of pid namespaces that this one
  // does not see.
  std::vector<std::int32_t> holders;
  bool holders_known =
      false;  // the driver lists them; false: these are only those that /proc shows

  friend bool operator==(const Chip&, const Chip&) = default;
};

struct Driver {
  bool loaded = false;           // it has a folder in /sys or devices in /dev
  std::string version;           // empty: unknown
  std::vector<Chip> chips;       // by number
  std::vector<Sensors> sensors;  // of each of them
  bool nodes_hidden = false;     // this user may not look into /dev/tenstorrent
  std::uint32_t not_here = 0;    // further chips that /sys shows, without a file in /dev

  friend bool operator==(const Driver&, const Driver&) = default;
};

// One look at the files below `root`, which is empty but for tests (TTMEM_SYSROOT). Opens no
// device: that would wake it. Never fails; what cannot be read is unknown.
[[nodiscard]] Driver read_driver(const std::string& root);

}  // namespace ttmem::driver
