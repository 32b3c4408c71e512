// SPDX-License-Identifier: Apache-2.0
// The interface for host code that is tracked by TT-Metal's own hooks, without a preloaded adapter.
// Compiles against the public headers of TT-Metal, and also against the dry run.
//
//    ttmem::tt_metal::attach();                 on the main thread, before the first allocation
//    ttmem::tt_metal::attach_workers(*mesh);    once for each mesh
//
// docs/internals/adapter.md describes what the hooks do not report, and the consequences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/program.hpp>
#include <vector>

#include "kernel_bytes.hpp"
#include "ttmem/ttmem.h"

namespace ttmem::tt_metal {

namespace tm = ::tt::tt_metal;

// The facts of a chip that the hooks do not report. Unset fields are shown as unknown.
struct DeviceFacts {
  std::uint64_t uid = 0;        // the chip's uid, the same in every process
  const char* board = nullptr;  // "n300"
  // The bytes of each kernel that fast dispatch keeps loaded until the device closes.
  std::vector<std::uint64_t> dispatch_kernels = {};
};

// Tracks the calling thread. Does nothing if the thread is already tracked. Does nothing if the
// adapter is preloaded, because the adapter reports the same events.
void attach();
// Tracks the worker threads of a mesh, which place the programs of a workload that has several
// programs.
void attach_workers(tm::distributed::MeshDevice& mesh);

// Reports the lists of circular buffers that are not complete yet on this thread. Without this
// call, a list is reported at the next hook on its thread, or after a few milliseconds without a
// hook.
void flush();

// Shows a chip from now on, with these facts. Without this call, a chip is shown from its first
// event.
void device_opened(const tm::IDevice& chip, const DeviceFacts& facts = {});
// Reports that a chip was closed, because no hook reports it. Call this function after closing the
// chip. Without this call, the closing is noticed when the next mesh is used.
void device_closed(int chip);

// Names the buffers that are allocated on this thread while the object lives. Labels may be nested.
class Label {
 public:
  explicit Label(std::string name);
  ~Label();
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  const std::string name_;
  const char* const outer_;
};

// Assigns the circular buffers that are reported on this thread to a program while the object
// lives. Circular buffers that are reported again replace the earlier circular buffers of the
// program. Put the object around the run of a program, or of a workload of one program.
//
// If a device (a chip or a mesh) is given, the end of the scope reports a dispatch: the program is
// then resident on the device, and its kernels evict the kernels of other programs from its cores.
// If an exception ends the scope, no dispatch is reported. `kernel_cores` are the cores on which
// all kernels of the program run. The kernel bytes are exact if `kernel_cores` is given and the
// runtime knows the binaries, otherwise they are marked as an estimate. `kernels` are the kernel
// bytes on a core, if the caller knows them.
class ProgramScope {
 public:
  explicit ProgramScope(const tm::Program& program, tm::IDevice* device = nullptr,
                        tm::CoreRangeSet kernel_cores = {},
                        std::optional<KernelBytes> kernels = std::nullopt);
  ~ProgramScope();
  ProgramScope(const ProgramScope&) = delete;
  ProgramScope& operator=(const ProgramScope&) = delete;

 private:
  const tm::Program& program_;
  tm::IDevice* const device_;
  const tm::CoreRangeSet kernel_cores_;
  const std::optional<KernelBytes> kernels_;
  const int exceptions_;
};

// Reports that a trace of these programs was replayed on the device. Each of the programs must have
// run in a ProgramScope.
void trace_replayed(tm::IDevice* device, const std::vector<const tm::Program*>& programs);

// Removes a program that ran in a ProgramScope. Call this just before the program is destroyed.
// Ignores other programs. Only needed if TT-Metal's class Program is not a single shared pointer;
// otherwise the end of the program is detected without this call.
void forget_program(const tm::Program& program);

}  // namespace ttmem::tt_metal
