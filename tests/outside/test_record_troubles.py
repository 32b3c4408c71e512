# SPDX-License-Identifier: Apache-2.0
"""A recorder in trouble: killed soon after its start, without disk space, or with an absurd clock.
The recording can be read, or a message says why not."""

import contextlib
import errno
import os
import pathlib
import re
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from recording_file import random_recording
from support import DEADLINE_SECONDS, HERE, TTMEM, Case, rounds, skip_if_sanitized
from test_record_storm import no_mounts

DEMO = (TTMEM, "demo", "single", "--seconds", "0.01")


class TroubleCase(Case):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.dir)
        self.file = self.folder / "run.ttmem"

    def preloaded(self, name, **more):
        """Returns an environment that preloads this library before all others."""
        skip_if_sanitized()  # the sanitizers' runtime must be loaded first
        library = self.folder / f"{name}.so"
        if not library.exists():
            subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC",
                            HERE / "consumer" / f"{name}.c", "-o", library, "-ldl"], check=True)
        return {**self.env, "LD_PRELOAD": str(library), **more}

    def run_ttmem(self, *command, env=None, **options):
        ended = subprocess.run([TTMEM, *map(str, command)], env=env or self.env, text=True,
                               capture_output=True, timeout=DEADLINE_SECONDS, **options)
        self.assertGreaterEqual(ended.returncode, 0, (command, ended.stderr))
        self.assertLess(ended.returncode, 128, (command, ended.stderr))
        return ended

    def record(self, *options, command=DEMO, **more):
        return self.run_ttmem("record", "--no-adapter", "-f", "-o", self.file, *options, "--",
                              *command, **more)

    def check_readable_or_explained(self):
        """Returns True if the recording can be read, and False if it is absent. If it cannot be
        read, checks the error message and returns False. Checks that reading changes no file."""
        before = {path: path.read_bytes() for path in self.folder.glob("run.ttmem*")}
        if self.file not in before:
            return False
        read = self.run_ttmem("report", self.file)
        self.assertEqual({path: path.read_bytes() for path in self.folder.glob("run.ttmem*")}, before)
        if read.returncode != 0:
            self.assertIn(f"{self.file} is not a recording of ttmem: it is empty", read.stderr)
            self.assertIn("record again", read.stderr)
        return read.returncode == 0


class KilledAtOnce(TroubleCase):
    def test_leaves_a_readable_file_or_a_message(self):
        readable = 0
        for turn in range(rounds(100)):
            running = self.start([TTMEM, "record", "--no-adapter", "-f", "-o", str(self.file), "--",
                                  TTMEM, "demo", "single", "--seconds", "0.1"])
            time.sleep(turn % 50 / 1000)
            running.kill()
            readable += self.check_readable_or_explained()
        if rounds(100) == 100:
            self.assertGreater(readable, 0)

    def test_before_the_first_write(self):
        self.file.touch()
        self.assertFalse(self.check_readable_or_explained())

    def test_while_it_created_the_tables(self):
        """The recorder leaves a journal that restores an empty file."""
        self.record()
        data = self.file.read_bytes()
        header = bytes.fromhex("d9d505f920a163d7") + bytes(8) + bytes(4)
        header += (512).to_bytes(4, "big") + data[16:18].rjust(4, b"\0")
        pathlib.Path(f"{self.file}-journal").write_bytes(header.ljust(512, b"\0"))
        self.assertFalse(self.check_readable_or_explained())

    def test_with_tables_but_without_a_run(self):
        self.record()
        with sqlite3.connect(self.file) as file:
            file.execute("DELETE FROM run")
        file.close()
        self.assertFalse(self.check_readable_or_explained())


class NoRoom(TroubleCase):
    # The workload starts its second part when the file contains the first part.
    CALLS = """
import sqlite3, sys, time
sys.path.insert(0, sys.argv[1])
from abi import *

def churn(first, last):
    for i in range(first, last):
        alloc(DRAM, i, 64 * (i % 5000))
        free(DRAM, i)

open_device(0)
churn(0, 1000)
end = time.monotonic() + 60
while time.monotonic() < end and sys.argv[2]:
    file = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
    [[rows]] = file.execute("SELECT count(*) FROM allocations").fetchall()
    file.close()
    if rows >= 1000:
        break
churn(1000, 200000)
print("done")
"""

    def recorded(self, most_bytes, waits_for=""):
        env = self.tracked(TTMEM_LIB=os.environ["TTMEM_LIB"])
        # The ring of the workload is larger than the limit, so the limit must not apply to the
        # workload.
        script = 'ulimit -S -f unlimited; exec "$@"'
        command = ("sh", "-c", script, "sh", "python3", "-c", self.CALLS, str(HERE), waits_for)
        return self.record(command=command, env=env, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (most_bytes, resource.getrlimit(resource.RLIMIT_FSIZE)[1])))

    def test_reports_what_was_written(self):
        ended = self.recorded(1 << 20, waits_for=str(self.file))
        self.assertEqual((ended.returncode, ended.stdout), (1, "done\n"), ended.stderr)
        self.assertRegex(ended.stderr,
                         f"the recording has ended: cannot write {self.file}: .*ulimit -f")
        [events] = re.findall(r"^ttmem: (\d+) events? of 1 process", ended.stderr, re.M)
        self.assertIn(f"were written to {self.file}, up to ", ended.stderr)
        self.assertIn("what came later is missing", ended.stderr)
        self.assertTrue(self.check_readable_or_explained())
        shown = self.run_ttmem("report", self.file).stdout
        self.assertIn(f", {events} events", shown)
        self.assertIn("the end is missing", shown)

    def test_without_any_room(self):
        ended = self.recorded(16 << 10)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn(str(self.file), ended.stderr)
        self.assertFalse(self.file.exists())


class AbsurdClock(TroubleCase):
    """Clocks that are off by these seconds: a slow clock, and clocks that show times before 1970,
    after 2262, and beyond 64 bits of nanoseconds."""

    OFF = (-2000, -1_900_000_000, -9_000_000_000, 7_500_000_000, 9_000_000_000, 17_000_000_000)

    def check_all(self):
        for command in (("report",), ("report", "--at", "peak"), ("report", "--html", "-"), ("leaks",),
                        ("export", "--format", "perfetto", "-f", "-o", f"{self.dir}/out")):
            read = self.run_ttmem(command[0], self.file, *command[1:])
            self.assertIn(read.returncode, (0, 3), (command, read.stderr))

    def test_of_the_machine(self):
        for seconds in self.OFF:
            env = self.preloaded("other_clock", WALL_SECONDS=str(seconds))
            self.assertEqual(self.record(env=env).returncode, 0)
            self.check_all()

    def test_of_a_process(self):
        counts = set()
        for seconds in (0, *self.OFF):
            library = self.preloaded("other_clock")["LD_PRELOAD"]
            workload = ("env", f"LD_PRELOAD={library}", f"MONOTONIC_SECONDS={seconds}", *DEMO)
            self.assertEqual(self.record(command=workload).returncode, 0)
            self.check_all()
            with contextlib.closing(sqlite3.connect(self.file)) as file:
                counts.update(file.execute("SELECT count(*), (SELECT events FROM run) FROM allocations"))
        self.assertEqual(len(counts), 1, counts)


class FailingDisk(TroubleCase):
    """Repeats a command many times. Each time, a different read or write of SQLite fails."""

    def fail_each(self, run, error):
        """Calls run(env) again and again. In the n-th call the n-th read or write of SQLite fails;
        after the 60th only every fifth is tested. Ends after a call in which nothing failed,
        because it made fewer reads and writes. Returns the number of the read or write that this
        call did not reach."""
        told = self.folder / "told"
        number = 0
        while True:
            number += 1 if number < 60 else 5
            run(self.preloaded("fail_once", FAIL_FILES="run.ttmem", FAIL_AT=str(number),
                               FAIL_TOLD=str(told), FAIL_ERRNO=str(error)))
            if not told.exists():
                return number
            told.unlink()

    def test_of_a_recorder(self):
        def run(env):
            ended = self.record(env=env)
            self.assertIn(ended.returncode, (0, 1), ended.stderr)
            if ended.returncode == 1:
                self.assertIn(str(self.file), ended.stderr)
            self.assertEqual(self.check_readable_or_explained(), self.file.exists())
        for error in (errno.EIO, errno.ENOSPC):
            self.assertGreater(self.fail_each(run, error), 20)

    def check_readers(self):
        before = {path: path.read_bytes() for path in self.folder.glob("run.ttmem*")}
        for command in (("report",), ("leaks",), ("report", "--html", "-"),
                        ("export", "--format", "csv", "-f", "-o", f"{self.dir}/out")):
            def run(env):
                ended = self.run_ttmem(command[0], self.file, *command[1:], env=env)
                self.assertIn(ended.returncode, (0, 1, 3), ended.stderr)
                if ended.returncode == 1:
                    self.assertRegex(ended.stderr, rf"^ttmem: [^\n]*{self.file}[^\n]*\n$")
                self.assertEqual({path: path.read_bytes()
                                  for path in self.folder.glob("run.ttmem*")}, before)
            self.assertGreater(self.fail_each(run, errno.EIO), 10)

    def test_of_a_reader(self):
        random_recording(3).save(self.file, ended=1_000_000)
        self.check_readers()

    def test_of_a_reader_that_copies(self):
        """A recorder may still write to a recording without an end, so the reader reads a copy."""
        random_recording(3).save(self.file)
        self.check_readers()

    def test_of_a_reader_that_rolls_back(self):
        random_recording(3).save(self.folder / "other", ended=1_000_000)
        file = sqlite3.connect(self.folder / "other", isolation_level=None)
        for statement in ("PRAGMA cache_size = 1", "PRAGMA cache_spill = 1", "BEGIN",
                          "UPDATE allocations SET number = number + 1000000",
                          "UPDATE texts SET text = 'half written'"):
            file.execute(statement)
        self.file.write_bytes((self.folder / "other").read_bytes())
        pathlib.Path(f"{self.file}-journal").write_bytes((self.folder / "other-journal").read_bytes())
        file.close()
        self.assertNotIn("half written", self.run_ttmem("report", self.file).stdout)
        self.check_readers()


@unittest.skipIf(no_mounts(), f"this user may not mount: {no_mounts()}")
class ReadOnly(TroubleCase):
    def test_the_reason_is_the_file_system(self):
        script = f'mount -t tmpfs -o ro none "{self.dir}" && exec "$@"'
        said = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", TTMEM, "record",
                               "--no-adapter", "-o", str(self.file), "--", "true"], env=self.env,
                              text=True, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(said.returncode, 1)
        self.assertEqual(said.stderr, f"ttmem: cannot write {self.file}: Read-only file system\n")


if __name__ == "__main__":
    unittest.main()
