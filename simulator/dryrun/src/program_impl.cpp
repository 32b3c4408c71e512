// SPDX-License-Identifier: Apache-2.0
#include "impl/program/program_impl.hpp"

#include <algorithm>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <tt-metalium/mesh_device.hpp>

#include "cb_layout.hpp"
#include "error.hpp"
#include "impl/debug/inspector/inspector.hpp"
#include "memory_banks.hpp"
#include "mesh_device_impl.hpp"

namespace tt::tt_metal::detail {

using dryrun::CbLayout;
using dryrun::CbStack;
using dryrun::fail;
using dryrun::fail_for_placed;
using dryrun::PlacedCb;
using dryrun::require;

namespace {

std::uint64_t next_program_id() {
  static std::atomic<std::uint64_t> next{0};
  // The order is relaxed, because the number publishes no other data.
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Device*> chips_of(const IDevice& device) {
  std::vector<Device*> chips;
  if (const auto* mesh = dynamic_cast<const distributed::MeshDevice*>(&device)) {
    for (IDevice* chip : mesh->get_devices()) chips.push_back(dynamic_cast<Device*>(chip));
  } else {
    chips.push_back(dynamic_cast<Device*>(const_cast<IDevice*>(&device)));
  }
  return chips;
}

// Returns text for an error message: the L1 buffers below an address that clash with a program on
// these sub-devices.
std::string describe_l1_buffers(const IDevice& device, const std::vector<SubDeviceId>& sub_devices,
                                DeviceAddr end) {
  std::string text = device.allocator_impl()->banks()->describe_l1_buffers_below(end);
  if (const auto* mesh = dynamic_cast<const distributed::MeshDevice*>(&device)) {
    text += mesh->impl().sub_devices.describe_l1_buffers_below(end, sub_devices);
  }
  return text;
}

// Returns text for an error message: the largest circular buffers on a core range.
std::string describe_cbs(const CbLayout& layout, const CoreRange& range) {
  std::vector<const PlacedCb*> cbs;
  for (const PlacedCb& cb : layout.cbs) {
    if (!cb.globally_allocated && cb.cores.intersects(range)) cbs.push_back(&cb);
  }
  std::stable_sort(cbs.begin(), cbs.end(),
                   [](const PlacedCb* a, const PlacedCb* b) { return a->size > b->size; });
  constexpr std::size_t kNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(cbs.size(), kNamed); ++i) {
    text +=
        dryrun::cat("\n  ", cbs[i]->size, " B at ", cbs[i]->address, " on ", cbs[i]->cores.str());
  }
  if (cbs.size() > kNamed) text += dryrun::cat("\n  and ", cbs.size() - kNamed, " more");
  return text;
}

}  // namespace

ProgramImpl::ProgramImpl() : id_(next_program_id()) {}

ProgramImpl::~ProgramImpl() noexcept {
  deallocate_circular_buffers();
  Inspector::program_destroyed(this);
}

void ProgramImpl::deallocate_circular_buffers() {
  // Removes chips that were closed and opened again since the last run, because they have lost the
  // program.
  std::erase_if(chips_, [this](Device* chip) {
    return chip->is_initialized() && chip->registered_layout(this) == nullptr;
  });
  for (const Device* chip : chips_) GraphTracker::instance().track_deallocate_cb(chip);
  for (Device* chip : chips_) chip->unregister_program(this);
  chips_.clear();
}

CBHandle ProgramImpl::add_circular_buffer(const CoreRangeSet& cores,
                                          const CircularBufferConfig& config,
                                          const experimental::GlobalCircularBuffer* global) {
  {
    std::lock_guard lock(mutex_);
    require(!has_run_, "Cannot add circular buffer to an already compiled program ", id_);
  }
  auto buffer = std::make_shared<CircularBufferImpl>(cores.merge_ranges(), config, global);
  const auto all_cores = corerange_to_cores(buffer->core_ranges());
  for (const CoreCoord& core : all_cores) {
    const auto in_use = slots_in_use_.find(core);
    if (in_use == slots_in_use_.end()) continue;
    for (const std::uint8_t index : config.buffer_indices()) {
      require(!in_use->second[index],
              "Invalid circular buffer index: Cannot add circular buffer at index ", +index,
              ", another circular buffer already exists");
    }
  }
  for (const CoreCoord& core : all_cores) {
    for (const std::uint8_t index : config.buffer_indices()) slots_in_use_[core].set(index);
  }
  circular_buffers_.push_back(buffer);
  return buffer->id();
}

std::shared_ptr<CircularBufferImpl> ProgramImpl::get_circular_buffer(CBHandle handle) const {
  for (const auto& buffer : circular_buffers_) {
    if (buffer->id() == handle) return buffer;
  }
  fail("No circular buffer with id ", handle, " exists in Program ", id_);
}

void ProgramImpl::invalidate_layout() {
  std::lock_guard lock(mutex_);
  layout_.reset();
}

bool ProgramImpl::only_global() const {
  return std::all_of(circular_buffers_.begin(), circular_buffers_.end(),
                     [](const auto& buffer) { return buffer->globally_allocated(); });
}

void ProgramImpl::compile_and_allocate(IDevice* device, bool /*force_slow_dispatch*/) {
  {
    std::lock_guard lock(mutex_);
    if (is_settled(*device)) return check_regions(*device, *layout_for(*device));
  }
  allocate_circular_buffers(device);
  {
    std::lock_guard lock(mutex_);
    const auto layout = layout_for(*device);
    check_core_ranges(*device, *layout);
    check_regions(*device, *layout);
  }
  allocate_dataflow_buffers(device);
  allocate_scratchpads(device);
  std::lock_guard lock(mutex_);
  settled_on_ = device;
}

// Returns true if the program has not changed since its last run on the device. Returns false if
// the device was closed and opened again since then, because its chips have lost the program.
bool ProgramImpl::is_settled(const IDevice& device) const {
  return layout_ && settled_on_ == &device &&
         (chips_.empty() || chips_.front()->registered_layout(this) == layout_);
}

void ProgramImpl::allocate_circular_buffers(const IDevice* device) {
  std::lock_guard lock(mutex_);
  place(*device, layout_for(*device));
}

std::shared_ptr<const CbLayout> ProgramImpl::layout_for(const IDevice& device) {
  require(device.is_initialized(), "Device ", device.id(),
          " is closed: a program needs an open device");
  if (!layout_) {
    const Allocator& allocator = *device.allocator();
    layout_ = std::make_shared<const CbLayout>(dryrun::stack_circular_buffers(
        circular_buffers_, allocator.get_base_allocator_addr(HalMemType::L1),
        allocator.get_alignment(BufferType::DRAM)));
    for (std::size_t i = 0; i < circular_buffers_.size(); ++i) {
      circular_buffers_[i]->set_address(layout_->cbs[i].address);
    }
  }
  return layout_;
}

void ProgramImpl::check_core_ranges(const IDevice& device, const CbLayout& layout) const {
  const CoreCoord grid = device.compute_with_storage_grid_size();
  for (const PlacedCb& cb : layout.cbs) {
    for (const CoreRange& range : cb.cores.ranges()) {
      require(range.end_coord.x < grid.x && range.end_coord.y < grid.y,
              "Circular buffer core range ", range.str(), " in program ", id_,
              " exceeds device compute grid (", grid.x, "x", grid.y,
              ") and is not entirely on cores claimed via ServiceCoreManager");
    }
  }
}

void ProgramImpl::check_regions(const IDevice& device, const CbLayout& layout) const {
  const std::vector<SubDeviceId> sub_devices = determine_sub_device_ids(device);
  const auto lowest = device.lowest_occupied_compute_l1_address(sub_devices);
  for (const CbStack& stack : layout.stacks) {
    if (stack.end > device.l1_size_per_core()) {
      fail_for_placed("Statically allocated circular buffers on core range ", stack.range.str(),
                      " grow to ", stack.end, " B which is beyond max L1 size of ",
                      device.l1_size_per_core(),
                      " B\nLargest circular buffers there:", describe_cbs(layout, stack.range));
    }
    if (stack.end != 0 && lowest && *lowest < stack.end) {
      fail_for_placed(
          "Statically allocated circular buffers in program ", id_,
          " clash with L1 buffers on core range ", stack.range.str(), ". L1 buffer allocated at ",
          *lowest, " and static circular buffer region ends at ", stack.end, "\nThey overlap by ",
          stack.end - *lowest,
          " B. L1 buffers below that end:", describe_l1_buffers(device, sub_devices, stack.end),
          "\nLargest circular buffers there:", describe_cbs(layout, stack.range));
    }
  }
}

std::vector<SubDeviceId> ProgramImpl::determine_sub_device_ids(const IDevice& device) const {
  if (device.get_active_sub_device_manager_id() == device.get_default_sub_device_manager_id()) {
    return {SubDeviceId{0}};
  }
  CoreRangeSet cores;
  for (const auto& [handle, kernel] : kernels_) cores = cores.merge(kernel->core_range_set());
  std::vector<SubDeviceId> used;
  std::uint32_t found = 0;
  for (const SubDeviceId id : device.get_sub_device_ids()) {
    const auto common =
        device.worker_cores(HalProgrammableCoreType::TENSIX, id).intersection(cores);
    if (!common.empty()) used.push_back(id);
    found += common.num_cores();
  }
  require(found == cores.num_cores(),
          "Kernel group cores do not match sub device cores for programmable core type TENSIX");
  return used;
}

void ProgramImpl::place(const IDevice& device, const std::shared_ptr<const CbLayout>& layout) {
  has_run_ = true;
  if (layout->cbs.empty()) return;
  // Removes chips that were closed since the last run, because they have lost the program. They
  // then count as new chips.
  std::erase_if(chips_, [this](Device* chip) { return chip->registered_layout(this) == nullptr; });
  const std::vector<Device*> chips = chips_of(device);
  std::vector<Device*> new_chips;
  for (Device* chip : chips) {
    if (std::find(chips_.begin(), chips_.end(), chip) == chips_.end()) new_chips.push_back(chip);
  }
  // If all circular buffers are globally allocated, the program has no layout of its own to report.
  if (announced_ != layout && !only_global()) {
    announce(*layout, chips);
  } else {
    announce_copy(*layout, new_chips);
  }
  chips_.insert(chips_.end(), new_chips.begin(), new_chips.end());
  // A new layout is registered on every chip of the program, also on chips for which it was not
  // reported.
  for (Device* chip : announced_ != layout ? chips_ : new_chips) {
    chip->register_program(this, layout);
  }
  announced_ = layout;
}

// Reports a new layout to processors: one circular buffer on all chips, then the next circular
// buffer.
void ProgramImpl::announce(const CbLayout& layout, const std::vector<Device*>& chips) const {
  for (const PlacedCb& cb : layout.cbs) {
    for (const Device* chip : chips) {
      GraphTracker::instance().track_allocate_cb(cb.cores, cb.address, cb.size,
                                                 cb.globally_allocated, chip);
    }
  }
}

// Reports a layout for further chips to processors as TT-Metal does: all circular buffers on one
// chip, then on the next chip, and without views on L1 buffers.
void ProgramImpl::announce_copy(const CbLayout& layout, const std::vector<Device*>& chips) const {
  for (const Device* chip : chips) {
    for (const PlacedCb& cb : layout.cbs) {
      if (cb.globally_allocated) continue;
      GraphTracker::instance().track_allocate_cb(cb.cores, cb.address, cb.size, false, chip);
    }
  }
}

Kernel& ProgramImpl::kernel(KernelHandle handle) {
  const auto found = kernels_.find(handle);
  require(found != kernels_.end(), "Program ", id_, " has no kernel with handle ", handle);
  return *found->second;
}

KernelHandle ProgramImpl::add_kernel(const std::string& source, const CoreRangeSet& cores,
                                     std::optional<MathFidelity> math_fidelity) {
  require(!cores.empty(), "Kernel ", source, " needs at least one core");
  const auto handle = static_cast<KernelHandle>(kernels_.size());
  kernels_.emplace(handle, std::make_shared<Kernel>(source, cores, math_fidelity));
  return handle;
}

std::vector<KernelMeta> ProgramImpl::collect_kernel_meta() const {
  std::vector<KernelMeta> found;
  for (std::size_t handle = 0; handle < kernels_.size(); ++handle) {
    const Kernel& kernel = *kernels_.at(static_cast<KernelHandle>(handle));
    found.push_back({.name = kernel.source(),
                     .source = kernel.source(),
                     .processor_class = kernel.math_fidelity() ? HalProcessorClassType::COMPUTE
                                                               : HalProcessorClassType::DM,
                     .programmable_core_type = HalProgrammableCoreType::TENSIX,
                     .math_fidelity = kernel.math_fidelity(),
                     .binary_meta = {}});
  }
  return found;
}

std::vector<KernelMeta> collect_kernel_meta(const Program& program, IDevice* /*device*/) {
  return program.impl().collect_kernel_meta();
}

void ProgramImpl::set_runtime_args(KernelHandle handle, const CoreCoord& core,
                                   ttsl::Span<const std::uint32_t> args) {
  kernel(handle).args[core].assign(args);
}

void ProgramImpl::set_common_runtime_args(KernelHandle handle,
                                          ttsl::Span<const std::uint32_t> args) {
  kernel(handle).common_args.assign(args);
}

RuntimeArgsData& ProgramImpl::runtime_args(KernelHandle handle, const CoreCoord& core) {
  const auto found = kernel(handle).args.find(core);
  require(found != kernel(handle).args.end(), "Kernel ", handle, " of program ", id_,
          " has no runtime args on core ", core.str());
  return found->second.view;
}

RuntimeArgsData& ProgramImpl::common_runtime_args(KernelHandle handle) {
  return kernel(handle).common_args.view;
}

}  // namespace tt::tt_metal::detail

namespace tt::tt_metal {

void Kernel::Args::assign(ttsl::Span<const std::uint32_t> given) {
  values.assign(given.begin(), given.end());
  view = {values.data(), values.size()};
}

Program::Program() : internal_(std::make_shared<detail::ProgramImpl>()) {}
Program::~Program() noexcept = default;
Program::Program(Program&& other) noexcept = default;
Program& Program::operator=(Program&& other) noexcept = default;

void Program::set_runtime_id(ProgramId id) { internal_->set_runtime_id(id); }
ProgramId Program::get_runtime_id() const { return internal_->get_runtime_id(); }

std::vector<std::shared_ptr<CircularBuffer>> Program::circular_buffers() const {
  std::vector<std::shared_ptr<CircularBuffer>> buffers;
  for (const auto& impl : internal_->circular_buffers()) {
    buffers.push_back(std::make_shared<CircularBuffer>(impl.get()));
  }
  return buffers;
}

}  // namespace tt::tt_metal
