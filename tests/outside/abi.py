# SPDX-License-Identifier: Apache-2.0
"""Calls the C interface from Python, with ctypes alone. Import this module in a workload, not in a
test, because the process that calls becomes a tracked process."""

import ctypes
import os

DRAM, L1, SYSTEM, L1_SMALL, TRACE = range(5)
APP, FABRIC, DISPATCH = range(3)
CB_GLOBAL = 1
OWN_BANKS = 1


class CoreRange(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint16) for name in ("x0", "y0", "x1", "y1")]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("id", ctypes.c_uint32),
                ("uid", ctypes.c_uint64), ("arch", ctypes.c_char_p), ("board", ctypes.c_char_p),
                ("grid_x", ctypes.c_uint16), ("grid_y", ctypes.c_uint16),
                ("l1_bytes_per_core", ctypes.c_uint32), ("l1_base", ctypes.c_uint32),
                ("l1_small_bytes_per_core", ctypes.c_uint32), ("dram_channels", ctypes.c_uint32),
                ("dram_bytes_per_channel", ctypes.c_uint64),
                ("trace_region_bytes", ctypes.c_uint64)]


class Buffer(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("type", ctypes.c_int),
                ("id", ctypes.c_uint64), ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
                ("bytes_per_bank", ctypes.c_uint64), ("cores", ctypes.POINTER(CoreRange)),
                ("core_ranges", ctypes.c_uint32), ("label", ctypes.c_char_p),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Cb(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
                ("cores", ctypes.POINTER(CoreRange)), ("core_ranges", ctypes.c_uint32),
                ("flags", ctypes.c_uint32)]


class Placement(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("cb_size", ctypes.c_uint32),
                ("program", ctypes.c_uint64), ("cbs", ctypes.c_void_p),
                ("cb_count", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("name", ctypes.c_char_p)]


lib = ctypes.CDLL(os.environ["TTMEM_LIB"])
lib.ttmem_buffer_free.argtypes = [ctypes.c_uint32, ctypes.c_int, ctypes.c_uint64]
lib.ttmem_program_place.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.POINTER(Cb),
                                    ctypes.c_uint32]
lib.ttmem_program_dispatch.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
lib.ttmem_trace_replay.argtypes = [ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64),
                                   ctypes.c_uint32]
lib.ttmem_program_destroy.argtypes = [ctypes.c_uint64]
lib.ttmem_kernel_load.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
lib.ttmem_kernel_unload.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
lib.ttmem_failure.argtypes = [ctypes.c_char_p]
lib.ttmem_device_close.argtypes = [ctypes.c_uint32]
LIST = [ctypes.POINTER(ctypes.c_uint32), ctypes.c_uint32]
lib.ttmem_mesh_buffer_alloc.argtypes = [*LIST, ctypes.POINTER(Buffer)]
lib.ttmem_mesh_buffer_free.argtypes = [*LIST, ctypes.c_int, ctypes.c_uint64]
lib.ttmem_mesh_program_place.argtypes = [*LIST, ctypes.c_uint64, ctypes.POINTER(Cb),
                                         ctypes.c_uint32]
lib.ttmem_mesh_program_place_with.argtypes = [*LIST, ctypes.POINTER(Placement)]
lib.ttmem_mesh_program_dispatch.argtypes = [*LIST, ctypes.c_uint64]


def ranges(rectangles):
    array = (CoreRange * len(rectangles))(*(CoreRange(*corners) for corners in rectangles))
    return array, len(rectangles)


def open_device(number=0, **facts):
    info = DeviceInfo(ctypes.sizeof(DeviceInfo), number, 0x7e57 + number, b"wormhole_b0", b"n150",
                      8, 8, 1499136, 105664, 32768, 12, 1 << 30, 0)
    for name, value in facts.items():
        setattr(info, name, value)
    lib.ttmem_device_open(ctypes.byref(info))


def alloc(kind, number, per_bank, address=1 << 20, device=0, cores=(), label=None, size=None,
          flags=0):
    buffer = buffer_of(kind, number, per_bank, address, cores, label, size, flags)
    lib.ttmem_buffer_alloc(device, ctypes.byref(buffer))


def buffer_of(kind, number, per_bank, address=1 << 20, cores=(), label=None, size=None, flags=0):
    array, count = ranges(cores)
    banks = 64 if kind in (L1, L1_SMALL) else 12
    banks = sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in cores) or banks
    return Buffer(ctypes.sizeof(Buffer), kind, number, address,
                  per_bank * banks if size is None else size, per_bank, array, count, label, flags)


def list_of(devices):
    return (ctypes.c_uint32 * len(devices))(*devices), len(devices)


def mesh_alloc(devices, *arguments, **more):
    """Allocates one buffer on a list of devices. The other arguments are those of alloc()."""
    lib.ttmem_mesh_buffer_alloc(*list_of(devices), ctypes.byref(buffer_of(*arguments, **more)))


def mesh_free(devices, kind, number):
    lib.ttmem_mesh_buffer_free(*list_of(devices), kind, number)


def free(kind, number, device=0):
    lib.ttmem_buffer_free(device, kind, number)


def place(program, *cbs, device=0, name=None):
    """Places a program. Each CB is (address, bytes, rectangles[, flags])."""
    given = [(address, size, ranges(cores), more) for address, size, cores, *more in cbs]
    array = (Cb * len(given))(*(Cb(address, size, cores, count, *more)
                                for address, size, (cores, count), more in given))
    if name is None:
        lib.ttmem_program_place(device, program, array, len(given))
    else:
        place_with(program=program, cbs=ctypes.addressof(array), cb_count=len(given), name=name,
                   device=device)


def place_with(device=0, **fields):
    placement = Placement(ctypes.sizeof(Placement), ctypes.sizeof(Cb))
    for name, value in fields.items():
        setattr(placement, name, value)
    lib.ttmem_program_place_with(device, ctypes.byref(placement))


def replay_trace(*programs, device=0):
    array = (ctypes.c_uint64 * len(programs))(*programs)
    lib.ttmem_trace_replay(device, array, len(programs))


def push(name):
    lib.ttmem_scope_push(name)


def pop():
    lib.ttmem_scope_pop()


def hold():
    """Prints "ready" and waits until stdin has a byte or is closed."""
    print("ready", flush=True)
    os.read(0, 1)
