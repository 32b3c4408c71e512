// SPDX-License-Identifier: Apache-2.0
#include "show/exports/ttnn_cluster.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/safe_text.hpp"
#include "show/exports/stacks.hpp"

namespace ttmem::exports {
namespace {

// Returns a text in quotes. A text in JSON is a text in YAML too.
std::string quoted(const std::string& text) { return json_text(nlohmann::json(valid_utf8(text))); }

}  // namespace

std::string cluster_descriptor(const Selection& selection, const std::vector<std::size_t>& places) {
  std::string text;
  // Adds a map from the number of a chip to a value. An empty value is unknown and left out.
  const auto add = [&](const char* name,
                       const std::function<std::string(const ExportedChip&, std::size_t)>& value) {
    std::string items;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::string of_chip = value(selection.chips()[i], places[i]);
      if (!of_chip.empty()) items += fmt::format("  {}: {}\n", places[i], of_chip);
    }
    text += fmt::format("{}:{}", name, items.empty() ? " {}\n" : "\n" + items);
  };
  add("arch", [](const ExportedChip& chip, std::size_t) {
    return chip.arch.empty() ? "" : quoted(chip.arch);
  });
  add("chip_to_boardtype", [](const ExportedChip& chip, std::size_t) {
    return chip.board.empty() ? "" : quoted(chip.board);
  });
  // The ids are needed only inside the file. The number of the chip stands for an unknown id.
  add("chip_unique_ids", [](const ExportedChip& chip, std::size_t place) {
    return fmt::format("{}", chip.uid != 0 ? chip.uid : place);
  });
  text +=
      "chips: {}\n"
      "ethernet_connections: []\n"
      "chips_with_mmio: []\n"
      "harvesting: {}\n"
      "boards: []\n";
  return text;
}

}  // namespace ttmem::exports
