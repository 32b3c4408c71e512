# SPDX-License-Identifier: Apache-2.0
"""The calls of the C interface, one function each: include/ttmem/ttmem.h says what they mean.

All may be called from any thread, and do nothing when tracking is off. Each raises TtmemError when
there is no library, and ValueError for a number that its field cannot hold.
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

#: x0, y0, x1, y1: logical compute cores, both corners included.
CoreRange = Tuple[int, int, int, int]


class Cb(NamedTuple):
    """One circular buffer: [address, address + size_bytes) of the L1 of each of its cores."""

    address: int
    size_bytes: int
    cores: Sequence[CoreRange]
    is_global: bool = False  #: a view on an L1 buffer, whose bytes are counted there


def enabled() -> bool:
    """Whether this process is tracked. False also when there is no library."""
    try:
        return bool(_abi.library().ttmem_enabled())
    except TtmemError:
        return False


def require_tracking() -> None:
    """Raises TtmemError that says why, unless this process is tracked."""
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
    """Announces a device, or what is known of it now; what is left out is unknown. `id` is the
    chip's number in this process, `uid` the chip's own. Opening an open device keeps what it
    holds."""
    info = _abi.DeviceInfo(
        ctypes.sizeof(_abi.DeviceInfo), _u32("id", id), _u64("uid", uid), _text(arch),
        _text(board), _u16("grid_x", grid_x), _u16("grid_y", grid_y),
        _u32("l1_bytes_per_core", l1_bytes_per_core), _u32("l1_base", l1_base),
        _u32("l1_small_bytes_per_core", l1_small_bytes_per_core),
        _u32("dram_channels", dram_channels),
        _u64("dram_bytes_per_channel", dram_bytes_per_channel),
        _u64("trace_region_bytes", trace_region_bytes))
    _abi.library().ttmem_device_open(ctypes.byref(info))


def reports(device: int, what: int) -> None:
    """From now on this process reports all that it does with the memory of these kinds on the
    device: a kind of which it has reported nothing is 0, and no longer unknown. `what` is made of
    Reports, or of 1 << BufferType."""
    _abi.library().ttmem_set_reported(_u32("device", device), _u32("what", what))


def cb_estimate(device: int, is_estimate: bool) -> None:
    """Whether the figures of this process's circular buffers on the device are an estimate from now
    on: shown, and always marked as one."""
    _abi.library().ttmem_cb_estimate(_u32("device", device), int(is_estimate))


def not_seen(what: int, why: str) -> None:
    """What this process cannot report, as in reports(), on every device, and why: a sentence that
    is shown among the warnings."""
    _abi.library().ttmem_set_unseen(_u32("what", what), why.encode())


def device_close(device: int) -> None:
    """The device and everything on it is given up."""
    _abi.library().ttmem_device_close(_u32("device", device))


def buffer_alloc(device: int, type: BufferType, size_bytes: int, address: int, *, id: int = 0,
                 bytes_per_bank: int = 0, cores: Sequence[CoreRange] = (),
                 label: Optional[str] = None, own_banks: bool = False, page_bytes: int = 0,
                 layout: Optional[str] = None, bottom_up: Optional[bool] = None) -> None:
    """A buffer takes [address, address + bytes_per_bank) in every bank of the device; `cores` says
    where its bytes lie, none: in every bank. `own_banks`: its allocator covers `cores` only, as
    that of a sub-device does, and the range is taken there only. `id` names it for buffer_free();
    0 means that the address does. `bytes_per_bank` 0 means unknown. For `ttmem fit`, as far as it
    is known: `page_bytes`, the `layout` ("interleaved" or "sharded"), and `bottom_up`, if it was
    not taken from the usual end of the bank."""
    buffer = _buffer(type, size_bytes, address, id, bytes_per_bank, cores, label, own_banks,
                     page_bytes, layout, bottom_up)
    _abi.library().ttmem_buffer_alloc(_u32("device", device), ctypes.byref(buffer))


def buffer_free(device: int, type: BufferType, id: int) -> None:
    """Gives a buffer back; `id` as for buffer_alloc(), or the address where that was 0."""
    _abi.library().ttmem_buffer_free(_u32("device", device), BufferType(type), _u64("id", id))


def program_place(device: int, program: int, cbs: Iterable[Cb], *,
                  name: Optional[str] = None) -> None:
    """The CBs of `program` have addresses on `device` from now on. The same layout again changes
    nothing; another layout replaces the earlier one. `name` is shown
    for the program; None keeps the one that it has."""
    placement, _keep = _placement(program, cbs, name)
    _abi.library().ttmem_program_place_with(_u32("device", device), ctypes.byref(placement))


def program_dispatch(device: int, program: int) -> None:
    """`program` was sent to `device`: its CBs are what its cores hold now."""
    _abi.library().ttmem_program_dispatch(_u32("device", device), _u64("program", program))


def trace_replay(device: int, programs: Iterable[int]) -> None:
    """A captured trace of these programs is replayed: each core holds the largest of them."""
    numbers = [_u64("program", program) for program in programs]
    array = (ctypes.c_uint64 * len(numbers))(*numbers)
    _abi.library().ttmem_trace_replay(_u32("device", device), array, len(numbers))


def program_destroy(program: int) -> None:
    """The program is gone, from every device it was placed on."""
    _abi.library().ttmem_program_destroy(_u64("program", program))


def mesh_buffer_alloc(devices: Iterable[int], type: BufferType, size_bytes: int, address: int, *,
                      id: int = 0, bytes_per_bank: int = 0, cores: Sequence[CoreRange] = (),
                      label: Optional[str] = None, own_banks: bool = False, page_bytes: int = 0,
                      layout: Optional[str] = None, bottom_up: Optional[bool] = None) -> None:
    """buffer_alloc() on each device of a mesh: one call, one record, one row with all devices. The
    sizes are those on one device."""
    buffer = _buffer(type, size_bytes, address, id, bytes_per_bank, cores, label, own_banks,
                     page_bytes, layout, bottom_up)
    _abi.library().ttmem_mesh_buffer_alloc(*_devices(devices), ctypes.byref(buffer))


def mesh_buffer_free(devices: Iterable[int], type: BufferType, id: int) -> None:
    """Gives a buffer back on these devices. On the others of its mesh it stays."""
    _abi.library().ttmem_mesh_buffer_free(*_devices(devices), BufferType(type), _u64("id", id))


def mesh_program_place(devices: Iterable[int], program: int, cbs: Iterable[Cb], *,
                       name: Optional[str] = None) -> None:
    """program_place() on each device of a mesh."""
    placement, _keep = _placement(program, cbs, name)
    _abi.library().ttmem_mesh_program_place_with(*_devices(devices), ctypes.byref(placement))


def mesh_program_dispatch(devices: Iterable[int], program: int) -> None:
    """program_dispatch() on each device of a mesh."""
    _abi.library().ttmem_mesh_program_dispatch(*_devices(devices), _u64("program", program))


@contextlib.contextmanager
def scope(name: str) -> Iterator[None]:
    """While it lasts, what this thread allocates and places carries this name, behind those of the
    scopes around it: "decoder.0/attention"."""
    library = _abi.library()
    library.ttmem_scope_push(name.encode())
    try:
        yield
    finally:
        library.ttmem_scope_pop()


def mark(name: str) -> None:
    """This moment has a name: an iteration, the end of loading."""
    _abi.library().ttmem_mark(name.encode())


def failure(text: str) -> None:
    """The runtime said, in these words, that memory did not suffice: what this process holds now is
    kept for `ttmem explain`. Call it before memory is freed again. It is gone when the process
    exits with 0."""
    _abi.library().ttmem_report_failure(text.encode())


def cb_alloc(device: int, id: int, size_bytes: int) -> None:
    """A CB of which only the number and the size are known: counted in the CB bytes of the device,
    in no core's, and in no program. The same id again counts once, at its largest size, until it
    was freed as often as it was allocated."""
    _abi.library().ttmem_cb_alloc(_u32("device", device), _u64("id", id),
                                  _u64("size_bytes", size_bytes))


def cb_free(device: int, id: int) -> None:
    """Gives back a CB of cb_alloc()."""
    _abi.library().ttmem_cb_free(_u32("device", device), _u64("id", id))


def kernel_load(device: int, kernel: int, size_bytes: int,
                role: KernelRole = KernelRole.APP) -> None:
    """`size_bytes` is what the kernel takes on the whole device. Loading a loaded kernel again
    replaces its size."""
    _abi.library().ttmem_kernel_load(_u32("device", device), _u64("kernel", kernel),
                                     _u64("size_bytes", size_bytes), KernelRole(role))


def kernel_load_estimate(device: int, kernel: int, size_bytes: int,
                         role: KernelRole = KernelRole.APP) -> None:
    """kernel_load() for a size that is only an estimate: shown, and always marked as one."""
    _abi.library().ttmem_kernel_load_estimate(_u32("device", device), _u64("kernel", kernel),
                                              _u64("size_bytes", size_bytes), KernelRole(role))


def kernel_unload(device: int, kernel: int) -> None:
    """Gives a kernel back."""
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
    """The placement, and what must live as long."""
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


# ctypes would silently cut a number that does not fit.
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
