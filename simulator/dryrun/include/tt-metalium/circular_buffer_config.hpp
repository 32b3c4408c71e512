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

// The declaration of a circular buffer: its size per core, and the slots (buffer indices) that
// share its memory. Each slot has a data format and a page size. A setter whose argument
// contradicts the other values throws and changes nothing.
class CircularBufferConfig {
 public:
  // Declares a circular buffer whose memory is placed with the program.
  CircularBufferConfig(std::uint32_t total_size,
                       const std::map<std::uint8_t, tt::DataFormat>& data_format_spec);
  CircularBufferConfig(std::uint32_t total_size);
  // Declares a "globally allocated" circular buffer in the memory of an L1 buffer, which must live
  // as long as the program uses it.
  CircularBufferConfig(std::uint32_t total_size,
                       const std::map<std::uint8_t, tt::DataFormat>& data_format_spec,
                       const Buffer& buffer);

  // `total_size` must be a multiple of the page size.
  CircularBufferConfig& set_page_size(std::uint8_t buffer_index, std::uint32_t page_size);
  // For a globally allocated buffer, `total_size` is at most the L1 buffer's size in a bank.
  CircularBufferConfig& set_total_size(std::uint32_t total_size);
  CircularBufferConfig& set_globally_allocated_address(const Buffer& buffer);
  CircularBufferConfig& set_globally_allocated_address_and_total_size(const Buffer& buffer,
                                                                      std::uint32_t total_size);

  std::uint32_t total_size() const { return total_size_; }
  std::optional<std::uint32_t> globally_allocated_address() const { return global_address_; }
  const std::unordered_set<std::uint8_t>& buffer_indices() const { return buffer_indices_; }
  const std::unordered_set<std::uint8_t>& local_buffer_indices() const { return local_indices_; }
  // Returns the slot that is connected to the other side of a GlobalCircularBuffer. The set is
  // empty if there is no such slot, and never has more than one.
  const std::unordered_set<std::uint8_t>& remote_buffer_indices() const { return remote_indices_; }
  const std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS>& data_formats() const {
    return data_formats_;
  }
  const std::array<std::optional<std::uint32_t>, NUM_CIRCULAR_BUFFERS>& page_sizes() const {
    return page_sizes_;
  }
  std::uint32_t address_offset() const { return address_offset_; }
  // Sets the distance in bytes from the start of the L1 buffer to the start of a globally allocated
  // circular buffer.
  void set_address_offset(std::uint32_t offset) { address_offset_ = offset; }

  const Buffer* shadow_global_buffer{nullptr};

  // Sets the properties of a slot, for example
  // config.index(0).set_data_format(...).set_page_size(...).
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
  // Throws if the slot is a remote slot.
  Builder index(std::uint8_t buffer_index);
  // Throws if the slot is a local slot, or if another slot is remote.
  Builder remote_index(std::uint8_t buffer_index);

 private:
  void set_data_formats(const std::map<std::uint8_t, tt::DataFormat>& data_format_spec);

  std::uint32_t total_size_ = 0;
  std::optional<std::uint32_t> global_address_;
  std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> data_formats_;
  std::array<std::optional<std::uint32_t>, NUM_CIRCULAR_BUFFERS> page_sizes_;
  std::unordered_set<std::uint8_t> buffer_indices_;  // union of the two sets below
  std::unordered_set<std::uint8_t> local_indices_;
  std::unordered_set<std::uint8_t> remote_indices_;
  std::uint32_t global_max_size_ = 0;
  std::uint32_t address_offset_ = 0;
};

}  // namespace tt::tt_metal
