# SPDX-License-Identifier: Apache-2.0
"""`ttmem explain`: why memory ran out, from a log and from the memory that processes hold."""

import json
import pathlib
import subprocess
import sys
import unittest

from recording_file import Recording
from support import HERE, LIBRARY, TTMEM, Case

# Leaves 300 KiB of L1 free at the top, 100 KiB of "residual" below, and the rest of L1 free.
FRAGMENTED = """
open_device()
alloc(L1, 1, 300 * 1024, address=1466368 - 300 * 1024, label=b"input")
push(b"block.3")
alloc(L1, 2, 100 * 1024, address=1466368 - 400 * 1024, label=b"residual")
pop()
free(L1, 1)
"""
FREE = 1360704 - 100 * 1024
LARGEST = 1360704 - 400 * 1024
ASKED = LARGEST + 64 * 1024


def out_of_memory(kind="L1", asked=ASKED, numbers=f" (allocated: {100 * 1024} B, free: {FREE} B, "
                  f"largest free block: {LARGEST} B)"):
    return (f"2026-11-16 12:00:00.123 | critical |          Always | TT_FATAL @ /src/bank_manager"
            f".cpp:462: address.has_value()\ninfo:\nOut of Memory: Not enough space to allocate "
            f"{asked * 64} B {kind} buffer across 64 banks, where each bank needs to store {asked} "
            f"B, but bank size is 1360704 B{numbers}\nbacktrace:\n --- libtt_metal.so(+0x1)\n")


def clash(address, end):
    return ("E   RuntimeError: TT_THROW @ program.cpp:1: tt::exception info: Statically allocated "
            "circular buffers in program 117 clash with L1 buffers on core range [(x=4,y=4) - "
            f"(x=7,y=7)]. L1 buffer allocated at {address} and static circular buffer region ends "
            f"at {end}")


class ExplainCase(Case):
    def log(self, text):
        path = pathlib.Path(self.dir) / "run.log"
        path.write_text("step 1 done\n" + text + "\nstep 2 did not\n")
        return path

    def explain(self, *arguments):
        said = self.json("explain", *arguments)
        self.assertEqual(said["schema"], "ttmem.explanation.v1")
        return said


class Kept(ExplainCase):
    """A process reports that it ran out of memory, frees everything and ends."""

    SAID = out_of_memory().split("info:\n")[1].split("\n")[0]

    def run_it(self, source, *before):
        """Runs a process that makes these calls and exits with 1."""
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        source = "from abi import *\n" + source + "\nraise SystemExit(1)"
        done = subprocess.run([*map(str, before), sys.executable, "-c", source], env=env,
                              check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done

    def fail(self, *before):
        source = (f"{FRAGMENTED}\nlib.ttmem_failure({self.SAID.encode()!r})\n"
                  "free(L1, 2)\nlib.ttmem_device_close(0)")
        return self.run_it(source, *before).stderr

    def check(self, said):
        self.assertEqual(said["cause"], "fragmentation")
        self.assertEqual([holder["label"] for holder in said["in_the_way"]], ["residual"])
        self.assertEqual(said["unknown"], [])

    def test_the_state_at_the_failure_is_explained_with_and_without_a_log(self):
        self.fail()
        self.assertEqual(self.devices(), [], "it is gone")
        self.check(self.explain())
        self.check(self.explain(self.log(out_of_memory())))
        said = self.explain(self.log(out_of_memory(asked=ASKED + 1024)))
        self.assertEqual(said["in_the_way"], [], "another failure than the one that was kept")
        self.ttmem("clean")
        self.assertIn("Nothing has failed", self.explain()["sentence"])

    def test_a_recording_knows_the_moment(self):
        path = pathlib.Path(self.dir) / "run.ttmem"
        said = self.fail(TTMEM, "record", "--no-adapter", "-o", path, "--")
        self.assertIn(f"ttmem explain --recording {path}", said)
        self.check(self.explain("--recording", path))
        self.check(self.explain(self.log(out_of_memory()), "--recording", path))

    def test_a_pid_chooses_the_failure_of_a_recording(self):
        path = pathlib.Path(self.dir) / "run.ttmem"
        source = ("for name in (b'first', b'second'):\n"
                  "    child = os.fork()\n"
                  "    if child == 0:\n" +
                  FRAGMENTED.replace('b"residual"', "name").replace("\n", "\n        ") +
                  f"lib.ttmem_failure({self.SAID.encode()!r})\n"
                  "        raise SystemExit(1)\n"
                  "    print(child)\n"
                  "    os.waitpid(child, 0)\n")
        done = self.run_it(source, TTMEM, "record", "--no-adapter", "-o", path, "--")
        pids = done.stdout.split()
        for pid, name in zip(pids, ("first", "second"), strict=True):
            said = self.explain("--recording", path, "--pid", pid)
            self.assertEqual([holder["label"] for holder in said["in_the_way"]], [name])

    def test_a_later_failure_without_a_state_is_reported(self):
        self.fail()
        self.run_it("open_device(0)\nlib.ttmem_failure(b'in other words')")
        said = self.ttmem("explain", "--json")
        self.assertRegex(said.stderr, r"^ttmem: \d+ failed: in other words\n"
                         r"ttmem: [\d.]+m?s ago: \S*python\S* -c .* of \S+\n"
                         r"ttmem: \d+ failed: Out of")
        self.check(json.loads(said.stdout))


class Bystanders(ExplainCase):
    """A process of this machine belongs to a log only if it has the figures of the message."""

    def setUp(self):
        super().setUp()
        self.holder = self.hold_calls(FRAGMENTED)

    def check_not_used(self, log, *arguments):
        said = self.explain(log, *arguments)
        self.assertIsNone(said["place"])
        self.assertEqual(said["in_the_way"], [])
        for suggestion in said["suggestions"]:
            self.assertFalse(suggestion["tried"], suggestion)
            self.assertEqual(suggestion["buffers"], [])
        [line] = [line for line in said["unknown"] if "runs here" in line]
        self.assertIn(str(self.holder.pid), line)
        self.assertIn(f"--pid {self.holder.pid}", line)
        return said

    def test_a_clash_of_another_machine(self):
        log = self.log(clash(1300480, 1464320))
        said = self.check_not_used(log)
        self.assertEqual(said["short_by_bytes"], 160 * 1024)
        self.assertNotIn("residual", said["sentence"])
        text = self.ttmem("explain", log).stdout
        self.assertNotIn("residual", text)
        self.assertNotIn("[tried]", text)

    def test_a_buffer_of_another_machine(self):
        for asked, numbers in (
                (ASKED, f" (allocated: 2048 B, free: {FREE} B, largest free block: {LARGEST} B)"),
                (ASKED, f" (allocated: {100 * 1024} B, free: {FREE} B, largest free block: 4096 B)"),
                (1360000, ""), (4096, "")):
            with self.subTest(numbers=numbers, asked=asked):
                self.check_not_used(self.log(out_of_memory(asked=asked, numbers=numbers)))

    def test_other_messages_of_another_machine(self):
        for text in ("Creating trace buffers of size 90000B on MeshDevice 1, but only 50000B is "
                     "allocated for trace region.",
                     "Statically allocated circular buffers on core range [0-0 - 7-7] grow to "
                     "1767424 B which is beyond max L1 size of 1499136 B",
                     "Out of Memory: Not enough space to allocate 137438953472 B DRAM buffer"):
            with self.subTest(text):
                self.check_not_used(self.log(text))

    def test_a_pid_uses_it_and_says_that_it_differs(self):
        said = self.explain(self.log(clash(1300480, 1464320)), "--pid", str(self.holder.pid))
        self.assertIn(str(self.holder.pid), said["place"])
        self.assertEqual([holder["label"] for holder in said["in_the_way"]], ["residual"])
        self.assertIn("begins at 1300480.", said["sentence"], "the figures are the message's")
        self.assertTrue(any("figures differ" in line for line in said["unknown"]))
        for suggestion in said["suggestions"]:
            self.assertFalse(suggestion["tried"], suggestion)

    def test_a_pid_that_nobody_has(self):
        said = self.explain(self.log(out_of_memory()), "--pid", "1")
        self.assertEqual(said["in_the_way"], [])
        self.assertTrue(any("process 1 " in line for line in said["unknown"]), said["unknown"])

    def test_a_kept_failure_needs_a_number_in_common(self):
        self.holder.kill()
        self.ttmem("clean")
        text = out_of_memory().split("info:\n")[1].split("\n")[0]
        self.hold_calls(f"{FRAGMENTED}\nlib.ttmem_failure({text.encode()!r})")
        said = self.explain(self.log("Out of Memory: Not enough space to allocate\n\n"))
        self.assertEqual(said["in_the_way"], [])


class Recorded(ExplainCase):
    """A recording belongs to a log only if it has the figures of the message at some moment."""

    TOP = (1464 - 32) * 1024
    BANK = TOP - 100 * 1024  # as recording_file.py opens devices

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir) / "run.ttmem"
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)

        def hold(kib, top, begin, end, label):
            recording.allocate([device], "l1", 1, begin, end, label=label, per_bank=kib * 1024,
                               banks=130, address=self.TOP - (top + kib) * 1024)
        hold(700, 0, 10, None, "kept")
        hold(100, 700, 100, 500, "early")
        recording.place(device, 5, [(100 * 1024, 500 * 1024, range(4), False)], 150, 600)
        hold(200, 700, 1000, 1500, "late")
        hold(500, 700, 2000, 2500, "tightest")
        recording.save(self.path, ended=3000)

    def figures(self, held):
        left = self.BANK - held * 1024
        return (f"Out of Memory: Not enough space to allocate 1 B L1 buffer across 130 banks, where "
                f"each bank needs to store {left + 4096} B, but bank size is {self.BANK} B "
                f"(allocated: {held * 1024} B, free: {left} B, largest free block: {left} B)")

    def test_the_moment_with_the_figures_of_the_message(self):
        for held, labels in ((800, {"kept", "early"}), (900, {"kept", "late"}), (700, {"kept"})):
            said = self.explain(self.log(self.figures(held)), "--recording", self.path)
            self.assertEqual({holder["label"] for holder in said["in_the_way"]}, labels)
            self.assertEqual([line for line in said["unknown"] if "Whether" in line], [])

    def test_the_moment_of_a_clash(self):
        said = self.explain(self.log(clash(self.TOP - 800 * 1024, 600 * 1024).replace(
            "program 117", "program 5")), "--recording", self.path)
        self.assertEqual([holder["label"] for holder in said["in_the_way"]], [])
        self.assertIn("Device 0", said["place"])

    def test_a_log_of_another_run(self):
        for text in (self.figures(850), clash(self.TOP - 850 * 1024, 1200 * 1024)):
            said = self.explain(self.log(text), "--recording", self.path)
            self.assertIsNone(said["place"])
            self.assertEqual(said["in_the_way"], [])
            self.assertTrue(any("no moment" in line and "--at" in line
                                for line in said["unknown"]), said["unknown"])
            said = self.explain(self.log(text), "--recording", self.path, "--at", "2200ns")
            self.assertIn("Device 0", said["place"])
            self.assertTrue(any("figures differ" in line for line in said["unknown"]))
            self.assertFalse(any(suggestion["tried"] for suggestion in said["suggestions"]))


# Lines of the runtime as reports of users have them, some wrapped by hand. Each is followed by its
# cause, what is missing, and the actions that must be suggested.
REPORTED = {
    "tt-xla #5206": (
        "TT_THROW: Statically allocated circular buffers in program 350188 clash with L1 buffers\n"
        "on core range [0-0 - 7-7]. L1 buffer allocated at 104448 and static circular buffer region "
        "ends at 107936\nRuntimeError: Bad StatusOr access",
        "clash", 3488, {"shrink_cbs": 3488, "free": None}),
    "tt-metal #54876": (
        "TT_THROW: Statically allocated circular buffers in program 2282 clash with L1 buffers\n"
        "on core range [0-0 - 10-9]. L1 buffer allocated at 1563072 and static circular buffer\n"
        "region ends at 1563264\n\n192 bytes over",
        "clash", 192, {"shrink_cbs": 192, "l1_small_size": None}),
    "tt-metal #46608": (
        "TT_THROW: Statically allocated circular buffers on core range [0-0 - 10-7]\n"
        "grow to 1753856 B which is beyond max L1 size of 1572864 B\n(assert.hpp:104)",
        "beyond_l1", 180992, {"shrink_cbs": 180992, "more_cores": None}),
    "tt-metal #7933": (
        "RuntimeError: TT_THROW @ tt_metal/impl/allocator/allocator.cpp:107: tt::exception\ninfo:\n"
        "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank "
        "needs to store {} B\n148897792\nDRAM\n8\n18612224\nbacktrace:",
        "unknown", None, {"smaller_type": 18612224 // 32 * 17, "free": None}),
    "tt-metal #6992": (
        "tt::exception Statically allocated circular buffers in program {} clash with L1 buffers on "
        "core range {}. L1 buffer allocated at {} and static circular buffer region ends at {}",
        "clash", None, {"shrink_cbs": None, "free": None}),
    "tt-xla #6033": (
        "critical | Always | TT_FATAL: Out of Memory: Not enough space to allocate\n"
        "3019898880 B DRAM buffer across 8 banks, where each bank needs to store\n"
        "377487360 B, but bank size is 4272341376 B\n"
        "(allocated: 3788711296 B, free: 483630080 B, largest free block: 251658240 B)\n",
        "fragmentation", 125829120,
        {"reallocate": None, "smaller_type": 377487360 // 32 * 17, "shrink_request": 251658240}),
    "tt-inference-server #4005": (
        "TT_FATAL: Creating trace buffers of size 53616640B on MeshDevice 0,\n"
        "          but only 50000000B is allocated for trace region.",
        "trace_region", 3616640, {"trace_region_size": 58982400, "release_trace": None}),
    "tt-inference-server #4034": (
        "[1,0]<stderr>: info:\n[1,0]<stderr>: Creating trace buffers of size 123813888B on MeshDevice "
        "0, but only 120000000B is allocated for trace region.\n[1,0]<stderr>: backtrace:",
        "trace_region", 3813888, {"trace_region_size": 136200192}),
    "tt-xla #5535": (
        "`Out of Memory: Not enough space to allocate 1073741824 B DRAM buffer across 12 banks, where "
        "each bank needs to store 89479168 B, but bank size is 1070773184 B (allocated: 1003628544 "
        "B, free: 67144640 B, largest free block: 67140352 B)`",
        "capacity", 22334528, {"smaller_type": 47535808, "shrink_request": 67140352, "free": None}),
    "tt-xla #4130": (
        "info:\nOut of Memory: Not enough space to allocate 58720256 B DRAM buffer across 12 banks, "
        "where each bank needs to store 4894720 B, but bank size is 1071821792 B (allocated: "
        "888424448 B, free: 183397344 B, largest free block: 3382944 B)",
        "fragmentation", 1511776, {"allocate_earlier": None, "shrink_request": 3382944}),
    "tt-mlir #8044": (
        "Always | TT_FATAL: Out of Memory: Not enough space to allocate 26542080 B L1 buffer across "
        "48 banks, where each bank needs to store 552960 B, but bank size is 1329888 B (allocated: "
        "417792 B, free: 912096 B, largest free block: 522240 B) (assert.hpp:104)",
        "fragmentation", 30720,
        {"move_to_dram": None, "smaller_type": 293760, "shrink_request": 522240}),
    "tt-metal #35431": (
        "Out of Memory: Not enough space to allocate 86450176 B L1 buffer across 64 banks, where each "
        "bank needs to store 1350784 B, but bank size is only 1330944 B",
        "capacity", 19840, {"move_to_dram": None, "l1_small_size": None}),
    "tt-metal #31076": (
        "ERROR 10-23 04:15:50 [engine.py:187] Out of Memory: Not enough space to allocate 117440512 "
        "B DRAM buffer across 12 banks, where each bank needs to store 9787392 B, but bank size is "
        "only 1046181792 B",
        "unknown", None, {"smaller_type": 9787392 // 32 * 17, "free": None}),
    "tt-metal #20373": (
        "Out of Memory: Not enough space to allocate 48814080 B L1 buffer across 60 banks, where "
        "each bank needs to store 813568 B",
        "unknown", None, {"move_to_dram": None, "smaller_type": 813568 // 32 * 17}),
}


class LogOnly(ExplainCase):
    """The message alone gives the cause, what is missing, and advice that was not tried."""

    def test_messages_that_users_reported(self):
        for name, (text, cause, short_by, actions) in REPORTED.items():
            with self.subTest(name):
                said = self.explain(self.log(text))
                self.assertEqual((said["cause"], said["short_by_bytes"]), (cause, short_by))
                suggested = {suggestion["action"]: suggestion["bytes"]
                             for suggestion in reversed(said["suggestions"])}
                self.assertEqual(suggested, {**suggested, **actions})
                self.assertFalse(any(one["tried"] for one in said["suggestions"]))
                self.assertEqual("{}" in text and "148897792" not in text,
                                 any("{}" in line for line in said["unknown"]))

    def test_a_request_that_no_chip_can_hold(self):
        for kind, asked in (("DRAM", 45812984832), ("L1", 2_000_000)):
            said = self.explain(self.log(out_of_memory(kind, asked, "").split(", but")[0]))
            self.assertEqual((said["cause"], said["short_by_bytes"]), ("capacity", None))
            self.assertIn("any chip", said["sentence"])

    def test_a_bank_that_is_smaller_than_the_chip_s(self):
        said = self.explain(self.log(REPORTED["tt-xla #5535"][0]))
        self.assertIn("2,968,640 B", said["sentence"])
        self.assertIn("trace_region_size", said["sentence"])
        said = self.explain(self.log(REPORTED["tt-metal #35431"][0]))
        self.assertIn("l1_small_size", said["sentence"])

    def test_the_headline_claims_only_what_was_tried(self):
        log = self.log(out_of_memory())
        self.assertNotIn("[tried]", self.ttmem("explain", log).stdout)
        self.hold_calls(FRAGMENTED)
        self.assertIn("([tried] on a model", " ".join(self.ttmem("explain", log).stdout.split()))

    def test_a_wrapped_message_at_any_place_of_a_long_log(self):
        text, _, short_by, _ = REPORTED["tt-metal #54876"]
        for before in range(65536 - 260, 65536, 20):
            said = self.explain(self.log("x" * 63 + "\n" + "y" * (before - 76) + "\n" + text +
                                         "\nz" * 40000))
            self.assertEqual(said["short_by_bytes"], short_by)
            self.assertIn("program 2282", said["sentence"])


class Explain(ExplainCase):
    def test_a_process_that_holds_the_memory(self):
        self.hold_calls(FRAGMENTED)
        said = self.explain(self.log(out_of_memory()))
        self.assertEqual(said["cause"], "fragmentation")
        self.assertEqual(said["asked"], {"kind": "l1", "bytes": ASKED * 64,
                                         "bytes_per_bank": ASKED})
        self.assertEqual(said["available"], {"free_bytes_per_bank": FREE,
                                             "largest_free_bytes_per_bank": LARGEST})
        self.assertEqual(said["short_by_bytes"], ASKED - LARGEST)
        [holder] = said["in_the_way"]
        self.assertEqual((holder["kind"], holder["label"], holder["scope"], holder["bytes"]),
                         ("l1", "residual", "block.3", 100 * 1024 * 64))
        self.assertEqual(holder["address"], 1466368 - 400 * 1024)
        self.assertEqual(said["unknown"], [])
        first = said["suggestions"][0]
        self.assertEqual((first["action"], first["tried"]), ("reallocate", True))
        self.assertIn("block.3/residual", first["text"])
        self.assertLessEqual(len(said["suggestions"]), 5)

    def test_a_dead_process_still_shows_its_holders(self):
        workload = self.hold_calls(FRAGMENTED)
        workload.kill()
        said = self.explain(self.log(out_of_memory()))
        self.assertEqual([holder["label"] for holder in said["in_the_way"]], ["residual"])
        self.assertIn("dead", said["place"])

    def test_a_clash_names_buffers_of_other_cores(self):
        self.hold_calls("""
open_device()
alloc(L1, 1, 900 * 1024, address=1466368 - 900 * 1024, cores=[(0, 0, 1, 1)], label=b"prefetch")
place(9, (105664, 500 * 1024, [(4, 4, 7, 7)]), name=b"matmul")
""")
        end = 105664 + 500 * 1024
        said = self.explain(self.log(clash(1466368 - 900 * 1024, end)))
        self.assertEqual(said["cause"], "clash")
        self.assertEqual([holder["label"] for holder in said["in_the_way"]], ["prefetch"])
        self.assertEqual(said["short_by_bytes"], end - (1466368 - 900 * 1024))
        self.assertIn("matmul", said["sentence"])
        self.assertIn("was there first", said["sentence"])
        self.assertIn("share no core", said["sentence"])

    def test_a_recording_at_its_tightest_and_at_any_moment(self):
        path = pathlib.Path(self.dir) / "run.ttmem"
        recording = Recording()
        top = (1464 - 32) * 1024
        device = recording.device(recording.process(7, "model"), 0)
        recording.allocate([device], "l1", 1, 10, 2000, label="kept", per_bank=700 * 1024,
                           banks=130, address=top - 700 * 1024)
        recording.allocate([device], "l1", 1, 100, 1000, label="passing", per_bank=500 * 1024,
                           banks=130, address=top - 1200 * 1024)
        recording.save(path, ended=3000)
        log = self.log(out_of_memory(asked=400 * 1024, numbers=""))
        said = self.explain(log, "--recording", path)
        self.assertEqual(said["cause"], "capacity")
        self.assertEqual({holder["label"] for holder in said["in_the_way"]}, {"kept", "passing"})
        said = self.explain(log, "--recording", path, "--at", "1500ns")
        self.assertEqual({holder["label"] for holder in said["in_the_way"]}, {"kept"})
        self.assertTrue(any("another moment" in line for line in said["unknown"]), said["unknown"])

    def test_the_message_alone(self):
        said = self.explain(self.log(out_of_memory()))
        self.assertEqual(said["cause"], "fragmentation")
        self.assertEqual(said["short_by_bytes"], ASKED - LARGEST)
        self.assertEqual(said["in_the_way"], [])
        self.assertTrue(any("ttmem run" in line for line in said["unknown"]))

    def test_standard_input(self):
        done = subprocess.run([TTMEM, "explain", "-", "--json"], env=self.env, text=True,
                              input="loading\n" + out_of_memory(), capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["cause"], "fragmentation")

    def test_the_last_error_of_a_log_counts(self):
        said = self.explain(self.log(out_of_memory() + clash(1000, 3000)))
        self.assertEqual(said["cause"], "clash")

    def test_nothing_failed(self):
        self.hold_calls(FRAGMENTED)
        said = self.explain()
        self.assertEqual(said["available"]["largest_free_bytes_per_bank"], LARGEST)
        self.assertIn("Nothing has failed", said["sentence"])

    def test_a_log_without_an_error_and_a_missing_log(self):
        said = self.ttmem("explain", self.log("all is well"), code=1).stderr
        self.assertIn("no error about memory", said)
        said = self.ttmem("explain", pathlib.Path(self.dir) / "none.log", code=1).stderr
        self.assertIn("none.log: No such file", said)
        said = self.ttmem("explain", self.dir, code=1).stderr
        self.assertIn(self.dir, said)
        said = self.ttmem("explain", "--at", "1s", code=2).stderr
        self.assertIn("--recording", said)

    def test_the_text_fits_eighty_columns(self):
        self.hold_calls(FRAGMENTED)
        done = self.ttmem("explain", self.log(out_of_memory()), env={**self.env, "COLUMNS": "80"})
        lines = done.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertLessEqual(len(lines), 40)
        for text in ("Fragmentation", "residual", "In the way", "[tried]"):
            self.assertIn(text, done.stdout)


if __name__ == "__main__":
    unittest.main()
