# SPDX-License-Identifier: Apache-2.0
"""Numbers and names of the C interface."""

from __future__ import annotations

from enum import IntEnum, IntFlag

TRACKING_VARIABLE = "TT_ALLOC_TRACKING_ENABLED"

#: The kinds of device memory.
KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")


class BufferType(IntEnum):
    """Buffer types with TT-Metal's numbers. SYSTEM is host memory: it is counted, but is not device
    memory."""

    DRAM = 0
    L1 = 1
    SYSTEM = 2
    L1_SMALL = 3
    TRACE = 4


class Reports(IntFlag):
    """The kinds of reports, for set_reported()."""

    BUFFERS = 0x1F  #: buffers of all types
    PROGRAMS = 0x20  #: programs and their circular buffers
    KERNELS = 0x40
    DISPATCHES = 0x80  #: dispatches and replayed traces, for resident circular buffers


class KernelRole(IntEnum):
    """Roles of kernels. FABRIC and DISPATCH kernels stay loaded until the device closes, and are
    shown as persistent."""

    APP = 0
    FABRIC = 1
    DISPATCH = 2
