// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/fit/fit.hpp"
#include "analyse/fit/target.hpp"
#include "analyse/fit/translate.hpp"
#include "base/result.hpp"
#include "read/recording/file/tables.hpp"

namespace ttmem::fit {

// The devices, requests and layouts of a recording as they would be on the other board. Each
// request and layout of the recording has one row for each target.
struct Plan {
  recording::Tables tables;
  Targets targets;
  std::vector<TranslatedRequest> requests;  // [row - 1]
  std::vector<TranslatedLayout> layouts;    // [row - 1]

  // Returns the row in `requests` for a recorded request on a device.
  [[nodiscard]] recording::RowId request_on(recording::RowId device,
                                            recording::RowId request) const {
    return row_on(device, request, requests.size());
  }
  // Returns the row in `layouts` for a recorded layout on a device. Layout 0 means unknown, and
  // stays 0.
  [[nodiscard]] recording::RowId layout_on(recording::RowId device, recording::RowId layout) const {
    return layout == 0 ? 0 : row_on(device, layout, layouts.size());
  }
  [[nodiscard]] const TranslatedRequest& request(recording::RowId row) const {
    return requests[static_cast<std::size_t>(row - 1)];
  }
  [[nodiscard]] const TranslatedLayout& layout(recording::RowId row) const {
    return layouts[static_cast<std::size_t>(row - 1)];
  }
  [[nodiscard]] const Target& target(recording::RowId device) const {
    return targets.targets[target_index(device)];
  }

 private:
  [[nodiscard]] std::uint32_t target_index(recording::RowId device) const {
    return targets.of_device[static_cast<std::size_t>(device - 1)];
  }
  [[nodiscard]] recording::RowId row_on(recording::RowId device, recording::RowId row,
                                        std::size_t all) const {
    const std::size_t each = all / targets.targets.size();
    return row + static_cast<recording::RowId>(target_index(device) * each);
  }
};

// Computes the plan. Fails if a scale matches nothing, or if the board cannot be opened with the
// L1_SMALL and trace region sizes.
[[nodiscard]] Result<Plan> make_plan(const recording::Tables& tables, const placement::Board& board,
                                     const CarryOptions& options);

}  // namespace ttmem::fit
