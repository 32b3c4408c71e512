// SPDX-License-Identifier: Apache-2.0
//
// Approach 3: TT-Metal's own hooks feed the tracker. Compiles against the public headers of
// TT-Metal, and of the dry run, alike.
//
//   ttmem::tt_metal::attach();                 on the main thread, before the first allocation
//   ttmem::tt_metal::attach_workers(*mesh);    once for each mesh
//
// docs/internals/adapter.md says what the hooks do not report, and what follows from that.
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

// What the hooks do not report of a chip. Unset fields are shown as unknown.
struct DeviceFacts {
  std::uint64_t uid = 0;        // its own number, the same in every process
  const char* board = nullptr;  // "n300"
  // The bytes of each kernel that fast dispatch keeps loaded until the device closes.
  std::vector<std::uint64_t> dispatch_kernels = {};
};

// Tracks the calling thread. Does nothing the second time, nor where the adapter is preloaded,
// which reports the same.
void attach();
// Tracks the worker threads of a mesh, which place the programs of a workload that has several.
void attach_workers(tm::distributed::MeshDevice& mesh);

// What this thread has run counts now. Without it a list of circular buffers counts at the next
// hook on its thread, or after a few milliseconds without one.
void flush();

// Shows a chip from now on, with these facts. Without this call it is shown from its first event.
void device_opened(const tm::IDevice& chip, const DeviceFacts& facts = {});
// There is no hook for the end of a device: call it after closing one. Without it, the end shows
// when the next mesh is used.
void device_closed(int chip);

// While it lives, buffers that are allocated on this thread carry this name. They may be nested.
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

// While it lives, circular buffers reported on this thread belong to this program; reported again,
// they replace what it had. Put it around the run of a program or of a workload of one program.
//
// With a device (a chip or a mesh), the end of the scope reports a dispatch: the program is
// resident there, its kernels are loaded, and those of other programs on the same cores are gone.
// An exception ends the scope without a dispatch. The bytes of the kernels are exact if
// `kernel_cores`, the cores that run all of them, is given and the runtime knows the binaries;
// otherwise they are marked as an estimate. A caller that knows the bytes on a core passes them as
// `kernels`.
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

// A trace of these programs, which all ran in scopes, was replayed on the device.
void trace_replayed(tm::IDevice* device, const std::vector<const tm::Program*>& programs);

// Call it just before a program that ran in a ProgramScope is destroyed. Another is ignored. Only
// for a TT-Metal whose Program is not a shared pointer and nothing else: from others the end of
// such a program is noticed.
void forget_program(const tm::Program& program);

}  // namespace ttmem::tt_metal
