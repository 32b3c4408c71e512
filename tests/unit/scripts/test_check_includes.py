# SPDX-License-Identifier: Apache-2.0
"""Runs scripts/check_includes on copies of this tree, each with one deliberate fault.

TTMEM_BUILD is a configured tree."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TABLE = "docs/internals/folders.md"


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.copy = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-test-"))
        self.addCleanup(shutil.rmtree, self.copy)
        self.build = self.copy / "build"
        for folder in ("src", "simulator"):
            shutil.copytree(ROOT / folder, self.copy / folder,
                            ignore=shutil.ignore_patterns("node_modules"))
        (self.copy / TABLE).parent.mkdir(parents=True)
        shutil.copy(ROOT / TABLE, self.copy / TABLE)
        self.build.mkdir()
        shutil.copy(pathlib.Path(os.environ["TTMEM_BUILD"]) / "links.txt", self.build)

    def faults(self):
        """Returns the lines of the check's output. Asserts that the check fails if and only if it
        prints something."""
        result = subprocess.run([sys.executable, ROOT / "scripts" / "check_includes",
                                 self.build, self.copy],
                                text=True, capture_output=True)
        lines = result.stderr.splitlines()
        self.assertEqual(result.returncode, 1 if lines else 0)
        return lines

    def add_line(self, file, line):
        """Adds a line at the end of the file; returns its number."""
        with open(self.copy / file, "a", encoding="utf-8") as text:
            text.write(line + "\n")
        return len((self.copy / file).read_text(encoding="utf-8").splitlines())

    def test_this_tree_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    def test_an_include_without_a_link_is_named_with_its_line(self):
        number = self.add_line("src/text/table.cpp", '#include "read/collector/collector.hpp"')
        self.assertEqual(self.faults(), [
            f'src/text/table.cpp:{number}: includes "read/collector/collector.hpp", but text does not '
            "link read/collector (src/text/CMakeLists.txt)"])

    def test_an_include_against_the_arrows_is_a_fault_in_a_header_too(self):
        number = self.add_line("src/track/ledger/footprint.hpp", '#include "track/tracker/tracker.hpp"')
        [fault] = self.faults()
        self.assertTrue(fault.startswith(f"src/track/ledger/footprint.hpp:{number}: "), fault)

    def test_an_include_of_an_unknown_folder_is_a_fault(self):
        number = self.add_line("src/text/table.cpp", '#include "nowhere/table.hpp"')
        [fault] = self.faults()
        self.assertTrue(fault.startswith(f"src/text/table.cpp:{number}: "), fault)

    def test_a_file_without_a_target_is_a_fault(self):
        (self.copy / "src" / "attic").mkdir()
        self.add_line("src/attic/old.cpp", "int old();")
        [fault] = self.faults()
        self.assertTrue(fault.startswith("src/attic/old.cpp: "), fault)

    def test_a_link_that_no_include_needs_is_a_fault(self):
        for file in (self.copy / "src" / "track" / "wire").iterdir():
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace('#include "base/', '// "'), encoding="utf-8")
        [fault] = self.faults()
        self.assertTrue(fault.startswith("src/track/wire/CMakeLists.txt: links base"), fault)

    def test_a_link_to_a_higher_layer_is_a_fault(self):
        with open(self.build / "links.txt", "a", encoding="utf-8") as links:
            links.write("text ttmem_text ttmem_views\n")
        self.add_line("src/text/table.cpp", '#include "show/views/csv.hpp"')
        faults = [fault for fault in self.faults() if not fault.startswith(TABLE)]
        self.assertEqual(len(faults), 1, faults)
        self.assertTrue(faults[0].startswith(
            "src/text/CMakeLists.txt: links show/views, which is in a higher layer"), faults)

    def test_an_include_without_a_link_is_named_in_the_simulator_too(self):
        number = self.add_line("simulator/demo/demo.cpp", '#include "text/table.hpp"')
        self.assertEqual(self.faults(), [
            f'simulator/demo/demo.cpp:{number}: includes "text/table.hpp", but simulator/demo does not '
            "link text (simulator/demo/CMakeLists.txt)"])

    def test_a_wrong_row_of_the_table_is_a_fault(self):
        page = self.copy / TABLE
        text = page.read_text(encoding="utf-8")
        self.assertIn("| `src/track/wire` | base |", text)
        page.write_text(text.replace("| `src/track/wire` | base |", "| `src/track/wire` | base model |"),
                        encoding="utf-8")
        self.assertEqual(self.faults(),
                         [f"{TABLE}: src/track/wire links base, the table says base model"])

    def test_a_folder_that_is_missing_in_the_table_is_a_fault(self):
        page = self.copy / TABLE
        lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
        page.write_text("".join(line for line in lines if not line.startswith("| `src/track/wire` ")),
                        encoding="utf-8")
        self.assertEqual(self.faults(), [f"{TABLE}: src/track/wire is not in the table"])


if __name__ == "__main__":
    unittest.main()
