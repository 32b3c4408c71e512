/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of TT-Metal that allocate and free memory, as X(short name, exported name). The
 * stub defines all of these functions, and the adapter wraps them. If a version of TT-Metal does
 * not have a function, the function is never called, and its events stay unknown. */
#ifndef TTMEM_ADAPTER_WRAPPED_H
#define TTMEM_ADAPTER_WRAPPED_H

/* Buffers. The hooks (track_...) are used in builds in which the first two functions are
 * inlined. */
#define TTMEM_WRAPPED_BUFFERS(X)                                                  \
  X(buffer_allocate, _ZN2tt8tt_metal6Buffer13allocate_implEv)                     \
  X(buffer_deallocate, _ZN2tt8tt_metal6Buffer15deallocate_implEv)                 \
  X(track_allocate, _ZN2tt8tt_metal12GraphTracker14track_allocateEPKNS0_6BufferE) \
  X(track_deallocate, _ZN2tt8tt_metal12GraphTracker16track_deallocateEPNS0_6BufferE)

/* Programs. Several functions are called when a program ends, the destructor last. The adapter
 * records the end at the first of these calls. The hook track_allocate_cb is for an adapter that
 * cannot read programs. */
#define TTMEM_WRAPPED_PROGRAMS(X)                                                                \
  X(compile_and_allocate,                                                                        \
    _ZN2tt8tt_metal6detail11ProgramImpl20compile_and_allocateEPNS0_7IDeviceEb)                   \
  X(allocate_circular_buffers,                                                                   \
    _ZN2tt8tt_metal6detail11ProgramImpl25allocate_circular_buffersEPKNS0_7IDeviceE)              \
  X(track_allocate_cb,                                                                           \
    _ZN2tt8tt_metal12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE)    \
  X(allocate_dataflow_buffers,                                                                   \
    _ZN2tt8tt_metal6detail11ProgramImpl25allocate_dataflow_buffersEPKNS0_7IDeviceE)              \
  X(allocate_scratchpads,                                                                        \
    _ZN2tt8tt_metal6detail11ProgramImpl20allocate_scratchpadsEPKNS0_7IDeviceE)                   \
  X(deallocate_circular_buffers,                                                                 \
    _ZN2tt8tt_metal6detail11ProgramImpl27deallocate_circular_buffersEv)                          \
  X(program_destroyed, _ZN2tt8tt_metal9Inspector17program_destroyedEPKNS0_6detail11ProgramImplE) \
  X(program_destructor, _ZN2tt8tt_metal6detail11ProgramImplD1Ev)                                 \
  X(program_base_destructor, _ZN2tt8tt_metal6detail11ProgramImplD2Ev)

/* Dispatches. Some callers do not call enqueue_mesh_workload, but the functions of the queues. */
#define TTMEM_WRAPPED_DISPATCHES(X)                                                                                  \
  X(enqueue_mesh_workload,                                                                                           \
    _ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshWorkloadEb)                 \
  X(fast_enqueue,                                                                                                    \
    _ZN2tt8tt_metal11distributed18FDMeshCommandQueue21enqueue_mesh_workloadERNS1_12MeshWorkloadEb)                   \
  X(slow_enqueue,                                                                                                    \
    _ZN2tt8tt_metal11distributed18SDMeshCommandQueue21enqueue_mesh_workloadERNS1_12MeshWorkloadEb)                   \
  X(launch_program, _ZN2tt8tt_metal6detail13LaunchProgramEPNS0_7IDeviceERNS0_7ProgramEbb)                            \
  X(replay_trace,                                                                                                    \
    _ZN2tt8tt_metal11distributed14MeshDeviceImpl17replay_mesh_traceEhRKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEEb) \
  X(release_trace,                                                                                                   \
    _ZN2tt8tt_metal11distributed14MeshDeviceImpl18release_mesh_traceERKN4ttsl10StrongTypeIjNS1_14MeshTraceIdTagEEE)  \
  X(load_binaries,                                                                                                   \
    _ZN2tt8tt_metal11distributed16MeshWorkloadImpl13load_binariesERNS1_16MeshCommandQueueE)

/* Chips. */
#define TTMEM_WRAPPED_CHIPS(X)                                                                     \
  X(device_initialize, _ZN2tt8tt_metal6Device10initializeEhmmmSt4spanIKjLm18446744073709551615EEb) \
  X(device_close, _ZN2tt8tt_metal6Device5closeEv)

/* Functions that are not wrapped. The stub only notices their first call. They create programs with
 * memory that an adapter without internal headers cannot see. */
#define TTMEM_NOTICED(X)                                                                                                           \
  X(add_dataflow_buffer,                                                                                                           \
    _ZN2tt8tt_metal6detail11ProgramImpl19add_dataflow_bufferERKNS0_12CoreRangeSetERKNS0_12experimental3dfb20DataflowBufferConfigE) \
  X(make_program_from_spec,                                                                                                        \
    _ZN2tt8tt_metal12experimental19MakeProgramFromSpecERNS0_11distributed10MeshDeviceERKNS1_11ProgramSpecEb)

#define TTMEM_WITH_WRAPPER(X) \
  TTMEM_WRAPPED_BUFFERS(X)    \
  TTMEM_WRAPPED_PROGRAMS(X)   \
  TTMEM_WRAPPED_DISPATCHES(X) \
  TTMEM_WRAPPED_CHIPS(X)

#define TTMEM_WRAPPED(X) \
  TTMEM_WITH_WRAPPER(X)  \
  TTMEM_NOTICED(X)

/* The numbers of the functions: TTMEM_W_buffer_allocate and so on. */
#define TTMEM_WRAPPED_NUMBER(name, symbol) TTMEM_W_##name,
enum { TTMEM_WRAPPED(TTMEM_WRAPPED_NUMBER) TTMEM_W_COUNT };

#endif
