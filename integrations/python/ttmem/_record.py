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
_ATTACHED = b"recording process"  # the message of `ttmem record --pid` when it has attached


@contextlib.contextmanager
def record(path: Union[str, "os.PathLike[str]"], overwrite: bool = False) -> Iterator[None]:
    """Records the events of all threads of this process into the file `path` while the block runs.
    `ttmem report`, `diff`, `export` and `top --replay` read the file. The recording also contains
    what the process holds at the beginning of the block.

        with ttmem.record("step.ttmem"):
            model.step()

    Raises TtmemError before the block if this process is not tracked, if the file exists and may
    not be overwritten, or if the ttmem command is missing. Raises TtmemError after the block if the
    recording could not be written and the block itself raised nothing. Does nothing in a process
    that the block forks."""
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
        output = _end(recorder)
        if recorder.returncode != 0:
            raise _failed(command, output, recorder.returncode)


def _start(command: List[str]) -> "subprocess.Popen[bytes]":
    """Starts the recorder, waits until it is attached to this process, and returns it."""
    try:
        # The recorder gets a session of its own, so that Ctrl-C interrupts the block and not the
        # recorder.
        recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise TtmemError(f"{command[0]} cannot be run: {error}; check TTMEM_BIN and PATH") from None
    output = []
    assert recorder.stderr is not None
    for line in recorder.stderr:
        if _ATTACHED in line:
            return recorder
        output.append(line)
    recorder.wait(_DEADLINE_SECONDS)
    recorder.stderr.close()
    raise _failed(command, b"".join(output), recorder.returncode)


def _end(recorder: "subprocess.Popen[bytes]") -> bytes:
    """Ends the recorder and returns its output on stderr."""
    recorder.send_signal(signal.SIGINT)
    try:
        return recorder.communicate(timeout=_DEADLINE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        recorder.kill()
        return recorder.communicate()[1]


def _failed(command: List[str], output: bytes, code: int) -> TtmemError:
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return TtmemError(lines[-1] if lines else f"{' '.join(command)} failed: exit code {code}")
