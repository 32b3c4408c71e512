// SPDX-License-Identifier: Apache-2.0
#include "read/driver/chips.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "base/parse_number.hpp"
#include "base/read_text.hpp"
#include "read/driver/cards.hpp"

namespace ttmem::driver {
namespace {

namespace fs = std::filesystem;

// Returns the first line. Returns an empty string if the line is long or has any character that is
// not printable ASCII, because the text is shown on terminals.
std::string first_line(std::string_view text) {
  text = text.substr(0, std::min(text.find('\n'), text.size()));
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](unsigned char c) { return std::isgraph(c) != 0 || c == ' '; });
  return std::string(plain && text.size() <= 64 ? text : "");
}

std::string line_of(const std::string& path) { return first_line(read_text(path)); }

template <typename Number, typename... Base>
std::optional<Number> number_in(const std::string& path, Base... base) {
  return parse_number<Number>(line_of(path), base...);
}

// Returns the names in a folder, sorted; empty if the folder does not exist.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the number N of each entry of the folder whose name is `prefix` followed by N.
std::set<std::uint32_t> numbers_in(const std::string& folder, std::string_view prefix) {
  std::set<std::uint32_t> numbers;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_number<std::uint32_t>(std::string_view(name).substr(prefix.size()));
    if (number) numbers.insert(*number);
  }
  return numbers;
}

std::string last_part_of_link(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? std::string() : first_line(target.filename().string());
}

// Returns the architecture for a driver name such as "wormhole", or for a PCI device id.
std::string arch_of(const std::string& name) {
  if (name == "wormhole" || name == "0x401e") return "wormhole_b0";
  if (name == "blackhole" || name == "0xb140") return "blackhole";
  return {};
}

// Reads a number and divides it by `units`. Returns nullopt if the file has no number, or if the
// result is not below `most`.
std::optional<double> scaled(const std::string& path, double units, double most) {
  const auto raw = number_in<std::int64_t>(path);
  if (!raw || static_cast<double>(*raw) / units >= most) return std::nullopt;
  return static_cast<double>(*raw) / units;
}

class DriverReader {
 public:
  explicit DriverReader(const std::string& root)
      : dev_(root + "/dev/tenstorrent"),
        sys_(root + "/sys/class/tenstorrent"),
        proc_(root + "/proc/driver/tenstorrent"),
        module_(root + "/sys/module/tenstorrent") {}

  Driver read() {
    Driver driver;
    const std::set<std::uint32_t> nodes = numbers_in(dev_, "");
    const std::set<std::uint32_t> folders = numbers_in(sys_, "tenstorrent!");
    std::error_code error;
    driver.loaded = !nodes.empty() || fs::exists(sys_, error) || fs::exists(module_, error);
    driver.version = line_of(module_ + "/version");
    driver.nodes_hidden = ::access(dev_.c_str(), R_OK | X_OK) != 0 && errno == EACCES;
    // Chips that have a folder in /sys and no file in /dev. In a container, /sys shows all chips of
    // the machine, and /dev only the chips of the container.
    std::set<std::uint32_t> not_here = folders;
    for (const std::uint32_t number : nodes.empty() ? folders : nodes) {
      const std::uint32_t own = nodes.empty() ? number : own_number(number, folders);
      not_here.erase(own);
      driver.chips.push_back(chip(number, own, !nodes.empty()));
      driver.sensors.push_back(sensors(own));
    }
    driver.not_here = static_cast<std::uint32_t>(not_here.size());
    if (std::any_of(driver.chips.begin(), driver.chips.end(),
                    [](const Chip& chip) { return !chip.holders_known; })) {
      find_holders(driver.chips);
    }
    return driver;
  }

 private:
  [[nodiscard]] std::string folder_of(std::uint32_t number) const {
    return fmt::format("{}/tenstorrent!{}", sys_, number);
  }

  // Returns the driver's number for the chip of a device node. A container may see the chip under
  // another number, so the chip is found by the major and minor number of the node.
  [[nodiscard]] std::uint32_t own_number(std::uint32_t node,
                                         const std::set<std::uint32_t>& folders) const {
    struct stat facts {};
    const bool is_device =
        ::stat(fmt::format("{}/{}", dev_, node).c_str(), &facts) == 0 && S_ISCHR(facts.st_mode);
    if (!is_device) return node;
    const std::string device = fmt::format("{}:{}", major(facts.st_rdev), minor(facts.st_rdev));
    const auto found = std::find_if(folders.begin(), folders.end(), [&](std::uint32_t number) {
      return line_of(folder_of(number) + "/dev") == device;
    });
    return found == folders.end() ? node : *found;
  }

  // Returns the folder with the chip's sensors; empty if there is none.
  [[nodiscard]] std::string hwmon_of(std::uint32_t number) const {
    const std::string parent = folder_of(number) + "/device/hwmon";
    for (const std::string& name : names_in(parent)) {
      if (name.starts_with("hwmon")) return fmt::format("{}/{}", parent, name);
    }
    return {};
  }

  // Reads the facts about a chip, except the sensors. `own` is the driver's number for the chip.
  [[nodiscard]] Chip chip(std::uint32_t number, std::uint32_t own, bool has_node) const {
    const std::string folder = folder_of(own);
    Chip chip;
    chip.number = number;
    chip.has_node = has_node;
    chip.may_open = ::access(fmt::format("{}/{}", dev_, number).c_str(), R_OK | W_OK) == 0;
    chip.bus_id = last_part_of_link(folder + "/device");
    const std::optional<std::string> card = try_read_text(folder + "/tt_card_type");
    // The driver gets the content of this file from the firmware. Reading fails if the firmware
    // does not answer.
    chip.in_reset = !card && (errno == ENODATA || errno == ENODEV || errno == EIO);
    if (card && first_line(*card) != "unknown") chip.card = first_line(*card);
    chip.arch = architecture(chip.card, own);
    chip.firmware = line_of(folder + "/tt_fw_bundle_ver");
    chip.asic_id = number_in<std::uint64_t>(folder + "/tt_asic_id", 16);
    chip.serial = number_in<std::uint64_t>(folder + "/tt_serial", 16);
    // Every value that is read from a chip off the bus is all ones.
    chip.in_reset = chip.in_reset || chip.asic_id == UINT64_MAX;
    for (auto* told : {&chip.asic_id, &chip.serial}) {
      if (*told == 0U || *told == UINT64_MAX) told->reset();
    }
    read_holders(own, chip);
    return chip;
  }

  [[nodiscard]] std::string architecture(const std::string& card, std::uint32_t number) const {
    if (const Card* known = find_card(card)) return std::string(known->arch);
    if (const std::string hwmon = hwmon_of(number); !hwmon.empty()) {
      if (std::string arch = arch_of(line_of(hwmon + "/name")); !arch.empty()) return arch;
    }
    return arch_of(line_of(folder_of(number) + "/device/device"));
  }

  [[nodiscard]] Sensors sensors(std::uint32_t number) const {
    Sensors sensors;
    sensors.aiclk_mhz = number_in<std::uint32_t>(folder_of(number) + "/tt_aiclk");
    if (sensors.aiclk_mhz == UINT32_MAX) sensors.aiclk_mhz.reset();
    const std::string hwmon = hwmon_of(number);
    if (hwmon.empty()) return sensors;
    // Impossible values are ignored, because every value that is read from a chip off the bus is
    // all ones.
    constexpr double most_degrees = 1000;
    constexpr double most_watts = 4000;
    sensors.temperature_c = scaled(hwmon + "/temp1_input", 1e3, most_degrees);
    sensors.power_w = scaled(hwmon + "/power1_input", 1e6, most_watts);
    return sensors;
  }

  // Reads the driver's list of pids, which has one line for each open descriptor.
  void read_holders(std::uint32_t own, Chip& chip) const {
    constexpr std::size_t most = 1 << 20;
    const auto text = try_read_text(fmt::format("{}/{}/pids", proc_, own), most);
    if (!text) return;
    chip.holders_known = true;
    std::set<std::int32_t> pids;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const auto pid = parse_number<std::int32_t>(line);
      if (pid && *pid >= 0) pids.insert(*pid);
    }
    chip.holders.assign(pids.begin(), pids.end());
  }

  // Finds the holders of chips by the open descriptors in /proc. Needed with older drivers, which
  // have no list of pids. Does not find processes that this user may not inspect.
  void find_holders(std::vector<Chip>& chips) const {
    std::map<std::string, std::set<std::int32_t>> open;  // by path
    for (const Chip& chip : chips) {
      if (!chip.holders_known) open[fmt::format("{}/{}", dev_, chip.number)];
    }
    for (const std::uint32_t pid : numbers_in("/proc", "")) {
      const std::string folder = fmt::format("/proc/{}/fd", pid);
      for (const std::string& name : names_in(folder)) {
        std::error_code error;
        const auto found = open.find(fs::read_symlink(fs::path(folder) / name, error).string());
        if (found != open.end()) found->second.insert(static_cast<std::int32_t>(pid));
      }
    }
    for (Chip& chip : chips) {
      if (chip.holders_known) continue;
      const auto& pids = open[fmt::format("{}/{}", dev_, chip.number)];
      chip.holders.assign(pids.begin(), pids.end());
    }
  }

  const std::string dev_, sys_, proc_, module_;
};

}  // namespace

Driver read_driver(const std::string& root) { return DriverReader(root).read(); }

}  // namespace ttmem::driver
