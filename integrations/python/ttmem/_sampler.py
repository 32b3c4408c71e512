# SPDX-License-Identifier: Apache-2.0
"""Collects snapshots again and again while something else runs."""

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
    """Gives `see` a snapshot every `interval_s` seconds, on a thread of its own, from start() until
    stop(). One `ttmem --watch` delivers them, so that a sample costs no new process. It ends with
    stop(), or by itself when this process and all it forked are gone: then nobody reads it."""

    def __init__(self, interval_s: float, see: Callable[[Dict[str, Any]], None]) -> None:
        self._interval_s = interval_s
        self._see = see

    def start(self) -> None:
        """Raises TtmemError when the command cannot be run."""
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
        """`see` is not called any more when it returns."""
        self._process.kill()
        self._process.wait()
        # A process that another thread forked just when the pipe was made may keep it open.
        self._thread.join(_JOIN_TIMEOUT_SECONDS)
        if not self._thread.is_alive():
            self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            if not line.endswith(b"\n"):
                return  # killed in the middle of it
            try:
                self._see(parse(SCHEMA, line, "ttmem"))
            except TtmemError:
                return
