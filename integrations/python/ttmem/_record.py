# SPDX-License-Identifier: Apache-2.0
"""Records a block of code into a file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import Iterator, List, Union

from ._calls import require_tracking
from ._errors import TtmemError
from ._find import command_path

_DEADLINE_SECONDS = 60
_ATTACHED = b"recording process"  # what `ttmem record --pid` says when it is ready


@contextlib.contextmanager
def record(path: Union[str, "os.PathLike[str]"], overwrite: bool = False) -> Iterator[None]:
    """Records what this process, with all its threads, allocates, frees, places and dispatches
    while the block runs, into the file `path`, for `ttmem report`, `diff`, `export` and
    `top --replay`. What it holds at the beginning of the block is in it too.

        with ttmem.record("step.ttmem"):
            model.step()

    Raises TtmemError before the block when this process is not tracked, the file is there and may
    not be overwritten, or the ttmem command is missing; and after a block that did not raise, when
    the recording could not be written. In a process that the block forks nothing happens."""
    require_tracking()
    owner = os.getpid()
    command = [command_path(), "record", "--pid", str(owner), "-o", os.fspath(path)]
    if overwrite:
        command.append("-f")
    recorder = _start(command)
    try:
        yield
    except BaseException:
        if os.getpid() == owner:
            _end(recorder)
        raise
    if os.getpid() == owner:
        said = _end(recorder)
        if recorder.returncode != 0:
            raise _failed(command, said, recorder.returncode)


def _start(command: List[str]) -> "subprocess.Popen[bytes]":
    """The recorder, when it has attached."""
    try:
        # A session of its own: Ctrl-C ends the block first.
        recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise TtmemError(f"{command[0]} cannot be run: {error}; check TTMEM_BIN and PATH") from None
    said = []
    assert recorder.stderr is not None
    for line in recorder.stderr:
        if _ATTACHED in line:
            return recorder
        said.append(line)
    recorder.wait(_DEADLINE_SECONDS)
    recorder.stderr.close()
    raise _failed(command, b"".join(said), recorder.returncode)


def _end(recorder: "subprocess.Popen[bytes]") -> bytes:
    """What it said."""
    recorder.send_signal(signal.SIGINT)
    try:
        return recorder.communicate(timeout=_DEADLINE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        recorder.kill()
        return recorder.communicate()[1]


def _failed(command: List[str], said: bytes, code: int) -> TtmemError:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return TtmemError(lines[-1] if lines else f"{' '.join(command)} failed: exit code {code}")
