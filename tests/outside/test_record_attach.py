# SPDX-License-Identifier: Apache-2.0
"""`ttmem record --pid`: records a running process from now on."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import unittest

from support import DEADLINE_SECONDS, TTMEM, Case

BEFORE = """open_device()
for i in range(50):
    alloc(L1, 100 + i, 4096)
    free(L1, 100 + i)
alloc(L1, 1, 2048)"""

INSIDE = """
hold()
for i in range(50):
    alloc(L1, 200 + i, 1024)
    free(L1, 200 + i)"""


class WhichProcess(Case):
    def test_a_dead_process_of_the_same_pid_is_ignored(self):
        dead = self.hold_calls("open_device()\nalloc(DRAM, 1, 64)")
        dead.kill()
        said = self.ttmem("record", "--pid", dead.pid, "-o", os.path.join(self.dir, "x.ttmem"),
                          code=1).stderr
        self.assertIn(f"process {dead.pid} is not tracked; ", said)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "x.ttmem")))

    @unittest.skipUnless(os.geteuid() == 0, "only root is somebody else too")
    def test_an_unreadable_process(self):
        held = self.hold_calls("open_device()\nalloc(DRAM, 1, 64)")
        os.chmod(self.dir, 0o755)
        said = subprocess.run([TTMEM, "record", "--pid", str(held.pid), "-o", "/dev/null"],
                              env=self.env, text=True, capture_output=True, user=65534,
                              timeout=DEADLINE_SECONDS).stderr
        self.assertIn(f"process {held.pid} is not tracked, or may not be read; ", said)
        self.assertRegex(said, "belong to root|of user root|root")


class Attached(Case):
    def record_next(self, held, file):
        """Records what a waiting process does until it waits again."""
        recorder = self.start([TTMEM, "record", "--pid", held.pid, "-o", file])
        self.assertIn(f"recording process {held.pid}", recorder.line("stderr"))
        held.go_on()
        held.line()
        recorder.signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)

    def test_events_before_attaching_are_not_recorded(self):
        file = os.path.join(self.dir, "run.ttmem")
        held = self.hold_calls(BEFORE + INSIDE)
        self.record_next(held, file)
        with contextlib.closing(sqlite3.connect(file)) as database:
            counts = dict(database.execute(
                "SELECT bytes_per_bank, count(*) FROM allocation_list GROUP BY 1"))
            (most,), = database.execute("SELECT sum(DISTINCT used_bytes) FROM allocation_list")
        self.assertEqual(counts, {2048: 1, 1024: 50})
        self.assertEqual(self.json("report", file)["devices"][0]["l1_buffers"]["peak_bytes"], most)

    def test_a_device_that_is_opened_after_attaching(self):
        file = os.path.join(self.dir, "run.ttmem")
        held = self.hold_calls("""lib.ttmem_enabled()  # creates the segment
hold()
open_device()
for i in range(1, 51):
    alloc(L1, i, 1024 * i, address=1 << 19)
    alloc(DRAM, i, 4096)
    free(L1, i)
    free(DRAM, i)
alloc(L1, 99, 2048)""")
        self.record_next(held, file)
        with contextlib.closing(sqlite3.connect(file)) as database:
            numbers = database.execute(
                "SELECT kind, number FROM allocation_list ORDER BY id").fetchall()
        self.assertEqual(numbers, [(kind, number) for number in range(1, 51)
                                   for kind in ("l1", "dram")] + [("l1", 99)])
        report = self.json("report", file)
        (device,) = report["devices"]
        self.assertEqual(device["l1_buffers"]["peak_bytes"], 50 * 1024 * 64)
        self.assertEqual(device["dram"]["peak_bytes"], 4096 * 12)
        self.assertEqual(report["lost_events"], 0)

    def test_labels_and_scopes_of_a_process_without_details(self):
        """The recorder reads labels and scopes from the slots. In a slot, a scope follows either a
        label or the number of a stored text."""
        file = os.path.join(self.dir, "run.ttmem")
        long = "layers.0.attention.a.name.that.is.longer.than.a.slot"
        held = self.hold_calls(
            "open_device()\nhold()\npush(b'decoder.0')\n"
            f"alloc(L1, 1, 64, label=b'short')\nalloc(L1, 2, 64, label=b'{long}')\npop()\n"
            f"alloc(L1, 3, 64, label=b'{long}', cores=[(0, 0, 1, 0)])\nalloc(DRAM, 4, 64)")
        self.record_next(held, file)
        with contextlib.closing(sqlite3.connect(file)) as database:
            rows = database.execute("SELECT number, label, scope, cores FROM allocation_list "
                                    "ORDER BY id").fetchall()
        self.assertEqual(rows, [(1, "short", "decoder.0", None), (2, long, "decoder.0", None),
                                (3, long, None, "0-1"), (4, None, None, None)])
