// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <vector>

namespace tt::tt_metal {

// The arguments by which a kernel finds the pages of a buffer. The values have no meaning here,
// because kernels are not compiled.
class TensorAccessorArgs {
 public:
  TensorAccessorArgs() = default;
  explicit TensorAccessorArgs(const Buffer& buffer) : buffer_(&buffer) {}
  explicit TensorAccessorArgs(const Buffer* buffer) : buffer_(buffer) {}
  explicit TensorAccessorArgs(const std::shared_ptr<Buffer>& buffer) : buffer_(buffer.get()) {}
  explicit TensorAccessorArgs(const distributed::MeshBuffer& buffer)
      : buffer_(buffer.get_reference_buffer()) {}
  explicit TensorAccessorArgs(const distributed::MeshBuffer* buffer)
      : buffer_(buffer->get_reference_buffer()) {}
  explicit TensorAccessorArgs(const std::shared_ptr<distributed::MeshBuffer>& buffer)
      : buffer_(buffer->get_reference_buffer()) {}

  void append_to(std::vector<std::uint32_t>& compile_time_args) const {
    const auto own = get_compile_time_args();
    compile_time_args.insert(compile_time_args.end(), own.begin(), own.end());
  }
  std::vector<std::uint32_t> get_compile_time_args() const {
    if (buffer_ == nullptr) return {0, 0};
    return {static_cast<std::uint32_t>(buffer_->buffer_type()),
            static_cast<std::uint32_t>(buffer_->aligned_page_size())};
  }

 private:
  const Buffer* buffer_ = nullptr;
};

}  // namespace tt::tt_metal
