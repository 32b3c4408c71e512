# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin with limits for the device memory and the leaks of a test.

    pytest --ttmem

    @pytest.mark.ttmem_limit(l1="1.2 MiB", dram="4 GiB")
    @pytest.mark.ttmem_no_leak
    def test_decoder(device): ...

Without --ttmem the markers do nothing. docs/guides/python.md has the details.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import tempfile
from typing import Any, Dict, Iterator, List, Optional

import pytest

from ._calls import require_tracking
from ._command import document_of
from ._constants import TRACKING_VARIABLE
from ._errors import TtmemError
from ._record import record
from ._sizes import format_size, parse_size

_NAMES = {"dram": "DRAM", "l1": "L1", "cb": "circular buffers", "l1_small": "L1_SMALL",
          "trace": "trace buffers", "kernels": "kernels"}
_SHOWN = 5  # number of list entries in a message
_NO_DEVICE = ("ttmem could not check this test: no device of this process was reported while it ran; "
              "when it uses one, start with: ttmem run -- pytest --ttmem")


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("ttmem", "memory of Tenstorrent devices")
    group.addoption("--ttmem", action="store_true",
                    help="record what each test holds on devices, and apply the ttmem markers")
    group.addoption("--ttmem-recordings", metavar="DIR",
                    help="keep the recording of each test in DIR, for ttmem report and ttmem diff")
    group.addoption("--ttmem-top", metavar="N", type=int, default=10,
                    help="list the N tests with the highest peaks at the end (10)")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line(
        "markers", f"ttmem_limit({', '.join(f'{kind}=SIZE' for kind in _NAMES)}): the most that "
        "this process may hold on any device while the test runs; with --ttmem")
    config.addinivalue_line(
        "markers", "ttmem_no_leak: the test leaves no buffer behind on a device; with --ttmem")
    if not config.getoption("--ttmem"):
        return
    # The library reads both variables at its first call, which is in require_tracking().
    os.environ.setdefault(TRACKING_VARIABLE, "1")
    os.environ.setdefault("TTMEM_EVENTS", "1048576")
    try:
        require_tracking()
    except TtmemError as error:
        raise pytest.UsageError(f"--ttmem: {error}") from None
    config.pluginmanager.register(_Plugin(config), "ttmem-recorder")


class _Plugin:
    """The hooks that are only needed with --ttmem."""

    def __init__(self, config: Any) -> None:
        self._keep: Optional[str] = config.getoption("--ttmem-recordings")
        self._top: int = config.getoption("--ttmem-top")
        self._problems: Dict[str, List[str]] = {}  # by test
        if self._keep:
            os.makedirs(self._keep, exist_ok=True)

    def pytest_collection_modifyitems(self, items: List[Any]) -> None:
        """Checks all markers before any test runs."""
        for item in items:
            try:
                _limits_of(item)
            except ValueError as error:
                raise pytest.UsageError(f"{item.nodeid}: ttmem_limit: {error}") from None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        with tempfile.TemporaryDirectory(prefix="ttmem-pytest-") as folder, \
                contextlib.ExitStack() as recording:
            path = self._path_of(item, folder)
            try:
                before = _buffers() if _must_not_leak(item) else {}
                recording.enter_context(record(path, overwrite=True))
            except TtmemError as error:
                self._note_failure(item, error)
                yield
                return
            yield
            try:
                recording.close()
                self._problems[item.nodeid] = self._check(item, path, before)
            except TtmemError as error:
                self._note_failure(item, error)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        problems = self._problems.pop(item.nodeid, []) if call.when == "call" else []
        report = outcome.get_result()
        if problems and report.passed:
            report.outcome = "failed"
            report.longrepr = "\n".join(problems)
        elif problems:
            report.sections.append(("ttmem", "\n".join(problems)))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        peaks = _peaks_of_reports(terminalreporter)
        if not peaks or self._top <= 0:
            return
        terminalreporter.section("ttmem: highest peaks")
        peaks.sort(key=lambda peak: (peak["l1"] or 0, peak["dram"] or 0), reverse=True)
        terminalreporter.write_line(f"{'L1':>12} {'DRAM':>12}  test")
        for peak in peaks[:self._top]:
            terminalreporter.write_line(
                f"{_text(peak['l1']):>12} {_text(peak['dram']):>12}  {peak['test']}")

    def _note_failure(self, item: Any, error: TtmemError) -> None:
        self._problems[item.nodeid] = [f"ttmem could not measure this test: {error}"]

    def _path_of(self, item: Any, folder: str) -> str:
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid).strip("-")
        return os.path.join(self._keep or folder, f"{name}.ttmem")

    def _check(self, item: Any, path: str, before: Dict[Any, Any]) -> List[str]:
        report = document_of("ttmem.report.v1", "report", path)
        for kind in _NAMES:
            peak = _peak(report, kind)
            if peak is not None:
                item.user_properties.append((f"ttmem_{kind}_peak_bytes", peak))
        if not report["devices"] and (_limits_of(item) or _must_not_leak(item)):
            return [_NO_DEVICE]
        problems = [_exceeded(report, kind, limit) for kind, limit in _limits_of(item).items()]
        if _must_not_leak(item):
            gc.collect()
            problems.append(_leaked(before, _buffers()))
        return [problem for problem in problems if problem]


def _limits_of(item: Any) -> Dict[str, int]:
    """Returns the limits in bytes by kind. If several markers limit the same kind, the limit
    nearest to the test is used. Raises ValueError for a wrong marker."""
    limits: Dict[str, int] = {}
    for marker in item.iter_markers("ttmem_limit"):
        if marker.args or not marker.kwargs:
            raise ValueError(f"write what is limited, for example l1=\"1.2 MiB\"; it can be "
                             f"{', '.join(_NAMES)}")
        for kind, size in marker.kwargs.items():
            if kind not in _NAMES:
                raise ValueError(f"{kind!r} cannot be limited; choose from {', '.join(_NAMES)}")
            limits.setdefault(kind, parse_size(size))
    return limits


def _must_not_leak(item: Any) -> bool:
    return item.get_closest_marker("ttmem_no_leak") is not None


def _peak(report: Dict[str, Any], kind: str) -> Optional[int]:
    """Returns the highest peak of any device, or None if all peaks are unknown."""
    peaks = [device[kind]["peak_bytes"] for device in report["devices"]]
    return max((peak for peak in peaks if peak is not None), default=None)


def _exceeded(report: Dict[str, Any], kind: str, limit: int) -> Optional[str]:
    peak, name = _peak(report, kind), _NAMES[kind]
    if peak is None:
        return f"ttmem_limit: the peak of {name} is unknown: nobody reports {name} of this process"
    if peak > limit:
        lines = [f"ttmem_limit: {name} reached {format_size(peak)} on a device, "
                 f"{format_size(peak - limit)} above the limit of {format_size(limit)}"]
        return "\n".join(lines + _holders(report, kind, peak))
    if report["lost_events"]:
        return (f"ttmem_limit: {report['lost_events']} events were lost, so {name} may have been "
                "above its limit; set TTMEM_EVENTS to a larger number")
    return None


def _holders(report: Dict[str, Any], kind: str, peak: int) -> List[str]:
    """Returns a line for each of the largest holders at the peak, or no lines if the report has no
    holders."""
    for device in report["devices"]:
        if device[kind]["peak_bytes"] == peak and kind in device["at_peak"]:
            return [f"  {format_size(holder['bytes']):>12}  {holder['kind']}  "
                    + " ".join(filter(None, (holder["scope"], holder["label"])))
                    for holder in device["at_peak"][kind][:_SHOWN]]
    return []


def _buffers() -> Dict[Any, Dict[str, Any]]:
    """Returns the live buffers of this process. Circular buffers and kernels are left out, because
    they belong to programs. Programs stay in a cache on purpose and are no leak."""
    document = document_of("ttmem.allocations.v1", "allocs", "--pid", str(os.getpid()))
    return {(tuple(entry["devices"]), entry["kind"], entry["id"], entry["address"]): entry
            for entry in document["allocations"] if entry["kind"] not in ("cb", "kernel")}


def _leaked(before: Dict[Any, Any], after: Dict[Any, Any]) -> Optional[str]:
    left = [entry for key, entry in after.items() if key not in before]
    if not left:
        return None
    left.sort(key=lambda entry: entry["bytes"], reverse=True)
    total = sum(entry["bytes"] for entry in left)
    lines = [f"ttmem_no_leak: {len(left)} {'buffer was' if len(left) == 1 else 'buffers were'} "
             f"left behind, {format_size(total)}"]
    for entry in left[:_SHOWN]:
        where = " ".join(filter(None, (entry.get("scope"), entry.get("label"))))
        lines.append(f"  {format_size(entry['bytes']):>12}  {entry['kind']}  {where}")
    return "\n".join(lines)


def _peaks_of_reports(terminalreporter: Any) -> List[Dict[str, Any]]:
    peaks = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            known = dict(getattr(report, "user_properties", ()))
            l1, dram = known.get("ttmem_l1_peak_bytes"), known.get("ttmem_dram_peak_bytes")
            if getattr(report, "when", None) == "call" and (l1, dram) != (None, None):
                peaks.append({"test": report.nodeid, "l1": l1, "dram": dram})
    return peaks


def _text(size_bytes: Optional[int]) -> str:
    return "n/a" if size_bytes is None else format_size(size_bytes)
