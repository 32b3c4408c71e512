# SPDX-License-Identifier: Apache-2.0
"""The numbers and names that the C interface, the figures and the reports share."""

from __future__ import annotations

from enum import IntEnum, IntFlag

TRACKING_VARIABLE = "TT_ALLOC_TRACKING_ENABLED"

#: What holds memory of a device.
KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")


class BufferType(IntEnum):
    """TT-Metal's numbers. SYSTEM is host memory: counted, not device memory."""

    DRAM = 0
    L1 = 1
    SYSTEM = 2
    L1_SMALL = 3
    TRACE = 4


class Reports(IntFlag):
    """What a process reports of a device, for reports()."""

    BUFFERS = 0x1F  #: of all types
    PROGRAMS = 0x20  #: and their circular buffers
    KERNELS = 0x40
    DISPATCHES = 0x80  #: and replayed traces: what is resident


class KernelRole(IntEnum):
    """FABRIC and DISPATCH kernels stay loaded until the device closes: shown as persistent."""

    APP = 0
    FABRIC = 1
    DISPATCH = 2
