# SPDX-License-Identifier: Apache-2.0
"""ttmem is started with closed standard descriptors. No file or socket of ttmem gets the number of
a standard descriptor, so no message is written into a recording."""

import itertools
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import unittest

from recording_file import random_recording
from support import DEADLINE_SECONDS, HERE, LIBRARY, TTMEM, Case
import wire

CLOSED = [closed for count in (1, 2, 3) for closed in itertools.combinations((0, 1, 2), count)]


def as_shell(closed):
    return " ".join(["exec", '"$@"', *(f"{number}{'<' if number == 0 else '>'}&-"
                                       for number in closed)])


class ClosedCase(Case):
    def setUp(self):
        super().setUp()
        self.file = pathlib.Path(self.dir) / "run.ttmem"
        self.out = pathlib.Path(self.dir) / "out"

    def run_closed(self, closed, *command, env=None):
        """Runs a command through a shell that closes these descriptors. Returns the exit code and
        the text written to each descriptor, which is empty for a closed descriptor."""
        done = subprocess.run(["sh", "-c", as_shell(closed), "sh", *map(str, command)], env=env or self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=DEADLINE_SECONDS)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def assert_says(self, closed, said, words):
        """Asserts that standard error has the words, unless standard error is closed."""
        if 2 in closed:
            self.assertEqual(said, "")
        else:
            self.assertIn(words, said)


class Printing(ClosedCase):
    def test_a_closed_standard_output_is_an_error_with_a_message(self):
        random_recording(1, events=10).save(self.file, ended=1_000_000)
        before = self.file.read_bytes()
        for closed, command in itertools.product(CLOSED, (
                (), ("report", self.file), ("report", self.file, "--json"), ("--help",), ("version",),
                ("export", self.file, "--format", "csv", "-o", "-"), ("allocs", "--csv"))):
            with self.subTest(closed=closed, command=command):
                code, out, said = self.run_closed(closed, TTMEM, *command)
                self.assertEqual(code, 1 if 1 in closed else 0, said)
                self.assertEqual(out == "", 1 in closed)
                if 1 in closed:
                    self.assert_says(closed, said, "cannot write")
        self.assertEqual(self.file.read_bytes(), before)

    def test_output_to_a_file_needs_no_standard_output(self):
        random_recording(1, events=10).save(self.file, ended=1_000_000)
        for closed in CLOSED:
            for options in (("export", self.file, "--format", "csv", "-o"), ("report", self.file, "--html")):
                with self.subTest(closed=closed, command=options[0]):
                    code, _, said = self.run_closed(closed, TTMEM, *options, self.out, "-f")
                    self.assertEqual(code, 0)
                    wrote = rf"ttmem: wrote {self.out}: \S+ [KM]iB\n"
                    self.assertRegex(said, "^$" if 2 in closed else f"^{wrote}$")
                    expected = self.ttmem(*options, f"{self.out}.2", "-f")
                    self.assertEqual(expected.returncode, 0)
                    if options[0] == "export":
                        self.assertEqual(self.out.read_bytes(),
                                         pathlib.Path(f"{self.out}.2").read_bytes())

    def test_failures_keep_their_exit_codes(self):
        for closed in CLOSED:
            for command, code in ((("report", "/nonexistent"), 1), (("--unknown",), 2),
                                  (("explain", "/nonexistent"), 1)):
                with self.subTest(closed=closed, command=command):
                    self.assertEqual(self.run_closed(closed, TTMEM, *command)[0], code)

    def test_a_closed_standard_input_cannot_be_read(self):
        code, _, said = self.run_closed((0,), TTMEM, "explain", "-")
        self.assertEqual(code, 1)
        self.assertIn("cannot read standard input", said)


class Serving(ClosedCase):
    @staticmethod
    def can_connect(path):
        try:
            wire.Client(str(path)).close()
        except OSError:
            return False
        return True

    def test_no_socket_gets_a_standard_descriptor(self):
        for closed in CLOSED:
            with self.subTest(closed=closed):
                path = pathlib.Path(self.dir) / f"socket{''.join(map(str, closed))}"
                server = self.start(["sh", "-c", as_shell(closed), "sh", TTMEM, "serve", "--socket", path,
                                     "--http", "127.0.0.1:0"])
                self.wait_for(lambda at=path: self.can_connect(at), "the server")
                for number in closed:
                    self.assertEqual(os.readlink(f"/proc/{server.pid}/fd/{number}"), "/dev/null")
                server.signal(signal.SIGTERM)
                self.assertEqual(server.wait(), 0)


class Recording(ClosedCase):
    CALLS = ("from abi import *\nopen_device(0)\nalloc(DRAM, 1, 64, label=b'weights')\n"
             "alloc(DRAM, 2, 64)\nfree(DRAM, 2)\n")

    def record(self, closed, source, *options):
        self.file.unlink(missing_ok=True)
        env = {**self.env, "TTMEM_LIB": LIBRARY, "PYTHONPATH": str(HERE)}
        return self.run_closed(closed, TTMEM, "record", "-o", self.file, *options, "--",
                               sys.executable, "-c", source, env=env)

    def test_the_recording_is_intact(self):
        for closed in CLOSED:
            with self.subTest(closed=closed):
                code, out, said = self.record(closed, self.CALLS)
                self.assertEqual(code, 0, said)
                self.assertTrue(self.file.read_bytes().startswith(b"SQLite format 3\0"))
                database = sqlite3.connect(self.file)
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                self.assertEqual(database.execute("SELECT events, lost_events, exit_code FROM run")
                                 .fetchall(), [(4, 0, 0)])
                database.close()
                self.assertEqual(self.json("report", self.file)["events"], 4)

    def test_the_command_finds_the_descriptors_closed(self):
        folder = pathlib.Path(self.dir) / "closed"
        folder.mkdir()
        script = f"for n in 0 1 2; do [ -e /proc/$$/fd/$n ] || : >{folder}/$n; done"
        for closed in CLOSED:
            for command in (("run", "--no-explain"), ("run",), ("record", "-f", "-o", self.file)):
                with self.subTest(closed=closed, command=command):
                    self.run_closed(closed, TTMEM, *command, "--", "sh", "-c", script)
                    found = sorted(int(path.name) for path in folder.iterdir())
                    self.assertEqual(found, list(closed))
                    for path in folder.iterdir():
                        path.unlink()


if __name__ == "__main__":
    unittest.main()
