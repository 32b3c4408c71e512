// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/runtime_args_data.hpp>
#include <tt_stl/span.hpp>
#include <utility>
#include <vector>

namespace tt::tt_metal {

class IDevice;

// L1 that one kernel uses alone, on each of its cores.
struct ScratchpadBindingHandle {
  std::string accessor_name;
  std::uint32_t size_bytes = 0;
  std::uint32_t addr_crta_word = 0;
  std::uint32_t allocated_address = 0;  // 0 before its program has a layout
};

// A declared kernel. It has no binary, because kernels are not compiled.
class Kernel {
 public:
  // The runtime arguments on one core. `view` is what GetRuntimeArgs returns.
  struct Args {
    std::vector<std::uint32_t> values;
    RuntimeArgsData view;
    void assign(ttsl::Span<const std::uint32_t> given);
  };

  // Only a compute kernel has a `math_fidelity`.
  Kernel(std::string source, CoreRangeSet cores, std::optional<MathFidelity> math_fidelity)
      : source_(std::move(source)), cores_(std::move(cores)), math_fidelity_(math_fidelity) {}

  const std::string& source() const { return source_; }
  const CoreRangeSet& core_range_set() const { return cores_; }
  std::optional<MathFidelity> math_fidelity() const { return math_fidelity_; }
  std::uint8_t expected_num_binaries() const { return 0; }
  std::uint32_t get_binary_packed_size(IDevice* /*device*/, int /*index*/) const { return 0; }

  const std::vector<ScratchpadBindingHandle>& scratchpad_binding_handles() const {
    return scratchpads_;
  }
  std::vector<ScratchpadBindingHandle>& scratchpad_binding_handles() { return scratchpads_; }
  void set_scratchpad_binding_handles(std::vector<ScratchpadBindingHandle> handles) {
    scratchpads_ = std::move(handles);
  }

  std::map<CoreCoord, Args> args;
  Args common_args;

 private:
  std::string source_;
  CoreRangeSet cores_;
  std::optional<MathFidelity> math_fidelity_;
  std::vector<ScratchpadBindingHandle> scratchpads_;
};

}  // namespace tt::tt_metal
