// SPDX-License-Identifier: Apache-2.0
#include "loaded_kernels.hpp"

#include <set>
#include <tt-metalium/hal_types.hpp>

#include "impl/context/metal_context.hpp"
#include "impl/kernels/kernel.hpp"
#include "impl/program/program_impl.hpp"
#include "kernel_bytes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::adapter {
namespace {

namespace tm = ::tt::tt_metal;

// 0: it has none.
std::uint64_t binary_bytes(const tm::Kernel& kernel, tm::IDevice& device) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < static_cast<int>(kernel.expected_num_binaries()); ++i) {
    bytes += kernel.get_binary_packed_size(&device, i);
  }
  return bytes;
}

}  // namespace

KernelSizes kernel_sizes(tm::detail::ProgramImpl& program, tm::IDevice& device) {
  KernelSizes sizes;
  const std::uint32_t compute = tm::MetalContext::instance().hal().get_programmable_core_type_index(
      tm::HalProgrammableCoreType::TENSIX);
  for (const auto& [handle, kernel] : program.get_kernels(compute)) {
    std::uint64_t bytes = binary_bytes(*kernel, device);
    if (bytes == 0) {
      bytes = tt_metal::kKernelEstimateBytes;
      sizes.estimate = true;
    }
    for (const tm::CoreRange& range : kernel->core_range_set().ranges()) {
      for (std::size_t y = range.start_coord.y; y <= range.end_coord.y; ++y) {
        for (std::size_t x = range.start_coord.x; x <= range.end_coord.x; ++x) {
          std::uint64_t& on_core =
              sizes.bytes[{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y)}];
          on_core = std::min(on_core + bytes, tt_metal::kKernelRingBytes);
        }
      }
    }
  }
  return sizes;
}

void LoadedKernels::report(std::uint64_t program, const Loaded& loaded) const {
  if (loaded.bytes == 0) {
    ttmem_kernel_unload(chip_, program);
  } else if (loaded.sizes->estimate) {
    ttmem_kernel_load_estimate(chip_, program, loaded.bytes, TTMEM_KERNEL_APP);
  } else {
    ttmem_kernel_load(chip_, program, loaded.bytes, TTMEM_KERNEL_APP);
  }
}

void LoadedKernels::load(std::uint64_t program, const std::shared_ptr<const KernelSizes>& sizes) {
  if (program == last_) return;
  last_ = program;
  if (sizes->bytes.empty()) return;
  std::set<std::uint64_t> changed;
  Loaded& own = programs_[program];
  own.sizes = sizes;
  for (const auto& [core, bytes] : sizes->bytes) {
    std::uint64_t& owner = owner_[core];
    if (owner == program) continue;
    if (owner != 0) {
      Loaded& other = programs_[owner];
      other.bytes -= other.sizes->bytes.at(core);
      changed.insert(owner);
    }
    owner = program;
    own.bytes += bytes;
    changed.insert(program);
  }
  for (const std::uint64_t each : changed) {
    const Loaded& loaded = programs_[each];
    report(each, loaded);
    if (loaded.bytes == 0) programs_.erase(each);
  }
}

void LoadedKernels::unload(std::uint64_t program) {
  if (last_ == program) last_ = 0;
  const auto found = programs_.find(program);
  if (found == programs_.end()) return;
  ttmem_kernel_unload(chip_, program);
  for (auto& [core, owner] : owner_) {
    if (owner == program) owner = 0;
  }
  programs_.erase(found);
}

}  // namespace ttmem::adapter
