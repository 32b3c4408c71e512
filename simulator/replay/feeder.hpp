// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "read/capture/capture.hpp"

namespace ttmem::replay {

// Calls the C interface for each line of a capture. After each line, the tracker has the state that
// the runtime had at that line. Several threads may call the feeder, but only one at a time.
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

  // The CBs of one live program. The key is the device id. The key of `programs_` is the number of
  // the program.
  using Layouts = std::map<std::uint32_t, std::vector<capture::CbAlloc>>;
  std::map<std::uint64_t, Layouts> programs_;
};

}  // namespace ttmem::replay
