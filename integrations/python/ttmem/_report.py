# SPDX-License-Identifier: Apache-2.0
"""Formats a measurement as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

if TYPE_CHECKING:
    from ._measure import Change, Measure

_ROW = "  {:<9} {:>12} {:>12} {:>12} {:>14}"


def report_text(measure: Measure) -> str:
    """Returns lines without a final newline. Leaves out kinds without any bytes."""
    name = measure.label or "ttmem.watch"
    if measure.problem is not None:
        return f"{name}: not measured: {measure.problem}"
    if measure.duration_s is None:
        return f"{name}: still running"
    lines = [f"{name}: {measure.duration_s:.3f} s"]
    shown = [change for change in measure.changes
             if change.before_bytes or change.after_bytes or change.peak_bytes]
    for device in sorted({change.device for change in shown}):
        lines.append(_ROW.format(f"device {device}", "took", "gave back", "net", "peak"))
        lines += [_row(change) for change in shown if change.device == device]
    if not shown:
        lines.append("  nothing was seen to be held on any device")
    lines += _footnotes(measure, shown)
    return "\n".join(lines)


def _row(change: Change) -> str:
    bound = "" if change.peak_is_exact or change.peak_bytes is None else ">= "
    name = "Total L1" if change.kind == "l1_total" else change.kind
    return _ROW.format(name, _mib(change.took_bytes, bound), _mib(change.gave_back_bytes, bound),
                       _mib(change.net_bytes, sign="+"), _mib(change.peak_bytes, bound))


def _mib(value: Optional[int], prefix: str = "", sign: str = "") -> str:
    return "n/a" if value is None else f"{prefix}{value / 1024 / 1024:{sign}.2f} MiB"


def _footnotes(measure: Measure, shown: List[Change]) -> List[str]:
    notes = []
    if any(change.peak_bytes is not None and not change.peak_is_exact for change in shown):
        notes.append(f"  >=: from {measure.samples} samples, one every {measure.interval_s:g} s; "
                     "it may have been more between them")
    if any(change.peak_bytes is None for change in shown):
        notes.append("  n/a: no sample was taken inside the block")
    return notes
