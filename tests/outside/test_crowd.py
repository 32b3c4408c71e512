# SPDX-License-Identifier: Apache-2.0
"""Many processes with many threads on the same devices at once."""

import json
import tempfile
import unittest

from support import Case, build_consumer, rows

PROCESSES, THREADS, SECONDS = 64, 8, 3
KINDS = ("dram_bytes", "l1_bytes", "cb_bytes", "kernels_bytes")


class Crowd(Case):
    def test_totals_are_the_sum_over_the_processes(self):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        self.addCleanup(folder.cleanup)
        consumer = build_consumer(folder.name)
        crowd = [self.start([consumer, "crowd", seed, THREADS, SECONDS], env=self.tracked())
                 for seed in range(PROCESSES)]
        self.wait_for(lambda: len(self.files()) == PROCESSES, "all processes to be up")
        self.json()  # reads while the processes work
        said = [json.loads(process.line()) for process in crowd]

        snapshot = self.json()
        self.assertEqual(snapshot["warnings"], [])
        self.assertEqual(len(snapshot["devices"]), 2)
        shown = rows(snapshot, "alive")
        for device in snapshot["devices"]:
            number = device["id"]
            for one in said:
                expected = one["devices"][number]
                self.assertEqual({kind: shown[number, one["pid"]][kind] for kind in KINDS},
                                 expected)
            total = {kind: sum(one["devices"][number][kind] for one in said) for kind in KINDS}
            self.assertEqual(device["dram"]["used_bytes"], total["dram_bytes"])
            self.assertEqual(device["l1"]["buffers"]["physical_bytes"], total["l1_bytes"])
            self.assertEqual(device["l1"]["kernels_bytes"], total["kernels_bytes"])
            self.assertEqual(device["l1"]["cb"]["physical_bytes"], total["cb_bytes"])
            self.assertEqual(device["anomalies"]["unknown_frees"], 0)
            self.assertEqual(device["anomalies"]["allocs_over_live"], 0)
            self.assertEqual(device["anomalies"]["bad_arguments"], 0)

        for process in crowd:
            process.close_stdin()
        for process in crowd:
            self.assertEqual(process.wait(), 0)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
