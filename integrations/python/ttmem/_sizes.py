# SPDX-License-Identifier: Apache-2.0
"""Parses and formats sizes."""

from __future__ import annotations

import re
from typing import Union

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_size(size: Union[int, str]) -> int:
    """Returns the bytes of 4096, "4096" or "1.2 MiB". Raises ValueError for other values."""
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match and match[2] in _UNITS:
        return int(float(match[1]) * _UNITS[match[2]])
    raise ValueError(f"{size!r} is no size; write bytes, or for example \"1.2 MiB\" "
                     f"({', '.join(unit for unit in _UNITS if unit)})")


def format_size(size_bytes: int) -> str:
    """Returns text such as "1.20 MiB"."""
    for unit in ("GiB", "MiB", "KiB"):
        if size_bytes >= _UNITS[unit]:
            return f"{size_bytes / _UNITS[unit]:.2f} {unit}"
    return f"{size_bytes} B"
