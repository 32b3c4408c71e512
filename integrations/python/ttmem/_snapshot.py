# SPDX-License-Identifier: Apache-2.0
"""Reads what every process holds, from `ttmem --json`."""

from __future__ import annotations

from typing import Any, Dict, List

from ._command import document_of

SCHEMA = "ttmem.snapshot.v1"


def snapshot() -> Dict[str, Any]:
    """Returns all devices and their processes at this moment, as a document of the schema
    ttmem.snapshot.v1: sizes are in bytes, and None means unknown. Raises TtmemError if the ttmem
    command is missing or fails. This process need not be tracked."""
    return document_of(SCHEMA)


def devices() -> List[Dict[str, Any]]:
    """Returns the devices of snapshot()."""
    return snapshot()["devices"]
