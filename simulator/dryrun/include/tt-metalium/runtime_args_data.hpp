// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace tt::tt_metal {

// The runtime arguments that a kernel has now on one core.
struct RuntimeArgsData {
  std::uint32_t* rt_args_data = nullptr;
  std::size_t rt_args_count = 0;

  std::uint32_t& operator[](std::size_t index) noexcept { return rt_args_data[index]; }
  const std::uint32_t& operator[](std::size_t index) const noexcept { return rt_args_data[index]; }
  std::uint32_t& at(std::size_t index) {
    if (index >= rt_args_count) throw std::out_of_range("runtime argument index out of range");
    return rt_args_data[index];
  }
  std::uint32_t* data() noexcept { return rt_args_data; }
  const std::uint32_t* data() const noexcept { return rt_args_data; }
  std::size_t size() const noexcept { return rt_args_count; }
};

}  // namespace tt::tt_metal
