# SPDX-License-Identifier: Apache-2.0
"""`ttmem leaks`, live and for recordings: memory of dead processes, memory that was left on closed
devices, growth, and allocations that outlived their scope."""

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
        """Runs `ttmem leaks --json`. Returns the only entry of "sources" in the output."""
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
        self.assertNotIn("every_time", [found["left_behind"] for found in source["outlived_scope"]])
        self.assertFalse(source["leaks"])


class Live(LeaksCase):
    def test_without_leaks_it_says_what_was_examined(self):
        self.assert_none(self.leaks("--fail"))
        text = self.ttmem("leaks").stdout
        self.assertIn("No leaks found. Looked at: what dead processes held", text)
        self.assertIn("--for 30s", text)

    def test_the_memory_of_a_live_process_is_no_leak(self):
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
                         (3, held.pid, [0], None))
        self.assertIsNone(weights["oldest_time_ns"])
        self.assertGreater(weights["oldest_age_ns"], 0)
        self.assertEqual(found["l1", "activation"]["bytes"], 32 * 64)
        only = self.leaks("--kind", "l1")["dead_process"]
        self.assertEqual([leak["label"] for leak in only], ["activation"])
        self.assertEqual(self.leaks("--pid", held.pid + 1)["dead_process"], [])
        self.assertIn("ttmem clean", self.ttmem("leaks").stdout)
        self.ttmem("clean")
        self.assert_none(self.leaks("--fail"))

    def test_leftovers_on_a_closed_device(self):
        self.hold_calls("open_device(); alloc(DRAM, 1, 4096); alloc(L1, 2, 100)\n"
                        "lib.ttmem_device_close(0)")
        [left] = self.leaks("--fail", code=3)["closed_device"]
        self.assertEqual((left["kind"], left["count"], left["bytes"], left["devices"]),
                         (None, 2, 4096 * 12 + 100 * 64, [0]))
        self.assertIn("ttmem record", self.ttmem("leaks").stdout)

    def test_growth_is_listed(self):
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

    def test_temporary_buffers_do_not_grow(self):
        demo = self.start_ttmem("demo", "training", "--seconds", "60")
        demo.line("stderr")
        self.assert_none(self.leaks("--for", "3s", "--fail"))


# A process with several scopes. "request" leaves a buffer behind on every visit, "cached" only on
# the first visit. "load" loads the weights. "ttnn::from_torch" is an operation. Two threads enter
# "both". "open" is still open.
SCOPES = """
import threading, time
def tick():
    # Until the coarse clock has moved on.
    at = time.clock_gettime(time.CLOCK_MONOTONIC) + 0.02
    while time.clock_gettime(time.CLOCK_MONOTONIC) < at: time.sleep(0.001)
open_device()
push(b"load")
for i in range(4): alloc(DRAM, 1 + i, 4096, (1 + i) << 20, label=b"w.%d" % i)
pop()
for i in range(5):
    tick()
    push(b"serve")
    push(b"request")
    alloc(DRAM, 10 + i, 1024, (10 + i) << 20, label=b"logits.%d" % i)
    alloc(DRAM, 20, 64, 20 << 20, label=b"scratch")
    place(100 + i, (105664, 2048, [(0, 0, 1, 0)]), name=b"matmul")
    free(DRAM, 20)
    pop()
    push(b"cached")
    if i == 0:
        for k in range(8): alloc(DRAM, 30 + k, 64, (30 + k) << 20, label=b"kv.%d" % k)
    place(200, (105664, 2048, [(0, 0, 1, 0)]), name=b"softmax")
    pop()
    push(b"ttnn::from_torch")
    alloc(DRAM, 50 + i, 64, (50 + i) << 20)
    pop()
    pop()
def work():
    push(b"both")
    alloc(DRAM, 60, 64, 60 << 20, label=b"of the other thread")
    pop()
push(b"both")
thread = threading.Thread(target=work)
thread.start()
thread.join()
push(b"open")
alloc(DRAM, 70, 64, 70 << 20)
"""


class ScopeCase(LeaksCase):
    def by_scope(self, source):
        return {(found["scope"], found["programs"]): found for found in source["outlived_scope"]}

    def check(self, source):
        found = self.by_scope(source)
        self.assertEqual({key: (one["left_behind"], one["visits"], one["count"], one["label"])
                          for key, one in found.items()},
                         {("serve/request", False): ("every_time", 5, 5, "logits.#"),
                          ("serve/request", True): ("every_time", 5, 5, "matmul"),
                          ("serve/cached", False): ("sometimes", 5, 8, "kv.#"),
                          ("load", False): ("once", 1, 4, "w.#")})
        self.assertEqual([one["left_behind"] for one in source["outlived_scope"]],
                         ["every_time", "every_time", "sometimes", "once"])
        request = found["serve/request", False]
        self.assertEqual((request["kind"], request["bytes"], request["devices"]),
                         ("dram", 5 * 1024 * 12, [0]))
        self.assertIsNone(found["serve/request", True]["bytes"])
        self.assertTrue(source["leaks"])
        self.assertEqual([text for text in source["unknown"] if "scope" in text], [])


class LiveScopes(ScopeCase):
    def test_allocations_that_outlived_their_scope(self):
        held = self.hold_calls(SCOPES)
        source = self.leaks("--fail", code=3)
        self.check(source)
        self.assertEqual({one["pid"] for one in source["outlived_scope"]}, {held.pid})
        text = self.ttmem("leaks", env={**self.env, "COLUMNS": "120"}).stdout
        self.assertRegex(text, r"serve/request/logits\.# +every time, 5 visits")
        self.assertRegex(text, r"load/w\.# +entered once")
        self.assertIn("usual for weights", text)
        self.assertEqual(self.leaks("--pid", held.pid + 1, "--fail")["outlived_scope"], [])
        self.assertEqual(self.by_scope(self.leaks("--kind", "l1", "--fail")), {})

    def test_an_open_visit_does_not_count(self):
        self.hold_calls(SCOPES + "pop(); pop(); tick(); push(b'serve'); push(b'request')\n"
                        "alloc(DRAM, 90, 64, 90 << 20)")
        found = self.by_scope(self.leaks("--fail", code=3))
        request = found["serve/request", False]
        self.assertEqual((request["left_behind"], request["visits"], request["count"]),
                         ("every_time", 5, 5))
        self.assertEqual((found["both", False]["left_behind"], found["both", False]["visits"]),
                         ("sometimes", 2))

    def test_weights_alone_are_no_leak(self):
        self.hold_calls("open_device()\nfor i in range(8):\n"
                        "  push(b'layer.%d' % i); alloc(DRAM, 1 + i, 64, (1 + i) << 20); pop()")
        source = self.leaks("--fail")
        self.assert_none(source)
        [weights] = source["outlived_scope"]
        self.assertEqual((weights["scope"], weights["count"], weights["left_behind"]),
                         ("layer.#", 8, "once"))
        self.assertIn("No leaks found", self.ttmem("leaks").stdout)

    def test_a_mesh_counts_once(self):
        self.hold_calls("for d in range(4): open_device(d)\nfor i in range(3):\n"
                        "  push(b'step')\n"
                        "  if i == 2: mesh_alloc(range(4), DRAM, 1, 64)\n"
                        "  pop()")
        [found] = self.leaks("--fail")["outlived_scope"]
        self.assertEqual((found["left_behind"], found["count"], found["devices"], found["bytes"]),
                         ("sometimes", 1, [0, 1, 2, 3], 4 * 64 * 12))

    def test_a_name_without_room_is_unknown(self):
        self.hold_calls("open_device(); push(b'x' * 97); alloc(DRAM, 1, 64); pop()")
        source = self.leaks("--fail")
        self.assertEqual(source["outlived_scope"], [])
        self.assertIn("not known whether its scope", " ".join(source["unknown"]))


class RecordedScopes(ScopeCase):
    def record_calls(self, source, code=0):
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        self.ttmem("record", "-o", self.path, "--", sys.executable, "-c",
                   "from abi import *\n" + source, code=code)

    def test_at_the_end_of_the_process(self):
        self.record_calls(SCOPES)
        self.check(self.leaks(self.path, "--fail", code=3))

    def test_of_a_killed_process(self):
        self.record_calls(SCOPES + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137)
        self.check(self.leaks(self.path, "--fail", code=3))

    def test_when_its_device_is_closed(self):
        self.record_calls(SCOPES + "lib.ttmem_device_close(0)")
        found = self.by_scope(self.leaks(self.path, "--fail", code=3))
        request = found["serve/request", False]
        self.assertEqual((request["left_behind"], request["count"]), ("every_time", 5))
        self.assertNotIn(("load", False), found, "it may have been left after the closing")

    def test_scopes_of_an_older_recording_are_unknown(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model", end=900), 0)
        recording.allocate([device], "dram", 4000, 10, 900, scope="step", ending="process_ended")
        recording.save(self.path, ended=1_000)
        source = self.leaks(self.path)
        self.assertEqual(source["outlived_scope"], [])
        self.assertIn("not known whether its scope", " ".join(source["unknown"]))

    def test_the_end_of_the_recording(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0)
        for time in (10, 20, 30):
            recording.allocate([device], "dram", 100, time, scope="step")
        recording.allocate([device], "dram", 100, 40, scope="open")
        recording.scope_visits(process, "step", entered=4, open=1, last=40, before=25)
        recording.scope_visits(process, "open", entered=1, open=1, last=35)
        recording.save(self.path, ended=1_000)
        [found] = self.leaks(self.path, "--fail", code=3)["outlived_scope"]
        self.assertEqual((found["scope"], found["visits"], found["count"], found["bytes"],
                          found["oldest_time_ns"], found["left_behind"]),
                         ("step", 3, 3, 300, 10, "every_time"))


class Recorded(LeaksCase):
    def test_the_leak_of_the_demo_is_found(self):
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
        self.assertRegex(self.ttmem("leaks", self.path).stdout, r"weights +killed ")

    def test_a_process_is_killed_only_if_that_is_known(self):
        """The command is a child of ttmem, so its end is known. The end of its own child is not."""
        program = ("import os\ndef hold():\n  from abi import open_device, alloc, DRAM\n"
                   "  open_device(); alloc(DRAM, 1, 4096, label=b'weights')\n  os._exit(0)\n")
        multiprocessing = ("import multiprocessing\nchild = multiprocessing.Process(target=hold)\n"
                           "child.start(); child.join()\n")
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        for code, killed, ended in (("hold()", False, "exited"), (multiprocessing, None, "unclean")):
            self.ttmem("record", "-f", "-o", self.path, "--", sys.executable, "-c", program + code)
            [held] = self.leaks(self.path, "--fail", code=3)["dead_process"]
            self.assertEqual((held["label"], held["killed"]), ("weights", killed))
            self.assertRegex(self.ttmem("leaks", self.path).stdout, rf"weights +{ended} ")

    def test_an_older_recording_does_not_know_who_was_killed(self):
        recording = Recording()
        model = recording.process(7, "model", end=900)
        recording.allocate([recording.device(model, 0, "0xa", end=900)], "dram", 70, 700, 900,
                           ending="process_ended")
        recording.rows["processes"][0] = (*recording.rows["processes"][0][:-1], 1)
        recording.save(self.path, ended=1_000)
        [held] = self.leaks(self.path, "--fail", code=3)["dead_process"]
        self.assertIsNone(held["killed"])

    def test_growth_equals_a_simple_count(self):
        """Compares the growth with sums that the test computes itself at each mark. One of the two
        processes leaks."""
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

    def test_other_files_are_refused(self):
        self.path.write_bytes(b"SQLite format 3\0" + bytes(1000))
        for arguments in ((self.path,), (f"{self.dir}/missing",)):
            shown = self.ttmem("leaks", *arguments, "--fail", code=1)
            self.assertEqual((shown.stdout, len(shown.stderr.splitlines())), ("", 1))
            self.assertIn(str(arguments[0]), shown.stderr)

    def test_a_truncated_recording(self):
        self.record(TTMEM, "demo", "leak", "--seconds", "1")
        whole = self.path.read_bytes()
        self.path.write_bytes(whole[:len(whole) // 2])
        shown = self.ttmem("leaks", self.path, "--fail", code=1)
        self.assertIn(str(self.path), shown.stderr)


class CouldNotLook(LeaksCase):
    def test_is_reported_as_a_failure(self):
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
