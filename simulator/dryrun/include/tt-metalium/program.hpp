// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <tt-metalium/circular_buffer.hpp>
#include <vector>

namespace tt::tt_metal {

namespace detail {
class ProgramImpl;
}  // namespace detail

using ProgramId = std::uint64_t;

// Circular buffers and kernels that run together. CreateCircularBuffer and CreateKernel only
// declare them. The first run gives addresses to the circular buffers. From its first run on a
// device on, the program holds its circular buffers on this device until the program is destroyed.
class Program {
 public:
  Program();
  ~Program() noexcept;
  Program(Program&& other) noexcept;
  Program& operator=(Program&& other) noexcept;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void set_runtime_id(ProgramId id);
  ProgramId get_runtime_id() const;

  std::vector<std::shared_ptr<CircularBuffer>> circular_buffers() const;

  detail::ProgramImpl& impl() { return *internal_; }
  const detail::ProgramImpl& impl() const { return *internal_; }

 private:
  std::shared_ptr<detail::ProgramImpl> internal_;
};

class IDevice;
namespace detail {
struct KernelMeta;
// Returns what is known about the program's kernels. There are no binaries, because kernels are not
// compiled.
std::vector<KernelMeta> collect_kernel_meta(const Program& program, IDevice* device);
}  // namespace detail

}  // namespace tt::tt_metal
