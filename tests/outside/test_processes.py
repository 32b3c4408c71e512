# SPDX-License-Identifier: Apache-2.0
"""What ttmem shows of processes that fork, stop, or are killed at any instant, and which files
these processes leave."""

import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

from support import TTMEM, Case, build_consumer, rounds, rows

KILLS = 60


class Processes(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.consumer = build_consumer(cls.folder.name)

    def start_consumer(self, *mode):
        return self.start([self.consumer, *mode], env=self.tracked())

    def clean(self):
        """Removes the segments of dead processes. Returns the output."""
        said = self.ttmem("clean").stdout
        self.assertEqual(self.files(), [])
        return said


class AKilledProcess(Processes):
    def test_is_listed_as_dead_with_what_it_held_until_it_is_cleaned_away(self):
        held = self.start_consumer("hold")
        held.line()
        alive = self.json()
        held.kill()
        dead = self.json()
        self.assertEqual(rows(dead, "dead"), rows(alive, "alive"))
        self.assertEqual(rows(dead, "alive"), {})
        (device,) = dead["devices"]
        self.assertIsNone(device["dram"]["used_bytes"])
        self.assertIsNone(device["l1"]["used_bytes"])
        listed = self.json("allocs")["allocations"]
        self.assertEqual({entry["state"] for entry in listed}, {"dead"})
        self.assertIn(str(held.pid), self.clean())
        self.assertEqual(self.devices(), [])

    def test_dry_run_says_what_clean_would_do_and_does_nothing(self):
        held = self.start_consumer("hold")
        held.line()
        held.kill()
        before = self.files()
        self.assertIn(str(held.pid), self.ttmem("clean", "--dry-run").stdout)
        self.assertEqual(self.files(), before)
        self.clean()

    def test_clean_removes_nothing_that_it_cannot_report(self):
        held = self.start_consumer("hold")
        held.line()
        held.kill()
        before = self.files()
        with open("/dev/full", "wb") as full:
            result = subprocess.run([TTMEM, "clean"], env=self.env, stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=20)
        self.assertEqual(result.returncode, 1)
        self.assertIn("nothing was removed", result.stderr)
        self.assertEqual(self.files(), before)
        reader, writer = os.pipe()
        os.close(reader)  # the pipe has no reader
        result = subprocess.run([TTMEM, "clean"], env=self.env, stdout=writer,
                                stderr=subprocess.PIPE, text=True, timeout=20)
        os.close(writer)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.files(), before)
        self.clean()

    def test_clean_keeps_segments_of_live_processes(self):
        alive, dead = self.start_consumer("hold"), self.start_consumer("hold")
        alive.line(), dead.line()
        dead.kill()
        self.ttmem("clean")
        self.assertEqual(len(self.files()), 1)
        self.assertEqual(list(rows(self.json(), "alive")), [(0, alive.pid)])

    def test_a_signal_that_the_workload_does_not_catch_leaves_a_dead_row_too(self):
        held = self.start_consumer("hold")
        held.line()
        held.signal(signal.SIGTERM)
        held.wait()
        self.assertEqual(list(rows(self.json(), "dead")), [(0, held.pid)])

    def test_a_process_that_ends_leaves_nothing(self):
        held = self.start_consumer("hold")
        held.line()
        held.close_stdin()
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.files(), [])


class AFork(Processes):
    def start_family(self):
        parent = self.start_consumer("fork")
        ready, parent_pid, child_pid = parent.line().split()
        self.assertEqual((ready, int(parent_pid)), ("ready", parent.pid))
        return parent, int(child_pid)

    def test_the_child_gets_its_own_segment(self):
        parent, child = self.start_family()
        held = rows(self.json(), "alive")
        self.assertEqual(set(held), {(0, parent.pid), (0, child)})
        self.assertEqual(held[0, parent.pid]["dram_bytes"], 12 << 20)
        self.assertIsNone(held[0, child]["dram_bytes"])
        self.assertEqual(held[0, child]["l1_bytes"], 64 * 32768)
        parent.close_stdin()
        parent.wait()
        self.wait_for(lambda: not self.files(), "the child to end as well")

    def test_a_killed_parent_is_dead_while_its_child_lives(self):
        parent, child = self.start_family()
        before = rows(self.json(), "alive")
        parent.kill()
        snapshot = self.json()
        self.assertEqual(rows(snapshot, "dead"), {(0, parent.pid): before[0, parent.pid]})
        self.assertEqual(rows(snapshot, "alive"), {(0, child): before[0, child]})
        self.ttmem("clean")
        self.assertEqual(len(self.files()), 1)
        parent.close_stdin()
        self.wait_for(lambda: not self.files(), "the child to end as well")


class KilledAtAnyInstant(Processes):
    def stop(self, worker):
        """Stops the worker. Returns when the kernel shows state T: no thread of the worker runs."""
        worker.signal(signal.SIGSTOP)

        def stopped():
            with open(f"/proc/{worker.pid}/stat", encoding="ascii", errors="replace") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] == "T"

        self.wait_for(stopped, "the worker to stop")

    def kill_while_stopped(self, worker):
        """Kills the stopped worker. Checks that the worker is listed with the same figures before
        and after."""
        self.stop(worker)
        alive = self.json("--per-core")
        self.assert_sane(alive)
        listed = self.listed()
        worker.kill()
        dead = self.json("--per-core")
        self.assert_sane(dead)
        self.assertEqual(rows(dead, "dead"), rows(alive, "alive"))
        self.assertEqual(self.listed(), listed)

    def listed(self):
        return sorted((entry["device"], entry["kind"], entry["id"], entry["bytes"])
                      for entry in self.json("allocs")["allocations"])

    def test_the_list_of_a_dead_process_equals_its_last_live_list(self):
        chance = random.Random(4711)
        for seed in range(rounds(KILLS)):
            with self.subTest(seed=seed):
                worker = self.start_consumer("random", seed)
                try:
                    self.wait_for(lambda: rows(self.json(), "alive"), "the worker's figures")
                    time.sleep(chance.random() * 0.02)  # any instant is fine
                    self.kill_while_stopped(worker)
                finally:
                    worker.kill()
                    self.clean()

    def test_concurrent_readers_see_no_impossible_figure(self):
        worker = self.start_consumer("random", 1)
        self.wait_for(lambda: rows(self.json(), "alive"), "the worker's first figures")
        for _ in range(rounds(200)):
            self.assert_sane(self.json("--per-core"))
        worker.kill()
        self.assert_sane(self.json())
        self.clean()

    def test_killed_at_its_start_it_leaves_nothing_for_ever(self):
        chance = random.Random(815)
        for seed in range(rounds(KILLS)):
            worker = self.start_consumer("random", seed)
            time.sleep(chance.random() * 0.004)
            worker.kill()
            self.assert_sane(self.json())

        def cleaned():
            self.ttmem("clean")
            return not self.files()

        self.wait_for(cleaned, "a clean directory")


if __name__ == "__main__":
    unittest.main()
