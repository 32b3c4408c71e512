# SPDX-License-Identifier: Apache-2.0
"""Checks from which paths the programs and libraries of the build tree and of the installed tree
load libraries, and how they are hardened."""

import os
import pathlib
import re
import subprocess
import unittest

from support import PREFIX, skip_if_sanitized

BUILD = pathlib.Path(os.environ["TTMEM_BUILD"])
LOADED = re.compile(r"(?:RUNPATH|RPATH)\).*\[(.*)\]")
ABSOLUTE = re.compile(r"/|\$ORIGIN(/|$)")


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def binaries(tree):
    """Returns the programs and shared libraries of a tree, without the files of debug symbols."""
    return sorted(path for folder in ("bin", "lib") for path in (tree / folder).rglob("*")
                  if path.parent.name != ".debug" and is_elf(path))


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, str(path)], text=True, capture_output=True,
                          check=True).stdout


def unsafe_run_paths(path):
    """Returns the run paths of a binary that have an empty or a relative element."""
    return [run_path for run_path in LOADED.findall(readelf("-d", path))
            if not all(ABSOLUTE.match(element) for element in run_path.split(":"))]


def missing_hardening(path):
    """Returns the hardening options that are missing in a binary."""
    dynamic = readelf("-d", path)
    has = {"now": re.search(r"\(FLAGS_1\).*\bNOW\b", dynamic),
           "relro": "GNU_RELRO" in readelf("-l", path),
           "pie": path.parent.name != "bin" or re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic),
           "stack protector": "__stack_chk_fail" in readelf("--dyn-syms", path)}
    return [name for name in has if not has[name]]


def build_id(path):
    return re.search(r"Build ID: (\w+)", readelf("-n", path))[1]


class Binaries(unittest.TestCase):
    def test_no_binary_loads_libraries_from_the_current_directory(self):
        for tree in (BUILD, PREFIX):
            found = binaries(tree)
            self.assertGreater(len(found), 3)
            wrong = [f"{path}: {run_paths}" for path in found if (run_paths := unsafe_run_paths(path))]
            self.assertEqual(wrong, [])

    def test_installed_binaries_are_hardened(self):
        skip_if_sanitized()
        for path in binaries(PREFIX):
            self.assertEqual(missing_hardening(path), [], path)

    def test_those_that_are_installed_have_their_symbols_beside(self):
        skip_if_sanitized()
        for path in binaries(PREFIX):
            self.assertNotIn(".symtab", readelf("-S", path), path)
            symbols = path.parent / ".debug" / f"{path.name}.debug"
            self.assertIn(".debug_info", readelf("-S", symbols), symbols)
            self.assertEqual(build_id(symbols), build_id(path), path)

    def test_calls_of_the_c_library_are_checked(self):
        skip_if_sanitized()
        if "CMAKE_BUILD_TYPE:STRING=Debug" in (BUILD / "CMakeCache.txt").read_text():
            self.skipTest("_FORTIFY_SOURCE needs an optimiser, and this build does not optimise")
        for name in ("bin/ttmem", "lib/libttmem.so", "lib/ttmem/libttmem_preload.so"):
            self.assertTrue(re.search(r"\b__\w+_chk\b", readelf("--dyn-syms", PREFIX / name)), name)


if __name__ == "__main__":
    unittest.main()
