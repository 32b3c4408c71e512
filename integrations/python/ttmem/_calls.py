# SPDX-License-Identifier: Apache-2.0
"""The calls of the C interface, one function for each call. include/ttmem/ttmem.h describes them.

All functions may be called from any thread, and do nothing while tracking is off. If there is no
library, enabled() returns False and all other functions raise TtmemError. A number that is negative
or too large raises ValueError.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
from typing import Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _abi
from ._constants import TRACKING_VARIABLE, BufferType, KernelRole
from ._errors import TtmemError

#: x0, y0, x1, y1: a rectangle of logical compute cores that includes both corners.
CoreRange = Tuple[int, int, int, int]


class Cb(NamedTuple):
    """One circular buffer. It takes [address, address + size_bytes) in the L1 of each of its
    cores."""

    address: int
    size_bytes: int
    cores: Sequence[CoreRange]
    is_global: bool = False  #: a view on an L1 buffer, whose bytes are counted there


def enabled() -> bool:
    """Returns True if this process is tracked. Returns False if there is no library."""
    try:
        return bool(_abi.library().ttmem_enabled())
    except TtmemError:
        return False


def require_tracking() -> None:
    """Raises TtmemError with the reason if this process is not tracked."""
    if _abi.library().ttmem_enabled():
        return
    if os.environ.get(TRACKING_VARIABLE) == "1":
        raise TtmemError("this process is not tracked although "
                         f"{TRACKING_VARIABLE}=1: it was set after the first call, or shared "
                         "memory was refused; run again with TTMEM_LOG=stderr to see the reason")
    raise TtmemError(f"tracking is off in this process; set {TRACKING_VARIABLE}=1 before it "
                     "starts, or start it with: ttmem run -- python3 ...")


def device_open(id: int = 0, *, uid: int = 0, arch: Optional[str] = None,
                board: Optional[str] = None, grid_x: int = 0, grid_y: int = 0,
                l1_bytes_per_core: int = 0, l1_base: int = 0, l1_small_bytes_per_core: int = 0,
                dram_channels: int = 0, dram_bytes_per_channel: int = 0,
                trace_region_bytes: int = 0) -> None:
    """Opens a device. If the device is already open, adds facts to it, and its allocations stay. A
    fact that is left out keeps its value, or is unknown. `id` is the chip's number in this process,
    and `uid` its number in every process."""
    info = _abi.DeviceInfo(
        ctypes.sizeof(_abi.DeviceInfo), _u32("id", id), _u64("uid", uid), _text(arch),
        _text(board), _u16("grid_x", grid_x), _u16("grid_y", grid_y),
        _u32("l1_bytes_per_core", l1_bytes_per_core), _u32("l1_base", l1_base),
        _u32("l1_small_bytes_per_core", l1_small_bytes_per_core),
        _u32("dram_channels", dram_channels),
        _u64("dram_bytes_per_channel", dram_bytes_per_channel),
        _u64("trace_region_bytes", trace_region_bytes))
    _abi.library().ttmem_device_open(ctypes.byref(info))


def set_reported(device: int, what: int) -> None:
    """Declares that this process reports all memory of these kinds on the device from now on. As
    long as nothing of such a kind is reported, its figure is then 0 and not unknown. `what` is a
    sum of Reports, or of 1 << BufferType."""
    _abi.library().ttmem_set_reported(_u32("device", device), _u32("what", what))


def cb_estimate(device: int, is_estimate: bool) -> None:
    """Marks the figures of this process's circular buffers on the device as an estimate, or as
    exact if `is_estimate` is false."""
    _abi.library().ttmem_cb_estimate(_u32("device", device), int(is_estimate))


def set_unseen(what: int, why: str) -> None:
    """Declares that this process cannot report all memory of these kinds, on any device. `what` is
    as in set_reported(). `why` is a sentence that is shown as a warning."""
    _abi.library().ttmem_set_unseen(_u32("what", what), _text(why))


def device_close(device: int) -> None:
    """Closes the device and frees everything on it."""
    _abi.library().ttmem_device_close(_u32("device", device))


def buffer_alloc(device: int, type: BufferType, size_bytes: int, address: int, *, id: int = 0,
                 bytes_per_bank: int = 0, cores: Sequence[CoreRange] = (),
                 label: Optional[str] = None, own_banks: bool = False, page_bytes: int = 0,
                 layout: Optional[str] = None, bottom_up: Optional[bool] = None) -> None:
    """Reports a buffer, which takes [address, address + bytes_per_bank) in every bank of the
    device. `bytes_per_bank` 0 means unknown. `cores` are the cores that hold the buffer's bytes;
    empty means every bank. If `own_banks` is true, the buffer's allocator covers only `cores`, as
    the allocator of a sub-device does, and the buffer takes no bytes in other banks. `id`
    identifies the buffer for buffer_free(); if `id` is 0, the address identifies the buffer. The
    other arguments are only for `ttmem fit`, and may be left out: `page_bytes`, `layout`
    ("interleaved" or "sharded"), and `bottom_up` (True if the buffer was taken from the bottom of
    its banks, False if from the top)."""
    buffer = _buffer(type, size_bytes, address, id, bytes_per_bank, cores, label, own_banks,
                     page_bytes, layout, bottom_up)
    _abi.library().ttmem_buffer_alloc(_u32("device", device), ctypes.byref(buffer))


def buffer_free(device: int, type: BufferType, id: int) -> None:
    """Reports the free of a buffer. `id` is the id that buffer_alloc() got, or the address if that
    id was 0."""
    _abi.library().ttmem_buffer_free(_u32("device", device), BufferType(type), _u64("id", id))


def program_place(device: int, program: int, cbs: Iterable[Cb], *,
                  name: Optional[str] = None) -> None:
    """Reports that the CBs of `program` have addresses on `device` from now on. If the program is
    already placed, `cbs` replace its CBs. `name` is the name that is shown for the program; None
    keeps the earlier name."""
    placement, _keep = _placement(program, cbs, name)
    _abi.library().ttmem_program_place_with(_u32("device", device), ctypes.byref(placement))


def program_dispatch(device: int, program: int) -> None:
    """Reports that `program` was sent to `device`. Its CBs are then resident on its cores."""
    _abi.library().ttmem_program_dispatch(_u32("device", device), _u64("program", program))


def trace_replay(device: int, programs: Iterable[int]) -> None:
    """Reports that a captured trace of these programs was replayed. On each core, the largest of
    these programs is then resident."""
    numbers = [_u64("program", program) for program in programs]
    array = (ctypes.c_uint64 * len(numbers))(*numbers)
    _abi.library().ttmem_trace_replay(_u32("device", device), array, len(numbers))


def program_destroy(program: int) -> None:
    """Reports that the program is destroyed on every device."""
    _abi.library().ttmem_program_destroy(_u64("program", program))


def mesh_buffer_alloc(devices: Iterable[int], type: BufferType, size_bytes: int, address: int, *,
                      id: int = 0, bytes_per_bank: int = 0, cores: Sequence[CoreRange] = (),
                      label: Optional[str] = None, own_banks: bool = False, page_bytes: int = 0,
                      layout: Optional[str] = None, bottom_up: Optional[bool] = None) -> None:
    """Reports the same as buffer_alloc() on each device of a mesh, but with one call and one
    record. The record is shown as one row with all devices. The sizes are the sizes on one
    device."""
    buffer = _buffer(type, size_bytes, address, id, bytes_per_bank, cores, label, own_banks,
                     page_bytes, layout, bottom_up)
    _abi.library().ttmem_mesh_buffer_alloc(*_devices(devices), ctypes.byref(buffer))


def mesh_buffer_free(devices: Iterable[int], type: BufferType, id: int) -> None:
    """Reports the free of a buffer on these devices. If the buffer has other devices, it stays
    there."""
    _abi.library().ttmem_mesh_buffer_free(*_devices(devices), BufferType(type), _u64("id", id))


def mesh_program_place(devices: Iterable[int], program: int, cbs: Iterable[Cb], *,
                       name: Optional[str] = None) -> None:
    """Reports the same as program_place() on each device of a mesh."""
    placement, _keep = _placement(program, cbs, name)
    _abi.library().ttmem_mesh_program_place_with(*_devices(devices), ctypes.byref(placement))


def mesh_program_dispatch(devices: Iterable[int], program: int) -> None:
    """Reports the same as program_dispatch() on each device of a mesh."""
    _abi.library().ttmem_mesh_program_dispatch(*_devices(devices), _u64("program", program))


@contextlib.contextmanager
def scope(name: str) -> Iterator[None]:
    """Names the allocations and programs of this thread inside a `with` block. Names of nested
    blocks are joined: "decoder.0/attention"."""
    library = _abi.library()
    library.ttmem_scope_push(_text(name))
    try:
        yield
    finally:
        library.ttmem_scope_pop()


def mark(name: str) -> None:
    """Names this moment, such as an iteration or the end of loading."""
    _abi.library().ttmem_mark(_text(name))


def report_failure(text: str) -> None:
    """Reports an out-of-memory error; `text` is the error message of the runtime. Saves what this
    process holds now for `ttmem explain`, so call this before memory is freed. The saved state is
    removed if the process exits with 0."""
    _abi.library().ttmem_report_failure(_text(text))


def cb_alloc(device: int, id: int, size_bytes: int) -> None:
    """Reports a CB of which only an id and the size are known. The CB counts in the CB bytes of the
    device, but belongs to no core and no program. An id that is reported several times counts once,
    with its largest size. It counts until it was freed as often as it was reported."""
    _abi.library().ttmem_cb_alloc(_u32("device", device), _u64("id", id),
                                  _u64("size_bytes", size_bytes))


def cb_free(device: int, id: int) -> None:
    """Reports the free of a CB that cb_alloc() reported."""
    _abi.library().ttmem_cb_free(_u32("device", device), _u64("id", id))


def kernel_load(device: int, kernel: int, size_bytes: int,
                role: KernelRole = KernelRole.APP) -> None:
    """Reports a loaded kernel. `size_bytes` is its size on the whole device. If the kernel is
    already loaded, its size is replaced."""
    _abi.library().ttmem_kernel_load(_u32("device", device), _u64("kernel", kernel),
                                     _u64("size_bytes", size_bytes), KernelRole(role))


def kernel_load_estimate(device: int, kernel: int, size_bytes: int,
                         role: KernelRole = KernelRole.APP) -> None:
    """Reports a loaded kernel whose size is an estimate. The size is always marked as an
    estimate."""
    _abi.library().ttmem_kernel_load_estimate(_u32("device", device), _u64("kernel", kernel),
                                              _u64("size_bytes", size_bytes), KernelRole(role))


def kernel_unload(device: int, kernel: int) -> None:
    """Reports that a kernel was unloaded."""
    _abi.library().ttmem_kernel_unload(_u32("device", device), _u64("kernel", kernel))


def _buffer(type: BufferType, size_bytes: int, address: int, id: int, bytes_per_bank: int,
            cores: Sequence[CoreRange], label: Optional[str], own_banks: bool, page_bytes: int,
            layout: Optional[str], bottom_up: Optional[bool]) -> _abi.Buffer:
    ranges, count = _ranges(cores)
    if layout not in _abi.BUFFER_LAYOUTS:
        raise ValueError(f"layout is 'interleaved', 'sharded' or None, not {layout!r}")
    flags = _abi.BUFFER_LAYOUTS[layout] | _abi.BUFFER_DIRECTIONS[bottom_up]
    return _abi.Buffer(
        ctypes.sizeof(_abi.Buffer), BufferType(type), _u64("id", id), _u64("address", address),
        _u64("size_bytes", size_bytes), _u64("bytes_per_bank", bytes_per_bank), ranges, count,
        _text(label), flags | (_abi.BUFFER_OWN_BANKS if own_banks else 0), 0,
        _u64("page_bytes", page_bytes))


def _placement(program: int, cbs: Iterable[Cb],
               name: Optional[str]) -> Tuple[_abi.Placement, List[_abi.CircularBuffer]]:
    """Returns the placement, and objects that must live as long as the placement."""
    placed: List[_abi.CircularBuffer] = []
    for cb in cbs:
        address, size_bytes, cores, is_global = Cb(*cb)
        ranges, count = _ranges(cores)
        placed.append(_abi.CircularBuffer(_u64("address", address),
                                          _u64("size_bytes", size_bytes), ranges, count,
                                          _abi.CB_GLOBAL if is_global else 0))
    array = (_abi.CircularBuffer * len(placed))(*placed)
    return _abi.Placement(
        ctypes.sizeof(_abi.Placement), ctypes.sizeof(_abi.CircularBuffer),
        _u64("program", program), array, len(placed), 0, _text(name)), placed


def _devices(devices: Iterable[int]) -> Tuple[ctypes.Array, int]:
    numbers = [_u32("device", device) for device in devices]
    return (ctypes.c_uint32 * len(numbers))(*numbers), len(numbers)


def _ranges(cores: Sequence[CoreRange]) -> Tuple[ctypes.Array, int]:
    ranges = [_abi.CoreRange(*(_u16("core coordinate", corner) for corner in corners))
              for corners in cores]
    return (_abi.CoreRange * len(ranges))(*ranges), len(ranges)


def _text(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else text.encode("utf-8", "replace")


# Checks the range first, because ctypes silently cuts off a number that does not fit.
def _unsigned(name: str, value: int, bits: int) -> int:
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name} is {number}; it must be from 0 to 2^{bits} - 1")
    return number


def _u16(name: str, value: int) -> int:
    return _unsigned(name, value, 16)


def _u32(name: str, value: int) -> int:
    return _unsigned(name, value, 32)


def _u64(name: str, value: int) -> int:
    return _unsigned(name, value, 64)


# The former names, which keep working.
reports = set_reported
not_seen = set_unseen
failure = report_failure
