# SPDX-License-Identifier: Apache-2.0
"""Collects snapshots periodically while a block of code runs."""

from __future__ import annotations

import subprocess
import threading
from typing import Any, Callable, Dict

from ._command import parse
from ._errors import TtmemError
from ._find import command_path
from ._snapshot import SCHEMA

_JOIN_TIMEOUT_SECONDS = 5


class Sampler:
    """Passes a snapshot to `add_sample` every `interval_s` seconds, on a thread of its own, from
    start() until stop(). One `ttmem --watch` process writes all snapshots, so that a sample does
    not start a process. This process ends at stop(), or when nobody can read its output any more,
    because the program and its forked children have ended."""

    def __init__(self, interval_s: float, add_sample: Callable[[Dict[str, Any]], None]) -> None:
        self._interval_s = interval_s
        self._add_sample = add_sample

    def start(self) -> None:
        """Starts sampling. Raises TtmemError if the command cannot be run."""
        command = [command_path(), "--json", "--watch", f"{self._interval_s:.6f}"]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise TtmemError(f"{command[0]} cannot be run: {error}; check TTMEM_BIN and "
                             "PATH") from None
        self._thread = threading.Thread(target=self._read, name="ttmem-sampler", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._process.kill()
            self._process.communicate()
            raise TtmemError(f"no thread for sampling: {error}; end some, or pass "
                             "interval_s=None") from None

    def stop(self) -> None:
        """Ends sampling. `add_sample` is not called after stop() has returned."""
        self._process.kill()
        self._process.wait()
        # Waits with a time limit. If another thread forked just after the pipe was made, the child
        # may keep the pipe open, and the sampler's thread would not end.
        self._thread.join(_JOIN_TIMEOUT_SECONDS)
        if not self._thread.is_alive():
            self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            if not line.endswith(b"\n"):
                return  # killed in the middle of the line
            try:
                self._add_sample(parse(SCHEMA, line, "ttmem"))
            except TtmemError:
                return
