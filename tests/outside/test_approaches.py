# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of docs/internals/approaches.md, as a reader would copy them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import host_program
from support import HERE, PREFIX, Case

ROOT = HERE.parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs():
    """Returns [(language, source, promised lines of output)] of the programs, in order."""
    blocks = BLOCK.findall((ROOT / "docs" / "internals" / "approaches.md").read_text(encoding="utf-8"))
    sources = blocks[0::2]
    promises = blocks[1::2]
    return [(language, source, [line.strip() for line in promised.splitlines()])
            for (language, source), (_, promised) in zip(sources, promises)]


class TheApproaches(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-approaches-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(self.env, TT_ALLOC_TRACKING_ENABLED="1",
                                TTMEM_DRYRUN_SYSTEM="n150", PYTHONPATH=str(ROOT / "integrations" / "python"),
                                PATH=f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def check(self, command, promised):
        result = subprocess.run(command, env=self.environment, text=True, capture_output=True,
                                timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in promised:
            self.assertIn(line, result.stdout)

    def compile(self, compiler, number, *sources):
        _, source, promised = programs()[number - 1]
        path = self.folder / f"approach{number}.cpp"
        path.write_text(source, encoding="utf-8")
        binary = self.folder / f"approach{number}"
        host_program.build(compiler, binary, path, *sources)
        self.check([str(binary)], promised)

    def test_there_is_a_program_for_each(self):
        self.assertEqual([language for language, _, _ in programs()], ["python", "cpp", "cpp"])

    def test_1_count_by_hand(self):
        if not (ROOT / "integrations" / "python" / "ttmem").is_dir():
            raise unittest.SkipTest("no Python package in this tree")
        _, source, promised = programs()[0]
        self.check([sys.executable, "-u", "-c", source], promised)

    def test_2_wrap_the_calls(self):
        for compiler in ("g++", "clang++"):
            with self.subTest(compiler):
                self.compile(compiler, 2)

    def test_3_hook_the_runtime(self):
        for compiler in ("g++", "clang++"):
            with self.subTest(compiler):
                self.compile(compiler, 3, *host_program.processor_sources())
