// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/global_circular_buffer.hpp>
#include <tt-metalium/tt_backend_api_types.hpp>

#include "error.hpp"
#include "impl/buffers/circular_buffer.hpp"

namespace tt {

std::uint32_t tile_size(const DataFormat& format) {
  constexpr std::uint32_t kNumbers = 32 * 32;
  constexpr std::uint32_t kExponents = kNumbers / 16;
  switch (format) {
    case DataFormat::Float32:
    case DataFormat::Tf32:
    case DataFormat::Int32:
    case DataFormat::UInt32:
    case DataFormat::RawUInt32:
      return kNumbers * 4;
    case DataFormat::Float16:
    case DataFormat::Float16_b:
    case DataFormat::UInt16:
    case DataFormat::RawUInt16:
      return kNumbers * 2;
    case DataFormat::Lf8:
    case DataFormat::Int8:
    case DataFormat::UInt8:
    case DataFormat::RawUInt8:
      return kNumbers;
    case DataFormat::Bfp8:
    case DataFormat::Bfp8_b:
      return kNumbers + kExponents;
    case DataFormat::Bfp4:
    case DataFormat::Bfp4_b:
      return kNumbers / 2 + kExponents;
    case DataFormat::Bfp2:
    case DataFormat::Bfp2_b:
      return kNumbers / 4 + kExponents;
    case DataFormat::Invalid:
      break;
  }
  tt_metal::dryrun::fail("DataFormat::Invalid has no tile size");
}

}  // namespace tt

namespace tt::tt_metal {

using dryrun::require;

namespace {

// The maximum number of pages of a circular buffer. The hardware counts received and acknowledged
// pages with 16 bits.
constexpr std::uint32_t kMaxPages = 65535;

}  // namespace

CircularBufferImpl::CircularBufferImpl(const CoreRangeSet& core_ranges,
                                       const CircularBufferConfig& config,
                                       const experimental::GlobalCircularBuffer* global)
    : core_ranges_(core_ranges), config_(config) {
  require(!core_ranges.empty(), "A circular buffer needs at least one core");
  for (std::uint32_t index = 0; index < NUM_CIRCULAR_BUFFERS; ++index) {
    const bool has_format = config.data_formats()[index].has_value();
    const bool has_page_size = config.page_sizes()[index].has_value();
    require(has_format == has_page_size,
            "Expected both data format and page size to be set for buffer index ", index, ". ",
            has_format ? "Data format is set" : "Data format is not set", ". ",
            has_page_size ? "Page size is set" : "Page size is not set", ".");
    if (has_page_size) num_pages(index);
  }
  if (global != nullptr) {
    require(!globally_allocated(),
            "Cannot create CircularBuffer with specified GlobalCircularBuffer when config already "
            "linked to a buffer");
    require(!config.remote_buffer_indices().empty(),
            "Remote buffer indices should be specified when using a GlobalCircularBuffer");
    set_global_circular_buffer(*global);
  } else {
    require(config.remote_buffer_indices().empty(),
            "Remote buffer indices are not supported without a GlobalCircularBuffer");
    assign_global_address();
  }
}

void CircularBufferImpl::set_global_circular_buffer(
    const experimental::GlobalCircularBuffer& global) {
  require(global.all_cores().contains(core_ranges_),
          "Specified cores are not contained in associated GlobalCircularBuffer");
  config_.set_globally_allocated_address(global.cb_buffer());
  in_global_circular_buffer_ = true;
  assign_global_address();
}

void CircularBufferImpl::assign_global_address() {
  if (!globally_allocated()) return;
  global_address_ = *config_.globally_allocated_address() + config_.address_offset();
}

std::uint32_t CircularBufferImpl::address() const {
  require(globally_allocated() || address_,
          "Circular buffer has not been allocated, cannot request ", "address at this time!");
  return static_cast<std::uint32_t>(globally_allocated() ? global_address_ : *address_);
}

std::uint32_t CircularBufferImpl::page_size(std::uint32_t buffer_index) const {
  require(config_.buffer_indices().contains(static_cast<std::uint8_t>(buffer_index)),
          "Cannot access page size for buffer index ", buffer_index,
          " because circular buffer is not configured on that index");
  const std::uint32_t page_size = config_.page_sizes().at(buffer_index).value_or(0);
  require(page_size != 0 && size() % page_size == 0, "Total circular buffer size ", size(),
          " B must be divisible by page size ", page_size, " B");
  return page_size;
}

std::uint32_t CircularBufferImpl::num_pages(std::uint32_t buffer_index) const {
  const std::uint32_t pages = size() / page_size(buffer_index);
  require(pages <= kMaxPages, "For buffer index ", buffer_index, ", number of CB pages ", pages,
          " is greater than ", kMaxPages, ". Would cause wraparound in the CB calculations.");
  return pages;
}

DataFormat CircularBufferImpl::data_format(std::uint32_t buffer_index) const {
  require(config_.buffer_indices().contains(static_cast<std::uint8_t>(buffer_index)),
          "Cannot access data format for buffer index ", buffer_index,
          " because circular buffer is not configured on that index");
  return config_.data_formats().at(buffer_index).value_or(DataFormat::Invalid);
}

CBHandle CircularBuffer::id() const { return impl_->id(); }
const CoreRangeSet& CircularBuffer::core_ranges() const { return impl_->core_ranges(); }
std::size_t CircularBuffer::size() const { return impl_->size(); }
bool CircularBuffer::globally_allocated() const { return impl_->globally_allocated(); }
const std::unordered_set<std::uint8_t>& CircularBuffer::buffer_indices() const {
  return impl_->config().buffer_indices();
}
std::uint32_t CircularBuffer::page_size(std::uint32_t buffer_index) const {
  return impl_->page_size(buffer_index);
}
std::uint32_t CircularBuffer::num_pages(std::uint32_t buffer_index) const {
  return impl_->num_pages(buffer_index);
}
DataFormat CircularBuffer::data_format(std::uint32_t buffer_index) const {
  return impl_->data_format(buffer_index);
}

}  // namespace tt::tt_metal
