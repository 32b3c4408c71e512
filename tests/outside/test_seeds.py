# SPDX-License-Identifier: Apache-2.0
"""docs/seeds.md names a test for every case of the seeds: they must exist."""

import re
import unittest

from support import HERE

ROOT = HERE.parent.parent
FOLDERS = ("tests",)
DEFINITION = re.compile(r"(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP)\(\s*\w+,\s*(\w+)|def (test_\w+)\(")


def defined_tests():
    names = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".py"):
                for found in DEFINITION.findall(path.read_text(encoding="utf-8")):
                    names.update(filter(None, found))
    return names


def rows():
    text = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
    return [line.strip("|").rsplit("|", 1) for line in text.splitlines()
            if re.match(r"\| 00\d ", line)]


class TheSeeds(unittest.TestCase):
    def test_every_case_has_a_test_that_exists(self):
        defined = defined_tests()
        for case, tests in rows():
            if "approach 1" in case and not (ROOT / "python").is_dir():
                continue  # its tests come and go with the package
            with self.subTest(case.strip()):
                named = re.findall(r"`(\w+)`", tests)
                self.assertTrue(named)
                self.assertEqual([name for name in named if name not in defined], [])

    def test_every_seed_is_in_the_table(self):
        self.assertEqual({case.split()[0] for case, _ in rows()},
                         {"000", "001", "002", "003", "004"})
