// SPDX-License-Identifier: Apache-2.0
// Implements runtime_objects.hpp with TT-Metal's internal headers. Everything is read from the
// runtime's own objects.
#include "runtime_objects.hpp"

#if TTMEM_HAS_INTERNAL_HEADERS

#include <memory>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <unordered_map>
#include <utility>

#include "impl/buffers/circular_buffer.hpp"
#include "impl/context/metal_context.hpp"
#include "impl/dataflow_buffer/dataflow_buffer_impl.hpp"
#include "impl/kernels/kernel.hpp"
#include "impl/program/program_impl.hpp"
#include "kernel_bytes.hpp"
#include "llrt/tt_cluster.hpp"

namespace ttmem::preload {

using tt_metal::ProgramCb;

namespace {

// Returns the kernels on compute cores.
std::unordered_map<tm::KernelHandle, std::shared_ptr<tm::Kernel>>& compute_kernels(
    tm::detail::ProgramImpl& program) {
  static const std::uint32_t compute =
      tm::MetalContext::instance().hal().get_programmable_core_type_index(
          tm::HalProgrammableCoreType::TENSIX);
  return program.get_kernels(compute);
}

// Calls use(cores, address, bytes, is_view) for each circular buffer of the program. For a program
// of Metal 2.0, calls it for each dataflow buffer and scratchpad.
template <typename Use>
void for_each_cb(tm::detail::ProgramImpl& program, Use use) {
  for (const auto& cb : program.circular_buffers()) {
    use(cb->core_ranges(), cb->address(), cb->size(), cb->globally_allocated());
  }
  for (const auto& buffer : program.dataflow_buffers()) {
    // Skips an alias, which has the address of another buffer, and a buffer without an address,
    // which is not placed yet.
    if (buffer->alias_primary_id || buffer->core_lookup_.empty()) continue;
    use(buffer->core_ranges, buffer->uniform_alloc_addr(), buffer->total_size(),
        buffer->borrows_memory());
  }
  for (const auto& [handle, kernel] : compute_kernels(program)) {
    for (const auto& pad : std::as_const(*kernel).scratchpad_binding_handles()) {
      if (pad.allocated_address == 0) continue;
      use(kernel->core_range_set(), pad.allocated_address, pad.size_bytes, false);
    }
  }
}

bool is_same(tm::detail::ProgramImpl& program, const std::vector<ProgramCb>& cbs) {
  std::size_t count = 0;
  bool same = true;
  for_each_cb(program, [&](const tm::CoreRangeSet& cores, std::uint64_t address,
                           std::uint64_t bytes, bool is_view) {
    if (!same || count == cbs.size()) {
      same = false;
      return;
    }
    const ProgramCb& known = cbs[count++];
    same = address == known.address && bytes == known.bytes && is_view == known.is_view &&
           known.cores == cores;
  });
  return same && count == cbs.size();
}

// Returns the size of the compiled binaries of the kernel. Returns 0 if the kernel has no binaries.
std::uint64_t binary_bytes(const tm::Kernel& kernel, tm::IDevice& device) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < static_cast<int>(kernel.expected_num_binaries()); ++i) {
    bytes += kernel.get_binary_packed_size(&device, i);
  }
  return bytes;
}

}  // namespace

std::uint64_t unique_id(const tm::IDevice& chip) {
  const auto& ids = tm::MetalContext::instance().get_cluster().get_unique_chip_ids();
  const auto id = ids.find(chip.id());
  return id == ids.end() ? 0 : id->second;
}

void begin_layout() {}
void cb_reported(const tm::CoreRangeSet&, std::uint64_t, std::uint64_t, bool, const tm::IDevice*) {}

bool read_layout(tm::detail::ProgramImpl& program, std::vector<ProgramCb>& cbs) {
  const bool is_new = cbs.empty();
  if (!is_new && is_same(program, cbs)) return false;
  cbs.clear();
  cbs.reserve(program.circular_buffers().size());
  for_each_cb(program, [&](const tm::CoreRangeSet& cores, std::uint64_t address,
                           std::uint64_t bytes, bool is_view) {
    cbs.push_back({tt_metal::CoreRanges(cores), address, bytes, is_view});
  });
  return !is_new || !cbs.empty();
}

bool is_complete(const tm::Program&, const std::vector<ProgramCb>&) { return true; }
bool add_views(tm::Program&, std::vector<ProgramCb>&) { return false; }

tt_metal::KernelSizes kernel_sizes(tm::Program& program, tm::IDevice& device,
                                   const std::vector<ProgramCb>&) {
  tt_metal::KernelSizes sizes;
  for (const auto& [handle, kernel] : compute_kernels(program.impl())) {
    std::uint64_t bytes = binary_bytes(*kernel, device);
    if (bytes == 0) {
      bytes = tt_metal::kKernelEstimateBytes;
      sizes.estimate = true;
    }
    sizes.add(tt_metal::CoreRanges(kernel->core_range_set()), bytes);
  }
  return sizes;
}

}  // namespace ttmem::preload

#endif
