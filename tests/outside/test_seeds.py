# SPDX-License-Identifier: Apache-2.0
"""docs/internals/seeds.md names tests for each case. Each of these tests exists and runs."""

import json
import os
import re
import subprocess
import unittest

from support import HERE

TABLE = HERE.parent.parent / "docs" / "internals" / "seeds.md"
# The build tree in which ctest finds these tests.
BUILD = os.environ["TTMEM_BUILD"]


def tests_of_ctest():
    """Returns the names of ctest's tests that have the label unit or outside and are not disabled.
    ctest lists each GoogleTest by its own name."""
    listing = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"],
                             text=True, capture_output=True, check=True)
    names = set()
    for test in json.loads(listing.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        if not properties.get("DISABLED") and {"unit", "outside"} & set(labels):
            names.add(test["name"])
    return names


def tests_of_unittest(scripts):
    """Returns the names of these scripts' tests, as "module.Class.test", without skipped tests."""
    loader = unittest.TestLoader()
    names, left = set(), [loader.loadTestsFromName(script) for script in scripts]
    while left:
        test = left.pop()
        if isinstance(test, unittest.TestSuite):
            left += test
            continue
        method = getattr(test, test._testMethodName)
        if not any(getattr(part, "__unittest_skip__", False) for part in (test, method)):
            names.add(test.id())
    return names


def tests_that_run():
    ctest = tests_of_ctest()
    scripts = {path.stem for path in HERE.glob("test_*.py")
               if path.stem.replace("test_", "outside_", 1) in ctest}
    return ctest | tests_of_unittest(scripts - {"test_seeds"})


def rows():
    """Returns [(case, [tests])], one entry for each row of the table."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| 00\d ", line):
            case, tests = line.strip("|").rsplit("|", 1)
            found.append((case.strip(), re.findall(r"`([^`]+)`", tests)))
    return found


class TheSeeds(unittest.TestCase):
    def test_every_case_has_tests_and_each_of_them_runs(self):
        running = tests_that_run()
        for case, tests in rows():
            with self.subTest(case):
                self.assertTrue(tests, "no test is named")
                self.assertEqual([name for name in tests if name not in running], [])

    def test_every_seed_is_in_the_table(self):
        self.assertEqual({case.split()[0] for case, _ in rows()},
                         {"000", "001", "002", "003", "004"})
