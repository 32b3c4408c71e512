# SPDX-License-Identifier: Apache-2.0
"""`ttmem run --summary`: the device memory of the command is exact, even if the command frees
everything at its end. Signals, terminal and exit status behave as without ttmem."""

import os
import pty
import signal
import subprocess
import sys
import unittest

from support import DEADLINE_SECONDS, HERE, LIBRARY, TTMEM, Case

MOST = "ttmem: the most that was in use"
HELD = "ttmem: still held at the end"
NOTHING_HELD = "ttmem: nothing was held at the end"
LARGEST = "ttmem: the largest holders, when "
NOTHING = "ttmem: no device was used, as far as was reported\n"


def table_after(text, title):
    """Returns the rows below a title as lists of cells. Two or more blanks separate the cells."""
    lines = text.split(title)[1].splitlines()[1:]
    rows = []
    for line in lines:
        if not line.startswith("  "):
            break
        rows.append([cell.strip() for cell in line.strip().split("  ") if cell.strip()])
    return rows


class SummaryCase(Case):
    def setUp(self):
        super().setUp()
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE), LC_ALL="C.UTF-8")

    def run_calls(self, source, code=0, **options):
        """Runs a process that makes calls of the C interface. Returns the output of ttmem."""
        command = [sys.executable, "-c", "from abi import *\n" + source]
        return self.run_command(command, code, **options)

    def run_command(self, command, code=0, **options):
        result = subprocess.run([TTMEM, "run", "--summary", "--no-adapter", "--", *command],
                                env=self.env, text=True, capture_output=True,
                                timeout=DEADLINE_SECONDS, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.stdout = result.stdout
        return result.stderr


class Figures(SummaryCase):
    def test_peaks_of_a_process_that_ended_well(self):
        said = self.run_calls("open_device(0)\nalloc(DRAM, 1, 1 << 20)\nalloc(DRAM, 2, 1 << 20)\n"
                              "free(DRAM, 1)\nfree(DRAM, 2)\nalloc(L1, 3, 1024)\nfree(L1, 3)\n"
                              "lib.ttmem_device_close(0)")
        headings, row = table_after(said, MOST)
        self.assertEqual(headings, ["PID", "DEV", "DRAM", "L1 BUF", "L1_SMALL", "TRACE", "CB",
                                    "KERNELS", "TOTAL L1", "COMMAND"])
        self.assertEqual(row[1:9], ["0", "24.0 MiB", "64.0 KiB", "n/a", "n/a", "n/a", "n/a",
                                    "64.0 KiB"])
        self.assertIn(NOTHING_HELD, said)
        self.assertEqual(self.files(), [])

    def test_peaks_over_all_times_that_a_device_was_open(self):
        said = self.run_calls("for size in (1 << 20, 3 << 20, 2 << 20):\n"
                              "  open_device(0)\n  alloc(DRAM, 1, size)\n  free(DRAM, 1)\n"
                              "  lib.ttmem_device_close(0)")
        self.assertEqual(table_after(said, MOST)[1][1:3], ["0", "36.0 MiB"])

    def test_memory_that_is_still_held(self):
        said = self.run_calls("open_device(0)\nalloc(DRAM, 1, 1 << 20, label=b'weights')\n"
                              "alloc(DRAM, 2, 1 << 20, label=b'weights')\n"
                              "alloc(L1, 3, 1024, label=b'activations')")
        lines = table_after(said, HELD)
        self.assertEqual(lines[1][1:4], ["0", "24.0 MiB", "64.0 KiB"])
        self.assertEqual(lines[3:], [["24.0 MiB", "24.0 MiB", "2", "dram", "weights"],
                                     ["64.0 KiB", "64.0 KiB", "1", "l1", "activations"]])

    def test_leftovers_on_a_closed_device(self):
        said = self.run_calls("open_device(0)\nalloc(DRAM, 1, 1 << 20)\n"
                              "lib.ttmem_device_close(0)")
        self.assertEqual(table_after(said, HELD)[1][-2], "1 (12.0 MiB)")

    def test_the_largest_holders_of_the_fullest_moment(self):
        said = self.run_calls("import time\nopen_device(0)\n"
                              "alloc(DRAM, 1, 1 << 20, label=b'large')\n"
                              "alloc(DRAM, 2, 1 << 10, label=b'small')\ntime.sleep(2)\n"
                              "free(DRAM, 1)\nfree(DRAM, 2)\nlib.ttmem_device_close(0)")
        self.assertIn(NOTHING_HELD, said)
        self.assertEqual(table_after(said, LARGEST)[1:],
                         [["12.0 MiB", "12.0 MiB", "1", "dram", "large"],
                          ["12.0 KiB", "12.0 KiB", "1", "dram", "small"]])

    # Two processes use a chip one after the other. Each process holds a buffer until it is killed.
    ONE_AFTER_THE_OTHER = (
        "import subprocess, sys\n"
        "code = ('from abi import *\\nhold()\\nopen_device(0)\\n'\n"
        "        'alloc(DRAM, 1, 1 << 20, label=b\"weights\")\\nhold()')\n"
        "workers = [subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.PIPE,\n"
        "                            stdout=subprocess.PIPE) for _ in range(2)]\n"
        "for worker in workers: worker.stdout.readline()\n"
        "for worker in workers:\n"
        "  worker.stdin.write(b'x'); worker.stdin.flush(); worker.stdout.readline()\n"
        "  print('holds', flush=True); sys.stdin.readline()\n"
        "  worker.kill(); worker.wait()\n")

    def test_an_ended_process_holds_nothing_beside_the_next_process(self):
        held = self.start([TTMEM, "run", "--summary", "--no-adapter", "--", sys.executable, "-c",
                           self.ONE_AFTER_THE_OTHER])

        def go_on():
            held.process.stdin.write(b"\n")
            held.process.stdin.flush()
        self.assertEqual(held.line(), "holds")
        held.signal(signal.SIGSTOP)
        go_on()
        self.assertEqual(held.line(), "holds")
        held.signal(signal.SIGCONT)
        go_on()
        self.assertEqual(held.wait(), 0)
        said = held.process.stderr.read().decode()
        self.assertIn(LARGEST + "12.0 MiB were in use", said)
        self.assertEqual(table_after(said, LARGEST)[1:], [["12.0 MiB", "12.0 MiB", "1", "dram", "weights"]])

    def test_a_buffer_of_a_mesh_is_one_holder_with_the_bytes_per_chip_and_of_all_chips(self):
        said = self.run_calls("for number in range(8): open_device(number)\n"
                              "mesh_alloc(range(8), DRAM, 1, 1 << 20, label=b'weights')")
        self.assertEqual(table_after(said, MOST)[1][1:3], ["0-7", "12.0 MiB"])
        self.assertEqual(table_after(said, HELD)[2:],
                         [["BYTES/DEVICE", "ALL DEVICES", "ALLOCS", "KIND", "LABEL"],
                          ["12.0 MiB", "96.0 MiB", "1", "dram", "weights"]])

    def test_a_total_of_l1_needs_l1(self):
        said = self.run_calls("open_device(0)\nalloc(DRAM, 1, 1 << 20)")
        self.assertEqual(table_after(said, MOST)[1][3:9], ["n/a"] * 6)

    def test_equal_devices_share_a_line(self):
        said = self.run_calls("for number in range(32):\n  open_device(number)\n"
                              "  alloc(DRAM, 1, (2 if number == 5 else 1) << 20, device=number)")
        rows = table_after(said, MOST)[1:]
        self.assertEqual([row[1:3] for row in rows], [["0-4,6-31", "12.0 MiB"], ["5", "24.0 MiB"]])

    def test_only_processes_that_the_command_started(self):
        other = self.hold_calls("open_device(0)\nalloc(DRAM, 1, 5 << 20)")
        code = ("import subprocess, sys\n"
                "code = 'from abi import *\\nopen_device(0)\\nalloc(DRAM, 1, {} << 20)'\n"
                "for size in (1, 2):\n"
                "  subprocess.run(['sh', '-c', '\"$0\" -c \"$1\"', sys.executable,"
                " code.format(size)])\n")
        said = self.run_command([sys.executable, "-c", code])
        self.assertEqual([row[2] for row in table_after(said, MOST)[1:]], ["12.0 MiB", "24.0 MiB"])
        other.close_stdin()

    def test_a_killed_process(self):
        said = self.run_calls("import signal\nopen_device(0)\nalloc(DRAM, 1, 1 << 20)\n"
                              "os.kill(os.getpid(), signal.SIGKILL)", code=128 + signal.SIGKILL)
        self.assertEqual(table_after(said, HELD)[1][1:3], ["0", "12.0 MiB"])

    def test_segments_kept_for_a_killed_reader_are_cleaned(self):
        reader = self.start(["sleep", "60"])
        space = os.stat("/proc/self/ns/pid").st_ino
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE),
                           TTMEM_KEEP_FOR=f"{reader.pid}:{space}")
        subprocess.run([sys.executable, "-c", "from abi import *; open_device(0)"], env=env,
                       check=True, timeout=60)
        (kept,) = self.files()
        self.assertTrue(kept.endswith(f".ended.{reader.pid}.{space}"), kept)
        self.assertIn("Nothing to clean", self.ttmem("clean").stdout)
        reader.kill()
        self.assertIn("1 segment was kept for `ttmem run`", self.ttmem("clean").stdout)
        self.assertEqual(self.files(), [])

    def test_a_demo(self):
        said = self.run_command([TTMEM, "demo", "leak", "--seconds", "1"])
        self.assertIn("ttmem demo leak", table_after(said, MOST)[1][-1])

    def test_a_command_that_uses_no_device(self):
        self.assertEqual(self.run_command(["echo", "hello"]), NOTHING)
        self.assertEqual(self.stdout, "hello\n")

    def test_a_directory_that_cannot_be_watched(self):
        self.env["TTMEM_DIR"] = os.path.join(self.dir, "nothing")
        said = self.run_command(["true"])
        self.assertIn(f"cannot watch {self.env['TTMEM_DIR']}", said)

    def test_a_command_that_cannot_be_started(self):
        said = self.run_command([os.path.join(self.dir, "nothing")], code=127)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.run_command([self.dir], code=126)


class Signals(SummaryCase):
    def start_python(self, code, **options):
        running = self.start([TTMEM, "run", "--summary", "--no-adapter", "--", sys.executable, "-c",
                              "import os, signal, sys, time\n" + code], **options)
        return running

    def test_exit_status(self):
        self.run_command(["sh", "-c", "exit 42"], code=42)
        self.run_command(["sh", "-c", "kill -KILL $$"], code=128 + signal.SIGKILL)

    def test_a_signal_to_ttmem_alone_is_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            with self.subTest(number):
                running = self.start_python(
                    f"signal.signal({int(number)}, lambda *_: sys.exit(7))\n"
                    "print('ready', flush=True)\nwhile True: time.sleep(1)")
                running.line()
                running.signal(number)
                self.assertEqual(running.wait(), 7)

    def test_a_sent_interrupt_is_not_passed_on(self):
        running = self.start_python("print('ready', flush=True)\nos.read(0, 1)\nsys.exit(3)")
        running.line()
        running.signal(signal.SIGINT)
        running.signal(signal.SIGQUIT)
        running.go_on()
        self.assertEqual(running.wait(), 3)

    def test_the_command_has_the_signals_of_its_caller(self):
        # Leaves out signals 32 and 33, which the C library uses itself.
        show = ("print([int(line.split()[1], 16) & ~(3 << 31) for line in open('/proc/self/status')"
                " if line.startswith(('SigBlk', 'SigIgn'))])")
        self.run_command([sys.executable, "-c", show])
        mine = subprocess.run([sys.executable, "-c", show], text=True, capture_output=True,
                              check=True).stdout
        self.assertEqual(self.stdout, mine)

    def test_stop_and_continue(self):
        running = self.start_python("os.kill(os.getpid(), signal.SIGSTOP)\n"
                                    "print('on', flush=True)\nsys.exit(5)")
        pid, status = os.waitpid(running.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status), status)
        running.signal(signal.SIGCONT)
        self.assertEqual(running.line(), "on")
        self.assertEqual(running.wait(), 5)

    def on_own_terminal(self, code, typed):
        """Runs ttmem on a terminal and types `typed` after the first line of output. Returns the
        contents of the terminal and the exit status."""
        pid, terminal = pty.fork()
        if pid == 0:
            command = [TTMEM, "run", "--summary", "--no-adapter", "--", sys.executable, "-c", code]
            os.execve(TTMEM, command, self.env)
        self.addCleanup(os.close, terminal)
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the process ended
                break
            if typed and b"\n" in shown:
                os.write(terminal, typed)
                typed = b""
        return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_control_c(self):
        shown, status = self.on_own_terminal(
            "import sys, time\ntry:\n  print('ready', flush=True)\n  time.sleep(60)\n"
            "except KeyboardInterrupt:\n  print('once', flush=True)\n  time.sleep(0.2)\n"
            "  sys.exit(9)", b"\x03")
        self.assertEqual(status, 9, shown)
        self.assertEqual(shown.count("once"), 1)
        self.assertIn(NOTHING.strip(), shown)

    def test_the_command_owns_the_terminal(self):
        shown, status = self.on_own_terminal(
            "import os, sys\nprint('ready', os.isatty(0), os.tcgetpgrp(0) == os.getpgrp(),"
            " flush=True)\nprint('read', sys.stdin.readline())", b"typed\n")
        self.assertEqual(status, 0, shown)
        self.assertIn("ready True True", shown)
        self.assertIn("read typed", shown)


if __name__ == "__main__":
    unittest.main()
