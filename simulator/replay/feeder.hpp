// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "read/capture/capture.hpp"

namespace ttmem::replay {

// Makes the calls of the C interface for the lines of a capture: after every line the tracker has
// what the runtime held then. Calls may come from different threads, one at a time.
class Feeder {
 public:
  void feed(const capture::CaptureEntry& entry);

 private:
  void feed(const capture::CaptureDevice& device);
  void feed(const capture::CaptureMesh&) {}
  void feed(const capture::BufferAlloc& buffer);
  void feed(const capture::BufferFree& buffer);
  void feed(const capture::ProgramLayout& layout);
  void feed(const capture::ProgramRegister& complete);
  void feed(const capture::ProgramUnregister& end);
  void feed(const capture::CbAlloc& cb);
  void feed(const capture::CbFreeAll&) {}

  void place(std::uint64_t program, std::uint32_t device);

  // The CBs of every live program so far, by program and then device.
  using Layouts = std::map<std::uint32_t, std::vector<capture::CbAlloc>>;
  std::map<std::uint64_t, Layouts> programs_;
};

}  // namespace ttmem::replay
