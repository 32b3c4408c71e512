# SPDX-License-Identifier: Apache-2.0
"""What every process holds, as `ttmem --json` says it."""

from __future__ import annotations

from typing import Any, Dict, List

from ._command import document_of

SCHEMA = "ttmem.snapshot.v1"


def snapshot() -> Dict[str, Any]:
    """All devices and the processes on them, now: a document of the schema ttmem.snapshot.v1, with
    integers in bytes and None for unknown. Raises TtmemError when the ttmem command is missing or
    fails. Tracking need not be on in this process."""
    return document_of(SCHEMA)


def devices() -> List[Dict[str, Any]]:
    """The devices of snapshot()."""
    return snapshot()["devices"]
