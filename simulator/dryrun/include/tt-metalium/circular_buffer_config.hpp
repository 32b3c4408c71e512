// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tt-metalium/circular_buffer_constants.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/tt_backend_api_types.hpp>
#include <unordered_set>

namespace tt::tt_metal {

using CBHandle = std::uintptr_t;

// What a circular buffer is to be: its size per core, and the slots (buffer indices) that share its
// memory, each with a data format and a page size. Every setter throws, and changes nothing, when
// its argument does not fit the rest.
class CircularBufferConfig {
 public:
  // Its memory is placed with the program.
  CircularBufferConfig(std::uint32_t total_size,
                       const std::map<std::uint8_t, tt::DataFormat>& data_format_spec);
  CircularBufferConfig(std::uint32_t total_size);
  // "Globally allocated": its memory is that of an L1 buffer, which must outlive the program's use.
  CircularBufferConfig(std::uint32_t total_size,
                       const std::map<std::uint8_t, tt::DataFormat>& data_format_spec,
                       const Buffer& buffer);

  // `total_size` must be a multiple of the page size.
  CircularBufferConfig& set_page_size(std::uint8_t buffer_index, std::uint32_t page_size);
  // Of a globally allocated buffer: at most what the L1 buffer has in a bank.
  CircularBufferConfig& set_total_size(std::uint32_t total_size);
  CircularBufferConfig& set_globally_allocated_address(const Buffer& buffer);
  CircularBufferConfig& set_globally_allocated_address_and_total_size(const Buffer& buffer,
                                                                      std::uint32_t total_size);

  std::uint32_t total_size() const { return total_size_; }
  std::optional<std::uint32_t> globally_allocated_address() const { return global_address_; }
  const std::unordered_set<std::uint8_t>& buffer_indices() const { return buffer_indices_; }
  const std::unordered_set<std::uint8_t>& local_buffer_indices() const { return local_indices_; }
  // Of a circular buffer in a GlobalCircularBuffer: the one slot that reaches the other side.
  const std::unordered_set<std::uint8_t>& remote_buffer_indices() const { return remote_indices_; }
  const std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS>& data_formats() const {
    return data_formats_;
  }
  const std::array<std::optional<std::uint32_t>, NUM_CIRCULAR_BUFFERS>& page_sizes() const {
    return page_sizes_;
  }
  std::uint32_t address_offset() const { return address_offset_; }
  // Of a globally allocated buffer: where in the L1 buffer it begins.
  void set_address_offset(std::uint32_t offset) { address_offset_ = offset; }

  const Buffer* shadow_global_buffer{nullptr};

  // config.index(0).set_data_format(...).set_page_size(...)
  class Builder {
   public:
    const Builder& set_data_format(tt::DataFormat data_format) const;
    const Builder& set_total_size(std::uint32_t total_size) const;
    const Builder& set_page_size(std::uint32_t page_size) const;

   private:
    friend class CircularBufferConfig;
    Builder(CircularBufferConfig& parent, std::uint8_t buffer_index);

    CircularBufferConfig& parent_;
    std::uint8_t buffer_index_;
  };
  // Throws when the slot is a remote one.
  Builder index(std::uint8_t buffer_index);
  // Throws when the slot is a local one, or another is remote already.
  Builder remote_index(std::uint8_t buffer_index);

 private:
  void set_data_formats(const std::map<std::uint8_t, tt::DataFormat>& data_format_spec);

  std::uint32_t total_size_ = 0;
  std::optional<std::uint32_t> global_address_;
  std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> data_formats_;
  std::array<std::optional<std::uint32_t>, NUM_CIRCULAR_BUFFERS> page_sizes_;
  std::unordered_set<std::uint8_t> buffer_indices_;  // those of both sets below
  std::unordered_set<std::uint8_t> local_indices_;
  std::unordered_set<std::uint8_t> remote_indices_;
  std::uint32_t global_max_size_ = 0;
  std::uint32_t address_offset_ = 0;
};

}  // namespace tt::tt_metal
