# SPDX-License-Identifier: Apache-2.0
"""Counts circular buffers and kernels by hand."""

from __future__ import annotations

import itertools
import operator
import os
import threading
import warnings
from types import TracebackType
from typing import Callable, List, NamedTuple, Optional, Type

from . import _calls
from ._constants import TRACKING_VARIABLE
from ._errors import TtmemError

_KERNEL_BYTES_PER_CORE = 50 * 1024  # compute and data movement kernels have 20 to 50 KiB each
_MIB = 1024 * 1024

# Unique numbers for the CBs and kernels of all trackers. They are far from the small numbers and
# addresses that other callers in this process use, and below 2^53 for readers of JSON.
_ids = itertools.count(1 << 48)


class L1Tracker:
    """Counts the L1 of circular buffers and kernels. Call track_cb() and track_kernel() where you
    create circular buffers and kernels.

    The tracker counts with and without the library. If this process is tracked (`tracked` is True),
    `ttmem` also shows these CBs and kernels for this process on `device`. The CBs have no address,
    and the kernels are estimates. CBs and kernels are held until free_cb(), free_kernel() or
    free(), the end of a `with` block, or the end of the process.

    Any thread may call the methods. After fork() the child continues to count, and `ttmem` shows
    only what the child adds.
    """

    def __init__(self, device: int = 0) -> None:
        self.device = device
        self.tracked = _tracking_is_on()  #: True if `ttmem` shows the figures too
        self._cbs = _Held("circular buffer", self._report_cb, self._report_cb_free)
        self._kernels = _Held("kernel", self._report_kernel, self._report_kernel_free)

    @property
    def cb_total(self) -> int:
        """Bytes of circular buffers held now."""
        return self._cbs.total_bytes()

    @property
    def kernel_est(self) -> int:
        """Bytes of kernels held now, estimated with 50 KiB on each core."""
        return self._kernels.total_bytes()

    @property
    def num_kernels(self) -> int:
        """Number of kernels held now."""
        return self._kernels.count()

    @property
    def cb(self) -> int:
        """The same as cb_total."""
        return self.cb_total

    @property
    def kern(self) -> int:
        """The same as kernel_est."""
        return self.kernel_est

    def track_cb(self, num_tiles: int, tile_size: int) -> int:
        """Call this when creating a circular buffer. Returns its bytes."""
        return self._cbs.add(_product(num_tiles, tile_size))

    def track_kernel(self, num_cores: int = 1) -> int:
        """Call this when adding a kernel. Returns its estimated bytes on all of its cores
        together."""
        return self._kernels.add(_product(num_cores, _KERNEL_BYTES_PER_CORE))

    def summary(self) -> None:
        """Prints the held bytes as a block of lines."""
        cbs, kernels = self.cb_total, self.kernel_est
        print(f"\n{'=' * 60}")
        print("L1 Memory Usage Breakdown")
        print(f"{'=' * 60}")
        print(f"Circular Buffers:  {cbs / _MIB:8.1f} MB")
        print(f"Kernel Code (est): {kernels / _MIB:8.1f} MB")
        print(f"  ({self.num_kernels} kernels)")
        print(f"Total L1 Overhead: {(cbs + kernels) / _MIB:8.1f} MB")
        print(f"{'=' * 60}\n")

    def cb_alloc(self, tiles: int, tile_size: int) -> None:
        """Calls track_cb() and prints the added bytes."""
        print(f"CB: +{self.track_cb(tiles, tile_size) / _MIB:.1f}MB")

    def kernel_add(self, cores: int = 1) -> None:
        """Calls track_kernel() and returns nothing."""
        self.track_kernel(cores)

    def show(self) -> None:
        """Prints the held bytes on one line."""
        print(f"\nL1: CBs={self.cb / _MIB:.1f}MB, Kernels={self.kern / _MIB:.1f}MB")

    def free_cb(self, num_tiles: int, tile_size: int) -> int:
        """Frees one held circular buffer of this size and returns its bytes. Raises ValueError if
        there is none."""
        return self._cbs.remove(_product(num_tiles, tile_size))

    def free_kernel(self, num_cores: int = 1) -> int:
        """Frees one held kernel on this number of cores and returns its bytes. Raises ValueError if
        there is none."""
        return self._kernels.remove(_product(num_cores, _KERNEL_BYTES_PER_CORE))

    def free(self) -> None:
        """Frees everything. The tracker may be used again."""
        self._cbs.clear()
        self._kernels.clear()

    def __enter__(self) -> L1Tracker:
        return self

    def __exit__(self, error_type: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.free()

    def _report_cb(self, number: int, size_bytes: int) -> bool:
        if self.tracked:
            _calls.cb_alloc(self.device, number, size_bytes)
        return self.tracked

    def _report_cb_free(self, number: int) -> None:
        _calls.cb_free(self.device, number)

    def _report_kernel(self, number: int, size_bytes: int) -> bool:
        if self.tracked:
            _calls.kernel_load_estimate(self.device, number, size_bytes)
        return self.tracked

    def _report_kernel_free(self, number: int) -> None:
        _calls.kernel_unload(self.device, number)


class _Item(NamedTuple):
    number: int
    size_bytes: int
    reported_by: Optional[int]  # pid of the process that reported the item and must report its free


class _Held:
    """The circular buffers, or the kernels, that a tracker holds. `report` passes an item to the
    library; it returns False if the process is not tracked."""

    def __init__(self, what: str, report: Callable[[int, int], bool],
                 report_free: Callable[[int], None]) -> None:
        self._what = what
        self._report = report
        self._report_free = report_free
        self._lock = threading.Lock()
        self._items: List[_Item] = []

    def total_bytes(self) -> int:
        with self._lock:
            return sum(item.size_bytes for item in self._items)

    def count(self) -> int:
        return len(self._items)

    def add(self, size_bytes: int) -> int:
        number = next(_ids)
        reported = self._report(number, size_bytes)
        item = _Item(number, size_bytes, os.getpid() if reported else None)
        with self._lock:
            self._items.append(item)
        return size_bytes

    def remove(self, size_bytes: int) -> int:
        with self._lock:
            for index, item in enumerate(self._items):
                if item.size_bytes == size_bytes:
                    del self._items[index]
                    break
            else:
                raise ValueError(f"no {self._what} of {size_bytes} bytes is held")
        self._forget(item)
        return size_bytes

    def clear(self) -> None:
        with self._lock:
            items, self._items = self._items, []
        for item in items:
            self._forget(item)

    def _forget(self, item: _Item) -> None:
        if item.reported_by == os.getpid():
            self._report_free(item.number)


def _tracking_is_on() -> bool:
    if os.environ.get(TRACKING_VARIABLE) != "1":
        return False
    try:
        _calls.require_tracking()
    except TtmemError as error:
        # Warns, because a user who sets the variable expects the figures in `ttmem`.
        warnings.warn(f"L1Tracker only counts: {error}", RuntimeWarning, stacklevel=3)
        return False
    return True


def _product(count: int, size_bytes: int) -> int:
    """Returns the product. Raises TypeError for an argument that is not an integer, and ValueError
    for a negative argument."""
    count, size_bytes = operator.index(count), operator.index(size_bytes)
    if count < 0 or size_bytes < 0:
        raise ValueError(f"{count} times {size_bytes} bytes: neither may be negative")
    return count * size_bytes
