// SPDX-License-Identifier: Apache-2.0
#include <tt-metalium/circular_buffer_config.hpp>

#include "cluster.hpp"
#include "error.hpp"

namespace tt::tt_metal {

using dryrun::require;

namespace {

void validate_index(std::uint8_t buffer_index) {
  const std::uint32_t slots = dryrun::Cluster::instance().circular_buffers_per_core();
  require(buffer_index < slots, "Buffer index (", +buffer_index,
          ") exceeds max number of circular buffers per core (", slots, ")");
}

}  // namespace

CircularBufferConfig::CircularBufferConfig(
    std::uint32_t total_size, const std::map<std::uint8_t, tt::DataFormat>& data_format_spec)
    : total_size_(total_size) {
  set_data_formats(data_format_spec);
}

CircularBufferConfig::CircularBufferConfig(std::uint32_t total_size) : total_size_(total_size) {}

CircularBufferConfig::CircularBufferConfig(
    std::uint32_t total_size, const std::map<std::uint8_t, tt::DataFormat>& data_format_spec,
    const Buffer& buffer)
    : total_size_(total_size) {
  set_globally_allocated_address(buffer);
  set_data_formats(data_format_spec);
}

void CircularBufferConfig::set_data_formats(
    const std::map<std::uint8_t, tt::DataFormat>& data_format_spec) {
  for (const auto& [buffer_index, data_format] : data_format_spec) {
    validate_index(buffer_index);
    data_formats_[buffer_index] = data_format;
    buffer_indices_.insert(buffer_index);
    local_indices_.insert(buffer_index);
  }
}

CircularBufferConfig::Builder CircularBufferConfig::index(std::uint8_t buffer_index) {
  require(!remote_indices_.contains(buffer_index), "Buffer index ", +buffer_index,
          " is already marked as remote");
  const Builder builder(*this, buffer_index);
  local_indices_.insert(buffer_index);
  return builder;
}

CircularBufferConfig::Builder CircularBufferConfig::remote_index(std::uint8_t buffer_index) {
  require(!local_indices_.contains(buffer_index), "Buffer index ", +buffer_index,
          " is already marked as local");
  require(remote_indices_.contains(buffer_index) || remote_indices_.empty(),
          "Can only specify one remote buffer index per config");
  const Builder builder(*this, buffer_index);
  remote_indices_.insert(buffer_index);
  return builder;
}

CircularBufferConfig& CircularBufferConfig::set_page_size(std::uint8_t buffer_index,
                                                          std::uint32_t page_size) {
  validate_index(buffer_index);
  require(buffer_indices_.contains(buffer_index), "Illegal circular buffer index ", +buffer_index,
          ". Page size can only be specified for buffer indices configured during config creation");
  require(page_size != 0 && total_size_ % page_size == 0,
          "Failed allocation attempt on buffer index ", +buffer_index,
          ". Total circular buffer size ", total_size_, " B must be divisible by page size ",
          page_size, " B");
  page_sizes_[buffer_index] = page_size;
  return *this;
}

CircularBufferConfig& CircularBufferConfig::set_total_size(std::uint32_t total_size) {
  require(shadow_global_buffer == nullptr || total_size <= global_max_size_,
          "Cannot set circular buffer size to ", total_size,
          ". This is larger than the associated dynamically allocated L1 buffer bank size of ",
          global_max_size_, " B");
  total_size_ = total_size;
  return *this;
}

CircularBufferConfig& CircularBufferConfig::set_globally_allocated_address(const Buffer& buffer) {
  return set_globally_allocated_address_and_total_size(buffer, total_size_);
}

CircularBufferConfig& CircularBufferConfig::set_globally_allocated_address_and_total_size(
    const Buffer& buffer, std::uint32_t total_size) {
  require(buffer.is_l1(), "Only L1 buffers can have an associated circular buffer!");
  const auto max_size = static_cast<std::uint32_t>(buffer.aligned_size_per_bank());
  require(total_size <= max_size, "Cannot set circular buffer size to ", total_size,
          ". This is larger than the associated dynamically allocated L1 buffer bank size of ",
          max_size, " B");
  global_address_ = buffer.address();
  global_max_size_ = max_size;
  shadow_global_buffer = &buffer;
  total_size_ = total_size;
  return *this;
}

CircularBufferConfig::Builder::Builder(CircularBufferConfig& parent, std::uint8_t buffer_index)
    : parent_(parent), buffer_index_(buffer_index) {
  validate_index(buffer_index);
  parent_.buffer_indices_.insert(buffer_index);
}

const CircularBufferConfig::Builder& CircularBufferConfig::Builder::set_data_format(
    tt::DataFormat data_format) const {
  parent_.data_formats_[buffer_index_] = data_format;
  return *this;
}

const CircularBufferConfig::Builder& CircularBufferConfig::Builder::set_total_size(
    std::uint32_t total_size) const {
  parent_.set_total_size(total_size);
  return *this;
}

const CircularBufferConfig::Builder& CircularBufferConfig::Builder::set_page_size(
    std::uint32_t page_size) const {
  parent_.set_page_size(buffer_index_, page_size);
  return *this;
}

}  // namespace tt::tt_metal
