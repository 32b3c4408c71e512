// SPDX-License-Identifier: Apache-2.0
// Implements the L1 of Metal 2.0 programs: dataflow buffers, and above them the scratchpads of
// kernels. A program of Metal 2.0 has no circular buffers.
#include <algorithm>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/program.hpp>

#include "error.hpp"
#include "impl/program/program_impl.hpp"
#include "read/placement/align.hpp"

namespace tt::tt_metal::detail {

using experimental::dfb::DataflowBufferConfig;
using experimental::dfb::detail::DataflowBufferImpl;

std::uint32_t ProgramImpl::add_dataflow_buffer(const CoreRangeSet& cores,
                                               const DataflowBufferConfig& config) {
  dryrun::require(circular_buffers_.empty(), "Program ", id_,
                  " has circular buffers, and cannot have dataflow buffers");
  auto buffer = std::make_shared<DataflowBufferImpl>();
  buffer->id = static_cast<std::uint32_t>(dataflow_buffers_.size());
  buffer->core_ranges = cores.merge_ranges();
  buffer->config = config;
  dataflow_buffers_.push_back(buffer);
  invalidate_layout();
  return buffer->id;
}

void ProgramImpl::set_dfb_alias(std::uint32_t primary_id, std::uint32_t secondary_id) {
  dataflow_buffers_.at(secondary_id)->alias_primary_id = primary_id;
  dataflow_buffers_.at(primary_id)->alias_secondary_ids.push_back(secondary_id);
}

// Reserves `bytes` on these cores, above the dataflow buffers and scratchpads that the program
// already has there. Returns the address.
std::uint32_t ProgramImpl::stack(const IDevice& device, const CoreRangeSet& cores,
                                 std::uint32_t bytes) {
  std::uint64_t address = device.allocator()->get_base_allocator_addr(HalMemType::L1);
  for (const auto& [other, end] : dataflow_ends_) {
    if (other.intersects(cores)) address = std::max(address, end);
  }
  address =
      ttmem::placement::align_up(address, device.allocator()->get_alignment(BufferType::DRAM));
  dataflow_ends_.emplace_back(cores, address + bytes);
  return static_cast<std::uint32_t>(address);
}

void ProgramImpl::allocate_dataflow_buffers(const IDevice* device) {
  const std::lock_guard lock(mutex_);
  dataflow_ends_.clear();
  const auto put = [](DataflowBufferImpl& buffer, std::uint32_t address) {
    buffer.core_lookup_.clear();
    for (const CoreCoord& core : corerange_to_cores(buffer.core_ranges)) {
      buffer.core_lookup_[core] = {0, address};
    }
  };
  for (const auto& buffer : dataflow_buffers_) {
    if (buffer->alias_primary_id) continue;
    const std::uint32_t address = buffer->borrows_memory()
                                      ? buffer->borrowed_addr_
                                      : stack(*device, buffer->core_ranges, buffer->total_size());
    put(*buffer, address);
    for (const std::uint32_t id : buffer->alias_secondary_ids) put(*dataflow_buffers_[id], address);
  }
}

void ProgramImpl::allocate_scratchpads(const IDevice* device) {
  const std::lock_guard lock(mutex_);
  for (auto& [handle, kernel] : kernels_) {
    for (ScratchpadBindingHandle& pad : kernel->scratchpad_binding_handles()) {
      pad.allocated_address = stack(*device, kernel->core_range_set(), pad.size_bytes);
    }
  }
}

}  // namespace tt::tt_metal::detail

namespace tt::tt_metal::experimental::dfb {

std::uint32_t CreateDataflowBuffer(
    Program& program, const std::variant<CoreCoord, CoreRange, CoreRangeSet>& core_spec,
    const DataflowBufferConfig& config) {
  return std::visit(
      [&](const auto& cores) {
        if constexpr (std::is_same_v<std::decay_t<decltype(cores)>, CoreCoord>) {
          return program.impl().add_dataflow_buffer(CoreRangeSet(CoreRange(cores)), config);
        } else {
          return program.impl().add_dataflow_buffer(CoreRangeSet(cores), config);
        }
      },
      core_spec);
}

}  // namespace tt::tt_metal::experimental::dfb
