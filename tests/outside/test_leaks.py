# SPDX-License-Identifier: Apache-2.0
"""`ttmem leaks`: what dead processes held, what was left on closed devices, and what grows; live and
in recordings."""

import json
import pathlib
import random
import sys
import unittest

from recording_file import Recording
from support import HERE, KIB, LIBRARY, MIB, TTMEM, Case


class LeaksCase(Case):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir) / "run.ttmem"

    def leaks(self, *arguments, code=0):
        """The only source that was looked at."""
        shown = self.ttmem("leaks", *arguments, "--json", code=code)
        document = json.loads(shown.stdout)
        self.assertEqual(document["schema"], "ttmem.leaks.v1")
        [source] = document["sources"]
        return source

    def record(self, *command):
        self.path.unlink(missing_ok=True)
        self.ttmem("record", "-o", self.path, "--", *command)
        return self.path

    def assert_none(self, source):
        for found in ("dead_process", "closed_device", "growth"):
            self.assertEqual(source[found], [])
        self.assertFalse(source["leaks"])


class Live(LeaksCase):
    def test_nothing_says_what_was_looked_at(self):
        self.assert_none(self.leaks("--fail"))
        text = self.ttmem("leaks").stdout
        self.assertIn("No leaks found. Looked at: what dead processes held", text)
        self.assertIn("--for 30s", text)

    def test_what_a_living_process_holds_is_no_leak(self):
        self.hold_calls("open_device(); alloc(DRAM, 1, 4096, label=b'weights')")
        self.assert_none(self.leaks("--fail"))

    def test_a_killed_process(self):
        held = self.hold_calls(
            "open_device()\n"
            "for i in range(3): alloc(DRAM, i + 1, 4096, i << 20, label=b'layer.%d.w' % i)\n"
            "alloc(DRAM, 9, 100, 5 << 20, label=b'freed')\n"
            "free(DRAM, 9)\n"
            "alloc(L1, 10, 32, label=b'activation')")
        held.kill()
        source = self.leaks("--fail", code=3)
        found = {(leak["kind"], leak["label"]): leak for leak in source["dead_process"]}
        self.assertEqual(set(found), {("dram", "layer.#.w"), ("l1", "activation")})
        weights = found["dram", "layer.#.w"]
        self.assertEqual((weights["count"], weights["pid"], weights["devices"], weights["killed"]),
                         (3, held.pid, [0], True))
        self.assertIsNone(weights["oldest_time_ns"])
        self.assertGreater(weights["oldest_age_ns"], 0)
        self.assertEqual(found["l1", "activation"]["bytes"], 32 * 64)
        only = self.leaks("--kind", "l1")["dead_process"]
        self.assertEqual([leak["label"] for leak in only], ["activation"])
        self.assertEqual(self.leaks("--pid", held.pid + 1)["dead_process"], [])
        self.assertIn("ttmem clean", self.ttmem("leaks").stdout)
        self.ttmem("clean")
        self.assert_none(self.leaks("--fail"))

    def test_a_device_that_was_closed(self):
        self.hold_calls("open_device(); alloc(DRAM, 1, 4096); alloc(L1, 2, 100)\n"
                        "lib.ttmem_device_close(0)")
        [left] = self.leaks("--fail", code=3)["closed_device"]
        self.assertEqual((left["kind"], left["count"], left["bytes"], left["devices"]),
                         (None, 2, 4096 * 12 + 100 * 64, [0]))
        self.assertIn("ttmem record", self.ttmem("leaks").stdout)

    def test_what_grows(self):
        demo = self.start_ttmem("demo", "leak", "--seconds", "60")
        demo.line("stderr")
        source = self.leaks("--for", "4s", "--fail", code=3)
        grown = {growth["label"]: growth for growth in source["growth"]}
        self.assertIn("request.#.logits", grown)
        logits = grown["request.#.logits"]
        self.assertEqual((logits["kind"], logits["pid"], logits["mark"]), ("dram", demo.pid, None))
        self.assertGreater(logits["last_bytes"], logits["first_bytes"])
        self.assertGreater(logits["last_count"], logits["first_count"])
        self.assertLessEqual(set(grown), {"request.#.logits", "request.#.scores"})

    def test_what_comes_and_goes_does_not(self):
        demo = self.start_ttmem("demo", "training", "--seconds", "60")
        demo.line("stderr")
        self.assert_none(self.leaks("--for", "3s", "--fail"))


class Recorded(LeaksCase):
    def test_the_leak_of_the_demo(self):
        self.record(TTMEM, "demo", "leak", "--seconds", "3")
        source = self.leaks(self.path, "--fail", code=3)
        self.assertEqual([(growth["kind"], growth["label"], growth["mark"])
                          for growth in source["growth"]],
                         [("dram", "request.#.logits", "step"), ("l1", "request.#.scores", "step")])
        logits = source["growth"][0]
        each = (logits["last_bytes"] - logits["first_bytes"]) / (logits["looks"] - 3)
        self.assertAlmostEqual(each, 4 * MIB, delta=64 * KIB)
        self.assertEqual(source["closed_device"], [])
        for width in ("80", "200"):
            shown = self.ttmem("leaks", self.path, env={**self.env, "COLUMNS": width}).stdout
            self.assertIn("request.#.logits", shown)
            self.assertLessEqual(max(map(len, shown.splitlines()[1:])), int(width))

    def test_no_false_alarm(self):
        for scenario, seconds in (("single", "2"), ("cached-programs", "2"), ("mesh8", "2"),
                                  ("training", "4"), ("inference", "12")):
            self.record(TTMEM, "demo", scenario, "--seconds", seconds)
            with self.subTest(scenario):
                self.assert_none(self.leaks(self.path, "--fail"))

    def test_ends_of_processes_and_devices(self):
        recording = Recording()
        model = recording.process(7, "model", end=900)
        device = recording.device(model, 3, "0xa", end=500)
        again = recording.device(model, 3, "0xa", begin=600, end=900)
        recording.allocate([device], "dram", 4000, 10, 500, label="closed", scope="load",
                           ending="device_closed")
        recording.allocate([device], "l1", 100, 20, 30, label="freed")
        recording.allocate([again], "dram", 70, 700, 900, label="held", ending="process_ended")
        recording.save(self.path, ended=1_000)
        source = self.leaks(self.path, "--fail", code=3)
        [closed] = source["closed_device"]
        self.assertEqual((closed["kind"], closed["scope"], closed["label"], closed["bytes"],
                          closed["devices"], closed["oldest_time_ns"]),
                         ("dram", "load", "closed", 4000, [3], 10))
        [held] = source["dead_process"]
        self.assertEqual((held["label"], held["bytes"], held["killed"]), ("held", 70, False))
        self.assertEqual(source["growth"], [])
        self.assertIn("ttmem_mark", " ".join(source["unknown"]))
        self.assertEqual(self.leaks(self.path, "--device", "0xa", code=0)["file"], str(self.path))
        self.assertIn("no device 9", self.ttmem("leaks", self.path, "-i", "9", code=1).stderr)

    def test_a_killed_process(self):
        program = ("from abi import *\nimport os, signal\n"
                   "open_device(); alloc(DRAM, 1, 4096, label=b'weights')\n"
                   "os.kill(os.getpid(), signal.SIGKILL)")
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        self.ttmem("record", "-o", self.path, "--", sys.executable, "-c", program, code=137)
        [held] = self.leaks(self.path, "--fail", code=3)["dead_process"]
        self.assertEqual((held["label"], held["killed"]), ("weights", True))

    def test_growth_by_a_plain_count(self):
        """Two processes that mark; one leaks. The sums are made here, mark by mark."""
        chance = random.Random(7)
        recording = Recording()
        rows = [recording.device(recording.process(pid, "model"), 0, "0xa") for pid in (7, 8)]
        time = 0
        for step in range(12):
            for process, row in enumerate(rows, 1):
                for _ in range(chance.randrange(1, 4)):
                    time += 1
                    recording.allocate([row], "l1", 64 * chance.randrange(1, 9), time, time + 1,
                                       label=f"scratch.{step}")
                time += 2
                if process == 1:
                    recording.allocate([row], "dram", 1000, time, label=f"kv.{step}",
                                       scope="decoder.0")
                recording.allocate([row], "dram", 500, time, time + 30, label="window")
                recording.mark(process, f"step {step}", time + 1)
                time += 2
        recording.save(self.path, ended=time + 100)
        [grown] = self.leaks(self.path)["growth"]
        self.assertEqual((grown["pid"], grown["scope"], grown["label"], grown["mark"]),
                         (7, "decoder.0", "kv.#", "step #"))
        self.assertEqual((grown["first_bytes"], grown["last_bytes"], grown["grew"]),
                         (3000, 12000, 9))
        self.assertEqual(self.leaks(self.path, "--pid", "8")["growth"], [])
        self.assertEqual(self.leaks(self.path, "--kind", "l1")["growth"], [])

    def test_several_files(self):
        for name in ("a", "b"):
            recording = Recording()
            recording.device(recording.process(7, "model", end=900), 0)
            recording.save(pathlib.Path(self.dir) / name, ended=1_000)
        shown = self.ttmem("leaks", f"{self.dir}/a", f"{self.dir}/b", "--json", "--fail")
        self.assertEqual([source["file"] for source in json.loads(shown.stdout)["sources"]],
                         [f"{self.dir}/a", f"{self.dir}/b"])

    def test_what_is_no_recording(self):
        self.path.write_bytes(b"SQLite format 3\0" + bytes(1000))
        for arguments in ((self.path,), (f"{self.dir}/missing",)):
            shown = self.ttmem("leaks", *arguments, "--fail", code=1)
            self.assertEqual((shown.stdout, len(shown.stderr.splitlines())), ("", 1))
            self.assertIn(str(arguments[0]), shown.stderr)

    def test_cut_short(self):
        self.record(TTMEM, "demo", "leak", "--seconds", "1")
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:len(whole) // 2])
        shown = self.ttmem("leaks", self.path, "--fail", code=1)
        self.assertIn(str(self.path), shown.stderr)


class CouldNotLook(LeaksCase):
    def test_is_no_answer(self):
        env = {**self.env, "TTMEM_DIR": f"{self.dir}/missing"}
        shown = self.ttmem("leaks", env=env, code=1).stdout
        self.assertIn("missing", "".join(shown.split()))
        self.assertNotIn("No leaks", shown)
        [source] = json.loads(self.ttmem("leaks", "--json", env=env, code=1).stdout)["sources"]
        self.assertIs(source["complete"], False)
        self.assertIs(self.leaks()["complete"], True)


class Usage(LeaksCase):
    def test_wrong_options(self):
        self.assertIn("--for", self.ttmem("leaks", "--for", "soon", code=2).stderr)
        self.assertIn("leave one out",
                      self.ttmem("leaks", "run.ttmem", "--for", "1s", code=2).stderr)
        self.assertIn("Examples:", self.ttmem("help", "leaks").stdout)


if __name__ == "__main__":
    unittest.main()
