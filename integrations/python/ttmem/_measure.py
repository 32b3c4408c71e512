# SPDX-License-Identifier: Apache-2.0
"""Measures a block of code: allocated, freed and peak bytes."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any, Dict, List, NamedTuple, Optional, TextIO, Type

from . import _calls
from ._errors import TtmemError
from ._process_figures import MEASURED, DeviceFigures, figures_of, larger, larger_known, same_device
from ._report import report_text
from ._sampler import Sampler
from ._snapshot import snapshot


class Change(NamedTuple):
    """How much of one kind of memory this process held on one device before, during and after a
    block. None means unknown, for example because the process has not reported the kind so far. If
    the kind is first reported inside the block, `before_bytes` is 0.

    `kind` is one of ttmem.KINDS, or "l1_total": L1 buffers, L1_SMALL, CBs and kernels together. If
    `peak_is_exact` is False, `peak_bytes` is the highest sample, and the peak may be higher.
    """

    device: int
    kind: str
    before_bytes: Optional[int] = None
    after_bytes: Optional[int] = None
    peak_bytes: Optional[int] = None
    peak_is_exact: bool = False

    @property
    def net_bytes(self) -> Optional[int]:
        """Bytes after the block minus bytes before the block; negative if the block freed more than
        it allocated."""
        return _minus(self.after_bytes, self.before_bytes)

    @property
    def took_bytes(self) -> Optional[int]:
        """Bytes at the peak of the block minus bytes before the block."""
        return _minus(self.peak_bytes, self.before_bytes)

    @property
    def gave_back_bytes(self) -> Optional[int]:
        """Bytes at the peak of the block minus bytes after the block: took_bytes - net_bytes."""
        return _minus(self.peak_bytes, self.after_bytes)


class Measure:
    """`with Measure() as m:` measures the device memory of this process, with all its threads,
    while the block runs. The results are available after the block.

    A Measure never disturbs the block. If it cannot measure (no library, tracking off, no command),
    `problem` is a sentence with the reason, and every figure is None.

    The bytes before and after the block are exact. A peak of DRAM, trace, CBs or Total L1 on a
    device is exact if both conditions hold:
    - No other process uses the device.
    - The use inside the block exceeds the peak that this process had on the device before the
      block, or equals that peak at the begin or the end of the block.
    Every other peak is the highest sample, or None if no sample was taken inside the block. If the
    block closes a device and opens it again, the peak before the closing is lost. One
    `ttmem --watch` takes a sample every `interval_s` seconds. If `interval_s` is None, no samples
    are taken.
    """

    def __init__(self, label: str = "", interval_s: Optional[float] = 0.05) -> None:
        if interval_s is not None and not 0.001 <= interval_s <= 3600:
            raise ValueError(f"interval_s is {interval_s}; it must be from 0.001 to 3600, or None")
        self.label = label
        self.interval_s = interval_s
        self.problem: Optional[str] = None  #: the reason why nothing could be measured
        self.samples = 0  #: number of samples inside the block so far
        self.duration_s: Optional[float] = None  #: None until the block ended
        self.changes: List[Change] = []  #: one for every kind on every device of this process

    def change(self, kind: str, device: int = 0) -> Change:
        """Returns the change of a kind on a device. If the process did not have the device open at
        any time in the block, the bytes before and after the block are 0."""
        if kind not in MEASURED:
            raise ValueError(f"{kind!r} is no kind of memory; the kinds are {', '.join(MEASURED)}")
        for change in self.changes:
            if (change.device, change.kind) == (device, kind):
                return change
        if self.problem is not None or self.duration_s is None:
            return Change(device, kind)
        return Change(device, kind, before_bytes=0, after_bytes=0)

    def report(self) -> str:
        """Returns the results as text."""
        return report_text(self)

    def __enter__(self) -> Measure:
        self.problem, self.samples, self.duration_s, self.changes = None, 0, None, []
        self._pid = os.getpid()
        self._before: List[DeviceFigures] = []
        self._highest: List[DeviceFigures] = []
        self._sampler: Optional[Sampler] = None
        try:
            _calls.require_tracking()
            self._before = figures_of(snapshot(), self._pid)
            if self.interval_s is not None:
                sampler = Sampler(self.interval_s, self._add_sample)
                sampler.start()
                self._sampler = sampler
        except TtmemError as error:
            self.problem = str(error)
        self._started = time.monotonic()
        return self

    def __exit__(self, error_type: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.duration_s = time.monotonic() - self._started
        if os.getpid() != self._pid:  # the sampler belongs to the parent
            self.problem = "the block was entered before fork(); only the parent is measured"
            return
        if self._sampler is not None:
            self._sampler.stop()
        if self.problem is not None:
            return
        try:
            self._compare(figures_of(snapshot(), self._pid))
        except TtmemError as problem:
            self.problem = str(problem)

    def _add_sample(self, document: Dict[str, Any]) -> None:
        """Adds a sample. Runs on the sampler's thread. That thread ends before _compare() reads the
        samples."""
        for device in figures_of(document, self._pid):
            known = same_device(device, self._highest)
            if known is None:
                self._highest.append(device)
            else:
                for kind, used in device.used.items():
                    known.used[kind] = larger_known(known.used[kind], used)
        self.samples += 1

    def _compare(self, after: List[DeviceFigures]) -> None:
        closed = [device for device in self._before if same_device(device, after) is None]
        passing = [device for device in self._highest
                   if same_device(device, after) is None and same_device(device, closed) is None]
        for device in after + closed + passing:
            start = same_device(device, self._before)
            end = same_device(device, after)
            seen = same_device(device, self._highest)
            for kind in MEASURED:
                self.changes.append(_change(device.id, kind, start, end,
                                            seen.used[kind] if seen else 0, self.samples > 0))


class _Watch(Measure):
    def __init__(self, label: str, interval_s: Optional[float], file: Optional[TextIO]) -> None:
        super().__init__(label, interval_s)
        self._file = file

    def __exit__(self, error_type: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        super().__exit__(error_type, error, traceback)
        print(self.report(), file=self._file or sys.stderr, flush=True)


def watch(label: str = "", interval_s: Optional[float] = 0.05,
          file: Optional[TextIO] = None) -> Measure:
    """Returns a Measure that prints its report at the end of the block, to `file` or stderr:

    with ttmem.watch("load weights"):
        model.load()
    """
    return _Watch(label, interval_s, file)


def _change(device: int, kind: str, start: Optional[DeviceFigures], end: Optional[DeviceFigures],
            seen: Optional[int], has_samples: bool) -> Change:
    # A tracked process holds nothing on a device that it has not opened, so 0 is exact there.
    before = start.used[kind] if start else 0
    after = end.used[kind] if end else 0
    if before is None and larger_known(after, seen) is not None:
        before = 0  # reported for the first time inside the block
    exact = _exact_peak(kind, start, end, larger(before, after))
    if exact is not None and exact >= (seen or 0):
        return Change(device, kind, before, after, exact, True)
    sampled = larger(larger(before, after), seen) if has_samples else None
    return Change(device, kind, before, after, sampled, False)


def _exact_peak(kind: str, start: Optional[DeviceFigures], end: Optional[DeviceFigures],
                at_the_edges: Optional[int]) -> Optional[int]:
    """Returns the tracker's peak if it is known to be the peak of the block, otherwise None. It is
    known if the tracker's peak rose in the block, or if the block began or ended at that peak."""
    earlier = start.peaks.get(kind) if start and start.used[kind] is not None else 0
    peak = end.peaks.get(kind) if end else None
    if earlier is None or peak is None or peak < earlier:  # lower: the device was opened again
        return None
    return peak if peak > earlier or peak == at_the_edges else None


def _minus(first: Optional[int], second: Optional[int]) -> Optional[int]:
    return None if first is None or second is None else first - second
