# SPDX-License-Identifier: Apache-2.0
"""Finds the library and the command. A file that an environment variable names is used or
rejected, but never replaced by another file, because the user has chosen it."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import sysconfig
from pathlib import Path
from typing import Iterator, List, Optional

from ._errors import TtmemError

_LIBRARY_NAMES = ("libttmem.so", "libttmem.so.0")
_COMMON_PREFIXES = ("/usr/local", "/usr", "/opt/ttmem")


def library_candidates() -> Iterator[str]:
    """Yields names of the library for dlopen(), the best first."""
    named = os.environ.get("TTMEM_LIB")
    if named:
        yield named
        return
    package = Path(__file__).resolve().parent
    folders = [package, package.parent]
    command = shutil.which("ttmem")
    if command:
        folders += _library_folders(Path(command).resolve().parent.parent)
    yield from _libraries_in(*folders)
    found = ctypes.util.find_library("ttmem")
    if found:
        yield found
    for prefix in _COMMON_PREFIXES:
        yield from _libraries_in(*_library_folders(Path(prefix)))


def _library_folders(prefix: Path) -> List[Path]:
    """Returns the folders in which libraries are installed: `lib`, and the folder of this system's
    packages."""
    triplet = sysconfig.get_config_var("MULTIARCH")  # on Debian: x86_64-linux-gnu
    return [prefix / "lib"] + ([prefix / "lib" / triplet] if triplet else [prefix / "lib64"])


def _libraries_in(*folders: Path) -> Iterator[str]:
    for folder in folders:
        for name in _LIBRARY_NAMES:
            if (folder / name).is_file():
                yield str(folder / name)


def command_path() -> str:
    """Returns the path of the `ttmem` command."""
    named = os.environ.get("TTMEM_BIN")
    if named:
        if _is_executable(Path(named)):
            return named
        raise TtmemError(f"TTMEM_BIN names {named}, which is not an executable file; set it "
                         "to the ttmem command, or unset it to have PATH searched")
    found = shutil.which("ttmem") or _command_next_to_the_library()
    if found:
        return found
    raise TtmemError("the ttmem command is not on PATH; install ttmem, or set TTMEM_BIN to where "
                     "it is")


def _command_next_to_the_library() -> Optional[str]:
    for library in library_candidates():
        folder = Path(library).resolve().parent
        for command in (folder.parent / "bin" / "ttmem", folder.parent.parent / "bin" / "ttmem",
                        folder / "ttmem"):
            if os.path.isabs(library) and _is_executable(command):
                return str(command)
    return None


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(str(path), os.X_OK)
