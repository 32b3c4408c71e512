# SPDX-License-Identifier: Apache-2.0
"""One process's figures in a snapshot."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from ._constants import KINDS

MEASURED = (*KINDS, "l1_total")
_L1_KINDS = ("l1", "l1_small", "cb", "kernel")

Figures = Dict[str, Optional[int]]  # by kind; None is unknown


class DeviceFigures(NamedTuple):
    """What one process holds on one device."""

    id: int
    uid: Optional[str]
    used: Figures
    # The most it ever held since it opened the device, of the kinds where that is known. A
    # snapshot has peaks of devices only: they are the process's while it is alone there.
    peaks: Figures


def figures_of(document: Dict[str, Any], pid: int) -> List[DeviceFigures]:
    """The devices that the tracked process `pid` has open."""
    found = []
    for device in document["devices"]:
        living = [row for row in device["processes"] if row["state"] == "alive"]
        for row in living:
            if row["pid"] == pid and row["source"] == "ttmem":
                used = _used(row)
                peaks = _peaks(device, used) if len(living) == 1 else {}
                found.append(DeviceFigures(device["id"], device["uid"], used, peaks))
    return found


def same_device(device: DeviceFigures, among: List[DeviceFigures]) -> Optional[DeviceFigures]:
    """A device is known by the chip's own number; where that is unknown, by the logical one."""
    for other in among:
        if device.uid is not None and device.uid == other.uid:
            return other
    for other in among:
        if device.id == other.id and (device.uid is None or other.uid is None):
            return other
    return None


def larger(first: Optional[int], second: Optional[int]) -> Optional[int]:
    return None if first is None or second is None else max(first, second)


def most(first: Optional[int], second: Optional[int]) -> Optional[int]:
    """The larger of those that are known."""
    return max((value for value in (first, second) if value is not None), default=None)


def _used(row: Dict[str, Any]) -> Figures:
    used = {kind: row["kernels_bytes" if kind == "kernel" else f"{kind}_bytes"] for kind in KINDS}
    # As Total L1 of a device: what is reported of it, and nothing without L1 buffers.
    parts = [used[kind] or 0 for kind in _L1_KINDS]
    used["l1_total"] = None if used["l1"] is None else sum(parts)
    return used


def _peaks(device: Dict[str, Any], used: Figures) -> Figures:
    l1 = device["l1"]
    known = {
        "dram": (device["dram"]["used_bytes"], device["dram"]["peak_bytes"]),
        "trace": (device["trace"]["used_bytes"], device["trace"]["peak_bytes"]),
        "cb": (l1["cb"]["physical_bytes"], l1["cb"]["peak_bytes"]),
        "l1_total": (l1["used_bytes"], l1["peak_bytes"]),
    }
    # The device's figure is the process's: a check that it is alone there.
    return {kind: peak for kind, (now, peak) in known.items() if now == used[kind]}
