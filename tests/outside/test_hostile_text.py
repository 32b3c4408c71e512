# SPDX-License-Identifier: Apache-2.0
"""No foreign text reaches a terminal as a control sequence: labels, names, command lines, hosts,
files and logs with escape codes, in every command and format."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request

from recording_file import Recording
from remote_case import RemoteCase
from support import CAPTURES, DEADLINE_SECONDS, HERE, LIBRARY, TTMEM, Case

# CSI in both encodings, carriage return, bell, DEL, backspace, a line separator, and characters
# that change the writing direction.
COMMANDS = "\x1b[31mA\x9b31mB\rC\x07D\x7fE\u202eF\u2066G\u2028H\x08I"
EVIL = COMMANDS + " | a\\| `<b>` \"q\", end"
EVIL_BYTES = COMMANDS.encode() + b"\x9b31m\xff"
# Characters that must not appear in any output.
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OUT_OF_MEMORY = ("Out of Memory: Not enough space to allocate 6400 B L1 buffer across 64 banks, where "
                 "each bank needs to store 100 B, but bank size is 1360704 B")

WORKLOAD = f"""
from abi import *
open_device(board={COMMANDS!r}.encode()[:15], arch=b"\\x1b[31mx")
push({EVIL!r}.encode())
alloc(DRAM, 1, 1 << 20, label={EVIL!r}.encode())
alloc(L1, 2, 4096, address=1 << 20, label={EVIL!r}.encode())
place(7, (105664, 4096, [(0, 0, 1, 1)]), name={EVIL!r}.encode())
"""
# Keys of those texts in a snapshot that come from other processes or from files.
TEXTS = {"label", "scope", "name", "command", "user", "host", "board", "arch", "bus_id", "job", "rank",
         "pod", "namespace", "container", "not_tracked", "warnings", "unread"}


def with_evil(value, key=None):
    """Returns the document with all foreign texts replaced by hostile texts."""
    if isinstance(value, dict):
        return {name: with_evil(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [EVIL] if key in TEXTS else [with_evil(item) for item in value]
    return EVIL if key in TEXTS else value


class HostileCase(Case):
    def harmless(self, *arguments, stdin=None, env=None):
        """Runs ttmem and checks both its outputs. Any exit code is accepted. Returns the
        outputs."""
        done = subprocess.run([TTMEM, *arguments], env=env or self.env, input=stdin,
                              capture_output=True, timeout=DEADLINE_SECONDS, check=False)
        for name, output in (("stdout", done.stdout), ("stderr", done.stderr)):
            self.assert_harmless(output, f"{name} of {arguments}")
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode() + done.stderr.decode()

    def assert_harmless(self, output, what):
        try:
            text = output.decode()
        except UnicodeDecodeError as error:
            self.fail(f"{what} is not UTF-8: {error}")
        found = FORBIDDEN.search(text)
        self.assertIsNone(found, f"{what} has {found and found.group()!r}: "
                          f"{found and text[max(0, found.start() - 60):found.start() + 60]!r}")

    def assert_all_harmless(self, *commands, shows="A"):
        for command in commands:
            with self.subTest(command=command):
                self.assertIn(shows, self.harmless(*command))

    def start_workload(self, env=None, then="hold()"):
        env = {**(env or self.env), "TT_ALLOC_TRACKING_ENABLED": "1", "TTMEM_LIB": LIBRARY,
               "PYTHONPATH": str(HERE), "TTMEM_JOB": EVIL.encode()}
        held = self.start([sys.executable, "-c", WORKLOAD + then, EVIL_BYTES.decode(
            errors="surrogateescape")], env)
        if then == "hold()":
            held.line()
        return held


QUERY = "--query=" + ",".join(("device", "uid", "arch", "board"))
OF_SNAPSHOTS = ((), ("--json",), ("--csv",), ("--csv", "--per-core"), ("--list",), ("--list", "--csv"),
                ("--per-core",), ("--brief",), ("--long",), (QUERY,),
                ("--columns=pid,user,job,rank,pod,namespace,container,command",),
                ("allocs",), ("allocs", "--json"), ("allocs", "--csv"), ("allocs", "--kind=cb"),
                ("allocs", "--group-by=label"), ("allocs", "--group-by=scope", "--csv"),
                ("allocs", "--group-by=process", "--json"),
                ("programs",), ("programs", "--json"), ("programs", "--csv"))


class OfProcesses(HostileCase):
    def test_texts_of_a_live_process(self):
        self.start_workload()
        self.assert_all_harmless(*OF_SNAPSHOTS, ("leaks",), ("doctor",), ("doctor", "--json"),
                                 ("explain",), ("explain", "--json"), shows="")
        self.assertIn("?[31mA?", self.harmless("allocs"))

    def test_texts_of_a_dead_process(self):
        self.start_workload().kill()
        self.assert_all_harmless((), ("--json",), ("leaks",), ("leaks", "--json"), ("doctor",),
                                 ("clean", "--dry-run"), ("clean",), shows="")

    def test_the_report_at_the_end_of_run(self):
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        source = WORKLOAD + f"lib.ttmem_failure(({OUT_OF_MEMORY!r} + {EVIL!r}).encode())\nexit(1)"
        said = self.harmless("run", "--summary", "--", sys.executable, "-c", source, EVIL_BYTES,
                             env=env)
        self.assertIn("the most that was in use", said)
        self.assert_all_harmless(("explain",), ("clean",), shows="")

    def test_a_folder_of_segments_with_a_hostile_name(self):
        folder = os.path.join(os.fsencode(self.dir), EVIL_BYTES)
        env = {**self.env, "TTMEM_DIR": folder}
        for made in (lambda: None, lambda: os.mkdir(folder, 0o700), self.put_garbage):
            made()
            for command in ((), ("--json",), ("doctor",), ("doctor", "--json"), ("clean",), ("leaks",),
                            ("explain",)):
                with self.subTest(command=command):
                    self.harmless(*command, env=env)

    def put_garbage(self):
        folder = os.path.join(os.fsencode(self.dir), EVIL_BYTES)
        for name in (b"ttmem.0.1.1", b"ttmem.0.1." + EVIL_BYTES, b"tt_device_" + EVIL_BYTES):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(EVIL_BYTES * 1000)


class OfServers(HostileCase, RemoteCase):
    def document(self):
        host = self.host()
        self.start_workload(host.env)
        url = host.url + "/api/v1/snapshot?lists=1"

        def look():
            with urllib.request.urlopen(url) as answer:
                found = json.load(answer)
            return found if found["allocations"] and found["programs"] else None

        return with_evil(self.wait_for(look, "a pass that found the process"))

    def test_the_answers_of_another_host(self):
        answer = json.dumps(self.document()).encode()
        at = self.answering(lambda path: (200, answer if "snapshot" in path else b"{}"))
        for command in OF_SNAPSHOTS:
            with self.subTest(command=command):
                said = self.harmless(*command, "--server", at)
                if "--json" in command:  # the text is complete, in escaped form
                    self.assertIn("\\u001b[31mA\\u009b31mB\\rC\\u0007D\\u007fE\\u202eF\\u2066G\\u2028H",
                                  said)
                    json.loads(said)
        for command in (("fleet",), ("fleet", "--json"), ("fleet", "--group-by=job")):
            with self.subTest(command=command):
                self.harmless(*command, "--server", at)
        shown = self.on_terminal(150, 40, "--server", at)
        self.assert_harmless(shown.encode(), "the terminal")

    def test_the_errors_of_another_host(self):
        for status, body, *headers in (
                (500, json.dumps({"error": EVIL}).encode()), (200, EVIL_BYTES),
                (404, EVIL_BYTES), (302, b"", ("Location", "http://x/\x1b[31m\x9b31m")),
                (200, json.dumps({"schema": "ttmem.snapshot.v" + EVIL}).encode())):
            at = self.answering(lambda _, answer=(status, body, *headers): answer)
            for command in ((), ("--json",), ("fleet",), ("fleet", "--json"), ("allocs",)):
                with self.subTest(status=status, command=command):
                    self.harmless(*command, "--server", at)

    def test_the_log_of_the_server(self):
        server = self.start_server()
        self.start_workload({**self.env, "TTMEM_TRANSPORT": "socket", "TTMEM_SOCKET": self.path})
        dead = self.start_workload()
        dead.kill()
        self.start_workload({**self.env, "TTMEM_RUN": "1.2"},
                            f"lib.ttmem_failure(({OUT_OF_MEMORY!r} + {EVIL!r}).encode())\nhold()")
        self.wait_said(server, str(dead.pid))
        server.stop()
        self.assertTrue(server.log)
        for line in server.log:
            self.assert_harmless(line.encode(), "the log")


def hostile_recording(path):
    recording = Recording(EVIL)
    process = recording.process(4711, EVIL, end=9_000)
    device = recording.device(process, 0, "0xa0", arch=EVIL, board=EVIL, end=8_000)
    for number in range(4):
        recording.allocate([device], "dram", 1 << 20, 100 + number, label=EVIL, scope=EVIL,
                           per_bank=1 << 17, banks=8, address=number << 20)
    recording.allocate([device], "l1", 4096, 200, label=EVIL, per_bank=64, banks=64, address=1 << 20)
    recording.place(device, 7, [(110_000, 4096, (0, 1), False)], 300, name=EVIL, scope=EVIL)
    recording.mark(process, EVIL, 400)
    recording.run[4] = EVIL
    recording.save(path, ended=10_000)
    return path


class OfFiles(HostileCase):
    def recording(self, name):
        return hostile_recording(os.path.join(os.fsencode(self.dir), name))

    def test_the_texts_of_a_recording(self):
        file = self.recording(b"run.ttmem")
        self.assert_all_harmless(
            ("report", file), ("report", file, "--json"), ("report", file, "--at=end"),
            ("report", file, "--at=end", "--json"), ("leaks", file), ("leaks", file, "--json"),
            ("diff", file, file), ("diff", file, file, "--json"), ("diff", file, file, "--markdown"),
            ("explain", "--recording", file), ("explain", "--recording", file, "--json"),
            ("fit", file, "--board=n150"), ("fit", file, "--board=n150", "--json"), shows="")

    def test_exports_to_standard_output(self):
        file = self.recording(b"run.ttmem")
        for format_, has in (("csv", "?[31mA?31mB?C?D?E?F?G"), ("collapsed", " [31mA?31mB"),
                             ("speedscope", "\\u009b31mB")):
            with self.subTest(format=format_):
                said = self.harmless("export", file, "--format", format_, "-o", "-")
                self.assertIn(has, said)

    def test_a_table_of_markdown_keeps_its_columns(self):
        label = "x` | a\\| <script>alert(1)</script> [l](http://x) ![i](http://x)"
        files = []
        for size in (1 << 20, 1 << 21):
            recording = Recording()
            device = recording.device(recording.process(1, "python3"), 0, "0xa0")
            recording.allocate([device], "dram", size, 1, label=label, scope="s|\n| # h")
            files.append(recording.save(os.path.join(self.dir, f"{size}.ttmem"), ended=10))
        said = self.ttmem("diff", *files, "--markdown").stdout
        rows = [line for line in said.splitlines() if "alert" in line]
        self.assertEqual(len(rows), 1, said)
        # The row has as many unescaped bars as the head of the table.
        cells = re.split(r"(?<!\\)\|", re.sub(r"\\\\", "", rows[0]))
        self.assertEqual(len(cells), 8, rows)
        self.assertEqual(rows[0].count("`"), 2, rows)
        spans = re.fullmatch(r"[^`<\[]*`[^`]*`[^`<\[]*", rows[0])
        self.assertTrue(spans, rows)

    def test_names_of_files(self):
        missing = os.path.join(os.fsencode(self.dir), b"missing" + EVIL_BYTES)
        there = self.recording(EVIL_BYTES)
        shutil.copy(there, os.path.join(self.dir, "other.ttmem"))
        other = os.path.join(self.dir, "other.ttmem")
        garbage = os.path.join(os.fsencode(self.dir), b"garbage" + EVIL_BYTES)
        pathlib.Path(os.fsdecode(garbage)).write_bytes(EVIL_BYTES * 100)
        for file in (missing, there, garbage):
            for command in (("report", file), ("report", file, "--json"), ("leaks", file),
                            ("report", file, "--at=peak"), ("diff", file, other),
                            ("diff", file, other, "--json"), ("diff", other, file, "--markdown"),
                            ("fit", file, "--board=n150"), ("fit", file, "--board=n150", "--json"),
                            ("export", file, "--format=csv", "-o", "-"),
                            ("export", other, "--format=csv", "-o", file),
                            ("import", file, "-o", other), ("import", other, "-o", file),
                            ("explain", file), ("explain", "--recording", file), ("replay", file),
                            ("record", "-o", file, "--", "true"), ("view", "--no-open", missing),
                            ("report", other, "--html", file), ("top", "--replay", missing)):
                with self.subTest(command=command):
                    self.harmless(*command)

    def test_the_texts_of_a_held_replay(self):
        capture = os.path.join(os.fsencode(self.dir), EVIL_BYTES)
        shutil.copy(sorted(CAPTURES.glob("*.jsonl"))[0], capture)
        folder = os.path.join(os.fsencode(self.dir), EVIL_BYTES + b"d")
        os.mkdir(folder, 0o700)
        env = {**self.env, "TTMEM_DIR": folder}
        held = subprocess.Popen([TTMEM, "replay", capture, "--hold"], env=env, stderr=subprocess.PIPE)
        self.addCleanup(held.stderr.close)
        self.addCleanup(held.wait)
        self.addCleanup(held.kill)
        said = held.stderr.readline()
        self.assertIn(b"holding their state", said)
        self.assert_harmless(said, "stderr")

    def test_arguments(self):
        for command in ((EVIL,), ("--" + EVIL,), ("report", "--at", EVIL, "x"), ("--device", EVIL),
                        ("--query", EVIL), ("--units", EVIL), ("--server", EVIL), ("--sort", EVIL),
                        ("report", "--fail-on", EVIL, "x"), ("export", "x", "--format", EVIL),
                        ("fit", "x", "--board", EVIL), ("run", "--", EVIL), ("complete", EVIL),
                        ("record", "-o", os.path.join(self.dir, "r"), "--", EVIL),
                        ("demo", EVIL), ("help", EVIL), ("allocs", "--kind", EVIL)):
            with self.subTest(command=command):
                self.harmless(*command)

    def test_a_log_that_is_explained(self):
        said = "Allocating device buffers is potentially unsafe due to the existence of an active trace"
        for line in (OUT_OF_MEMORY, said, "Buffer index exceeds max number of circular buffers per core"):
            for more in ((), ("--json",)):
                with self.subTest(line=line, more=more):
                    log = (line + " " + EVIL + "\n").encode() + EVIL_BYTES
                    self.assertNotIn("no error about memory", self.harmless("explain", "-", *more,
                                                                            stdin=log))

    def test_invalid_graphs_and_captures(self):
        for text in ('[{"counter": 0, "node_type": "' + EVIL + '" ' + EVIL,
                     '{"ev": ' + json.dumps(EVIL) + "}\n", "[\x1b[31m", '{"ev": "device"}' + EVIL,
                     '[{"counter": 0, "node_type": ' + json.dumps(EVIL) + "}, 7]"):
            path = os.path.join(self.dir, "graph")
            pathlib.Path(path).write_text(text, encoding="utf-8")
            with self.subTest(text=text):
                self.harmless("import", path, "-o", path + ".ttmem", "-f")
                self.harmless("replay", path, env=self.tracked())

    def test_a_long_text_is_cut_where_a_message_quotes_it(self):
        path = os.path.join(self.dir, "graph")
        for text in ('[{"counter": 0, "node_type": "' + "x" * 1_000_000,
                     '{"ev": "' + "y" * 1_000_000 + '"}\n'):
            pathlib.Path(path).write_text(text, encoding="utf-8")
            said = self.ttmem("import", path, "-o", path + ".ttmem", code=1).stderr
            self.assertIn(path, said)
            self.assertLess(len(said), 8192)
        said = self.ttmem("report", path, "--at", "z" * 100_000, code=2).stderr
        self.assertLess(len(said), 8192)


if __name__ == "__main__":
    unittest.main()
