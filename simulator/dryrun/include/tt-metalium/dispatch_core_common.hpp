// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace tt::tt_metal {

enum class DispatchCoreType : std::uint32_t { WORKER, ETH, COUNT };
enum class DispatchCoreAxis { ROW, COL, COUNT };

// Selects the cores that the runtime uses for dispatch, and so the compute grid. On boards that can
// dispatch from Ethernet cores, WORKER takes a row of worker cores for dispatch, and ETH leaves
// this row to programs.
class DispatchCoreConfig {
 public:
  DispatchCoreConfig() = default;
  DispatchCoreConfig(DispatchCoreType type) : type_(type) {}
  DispatchCoreConfig(DispatchCoreType type, DispatchCoreAxis axis) : type_(type), axis_(axis) {}

  DispatchCoreType get_dispatch_core_type() const { return type_; }
  void set_dispatch_core_type(DispatchCoreType type) { type_ = type; }
  DispatchCoreAxis get_dispatch_core_axis() const { return axis_.value_or(DispatchCoreAxis::ROW); }
  void set_dispatch_core_axis(DispatchCoreAxis axis) { axis_ = axis; }

  bool operator==(const DispatchCoreConfig& other) const = default;

 private:
  DispatchCoreType type_ = DispatchCoreType::WORKER;
  std::optional<DispatchCoreAxis> axis_;
};

}  // namespace tt::tt_metal
