# SPDX-License-Identifier: Apache-2.0
"""If the library cannot allocate memory in a workload, it does not change errno or crash."""

import subprocess
import tempfile
import unittest

from server_case import ServerCase
from support import DEADLINE_SECONDS, build_consumer, skip_if_sanitized


class ShortMemory(ServerCase):
    def test_no_call_changes_errno_whichever_allocation_fails(self):
        skip_if_sanitized()  # sanitizers have their own allocator
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = build_consumer(folder.name, "short_memory")
        self.start_server("--quiet")
        for more in ({}, {"TTMEM_TRANSPORT": "socket", "TTMEM_SOCKET": self.path}):
            with self.subTest(**more):
                result = subprocess.run([program], env=self.tracked(**more), text=True,
                                        capture_output=True, timeout=DEADLINE_SECONDS)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertGreater(int(result.stdout), 50)


if __name__ == "__main__":
    unittest.main()
