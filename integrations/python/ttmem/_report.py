# SPDX-License-Identifier: Apache-2.0
"""Formats a measurement as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

from ._sizes import format_size

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
    return _ROW.format(name, _size(change.took_bytes, bound), _size(change.gave_back_bytes, bound),
                       _size(change.net_bytes, plus="+"), _size(change.peak_bytes, bound))


def _size(value: Optional[int], prefix: str = "", plus: str = "") -> str:
    """Returns "n/a", or text such as ">= 1.20 MiB", "+4.00 KiB" or "-1.20 MiB"."""
    if value is None:
        return "n/a"
    sign = "-" if value < 0 else plus
    return f"{prefix}{sign}{format_size(abs(value)) if value else '0.00 MiB'}"


def _footnotes(measure: Measure, shown: List[Change]) -> List[str]:
    notes = []
    if any(change.peak_bytes is not None and not change.peak_is_exact for change in shown):
        notes.append(f"  >=: from {measure.samples} samples, one every {measure.interval_s:g} s; "
                     "it may have been more between them")
    if any(change.peak_bytes is None for change in shown):
        notes.append("  n/a: no sample was taken inside the block")
    return notes
