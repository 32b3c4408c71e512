// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core_mask.hpp"
#include "base/result.hpp"
#include "read/recording/file/database.hpp"
#include "read/recording/file/rows.hpp"
#include "show/exports/selection.hpp"

namespace ttmem::exports {

// An allocation as a tensor of the report. Shapes and types are unknown; `name` stands in place of
// the shape, which the viewer shows as it is.
struct ReportTensor {
  std::int64_t id = 0;
  std::string name{};
  std::int64_t index = 0;             // position among the tensors of its operation
  std::uint64_t address = 0;          // the same on each of its devices
  std::vector<std::size_t> places{};  // its devices
};

// The db.sqlite of a ttnn report, for ttnn-visualizer. Some versions of the viewer read columns by
// name. Other versions read columns by position and expect `rank` at the end, so `rank` is the last
// column. After a failure all calls do nothing, and finish() returns the failure. Texts must be
// UTF-8. Not thread-safe.
class TtnnReport {
 public:
  [[nodiscard]] static Result<TtnnReport> create(const std::string& path);

  void add_metadata(std::string_view key, std::string_view value);
  void add_device(std::size_t place, const recording::RecordedDevice& device);
  // Adds an operation. `ns` is its duration; nullopt: unknown.
  void add_operation(std::int64_t id, std::string_view name, std::optional<recording::Time> ns);
  void add_argument(std::int64_t operation, std::string_view name, std::string_view value);
  void add_stack_trace(std::int64_t operation, std::string_view text);
  void add_graph(std::int64_t operation, std::string_view json);
  // Adds a buffer of a device that is live at the end of an operation. The buffer has the same
  // address in each of its banks.
  void add_buffer(std::int64_t operation, std::size_t place, std::uint64_t address,
                  const recording::RecordedRequest& request);
  // Adds what the buffer takes of the L1 of each of `cores` at the end of an operation. `grid_x` is
  // the width of the device's grid.
  void add_chunks(std::int64_t operation, std::size_t place, std::uint64_t address,
                  const recording::RecordedRequest& request, const CoreMask& cores,
                  std::uint16_t grid_x);
  // Adds a tensor, as an output of the operation.
  void add_tensor(std::int64_t operation, const ReportTensor& tensor,
                  const recording::RecordedRequest& request);
  [[nodiscard]] Result<void> finish();

 private:
  explicit TtnnReport(recording::Database database) : database_(std::move(database)) {}
  [[nodiscard]] Result<void> prepare();
  void run(recording::Statement& statement);

  recording::Database database_;
  recording::Statement metadata_;
  recording::Statement device_;
  recording::Statement operation_;
  recording::Statement argument_;
  recording::Statement stack_trace_;
  recording::Statement graph_;
  recording::Statement buffer_;
  recording::Statement chunk_;
  recording::Statement tensor_;
  recording::Statement output_;
  recording::Statement device_tensor_;
  std::optional<Error> failed_;
};

}  // namespace ttmem::exports
