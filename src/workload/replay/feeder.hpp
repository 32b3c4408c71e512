// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workload/replay/capture.hpp"

namespace ttmem::replay {

// Says to the tracker what the lines of a capture say, so that it knows after every line what the
// runtime held then. Calls may come from different threads, one at a time.
class Feeder {
 public:
  void feed(const Entry& entry);

 private:
  void feed(const Device& device);
  void feed(const Mesh&) {}
  void feed(const BufferAlloc& buffer);
  void feed(const BufferFree& buffer);
  void feed(const ProgramLayout& layout);
  void feed(const ProgramRegister& complete);
  void feed(const ProgramUnregister& end);
  void feed(const CbAlloc& cb);
  void feed(const CbFreeAll&) {}

  void place(std::uint64_t program, std::uint32_t device);

  // The CBs of every live program so far, by program and then device.
  using Layouts = std::map<std::uint32_t, std::vector<CbAlloc>>;
  std::map<std::uint64_t, Layouts> programs_;
};

}  // namespace ttmem::replay
