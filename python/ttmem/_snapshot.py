# SPDX-License-Identifier: Apache-2.0
"""What every process holds, as `ttmem --json` says it."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Dict, List

from ._errors import TtmemError
from ._find import command_path

_SCHEMA = "ttmem.snapshot.v1"
_DEADLINE_SECONDS = 60


def snapshot() -> Dict[str, Any]:
    """All devices and the processes on them, now: a document of the schema ttmem.snapshot.v1, with
    integers in bytes and None for unknown. Raises TtmemError when the ttmem command is missing or
    fails. Tracking need not be on in this process."""
    command = [command_path(), "--json"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=_DEADLINE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TtmemError(f"{command[0]} cannot be run: {error}; check TTMEM_BIN and PATH") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise TtmemError(f"{command[0]} --json failed: "
                         f"{said[-1] if said else f'exit code {done.returncode}'}")
    return parse(done.stdout, command[0])


def devices() -> List[Dict[str, Any]]:
    """The devices of snapshot()."""
    return snapshot()["devices"]


def parse(text: bytes, source: str) -> Dict[str, Any]:
    """One document of the schema. Raises TtmemError for anything else."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if isinstance(document, dict) and document.get("schema") == _SCHEMA:
        return document
    raise TtmemError(f"{source} --json gave no {_SCHEMA} document; install the ttmem that this "
                     "package came with")
