# SPDX-License-Identifier: Apache-2.0
"""Runs the ttmem command and reads its JSON output."""

from __future__ import annotations

import json
import subprocess
from typing import Any, Dict

from ._errors import TtmemError
from ._find import command_path

_DEADLINE_SECONDS = 60


def document_of(schema: str, *arguments: str) -> Dict[str, Any]:
    """Returns the output of `ttmem ARGUMENTS --json`. Raises TtmemError if the command is missing,
    fails, or prints anything but a document of that schema."""
    command = [command_path(), *arguments, "--json"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=_DEADLINE_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TtmemError(f"{command[0]} cannot be run: {error}; check TTMEM_BIN and PATH") from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise TtmemError(f"{' '.join(command)} failed: "
                         f"{lines[-1] if lines else f'exit code {done.returncode}'}")
    return parse(schema, done.stdout, command[0])


def parse(schema: str, text: bytes, source: str) -> Dict[str, Any]:
    """Parses one document of the schema. Raises TtmemError for any other text."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if isinstance(document, dict) and document.get("schema") == schema:
        return document
    raise TtmemError(f"{source} --json gave no {schema} document; install the ttmem that this "
                     "package came with")
