# SPDX-License-Identifier: Apache-2.0
"""The memory of Tenstorrent devices, from Python.

- `L1Tracker` counts circular buffers and kernels by hand.
- `snapshot()` and `devices()` read what every process holds on every device.
- `watch()` and `Measure` measure a block of code: allocated, freed and peak bytes.
- `record()` records a block of code into a file for `ttmem report`.
- `scope()` and `mark()` name the origin of allocations.
- `report_failure()` keeps the state of this process after an out-of-memory error.
- `device_open()`, `buffer_alloc()`, ... report single allocations. Each function is one call
  of the C interface (ttmem/ttmem.h).

A process is tracked if TT_ALLOC_TRACKING_ENABLED=1 is in its environment when it first calls the
library. `ttmem run -- python3 model.py` sets the variable. Importing this module loads and starts
nothing.
"""

from ._calls import (
    Cb,
    buffer_alloc,
    buffer_free,
    cb_alloc,
    cb_estimate,
    cb_free,
    device_close,
    device_open,
    enabled,
    failure,
    kernel_load,
    kernel_load_estimate,
    kernel_unload,
    mark,
    mesh_buffer_alloc,
    mesh_buffer_free,
    mesh_program_dispatch,
    mesh_program_place,
    not_seen,
    program_destroy,
    program_dispatch,
    program_place,
    report_failure,
    reports,
    require_tracking,
    scope,
    set_reported,
    set_unseen,
    trace_replay,
)
from ._constants import KINDS, BufferType, KernelRole, Reports
from ._errors import TtmemError
from ._l1_tracker import L1Tracker
from ._measure import Change, Measure, watch
from ._record import record
from ._snapshot import devices, snapshot

__version__ = "0.1.0"

__all__ = [
    "KINDS",
    "BufferType",
    "Cb",
    "Change",
    "KernelRole",
    "L1Tracker",
    "Measure",
    "Reports",
    "TtmemError",
    "buffer_alloc",
    "buffer_free",
    "cb_alloc",
    "cb_estimate",
    "cb_free",
    "device_close",
    "device_open",
    "devices",
    "enabled",
    "failure",
    "kernel_load",
    "kernel_load_estimate",
    "kernel_unload",
    "mark",
    "mesh_buffer_alloc",
    "mesh_buffer_free",
    "mesh_program_dispatch",
    "mesh_program_place",
    "not_seen",
    "program_destroy",
    "program_dispatch",
    "program_place",
    "record",
    "report_failure",
    "reports",
    "require_tracking",
    "scope",
    "set_reported",
    "set_unseen",
    "snapshot",
    "trace_replay",
    "watch",
]
