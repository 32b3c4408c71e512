# SPDX-License-Identifier: Apache-2.0
"""Reads the figures of one process in a snapshot."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from ._constants import KINDS

MEASURED = (*KINDS, "l1_total")
_L1_KINDS = ("l1", "l1_small", "cb", "kernel")

Figures = Dict[str, Optional[int]]  # by kind; None means unknown


class DeviceFigures(NamedTuple):
    """The figures of one process on one device."""

    id: int
    uid: Optional[str]
    used: Figures
    # The known peaks since the process opened the device. A snapshot has only the peaks of a
    # device, so the peaks of the process are known only while it is alone on the device.
    peaks: Figures


def figures_of(document: Dict[str, Any], pid: int) -> List[DeviceFigures]:
    """Returns the devices that the tracked process `pid` has open."""
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
    """Finds the same device in a list by its uid, or by its number if one of the two uids is
    unknown."""
    for other in among:
        if device.uid is not None and device.uid == other.uid:
            return other
    for other in among:
        if device.id == other.id and (device.uid is None or other.uid is None):
            return other
    return None


def larger(first: Optional[int], second: Optional[int]) -> Optional[int]:
    return None if first is None or second is None else max(first, second)


def larger_known(first: Optional[int], second: Optional[int]) -> Optional[int]:
    """Returns the larger known value, or None if both are unknown."""
    return max((value for value in (first, second) if value is not None), default=None)


def _used(row: Dict[str, Any]) -> Figures:
    used = {kind: row["kernels_bytes" if kind == "kernel" else f"{kind}_bytes"] for kind in KINDS}
    # Like Total L1 of a device: the sum of the reported kinds, unknown if L1 buffers are unknown.
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
    # If device and process have the same figure, the process is alone on the device, so the peak of
    # the device is its peak.
    return {kind: peak for kind, (now, peak) in known.items() if now == used[kind]}
