// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <tt-metalium/allocator.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/graph_tracking.hpp>
#include <vector>

#include "error.hpp"
#include "memory_banks.hpp"
#include "read/placement/align.hpp"

namespace tt::tt_metal {

using dryrun::require;

bool is_sharded(const TensorMemoryLayout& layout) {
  return layout != TensorMemoryLayout::INTERLEAVED;
}

std::array<std::uint32_t, 2> ShardSpecBuffer::shape_in_pages() const {
  const auto pages = [this](std::size_t dim) {
    return page_shape[dim] == 0 ? 0 : tensor_shard_spec.shape[dim] / page_shape[dim];
  };
  return {pages(0), pages(1)};
}

DeviceAddr ShardSpecBuffer::num_pages() const {
  const auto [height, width] = shape_in_pages();
  return static_cast<DeviceAddr>(height) * width;
}

namespace {

std::size_t next_unique_id() {
  static std::atomic<std::size_t> next{0};
  // The order is relaxed, because the number publishes no other data.
  return next.fetch_add(1, std::memory_order_relaxed);
}

void validate_shard_cores(const std::vector<CoreCoord>& cores, BufferType type,
                          const dryrun::MemoryBanks& banks) {
  // L1_SMALL uses the same cores as L1.
  const BufferType bank_type = type == BufferType::L1_SMALL ? BufferType::L1 : type;
  if (bank_type != BufferType::DRAM && bank_type != BufferType::L1) return;
  for (const CoreCoord& core : cores) {
    require(bank_type != BufferType::DRAM || core.y == 0, "Invalid DRAM shard grid: shard core (",
            core.x, ", ", core.y, ") is not on row 0.");
    require(banks.has_bank(bank_type, core), "Invalid shard grid: shard core (", core.x, ", ",
            core.y, ") has no ", dryrun::to_string(bank_type), " bank on this device, which has ",
            banks.num_banks(bank_type), " of them.");
  }
}

void validate(DeviceAddr size, DeviceAddr page_size, BufferType type,
              const BufferShardingArgs& sharding, const dryrun::MemoryBanks& banks) {
  // This call is only a check. It throws if no device has memory of this type.
  banks.alignment(type);
  const auto& spec = sharding.shard_spec();
  const auto& distribution = sharding.buffer_distribution_spec();
  if (is_sharded(sharding.buffer_layout())) {
    require(spec || distribution,
            "Buffer was specified as sharded but does not have shard_spec or "
            "buffer_distribution_spec specified");
    validate_shard_cores(distribution ? distribution->cores() : corerange_to_cores(spec->grid()),
                         type, banks);
  } else {
    require(!spec && !distribution,
            "Buffer was specified as not sharded but has shard_spec or buffer_distribution_spec "
            "specified");
  }
  require(size == 0 || (page_size != 0 && size % page_size == 0),
          "For valid non-interleaved buffers page size ", page_size, " must equal buffer size ",
          size, ". For interleaved-buffers, buffer size should be divisible by the page size");
}

void validate_sub_device(const IDevice& device, SubDeviceId sub_device, BufferType type,
                         const std::optional<ShardSpecBuffer>& spec) {
  require(spec.has_value(), "Specifying sub-device for buffer requires buffer to be sharded");
  require(type == BufferType::L1 || type == BufferType::L1_SMALL,
          "Specifying sub-device for buffer requires buffer to be L1");
  const CoreRangeSet cores = device.worker_cores(HalProgrammableCoreType::TENSIX, sub_device);
  require(cores.contains(spec->grid()), "Shard cores specified ", spec->grid().str(),
          " do not match sub-device cores ", cores.str());
}

const std::shared_ptr<dryrun::MemoryBanks>& banks_for(IDevice* device, BufferType type,
                                                      const BufferShardingArgs& sharding,
                                                      std::optional<SubDeviceId> sub_device) {
  require(device != nullptr, "Device needs to not be null.");
  require(device->is_initialized(), "Device ", device->id(),
          " is closed: a buffer needs an open device");
  if (!sub_device) return device->allocator_impl()->banks();
  validate_sub_device(*device, *sub_device, type, sharding.shard_spec());
  return device->allocator_impl(*sub_device)->banks();
}

}  // namespace

Buffer::Buffer(IDevice* device, DeviceAddr size, DeviceAddr page_size, BufferType buffer_type,
               const BufferShardingArgs& sharding_args, std::optional<bool> bottom_up,
               std::optional<SubDeviceId> sub_device_id, bool owns_data, Private)
    : device_(device),
      size_(size),
      page_size_(page_size),
      buffer_type_(buffer_type),
      layout_(sharding_args.buffer_layout()),
      bottom_up_(bottom_up.value_or(is_dram())),
      sub_device_id_(sub_device_id),
      owns_data_(owns_data),
      shard_spec_(sharding_args.shard_spec()),
      distribution_(sharding_args.buffer_distribution_spec()),
      banks_(banks_for(device, buffer_type, sharding_args, sub_device_id)) {
  validate(size, page_size, buffer_type, sharding_args, *banks_);
  unique_id_ = next_unique_id();
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, DeviceAddr size, DeviceAddr page_size,
                                       BufferType buffer_type,
                                       const BufferShardingArgs& sharding_args,
                                       std::optional<bool> bottom_up,
                                       std::optional<SubDeviceId> sub_device_id) {
  auto buffer = std::make_shared<Buffer>(device, size, page_size, buffer_type, sharding_args,
                                         bottom_up, sub_device_id, true, Private());
  if (size == 0) {
    buffer->status_ = Status::kAllocated;
  } else {
    buffer->allocate_impl();
  }
  return buffer;
}

std::shared_ptr<Buffer> Buffer::create(IDevice* device, DeviceAddr address, DeviceAddr size,
                                       DeviceAddr page_size, BufferType buffer_type,
                                       const BufferShardingArgs& sharding_args,
                                       std::optional<bool> bottom_up,
                                       std::optional<SubDeviceId> sub_device_id) {
  auto buffer = std::make_shared<Buffer>(device, size, page_size, buffer_type, sharding_args,
                                         bottom_up, sub_device_id, false, Private());
  buffer->address_ = address;
  buffer->status_ = Status::kAllocated;
  return buffer;
}

std::shared_ptr<Buffer> Buffer::view(const BufferRegion& region) {
  require(page_size_ != 0 && region.offset % page_size_ == 0,
          "Region offset must be a multiple of page size");
  require(region.size % page_size_ == 0, "Region size must be a multiple of page size");
  require(is_valid_region(region), "Region must be within buffer");
  if (!is_valid_partial_region(region)) return shared_from_this();
  auto part =
      create(device_, address_, region.size, page_size_, buffer_type_,
             BufferShardingArgs(distribution_, shard_spec_, layout_), bottom_up_, sub_device_id_);
  part->root_ = root_buffer();
  part->root_offset_ = root_offset_ + region.offset;
  return part;
}

std::shared_ptr<Buffer> Buffer::root_buffer() { return root_ ? root_ : shared_from_this(); }

Buffer::~Buffer() { deallocate(); }

void Buffer::allocate_impl() {
  address_ = banks_->allocate(this);
  // Marks the buffer as allocated before the report, because processors may ask for its address.
  status_ = Status::kAllocated;
  GraphTracker::instance().track_allocate(this);
}

void Buffer::deallocate() {
  // An alias of the memory of another buffer has nothing to free.
  if (owns_data_) deallocate_impl();
}

void Buffer::deallocate_impl() {
  if (status_ != Status::kAllocated) return;
  if (size_ != 0 && !banks_->closed()) {
    GraphTracker::instance().track_deallocate(this);
    banks_->deallocate(this);
  }
  status_ = Status::kDeallocated;
}

Allocator* Buffer::allocator() const {
  return sub_device_id_ ? device_->allocator(*sub_device_id_).get() : device_->allocator().get();
}

std::uint32_t Buffer::address() const {
  require(status_ != Status::kRequested,
          "Can only query the address of a buffer that has been allocated");
  return static_cast<std::uint32_t>(address_);
}

std::uint32_t Buffer::num_pages() const {
  return page_size_ == 0 ? 0 : static_cast<std::uint32_t>(size_ / page_size_);
}

std::uint32_t Buffer::num_dev_pages() const {
  if (!is_sharded(layout_)) return num_pages();
  const DeviceAddr pages_per_core =
      shard_spec_ ? shard_spec_->num_pages() : distribution_->max_num_dev_pages_per_core();
  return static_cast<std::uint32_t>(pages_per_core * *num_cores());
}

bool Buffer::is_l1() const {
  return buffer_type_ == BufferType::L1 || buffer_type_ == BufferType::L1_SMALL;
}

bool Buffer::is_dram() const {
  return buffer_type_ == BufferType::DRAM || buffer_type_ == BufferType::TRACE;
}

std::uint32_t Buffer::alignment() const { return banks_->alignment(buffer_type_); }

DeviceAddr Buffer::aligned_page_size() const {
  return ttmem::placement::align_up(page_size_, alignment());
}

DeviceAddr Buffer::aligned_size() const { return num_dev_pages() * aligned_page_size(); }

DeviceAddr Buffer::aligned_size_per_bank() const {
  return detail::calculate_bank_size_spread(aligned_size(), aligned_page_size(),
                                            num_cores().value_or(banks_->num_banks(buffer_type_)),
                                            alignment());
}

ShardSpecBuffer Buffer::shard_spec() const {
  require(is_sharded(layout_), "Buffer not sharded");
  require(shard_spec_.has_value(), "Buffer is sharded, but no shard parameters specified");
  return *shard_spec_;
}

std::optional<std::uint32_t> Buffer::num_cores() const {
  if (!is_sharded(layout_)) return std::nullopt;
  if (distribution_) return static_cast<std::uint32_t>(distribution_->num_cores_with_data());
  return shard_spec_->grid().num_cores();
}

}  // namespace tt::tt_metal
