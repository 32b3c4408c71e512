# SPDX-License-Identifier: Apache-2.0
"""Signal handlers that call the library while they interrupt a call of the library."""

import re
import tempfile
import unittest

from support import Case, build_consumer, skip_if_sanitized


class InterruptedCalls(Case):
    @classmethod
    def setUpClass(cls):
        skip_if_sanitized()  # a handler may deadlock in the sanitizers' allocator
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.program = build_consumer(cls.folder.name, "interrupted")

    def interrupted(self, *arguments, **environment):
        """Runs the workload until it waits. Returns the number of calls that the handler made."""
        workload = self.start([self.program, *arguments], env=self.tracked(**environment))
        calls, children, lost = map(int, workload.line().split())
        self.assertGreaterEqual(calls, 200)
        self.assertEqual(children > 0, "fork" in arguments)
        self.assertEqual(lost, 0)
        return calls

    def check_figures(self, calls):
        snapshot = self.json()
        [device] = snapshot["devices"]
        self.assertEqual(device["dram"]["used_bytes"], 4096)
        self.assertEqual(device["processes"][0]["allocations"], 1)
        [warning] = [text for text in snapshot["warnings"] if "not recorded at all" in text]
        dropped = int(re.search(r": (\d+) calls? not recorded", warning)[1])
        self.assertGreater(dropped, 0)
        self.assertLessEqual(dropped, calls)
        self.assertIn("a signal handler called inside another call", warning)

    def test_return_and_are_counted_as_dropped(self):
        self.check_figures(self.interrupted())

    def test_may_fork(self):
        self.check_figures(self.interrupted("fork"))

    def test_return_when_reports_go_to_a_server(self):
        self.interrupted(TTMEM_TRANSPORT="socket", TTMEM_SOCKET=f"{self.dir}/no-server")


if __name__ == "__main__":
    unittest.main()
