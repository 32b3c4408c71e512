# SPDX-License-Identifier: Apache-2.0
"""`ttmem record`: the file, read with sqlite3 only, contains exactly the events of the run. If the
recorder or the workload is killed, no written data is lost. The workload is not disturbed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from support import CAPTURES, DEADLINE_SECONDS, HERE, LIBRARY, MIB, TTMEM, Case, rounds


class RecordCase(Case):
    def setUp(self):
        super().setUp()
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE), LC_ALL="C.UTF-8")
        self.file = os.path.join(tempfile.mkdtemp(prefix="ttmem-test-"), "run.ttmem")
        self.addCleanup(subprocess.run, ["rm", "-rf", os.path.dirname(self.file)], check=False)

    def calls(self, source):
        return [sys.executable, "-c", "from abi import *\n" + source]

    def record(self, command, *options, code=0, env=None):
        return self.ttmem("record", "--no-adapter", "-o", self.file, *options, "--", *command,
                          code=code, env=env).stderr

    def start_record(self, command, *options, env=None):
        return self.start([TTMEM, "record", "--no-adapter", "-o", self.file, *options, "--",
                           *command], env)

    def rows(self, sql, *arguments):
        # Opens the file for writing, because a killed recorder may have left a journal to roll
        # back.
        connection = sqlite3.connect(f"file:{self.file}?mode=rw", uri=True)
        try:
            return connection.execute(sql, arguments).fetchall()
        finally:
            connection.close()

    def row(self, sql, *arguments):
        return self.rows(sql, *arguments)[0]

    @staticmethod
    def children_of(running):
        with open(f"/proc/{running.pid}/task/{running.pid}/children") as children:
            return [int(pid) for pid in children.read().split()]

    def child_of(self, running):
        [child] = self.children_of(running)
        return child

    @staticmethod
    def has_ended(pid):
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"

    def wait_for_allocations(self, at_least):
        """Waits until this number of allocations is in the file, which may not exist yet."""
        def there():
            try:
                return self.row("SELECT count(*) FROM allocations")[0] >= at_least
            except sqlite3.OperationalError:
                return False
        self.wait_for(there, f"{at_least} allocations in {self.file}")


class Events(RecordCase):
    def test_every_allocation_from_its_begin_to_its_end(self):
        said = self.record(self.calls(
            "open_device(3)\n"
            "push(b'decoder.0'); push(b'attention')\n"
            "alloc(DRAM, 1, 1024, device=3, label=b'wqkv')\n"
            "pop(); pop()\n"
            "lib.ttmem_mark(b'half')\n"
            "alloc(L1, 2, 64, device=3, address=0x1000)\n"
            "free(DRAM, 1, device=3)\n"
            "alloc(DRAM, 1, 2048, device=3)\n"
            "lib.ttmem_device_close(3)"))
        self.assertRegex(said, r"^ttmem: recorded 7 events of 1 process in \S+: .*run.ttmem \(\S+ [KM]iB\)\n"
                               r"ttmem: see it with: ttmem report \S+run.ttmem\n$")
        rows = self.rows("SELECT device, kind, label, scope, number, used_bytes, ending, "
                         "begin_ns <= coalesce(end_ns, 1 << 60) FROM allocation_list ORDER BY id")
        self.assertEqual(rows, [
            (3, "dram", "wqkv", "decoder.0/attention", 1, 12 * 1024, None, 1),
            (3, "l1", None, None, 2, 64 * 64, "device_closed", 1),
            (3, "dram", None, None, 1, 12 * 2048, "device_closed", 1)])
        before, after = self.rows("SELECT begin_ns FROM allocations WHERE number != 1 "
                                  "UNION ALL SELECT time_ns FROM marks")
        self.assertGreater(before[0], after[0], "the order is that of the calls")
        self.assertEqual(self.row("SELECT name FROM marks"), ("half",))
        self.assertEqual(self.row("SELECT events, lost_events, exit_code FROM run"), (7, 0, 0))
        self.assertEqual(self.row("SELECT grid_x, grid_y, dram_channels, killed FROM devices, "
                                  "processes"), (8, 8, 12, 0))

    def test_programs_their_layouts_and_dispatches(self):
        self.record(self.calls(
            "open_device(0)\n"
            "one = [(0, 0, 0, 0)]\n"
            "place(7, (0x20000, 512, one)); place(8, (0x20000, 512, one))\n"
            "lib.ttmem_program_dispatch(0, 7); lib.ttmem_program_dispatch(0, 8)\n"
            "lib.ttmem_program_dispatch(0, 8)\n"
            "place(7, (0x20000, 1024, one), (0x30000, 64, one))\n"
            "lib.ttmem_program_destroy(7)"))
        self.assertEqual(self.rows("SELECT number, layout, ending FROM program_list ORDER BY id"),
                         [(7, 1, "changed"), (8, 1, "process_ended"), (7, 2, None)])
        self.assertEqual(self.rows("SELECT layout, address, bytes FROM circular_buffers"),
                         [(1, 0x20000, 512), (2, 0x20000, 1024), (2, 0x30000, 64)])
        self.assertEqual(self.rows("SELECT program FROM dispatches JOIN launch_programs USING "
                                   "(launch) ORDER BY dispatches.id"), [(7,), (8,), (8,)])

    def test_what_is_on_a_device_is_held_until_the_device_is_closed(self):
        """Buffers, kernels and circular buffers count alike at the end, however the device is
        closed. A program that is destroyed before is not held."""
        for close in ("lib.ttmem_device_close(0)", "pass"):
            self.record(self.calls(
                "open_device(0)\none = [(0, 0, 7, 7)]\n"
                "alloc(DRAM, 1, 64); alloc(L1, 2, 128, address=0x100000)\n"
                "lib.ttmem_kernel_load(0, 3, 256, APP)\n"
                "place(7, (0x20000, 512, one)); place(8, (0x20000, 1024, one))\n"
                "place(9, (0x20000, 4096, one)); lib.ttmem_program_destroy(9)\n" + close), "-f")
            ending = "process_ended" if close == "pass" else "device_closed"
            self.assertEqual(self.rows("SELECT number, ending FROM program_list ORDER BY id"),
                             [(7, ending), (8, ending), (9, None)])
            [device] = self.json("report", self.file)["devices"]
            ends = {kind: device[kind]["end_bytes"] for kind in ("dram", "l1", "cb", "kernels")}
            cb, kernel, l1 = 64 * 1024, device["kernels"]["peak_bytes"], 64 * 128
            self.assertEqual(ends, {"dram": 12 * 64, "cb": cb, "kernels": kernel,
                                    "l1": l1 + cb + kernel}, close)
            self.assertGreater(kernel, 0)
            held = {kind: sum(part["bytes"] for part in device["held_at_end"]
                              if part["kind"] == kind) for kind in ("dram", "l1", "cb", "kernel")}
            self.assertEqual(held, {"dram": 12 * 64, "l1": l1, "cb": cb, "kernel": kernel}, close)
            text = self.ttmem("report", self.file).stdout
            self.assertRegex(text, r"CB +256\.0 KiB +\S+ +<1% +64\.0 KiB")
            [then] = self.json("report", self.file, "--at", "end")["devices"]
            self.assertEqual(then["l1"]["cb"]["physical_bytes"], cb, close)

    def test_a_buffer_of_a_mesh_is_one_row(self):
        self.record(self.calls("for i in range(4): open_device(i)\n"
                               "mesh_alloc([0, 1, 2, 3], DRAM, 5, 64)\nmesh_free([1], DRAM, 5)\n"
                               "lib.ttmem_mark(b'half')\nlib.ttmem_device_close(2)"))
        self.assertEqual(self.rows("SELECT number, ending FROM allocations"),
                         [(5, "process_ended")])
        self.assertEqual(self.rows("SELECT device, ending FROM allocation_list ORDER BY device"),
                         [(0, "process_ended"), (1, None), (2, "device_closed"),
                          (3, "process_ended")])
        freed, closed = self.rows("SELECT end_ns <= time_ns FROM allocation_list, marks "
                                  "WHERE device IN (1, 2) ORDER BY device")
        self.assertEqual((freed, closed), ((1,), (0,)))

    def test_a_device_that_is_closed_at_once_has_its_facts(self):
        self.record(self.calls("for i in range(200):\n  open_device(0)\n  alloc(DRAM, 1, 64)\n"
                               "  lib.ttmem_device_close(0)"))
        self.assertEqual(self.row("SELECT count(*), min(grid_x), min(dram_channels) FROM devices"),
                         (200, 8, 12))

    def test_children_are_in_the_same_file(self):
        child = "open_device(0); alloc(DRAM, 1, 64)"
        self.record(["sh", "-c", " & ".join(f'"{sys.executable}" -c "from abi import *; {child}"'
                                            for _ in range(3)) + "; wait"])
        self.assertEqual(self.row("SELECT count(*), count(DISTINCT pid) FROM processes"), (3, 3))
        self.assertEqual(self.row("SELECT count(*) FROM allocation_list"), (3,))

    def test_the_end_of_a_recording_equals_the_live_state(self):
        """For each capture and each demo, the report of the end equals every figure of `ttmem
        --json` of the live process."""
        workloads = [[TTMEM, "replay", str(capture), "--hold"]
                     for capture in sorted(CAPTURES.glob("*.jsonl"))]
        workloads += [[TTMEM, "demo", name, "--seconds", "1", "--hold"]
                      for name in ("single", "mesh8", "cached-programs", "blackhole",
                                   "device-init", "training", "leak")]
        for workload in workloads:
            with self.subTest(workload=workload[1:3]):
                held = self.start_record(workload, "-f")
                live = self.final_state()
                os.kill(self.child_of(held), signal.SIGKILL)  # an orderly end would free everything
                self.assertEqual(held.wait(), 137)
                self.ttmem("clean")
                self.assertEqual(self.row("SELECT lost_events FROM run"), (0,))
                recorded = self.json("report", self.file, "--at", "end")["devices"]
                self.assertEqual(len(recorded), len(live))
                # When an allocation changes, the recording ends its row and begins another row. The
                # recording therefore counts more allocations than the process.
                changed = self.row("SELECT count(*) FROM allocations WHERE ending = 'changed'")[0]
                but = ("allocations_total", "frees_total") if changed else ()
                for one, other in zip(recorded, live):
                    self.assertEqual(self.figures(one, but), self.figures(other, but))

    def final_state(self):
        """Returns the state once it no longer changes."""
        before = []

        def is_final():
            before.append(self.devices())
            time.sleep(0.3)
            return before[-1] and self.devices() == before[-1]
        self.wait_for(is_final, "a state that does not change")
        return before[-1]

    @staticmethod
    def figures(device, but):
        """Returns the device's figures without anomalies and processes, which a recording lacks,
        and without the fields in `but`."""
        left_out = ("anomalies", "processes", *but)
        figures = {name: value for name, value in device.items() if name not in left_out}
        figures["kinds"] = [{name: value for name, value in kind.items() if name not in left_out}
                            for kind in device["kinds"]]
        return figures


class Command(RecordCase):
    def test_its_exit_status_is_the_exit_status_of_ttmem(self):
        self.record(["sh", "-c", "exit 7"], code=7)
        self.assertEqual(self.row("SELECT exit_code FROM run"), (7,))
        self.record(["sh", "-c", "kill -9 $$"], "-f", code=137)

    def test_a_command_that_cannot_be_started_leaves_no_file(self):
        said = self.record(["/nonexistent"], code=127)
        self.assertIn("cannot run '/nonexistent'", said)
        self.assertFalse(os.path.exists(self.file))

    def test_without_reports_a_message_says_so(self):
        self.assertIn("nothing was recorded", self.record(["true"]))

    def test_a_command_that_reports_to_a_server_is_named(self):
        said = self.record(["true"], env={**self.env, "TTMEM_TRANSPORT": "socket"})
        self.assertIn("TTMEM_TRANSPORT=socket sends all to a server; unset it", said)

    def test_a_file_is_overwritten_only_with_f(self):
        self.record(["true"])
        said = self.record(["true"], code=1)
        self.assertEqual(said, f"ttmem: {self.file} is there already; use -f to overwrite it\n")
        self.record(["true"], "-f")

    def test_the_default_name(self):
        folder = os.path.dirname(self.file)
        result = subprocess.run([TTMEM, "record", "--no-adapter", "--", "true"], env=self.env,
                                cwd=folder, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(os.listdir(folder)[0], r"^ttmem-true-\d+\.ttmem$")

    def test_a_missing_folder(self):
        self.file = "/nonexistent/run.ttmem"
        self.assertIn("cannot write /nonexistent/run.ttmem: No such file",
                      self.record(["true"], code=1))

    def test_wrong_usage(self):
        self.ttmem("record", code=2)
        self.ttmem("record", "--pid", "1", "--", "true", code=2)
        said = self.ttmem("record", "--pid", os.getpid(), "-o", self.file, code=1).stderr
        self.assertIn(f"process {os.getpid()} is not tracked", said)


class Attached(RecordCase):
    def test_allocations_from_before_and_after_the_start(self):
        held = self.hold_calls("open_device(0)\nalloc(DRAM, 1, 64, label=b'old')\nhold()\n"
                               "alloc(DRAM, 2, 128, label=b'new')\nfree(DRAM, 1)")
        recorder = self.start([TTMEM, "record", "--pid", held.pid, "-o", self.file])
        self.wait_for_allocations(1)
        held.go_on()
        held.line()
        self.wait_for_allocations(2)
        recorder.signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(self.rows("SELECT label, end_ns IS NULL FROM allocation_list ORDER BY id"),
                         [("old", 0), ("new", 1)])
        self.assertLess(self.row("SELECT min(begin_ns) FROM allocations")[0], 0)
        self.assertEqual(self.row("SELECT ended_ns IS NULL, lost_events FROM run"), (0, 0))


class Lost(RecordCase):
    """A recorder that is stopped while the ring overflows loses events, and counts the lost
    events."""

    def test_after_a_gap_the_figures_are_right(self):
        # The ring has 65,536 records. An allocation and its free take three records.
        env = {**self.env, "TTMEM_EVENTS": "65536"}
        held = self.start_record(self.calls(
            "open_device(0)\nalloc(DRAM, 1, 64)\nalloc(DRAM, 2, 64)\nhold()\n"
            "free(DRAM, 1)\n"
            "for i in range(40000):\n  alloc(DRAM, 10 + i, 64)\n  free(DRAM, 10 + i)\n"
            "alloc(DRAM, 3, 128, label=b'late')\nhold()\nfree(DRAM, 2)"), env=env)
        held.line()
        self.wait_for_allocations(2)
        held.signal(signal.SIGSTOP)
        held.go_on()
        self.assertEqual(held.line(), "ready")
        held.signal(signal.SIGCONT)
        self.wait_for(lambda: self.row("SELECT count(*) FROM gaps") == (1,), "the gap")
        held.go_on()
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.rows("SELECT number, label, ending FROM allocation_list ORDER BY id"),
                         [(1, None, "gap"), (2, None, None), (3, "late", "process_ended")])
        events, lost = self.row("SELECT events, lost_events FROM run")
        self.assertEqual(events + lost, 3 + 1 + 80000 + 1 + 1)
        self.assertEqual(self.row("SELECT lost_events FROM gaps"), (lost,))
        said = held.process.stderr.read().decode()
        self.assertIn(f"{lost} events were lost", said)
        self.assertIn("the ring held 65536 records", said)


    def test_events_lost_before_the_first_read_are_counted(self):
        held = self.start_record(self.calls(
            "hold()\nopen_device(0)\n"
            "for i in range(40000):\n  alloc(DRAM, 10 + i, 64)\n  free(DRAM, 10 + i)\n"
            "alloc(DRAM, 3, 128)\nhold()"), env={**self.env, "TTMEM_EVENTS": "65536"})
        held.line()
        held.signal(signal.SIGSTOP)
        held.go_on()
        self.assertEqual(held.line(), "ready")
        held.signal(signal.SIGCONT)
        held.go_on()
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.row("SELECT events + lost_events FROM run"), (1 + 80000 + 1,))
        self.assertEqual(self.row("SELECT sum(gaps.lost_events) = run.lost_events FROM gaps, run"),
                         (1,))


class Late(RecordCase):
    def test_a_recorder_that_was_stopped_reads_the_whole_ring(self):
        pairs = 1_300_000  # three records each; the largest ring has 4,194,304
        held = self.start_record(self.calls(
            "open_device(0)\nhold()\n"
            "one = buffer_of(DRAM, 1, 64)\n"
            f"for _ in range({pairs}):\n"
            "  lib.ttmem_buffer_alloc(0, ctypes.byref(one)); lib.ttmem_buffer_free(0, DRAM, 1)\n"
            "alloc(DRAM, 2, 64)"), env={**self.env, "TTMEM_EVENTS": "4194304"})
        held.line()
        workload = self.child_of(held)
        held.signal(signal.SIGSTOP)
        held.go_on()
        self.wait_for(lambda: self.has_ended(workload), "the end of the workload")
        held.signal(signal.SIGCONT)
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.rows("SELECT number, ending, count(*) FROM allocations GROUP BY 1, 2"),
                         [(1, None, pairs), (2, "process_ended", 1)])
        self.assertEqual(self.row("SELECT lost_events FROM run"), (0,))


class Successors(RecordCase):
    """Processes use a chip one after the other. The memory of a process that has ended is not added
    to the memory of the next process, however late the recorder notices the end."""

    # Starts all workers first. Then tells one worker after the other to allocate, ends the worker,
    # and waits for its end. Between the workers, waits until the clock that dates buffers advances.
    PARENT = ("import os, signal, subprocess, sys, time\n"
              "WORKER = ('from abi import *\\nhold()\\nopen_device(0)\\n'\n"
              "          'alloc(DRAM, 1, 1 << 20)\\nhold()\\nif END == \"_exit\": os._exit(0)')\n"
              "ends = sys.argv[1:]\n"
              "workers = [subprocess.Popen([sys.executable, '-c', f'END = {end!r}\\n' + WORKER],\n"
              "                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
              "           for end in ends]\n"
              "def tick():\n"
              "  clock = lambda: time.clock_gettime(6)  # CLOCK_MONOTONIC_COARSE\n"
              "  before = clock()\n"
              "  while clock() == before: pass\n"
              "def go_on(worker):\n"
              "  worker.stdin.write(b'x'); worker.stdin.flush()\n"
              "for worker in workers: worker.stdout.readline()\n"
              "print('ready', flush=True); sys.stdin.readline()\n"
              "for worker, end in zip(workers, ends):\n"
              "  tick(); go_on(worker); worker.stdout.readline(); tick()\n"
              "  worker.kill() if end == 'kill' else go_on(worker)\n"
              "  worker.wait()\n"
              "print('done', flush=True); sys.stdin.readline()\n")
    ENDS = ("kill",) * 5 + ("exit", "_exit") * 2

    def start_workers(self):
        held = self.start_record([sys.executable, "-c", self.PARENT, *self.ENDS])
        self.assertEqual(held.line(), "ready")
        return held

    def go_on(self, held):
        held.process.stdin.write(b"\n")
        held.process.stdin.flush()

    def assert_one_after_the_other(self, held):
        self.go_on(held)
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.row("SELECT count(*) FROM devices"), (len(self.ENDS),))
        self.assertEqual(self.rows("SELECT a.begin_ns, a.end_ns, b.begin_ns FROM allocations a, "
                                   "allocations b WHERE a.id < b.id AND a.end_ns > b.begin_ns"), [])
        report = self.json("report", self.file)
        [device] = report["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["end_bytes"]),
                         (12 * MIB, 12 * MIB))
        self.ttmem("report", self.file, "--fail-on", f"dram.peak>{12 * MIB}")

    def test_each_takes_over_the_chip_at_once(self):
        held = self.start_workers()
        self.go_on(held)
        self.assertEqual(held.line(), "done")
        self.assert_one_after_the_other(held)

    def test_while_the_recorder_is_stopped(self):
        held = self.start_workers()
        held.signal(signal.SIGSTOP)
        self.go_on(held)
        self.assertEqual(held.line(), "done")
        held.signal(signal.SIGCONT)
        self.assert_one_after_the_other(held)

    def test_a_process_that_is_being_killed_when_the_command_ends(self):
        """timeout kills itself together with its command, which takes longer to end."""
        found = []
        for seconds in ("0.2", "0.4", "0.8", "3"):  # on a busy machine the demo starts late
            self.record(["sh", "-c", f'timeout -s KILL {seconds} "$0" demo inference; true', TTMEM],
                        "-f")
            found += self.rows("SELECT processes.end_ns, run.ended_ns FROM processes, run")
            if len(found) == 3:
                break
        self.assertNotEqual(found, [])
        for end, ended in found:
            self.assertIsNotNone(end)
            self.assertLessEqual(end, ended)

    def test_the_end_of_a_process_is_its_own(self):
        """A clean exit has its own time. Any other end has the time at which the process was seen
        alive, or the time of its last event."""
        code = ("import subprocess\nlib.ttmem_mark(b'before')\n"
                "for end in ('pass', 'os._exit(0)', 'os.kill(os.getpid(), 9)'):\n"
                "  subprocess.run([sys.executable, '-c', 'from abi import *\\nopen_device(0)\\n'\n"
                "                  'alloc(DRAM, 1, 64)\\nlib.ttmem_mark(b\"last\")\\n' + end])\n"
                "  lib.ttmem_mark(b'after')\n")
        self.record([sys.executable, "-c", "import sys\nfrom abi import *\n" + code])
        last, after = ([time for time, in self.rows("SELECT time_ns FROM marks WHERE name = ? "
                                                    "ORDER BY id", name)]
                       for name in ("last", "after"))
        ends = self.rows("SELECT end_ns FROM processes WHERE id != 1 ORDER BY id")
        self.assertEqual(len(ends), 3)
        for one, (end,), other in zip(last, ends, after, strict=True):
            self.assertLessEqual(one, end)
            self.assertLessEqual(end, other)


class Killed(RecordCase):
    # The workload runs until the recorder is gone, for 20 s at most.
    BUSY = ("import time\nopen_device(0)\nalloc(DRAM, 1000, 64)\n"
            "recorder = os.getppid()\nprint('ready', flush=True)\n"
            "end = time.monotonic() + 20\n"
            "while os.getppid() == recorder and time.monotonic() < end:\n"
            "  for i in range(1, 200):\n    alloc(DRAM, i, 64)\n"
            "  for i in range(1, 200):\n    free(DRAM, i)\n  time.sleep(0.001)")

    def check_file(self, at_least):
        self.assertEqual(self.row("PRAGMA integrity_check"), ("ok",))
        self.assertGreaterEqual(self.row("SELECT count(*) FROM allocations")[0], at_least)
        self.assertEqual(self.row("SELECT count(*) FROM allocations a LEFT JOIN requests r "
                                  "ON r.id = a.request WHERE r.id IS NULL"), (0,))

    def test_at_random_moments(self):
        chance = random.Random(7)
        for turn in range(rounds(100)):
            running = self.start_record(self.calls(self.BUSY), "-f")
            running.line()
            time.sleep(chance.uniform(0, 0.25))
            workload = self.child_of(running)
            if turn % 3 != 0:
                running.kill()
            if turn % 3 != 1:
                os.kill(workload, signal.SIGKILL)
            if turn % 3 == 0:
                self.assertEqual(running.wait(), 137)
                self.assertEqual(self.row("SELECT killed FROM processes"), (1,))
            self.check_file(1 if turn % 3 == 0 else 0)

    def test_everything_except_the_last_second_is_recorded(self):
        running = self.start_record(self.calls(self.BUSY))
        running.line()
        self.wait_for_allocations(1000)
        running.kill()
        self.check_file(1000)
        self.assertEqual(self.row("SELECT ended_ns, exit_code FROM run"), (None, None))
        self.wait_for(lambda: not os.listdir(self.env["TTMEM_DIR"]),
                      "the workload to end, and to leave nothing that was for the recorder")

    def test_in_its_first_moments(self):
        """The recorder is killed soon after its start. The workload continues, and `clean` removes
        the files that are left."""
        chance = random.Random(11)
        code = ("import time\nfor _ in range(10):\n  if os.fork() == 0:\n    open_device(0)\n"
                "    alloc(DRAM, 1, 64)\n    time.sleep(0.01)\n    os._exit(0) if _ % 2 else exit()\n"
                "  time.sleep(0.01)\n"
                "while True:\n  try: os.wait()\n  except ChildProcessError: break\n"
                "open(sys.argv[1], 'w').close()")
        for turn in range(rounds(10)):
            done = os.path.join(os.path.dirname(self.file), f"done{turn}")
            running = self.start_record(
                [sys.executable, "-c", "import sys\nfrom abi import *\n" + code, done], "-f",
                env={**self.env, "TTMEM_EVENTS": "65536"})
            self.wait_for(lambda: self.children_of(running), "the workload")
            time.sleep(chance.uniform(0, 0.05))
            running.kill()
            self.wait_for(lambda: os.path.exists(done), "the workload to go on")
            self.wait_for(lambda: self.ttmem("clean") and not self.files(), "an empty directory")


class FullDisk(RecordCase):
    def test_a_full_disk_ends_the_recording_and_not_the_workload(self):
        folder = os.path.dirname(self.file)
        source = ("open_device(0)\nfor i in range(200000):\n"
                  "  alloc(DRAM, i, 64 * (i % 5000))\n  free(DRAM, i)\nprint('done')")
        script = (f'mount -t tmpfs -o size=1m none "{folder}" && exec "{TTMEM}" record '
                  f'--no-adapter -o "{self.file}" -- "$@"')
        result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *self.calls(source)],
                                env=self.env, text=True, capture_output=True,
                                timeout=DEADLINE_SECONDS)
        if "unshare failed" in result.stderr or "permission denied" in result.stderr:
            self.skipTest("this user may not mount")
        self.assertEqual(result.stdout, "done\n")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("the recording has ended: ", result.stderr)
        self.assertIn("no space left", result.stderr)


class Aggregate(RecordCase):
    def test_an_aggregate_keeps_peaks_and_leftovers(self):
        self.record(self.calls(
            "open_device(0)\nfor i in range(1, 101):\n  alloc(DRAM, i, 1 << 20)\n"
            "for i in range(1, 100):\n  free(DRAM, i)"), "--aggregate")
        self.assertEqual(self.row("SELECT count(*) FROM allocations"), (1,))
        self.assertEqual(self.row("SELECT max(peak_bytes) FROM timeline WHERE kind = 'dram'"),
                         (100 * 12 * MIB,))
        self.assertEqual(self.row("SELECT aggregate, events FROM run"), (1, 200))
        # An aggregate does not know what was held before the end.
        self.assertIn("--aggregate: what was held is known at its end only",
                      self.ttmem("report", self.file, "--at", "0ms", code=1).stderr)
        self.assertIn("12.0 MiB", self.ttmem("report", self.file, "--at", "end").stdout)


if __name__ == "__main__":
    unittest.main()
