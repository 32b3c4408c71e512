# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/approaches.md, as a reader would copy them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import HERE, PREFIX, Case, library_path

ROOT = HERE.parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def programs():
    """(language, source, lines it promises) of each program, in order."""
    blocks = BLOCK.findall((ROOT / "docs" / "approaches.md").read_text(encoding="utf-8"))
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
                                TTMEM_DRYRUN_SYSTEM="n150", PYTHONPATH=str(ROOT / "python"),
                                PATH=f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def check(self, command, promised):
        result = subprocess.run(command, env=self.environment, text=True, capture_output=True,
                                timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in promised:
            self.assertIn(line, result.stdout)

    def compile(self, compiler, number, *sources):
        if not (PREFIX / "include" / "ttmem-dryrun").is_dir():
            raise unittest.SkipTest("installed without the dry run")
        _, source, promised = programs()[number - 1]
        path = self.folder / f"approach{number}.cpp"
        path.write_text(source, encoding="utf-8")
        binary = self.folder / f"approach{number}"
        include = PREFIX / "include"
        subprocess.run([compiler, "-std=c++20", *WARNINGS, "-I", str(include), "-I",
                        str(include / "ttmem-dryrun"), "-I", str(PREFIX / "share/ttmem/tt-metal"),
                        str(path), *map(str, sources), "-o", str(binary), "-L", library_path(),
                        "-lttmem_dryrun", "-lttmem", "-pthread",
                        f"-Wl,-rpath,{library_path()}"], check=True)
        self.check([str(binary)], promised)

    def test_there_is_a_program_for_each(self):
        self.assertEqual([language for language, _, _ in programs()], ["python", "cpp", "cpp"])

    def test_1_count_by_hand(self):
        if not (ROOT / "python" / "ttmem").is_dir():
            raise unittest.SkipTest("no Python package in this tree")
        _, source, promised = programs()[0]
        self.check([sys.executable, "-u", "-c", source], promised)

    def test_2_wrap_the_calls(self):
        for compiler in ("g++", "clang++"):
            with self.subTest(compiler):
                self.compile(compiler, 2)

    def test_3_hook_the_runtime(self):
        processor = sorted((PREFIX / "share" / "ttmem" / "tt-metal").glob("*.cpp"))
        for compiler in ("g++", "clang++"):
            with self.subTest(compiler):
                self.compile(compiler, 3, *processor)
