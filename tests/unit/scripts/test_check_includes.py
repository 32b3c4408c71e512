# SPDX-License-Identifier: Apache-2.0
"""scripts/check_includes on copies of this tree, each with one fault put there on purpose.

TTMEM_BUILD is a configured tree."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.copy = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-test-"))
        self.addCleanup(shutil.rmtree, self.copy)
        shutil.copytree(ROOT / "src", self.copy / "src")
        shutil.copy(ROOT / "ARCHITECTURE.md", self.copy)

    def faults(self):
        """What the check says, line by line; it fails exactly when it says something."""
        result = subprocess.run([sys.executable, ROOT / "scripts" / "check_includes",
                                 os.environ["TTMEM_BUILD"], self.copy],
                                text=True, capture_output=True)
        lines = result.stderr.splitlines()
        self.assertEqual(result.returncode, 1 if lines else 0)
        return lines

    def add_line(self, file, line):
        """At the end of the file; returns its number."""
        with open(self.copy / file, "a", encoding="utf-8") as text:
            text.write(line + "\n")
        return len((self.copy / file).read_text(encoding="utf-8").splitlines())

    def test_this_tree_has_no_fault(self):
        self.assertEqual(self.faults(), [])

    def test_an_include_without_a_link_is_named_with_its_line(self):
        number = self.add_line("src/views/table.cpp", '#include "collector/collector.hpp"')
        self.assertEqual(self.faults(), [
            f'src/views/table.cpp:{number}: includes "collector/collector.hpp", but views does not '
            "link collector (src/views/CMakeLists.txt)"])

    def test_an_include_against_the_arrows_is_a_fault_in_a_header_too(self):
        number = self.add_line("src/ledger/footprint.hpp", '#include "tracker/tracker.hpp"')
        [fault] = self.faults()
        self.assertTrue(fault.startswith(f"src/ledger/footprint.hpp:{number}: "), fault)

    def test_an_include_of_no_folder_is_a_fault(self):
        number = self.add_line("src/views/table.cpp", '#include "nowhere/table.hpp"')
        [fault] = self.faults()
        self.assertTrue(fault.startswith(f"src/views/table.cpp:{number}: "), fault)

    def test_a_file_of_no_target_is_a_fault(self):
        (self.copy / "src" / "attic").mkdir()
        self.add_line("src/attic/old.cpp", "int old();")
        [fault] = self.faults()
        self.assertTrue(fault.startswith("src/attic/old.cpp: "), fault)

    def test_a_link_that_no_include_needs_is_a_fault(self):
        for file in (self.copy / "src" / "wire").iterdir():
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace('#include "base/', '// "'), encoding="utf-8")
        [fault] = self.faults()
        self.assertTrue(fault.startswith("src/wire/CMakeLists.txt: links base"), fault)

    def test_a_row_of_the_table_that_is_not_so_is_a_fault(self):
        page = self.copy / "ARCHITECTURE.md"
        text = page.read_text(encoding="utf-8")
        self.assertIn("| `src/wire` | base |", text)
        page.write_text(text.replace("| `src/wire` | base |", "| `src/wire` | base model |"),
                        encoding="utf-8")
        self.assertEqual(self.faults(),
                         ["ARCHITECTURE.md: src/wire links base, the table says base model"])


if __name__ == "__main__":
    unittest.main()
