# SPDX-License-Identifier: Apache-2.0
"""The tests of the C interface again, in workloads that have closed descriptors 0 to 2 and still
write to these descriptors."""

import unittest

import test_abi

# Closes descriptors 0 to 2. The workload and the test then use duplicates of 0 and 1.
CLOSES = """
import os, sys
go_on, sys.stdout = os.dup(0), os.fdopen(os.dup(1), "w")
os.closerange(0, 3)
def hold():
    for stream in range(3):
        try:
            os.write(stream, b"x" * 70000)
        except OSError:
            continue
        print("descriptor", stream, "is open", flush=True)
    print("ready", flush=True)
    os.read(go_on, 1)
"""


class Closed:
    BEFORE = CLOSES


def load_tests(loader, _tests, _pattern):
    cases = [case for case in vars(test_abi).values()
             if isinstance(case, type) and issubclass(case, test_abi.Abi)]
    return unittest.TestSuite(
        loader.loadTestsFromTestCase(type(case.__name__, (Closed, case), {})) for case in cases)


if __name__ == "__main__":
    unittest.main()
