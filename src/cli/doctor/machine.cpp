// SPDX-License-Identifier: Apache-2.0
//
// Checks the kernel driver and the chips that the driver shows.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/format_ids.hpp"
#include "base/read_text.hpp"
#include "cli/doctor/scene.hpp"
#include "read/driver/chips.hpp"

namespace ttmem::doctor {
namespace {

namespace fs = std::filesystem;

// Returns the PCI addresses of cards that the driver does not show as chips.
std::vector<std::string> cards_without_driver(const Scene& scene) {
  std::vector<std::string> cards;
  std::error_code error;
  for (fs::directory_iterator it(scene.root + "/sys/bus/pci/devices", error), end;
       !error && it != end; it.increment(error)) {
    if (!read_text(it->path() / "vendor").starts_with("0x1e52")) continue;
    const std::string bus_id = it->path().filename();
    const auto& chips = scene.evidence.driver.chips;
    if (std::none_of(chips.begin(), chips.end(),
                     [&](const auto& chip) { return chip.bus_id == bus_id; })) {
      cards.push_back(bus_id);
    }
  }
  std::sort(cards.begin(), cards.end());
  return cards;
}

// Returns for example "2 chips: n300 (0-1)".
std::string chips_by_card(const std::vector<driver::Chip>& chips) {
  std::map<std::string, std::vector<std::uint32_t>> by_card;
  for (const driver::Chip& chip : chips) {
    by_card[!chip.card.empty()   ? chip.card
            : !chip.arch.empty() ? chip.arch
                                 : "unknown"]
        .push_back(chip.number);
  }
  std::string text = fmt::format("{} chip{}: ", chips.size(), chips.size() == 1 ? "" : "s");
  for (const auto& [card, numbers] : by_card) {
    text += fmt::format("{}{} ({})", text.back() == ' ' ? "" : ", ", card, format_ids(numbers));
  }
  return text;
}

// Returns the numbers of the chips for which `holds` is true, such as "0,3".
template <typename Holds>
std::string chips_that(const std::vector<driver::Chip>& chips, Holds holds) {
  std::vector<std::uint32_t> numbers;
  for (const driver::Chip& chip : chips) {
    if (holds(chip)) numbers.push_back(chip.number);
  }
  return format_ids(numbers);
}

void check_cards(const Scene& scene, Findings& findings) {
  const std::vector<std::string> cards = cards_without_driver(scene);
  // Reports nothing in a container that sees only some of the driver's chips. The other cards do
  // have the driver.
  if (cards.empty() || scene.evidence.driver.not_here > 0) return;
  findings.failure("driver",
                   fmt::format("the card{} at {} {} not driven by it", cards.size() == 1 ? "" : "s",
                               fmt::join(cards, ", "), cards.size() == 1 ? "is" : "are"),
                   "install tt-kmd, then `sudo modprobe tenstorrent`; `sudo dmesg` says more");
}

void check_driver(const Scene& scene, Findings& findings) {
  const driver::Driver& driver = scene.evidence.driver;
  const std::string version = driver.version.empty() ? "" : " " + driver.version;
  if (!driver.loaded) {
    findings.note("driver", "the kernel driver is not loaded; simulated chips can be measured");
    return check_cards(scene, findings);
  }
  const bool lists_holders = std::all_of(driver.chips.begin(), driver.chips.end(),
                                         [](const auto& chip) { return chip.holders_known; });
  if (lists_holders) {
    findings.good("driver", "tt-kmd" + version);
  } else {
    findings.warning("driver",
                     fmt::format("tt-kmd{} does not tell who has a chip open, so that processes of "
                                 "others may be missing",
                                 version),
                     "update tt-kmd");
  }
  check_cards(scene, findings);
}

void check_chips(const Scene& scene, Findings& findings) {
  const driver::Driver& driver = scene.evidence.driver;
  const std::vector<driver::Chip>& chips = driver.chips;
  if (!driver.loaded) return;
  if (chips.empty()) {
    findings.failure("chips", "the driver shows no chip",
                     "`lspci -d 1e52:` and `sudo dmesg | grep tenstorrent` say more");
    return;
  }
  findings.good("chips", chips_by_card(chips));
  if (driver.nodes_hidden) {
    findings.warning("chips", "you may not look into /dev/tenstorrent",
                     "`ls -ld /dev/tenstorrent` says who may");
  } else if (std::none_of(chips.begin(), chips.end(),
                          [](const auto& chip) { return chip.has_node; })) {
    findings.failure("chips", "/dev/tenstorrent is not there, so that no program can use a chip",
                     "start a container with --device /dev/tenstorrent");
    return;
  }
  if (driver.not_here > 0) {
    findings.note("chips", fmt::format("{} more of the machine are not in /dev/tenstorrent here, "
                                       "as in a container",
                                       driver.not_here));
  }
  if (const auto in = chips_that(chips, [](const auto& chip) { return chip.in_reset; });
      !in.empty()) {
    findings.warning("chips", fmt::format("chip {} does not answer (in reset)", in),
                     fmt::format("`tt-smi -r {}` resets it, if nobody uses it", in));
  }
  const auto closed = [](const auto& chip) { return chip.has_node && !chip.may_open; };
  if (const auto these = chips_that(chips, closed); !these.empty()) {
    findings.warning("chips", fmt::format("you may not open chip {} in /dev/tenstorrent", these),
                     "`ls -l /dev/tenstorrent` says which group may");
  }
}

}  // namespace

void check_machine(const Scene& scene, Findings& findings) {
  check_driver(scene, findings);
  check_chips(scene, findings);
}

}  // namespace ttmem::doctor
