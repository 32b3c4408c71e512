// SPDX-License-Identifier: Apache-2.0
//
// Host code without any use of ttmem, with Metal 2.0's dataflow buffers and scratchpads. It
// enqueues programs directly on the command queue. After each step it prints the step's name and
// waits for a byte.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <utility>

#include "impl/dataflow_buffer/dataflow_buffer.hpp"
#include "impl/program/program_impl.hpp"

namespace {

using namespace tt::tt_metal;
using experimental::dfb::CreateDataflowBuffer;

void say(const char* step) {
  std::puts(step);
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

}  // namespace

int main() {
  const auto mesh = distributed::MeshDevice::create(distributed::MeshDeviceConfig(std::nullopt));
  const auto buffer = distributed::MeshBuffer::create(
      distributed::ReplicatedBufferConfig{.size = 4096},
      {.page_size = 2048, .buffer_type = BufferType::L1}, mesh.get());
  {
    Program program = CreateProgram();
    const CoreRange square({0, 0}, {1, 1});
    CreateDataflowBuffer(program, square, {.entry_size = 2048, .num_entries = 4});
    CreateDataflowBuffer(program, CoreCoord(0, 0), {.entry_size = 2048, .num_entries = 2});
    CreateDataflowBuffer(program, square, {.entry_size = 1024, .num_entries = 8});
    program.impl().set_dfb_alias(0, 2);
    CreateDataflowBuffer(program, square,
                         {.entry_size = 2048, .num_entries = 1, .borrows_memory = true});
    program.impl().dataflow_buffers()[3]->set_borrowed_memory_base_addr(
        static_cast<std::uint32_t>(buffer->address()));
    const KernelHandle kernel =
        CreateKernel(program, "reader.cpp", CoreRange({0, 0}, {3, 3}), DataMovementConfig{});
    program.impl().get_kernels(0).at(kernel)->set_scratchpad_binding_handles(
        {{.accessor_name = "pad",
          .size_bytes = 1024,
          .addr_crta_word = 0,
          .allocated_address = 0}});
    distributed::MeshWorkload workload;
    workload.add_program(distributed::MeshCoordinateRange(mesh->shape()), std::move(program));
    say("declared");
    mesh->mesh_command_queue().enqueue_mesh_workload(workload, false);
    say("run");
    mesh->mesh_command_queue().enqueue_mesh_workload(workload, false);
    say("again");
  }
  say("gone");
  return 0;
}
