# SPDX-License-Identifier: Apache-2.0
"""The ctypes declarations of include/ttmem/ttmem.h, and the loaded library."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import POINTER, c_char_p, c_int, c_uint16, c_uint32, c_uint64
from typing import Dict, List, Optional

from ._errors import TtmemError
from ._find import library_candidates


class CoreRange(ctypes.Structure):
    _fields_ = [("x0", c_uint16), ("y0", c_uint16), ("x1", c_uint16), ("y1", c_uint16)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("id", c_uint32), ("uid", c_uint64),
                ("arch", c_char_p), ("board", c_char_p),
                ("grid_x", c_uint16), ("grid_y", c_uint16),
                ("l1_bytes_per_core", c_uint32), ("l1_base", c_uint32),
                ("l1_small_bytes_per_core", c_uint32), ("dram_channels", c_uint32),
                ("dram_bytes_per_channel", c_uint64), ("trace_region_bytes", c_uint64)]


class Buffer(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("type", c_int), ("id", c_uint64),
                ("address", c_uint64), ("bytes", c_uint64), ("bytes_per_bank", c_uint64),
                ("cores", POINTER(CoreRange)), ("core_ranges", c_uint32), ("label", c_char_p),
                ("flags", c_uint32), ("reserved", c_uint32), ("page_bytes", c_uint64)]


class CircularBuffer(ctypes.Structure):
    _fields_ = [("address", c_uint64), ("bytes", c_uint64), ("cores", POINTER(CoreRange)),
                ("core_ranges", c_uint32), ("flags", c_uint32)]


class Placement(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("cb_size", c_uint32), ("program", c_uint64),
                ("cbs", POINTER(CircularBuffer)), ("cb_count", c_uint32), ("reserved", c_uint32),
                ("name", c_char_p)]


CB_GLOBAL = 1
BUFFER_OWN_BANKS = 1
BUFFER_LAYOUTS = {None: 0, "interleaved": 2, "sharded": 4}
BUFFER_DIRECTIONS = {None: 0, True: 8, False: 16}

_ARGUMENTS = {
    "enabled": [],
    "device_open": [POINTER(DeviceInfo)],
    "device_close": [c_uint32],
    "set_reported": [c_uint32, c_uint32],
    "cb_estimate": [c_uint32, c_int],
    "set_unseen": [c_uint32, c_char_p],
    "buffer_alloc": [c_uint32, POINTER(Buffer)],
    "buffer_free": [c_uint32, c_int, c_uint64],
    "mesh_buffer_alloc": [POINTER(c_uint32), c_uint32, POINTER(Buffer)],
    "mesh_buffer_free": [POINTER(c_uint32), c_uint32, c_int, c_uint64],
    "mesh_program_place_with": [POINTER(c_uint32), c_uint32, POINTER(Placement)],
    "mesh_program_dispatch": [POINTER(c_uint32), c_uint32, c_uint64],
    "program_place_with": [c_uint32, POINTER(Placement)],
    "program_dispatch": [c_uint32, c_uint64],
    "trace_replay": [c_uint32, POINTER(c_uint64), c_uint32],
    "cb_alloc": [c_uint32, c_uint64, c_uint64],
    "cb_free": [c_uint32, c_uint64],
    "program_destroy": [c_uint64],
    "scope_push": [c_char_p],
    "scope_pop": [],
    "mark": [c_char_p],
    "report_failure": [c_char_p],
    "kernel_load": [c_uint32, c_uint64, c_uint64, c_int],
    "kernel_load_estimate": [c_uint32, c_uint64, c_uint64, c_int],
    "kernel_unload": [c_uint32, c_uint64],
}

_lock = threading.Lock()
_library: Optional[ctypes.CDLL] = None
# Error messages of failed searches for the library, by value of TTMEM_LIB. A search is slow, so a
# failed search is not repeated.
_failures: Dict[Optional[str], str] = {}


def library() -> ctypes.CDLL:
    """Returns the library; the first call loads it. Raises TtmemError if there is no library."""
    global _library
    named = os.environ.get("TTMEM_LIB")
    with _lock:
        if _library is None:
            if named in _failures:
                raise TtmemError(_failures[named])
            try:
                _library = _declared(_loaded_already() or _load())
            except TtmemError as error:
                _failures[named] = str(error)
                raise
        return _library


def _loaded_already() -> Optional[ctypes.CDLL]:
    """Returns the library if the process has already loaded it, otherwise None. Does not load a
    second copy, because a process has one segment and a second copy would not be tracked."""
    try:
        return ctypes.CDLL("libttmem.so.0", mode=os.RTLD_NOLOAD)
    except OSError:
        return None


def _load() -> ctypes.CDLL:
    failures: List[str] = []
    for candidate in library_candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            failures.append(f"{candidate} cannot be loaded ({' '.join(str(error).split())})")
    reason = "; ".join(failures) or "libttmem.so is nowhere to be found"
    raise TtmemError(f"{reason}; install ttmem, or set TTMEM_LIB to its libttmem.so")


def _declared(loaded: ctypes.CDLL) -> ctypes.CDLL:
    for name, arguments in _ARGUMENTS.items():
        try:
            function = getattr(loaded, f"ttmem_{name}")
        except AttributeError:
            raise TtmemError(f"{loaded._name} has no ttmem_{name}: it is older than this package; "
                             "install the ttmem that the package came with") from None
        function.argtypes = arguments
        function.restype = c_int if name == "enabled" else None
    return loaded
