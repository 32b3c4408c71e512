// SPDX-License-Identifier: Apache-2.0
#include "simulator/replay/feeder.hpp"

#include <ttmem/ttmem.h>

namespace ttmem::replay {

void Feeder::feed(const capture::CaptureEntry& entry) {
  std::visit([this](const auto& what) { feed(what); }, entry);
}

void Feeder::feed(const capture::CaptureDevice& device) {
  ttmem_device_info info{};
  info.struct_size = sizeof info;
  info.id = device.id;
  info.arch = device.arch.c_str();
  info.grid_x = device.grid_x;
  info.grid_y = device.grid_y;
  info.l1_bytes_per_core = device.l1_bytes_per_core;
  info.l1_base = device.l1_base;
  info.l1_small_bytes_per_core = device.l1_small_bytes_per_core;
  info.dram_channels = device.dram_channels;
  info.dram_bytes_per_channel = device.dram_bytes_per_channel;
  info.trace_region_bytes = device.trace_region_bytes;
  ttmem_device_open(&info);
  // A capture has no kernels and no dispatches, because the hooks do not report them. Only buffers
  // and programs are known.
  ttmem_set_reported(info.id, TTMEM_REPORTS_BUFFERS | TTMEM_REPORTS_PROGRAMS);
}

// Reports the runtime's buffer id plus 1, because the id 0 means "no id" in the C interface.
void Feeder::feed(const capture::BufferAlloc& buffer) {
  ttmem_buffer given{};
  given.struct_size = sizeof given;
  given.type = buffer.type;
  given.id = buffer.id + 1;
  given.address = buffer.address;
  given.bytes = buffer.bytes;
  given.bytes_per_bank = buffer.bytes_per_bank;
  given.cores = buffer.cores.data();
  given.core_ranges = static_cast<std::uint32_t>(buffer.cores.size());
  if (const auto& asked = buffer.request) {
    given.page_bytes = asked->page_bytes;
    given.flags =
        (asked->layout == "interleaved" ? TTMEM_BUFFER_INTERLEAVED : TTMEM_BUFFER_SHARDED) |
        (asked->bottom_up ? TTMEM_BUFFER_BOTTOM_UP : TTMEM_BUFFER_TOP_DOWN);
  }
  if (buffer.devices.empty()) return;
  ttmem_mesh_buffer_alloc(buffer.devices.data(), static_cast<std::uint32_t>(buffer.devices.size()),
                          &given);
}

void Feeder::feed(const capture::BufferFree& buffer) {
  if (buffer.devices.empty()) return;
  ttmem_mesh_buffer_free(buffer.devices.data(), static_cast<std::uint32_t>(buffer.devices.size()),
                         buffer.type, buffer.id + 1);
}

void Feeder::feed(const capture::ProgramLayout& layout) {
  programs_[layout.program][layout.device].clear();
  place(layout.program, layout.device);
}

void Feeder::feed(const capture::CbAlloc& cb) {
  programs_[cb.program][cb.device].push_back(cb);
  place(cb.program, cb.device);
}

// Places the program with its CBs. This matters only for a program without CBs, because each line
// of a CB has already placed its program. A program without CBs is live from its registration on.
void Feeder::feed(const capture::ProgramRegister& complete) {
  place(complete.program, complete.device);
}

// The runtime ends a program on one chip after the other, but the C interface ends a program on all
// chips at once. Until the program has ended on its last chip, the feeder places it without CBs on
// each chip where it has ended. Then the feeder destroys the program.
void Feeder::feed(const capture::ProgramUnregister& end) {
  const auto program = programs_.find(end.program);
  if (program == programs_.end()) return;
  program->second.erase(end.device);
  if (program->second.empty()) {
    ttmem_program_destroy(end.program);
    programs_.erase(program);
  } else {
    ttmem_program_place(end.device, end.program, nullptr, 0);
  }
}

void Feeder::place(std::uint64_t program, std::uint32_t device) {
  std::vector<ttmem_cb> given;
  for (const capture::CbAlloc& cb : programs_[program][device]) {
    given.push_back({cb.address, cb.bytes, cb.cores.data(),
                     static_cast<std::uint32_t>(cb.cores.size()),
                     cb.globally_allocated ? TTMEM_CB_GLOBAL : 0});
  }
  ttmem_program_place(device, program, given.data(), static_cast<std::uint32_t>(given.size()));
}

}  // namespace ttmem::replay
