# SPDX-License-Identifier: Apache-2.0
"""Damaged and malicious recordings: every command that reads such a recording ends soon and uses
bounded memory. It prints a clear error, or output in which hostile texts are harmless."""

import base64
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import re
import resource
import sqlite3
import subprocess
import threading
import unittest
import urllib.request

from recording_file import Recording
from support import GIB, KIB, MIB, TTMEM, Case, is_sanitized, skip_if_sanitized

SECONDS = 60  # limit for one command; the slowest needs one second
MEMORY = 2 * GIB
FEW_MIB = 500  # memory limit, in MiB, for a command that reads a file of half a megabyte
HOSTILE = [text if isinstance(text, bytes) else text.encode() for text in (
    "<img src=x onerror=alert(1)></script><!--", "\x1b]0;title\x07\x1b[31m", "\u202egnp.exe\u2066",
    "a\0b", "\x7f\x85\u2028\u2029", "`$(id)`'\";--", "=1+1", "%s%n{0}{}",
    b"\xff\xfe<b>\x80\xc0\xaf\xed\xa0\x80", "\ufdd0\uffff\U0010ffff", "x" * 100_000, "a/" * 1000)]
# Characters that would change a terminal or the reading order of a text.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SANITIZED = is_sanitized()
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "


def limits():
    if not SANITIZED:  # sanitizers map more than MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 * MIB, 256 * MIB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def document_in(page):
    """Returns the data that a page in one file contains."""
    [packed] = re.findall(r'id="recording">([^<]*)</script>', page)
    return gzip.decompress(base64.b64decode(packed)).decode()


def no_constants(name):
    raise ValueError(f"{name} is no JSON")


class HostileCase(Case):
    def setUp(self):
        super().setUp()
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.addCleanup(self.pool.shutdown)

    def path(self, name):
        return pathlib.Path(self.dir) / f"{name}.ttmem"

    def model(self, name):
        """Makes a recording with a row in every table. Returns its path."""
        recording = Recording()
        process = recording.process(7, "model", end=900)
        device = recording.device(process, 0, uid="0xb150")
        other = recording.device(process, 1, uid="0xb151", end=800)
        recording.scope_visits(process, "load", 3, 0, 300, 200)
        for step in range(4):
            begin = 100 + 100 * step
            recording.mark(process, "step", begin)
            recording.allocate([device, other], "l1", 64 * KIB, begin, begin + 250, per_bank=KIB,
                               banks=64, label=f"hidden {step}", scope="load", address=MIB + KIB * step,
                               cores=range(64))
            recording.allocate([device], "dram", 64 * KIB, begin, per_bank=8 * KIB, banks=8,
                               label="weights", scope="load", address=MIB * step)
            recording.place(device, step, [(102_400, 64 * KIB, range(64), False)], begin,
                            begin + 50, name="matmul", scope="load")
            recording.dispatch([device, other], (step,), begin + 10, trace=step == 3)
        recording.gap(process, 250, 260, 12)
        recording.rows["timeline"] = [(1, 100, device, "l1", KIB, KIB),
                                      (2, 200, device, "dram", KIB, KIB)]
        path = self.path(name)
        recording.save(path, ended=1000)
        return path

    def commands(self, path):
        out = f"{path}.out"
        yield "report", path, "--html", "-"
        yield "report", path, "--json"
        yield "report", path
        yield "report", path, "--at", "peak", "--json"
        yield "leaks", path, "--json"
        yield "leaks", path
        yield "diff", path, path, "--json"
        yield "fit", path, "--board", "p150,n300", "--json"
        for form in ("perfetto", "pprof", "memory-viz", "speedscope", "collapsed", "csv",
                     "ttnn-visualizer"):
            yield "export", path, "--format", form, "-f", "-o", f"{out}.{form}"

    def run_one(self, command):
        """Runs a command and checks all rules about its output. Returns its exit status."""
        name = " ".join(map(str, command))
        ended = subprocess.run([TTMEM, *map(str, command)], env=self.env, capture_output=True,
                               timeout=SECONDS, preexec_fn=limits, stdin=subprocess.DEVNULL)
        said = ended.stderr.decode()
        self.assertIn(ended.returncode, (0, 1, 3, 4), f"{name}: {said[-2000:]}")
        self.assertNotIn("Sanitizer", said, name)
        self.assertNotIn("runtime error", said, name)
        written = ended.stdout.decode()
        if ended.returncode == 1:
            self.assertRegex(said, r"^ttmem: \S.*\S\n$", name)
            self.assertNotIn("memory", said, name)
        self.assertIsNone(UNSAFE.search(said), (name, said))
        if ended.returncode != 1 and "--html" in command:
            written = document_in(written)
            self.assertIsNone(UNSAFE.search(written), name)
            json.loads(written, parse_constant=no_constants)
        elif written and "--json" in command:
            json.loads(written, parse_constant=no_constants)
        self.assertIsNone(UNSAFE.search(written), name)
        return ended.returncode

    def run_or_describe(self, command):
        """Runs a command. Returns its exit status, or a description of the rule that it broke."""
        try:
            return self.run_one(command)
        except (AssertionError, ValueError, subprocess.TimeoutExpired) as wrong:
            return f"{' '.join(map(str, command))}: {str(wrong)[-300:]}"

    def run_all(self, paths, every=False):
        """With `every`, runs every command on every file. Otherwise runs one command on each file;
        successive files get different commands. Returns the exit statuses."""
        asked = []
        for turn, path in enumerate(paths):
            commands = list(self.commands(path))
            asked += commands if every else [commands[turn % len(commands)]]
        codes = list(self.pool.map(self.run_or_describe, asked))
        failed = [code for code in codes if isinstance(code, str)]
        self.assertFalse(failed, "\n".join([f"{len(failed)} of {len(codes)} failed:", *failed]))
        return codes

    def changed(self, name, *statements):
        path = self.model(name)
        file = sqlite3.connect(path)
        file.text_factory = bytes
        try:
            for statement in statements:
                file.execute(*([statement] if isinstance(statement, str) else statement))
            file.commit()
        finally:
            file.close()
        return path


class Texts(HostileCase):
    COLUMNS = (("run", "version"), ("run", "source"), ("run", "command"), ("run", "host"),
               ("run", "imported"), ("processes", "name"), ("processes", "command"),
               ("processes", "user"), ("devices", "arch"), ("devices", "board"), ("texts", "text"),
               ("scopes", "path"), ("marks", "name"))

    def hostile(self, turn):
        """Makes a recording in which all texts are hostile. `turn` rotates the hostile texts."""
        return self.changed(f"texts{turn}", *(
            (f"UPDATE {table} SET {column} = CAST(? AS TEXT)",
             (HOSTILE[(number + turn) % len(HOSTILE)],))
            for number, (table, column) in enumerate(self.COLUMNS)))

    def test_are_harmless_in_every_column(self):
        paths = [self.hostile(turn) for turn in range(0, len(HOSTILE), 4)]
        self.assertLessEqual(set(self.run_all(paths, every=True)), {0, 3, 4})

    def test_are_escaped_in_the_page(self):
        path = self.changed("texts", ("UPDATE texts SET text = ?", (HOSTILE[0],)))
        page = self.ttmem("report", path, "--html", "-").stdout
        self.assertNotIn("onerror=", page)
        self.assertIn(json.dumps(HOSTILE[0].decode()), document_in(page))

    def test_a_text_shared_by_many_rows_does_not_become_gigabytes(self):
        skip_if_sanitized()  # sanitizers need minutes and much memory for this
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150")
        for number in range(3000):
            recording.allocate([device], "l1", 130 * 64, 1000 + number, per_bank=64, banks=130,
                               address=MIB + 64 * number, label="L" * 100_000)
        path = self.path("shared")
        recording.save(path, ended=10_000)
        self.assertLess(path.stat().st_size, MIB)
        document = document_in(self.ttmem("report", path, "--html", "-").stdout)
        self.assertIn("LL…LL", document)
        self.assertLess(len(document), 32 * MIB)

    def test_in_the_name_of_the_file(self):
        path = self.model("<b>\x1b[31m\u202egnp$(id)")
        for command in (("report", path), ("report", path, "--html", "-"), ("leaks", path),
                        ("diff", path, path), ("fit", path, "--board", "p150")):
            self.assertIn(self.run_one(command), (0, 3, 4))

    def test_in_the_answers_of_the_viewer(self):
        viewer = self.start_ttmem("view", "--no-open", "--http", "127.0.0.1:0", self.hostile(0))
        url = re.search(r"http://\S+", viewer.line("stderr"))[0]
        for target in ("api/v1/recording", "api/v1/timeline", "api/v1/timeline?from=100&to=500"):
            with urllib.request.urlopen(url + target, timeout=SECONDS) as answer:
                text = answer.read().decode()
                self.assertIsNone(UNSAFE.search(text), target)
                json.loads(text, parse_constant=no_constants)
        for form in json.load(urllib.request.urlopen(url + "api/v1/recording"))["exports"]:
            with urllib.request.urlopen(f"{url}api/v1/export?format={form}") as answer:
                self.assertGreater(len(answer.read()), 100, form)

    def test_nested_deep(self):
        """`run.imported` is JSON, and may be nested too deeply."""
        deep = 200_000
        paths = [self.changed(f"deep{number}", ("UPDATE run SET imported = ?", (text,)))
                 for number, text in enumerate(("[" * deep + "]" * deep,
                                                '{"a":' * deep + "1" + "}" * deep,
                                                '{"\\"": ' + "[" * 17 + "]" * 17 + "}"))]
        self.assertEqual(set(self.run_all(paths, every=True)), {1})
        text = json.dumps({"[[[[[[[[[[[[[[[[[[": 1, 'a"{': {"b": [None, "]" * 40]}})
        path = self.changed("flat", ("UPDATE run SET imported = ?", (text,)))
        self.assertEqual(self.json("report", path)["imported"], json.loads(text))

    def test_on_a_terminal(self):
        shown = self.on_terminal(160, 50, "top", "--replay", self.hostile(9), until="Device 0")
        self.assertNotIn("]0;title", shown)
        self.assertNotRegex(shown, "[\x80-\x9f\u202a-\u202e\u2066-\u2069]")


class Values(HostileCase):
    """Values that a column cannot have."""

    VALUES = ("'text'", "NULL", "x'ff00ff'", "-1", "9223372036854775807", "-9223372036854775808",
              "1e300", "''", "4294967296", "0")

    def test_of_every_column(self):
        chance = random.Random(17)
        with sqlite3.connect(self.model("columns")) as file:
            columns = [(table, column[1]) for (table,) in
                       file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
                       for column in file.execute(f"PRAGMA table_info({table})").fetchall()]
        file.close()
        paths = []
        for table, column in chance.sample(columns, 40):
            value = chance.choice(self.VALUES)
            paths.append(self.changed(f"{table}-{column}-{len(paths)}",
                                      f"UPDATE {table} SET {column} = {value}"))
        self.run_all(paths)

    def test_times_that_run_backwards(self):
        self.run_all([self.changed("backwards", "UPDATE allocations SET begin_ns = 1000 - begin_ns",
                                   "UPDATE programs SET end_ns = begin_ns - 500",
                                   "UPDATE marks SET time_ns = -time_ns",
                                   "UPDATE devices SET begin_ns = 900, end_ns = 100",
                                   "UPDATE gaps SET begin_ns = 800, end_ns = -800")], every=True)

    def test_the_ends_of_time(self):
        first, last = -2**63, 2**63 - 1
        paths = []
        for name, begin, end in (("all", first, last), ("last", last, last), ("first", first, first),
                                 ("zero", 0, last)):
            paths.append(self.changed(
                name, f"UPDATE run SET ended_ns = {end}, started_unix_ns = {end}",
                f"UPDATE processes SET begin_ns = {begin}, end_ns = {end}",
                f"UPDATE devices SET begin_ns = {begin}, end_ns = {end}",
                f"UPDATE allocations SET begin_ns = {begin}, end_ns = {end}",
                f"UPDATE programs SET begin_ns = {begin}, end_ns = {end}",
                f"UPDATE dispatches SET time_ns = {end}", f"UPDATE marks SET time_ns = {begin}",
                f"UPDATE gaps SET begin_ns = {begin}, end_ns = {end}",
                f"UPDATE timeline SET time_ns = {end}",
                f"UPDATE scope_visits SET last_ns = {begin}, before_ns = {end}"))
        self.assertEqual(set(self.run_all(paths * 4)), {1})


class Counts(HostileCase):
    """More rows than any real recording has."""

    def many(self, name, table, row, count, *more):
        columns = ", ".join(row)
        values = ", ".join(str(value).replace("#", "i") for value in row.values())
        numbers = f"n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        return self.changed(
            name, f"DELETE FROM {table}",
            f"WITH RECURSIVE {numbers} INSERT INTO {table} ({columns}) SELECT {values} FROM n", *more)

    DEVICE = {"id": "#", "process": 1, "number": "#", "uid": "printf('0x%x', #)", "arch": "'a'",
              "board": "'b'", "grid_x": 16, "grid_y": 16, "l1_bytes_per_core": 1 << 20, "l1_base": 0,
              "l1_small_bytes_per_core": 0, "dram_channels": 8, "dram_bytes_per_channel": 1 << 30,
              "trace_region_bytes": 0, "known_kinds": 127, "resident_known": 1, "cb_estimate": 0,
              "begin_ns": "#"}

    def test_of_devices(self):
        self.run_all([
            self.many("chips", "devices", self.DEVICE, 20_000),
            self.many("again", "devices", {**self.DEVICE, "number": 0, "uid": "'0x1'"}, 1_000),
            self.many("set", "devices", self.DEVICE, 1_000,
                      "INSERT INTO device_sets SELECT 3, id FROM devices",
                      "UPDATE allocations SET devices = 3", "UPDATE dispatches SET devices = 3"),
        ])

    def test_of_other_tables(self):
        self.run_all([
            self.many("processes", "processes", {"id": "#", "pid": "#", "name": "'p'", "begin_ns": "#"},
                      50_000),
            self.many("marks", "marks", {"id": "#", "time_ns": "#", "process": 1, "name": "'m' || #"},
                      100_000),
            self.many("gaps", "gaps", {"id": "#", "process": 1, "begin_ns": "#", "end_ns": 1000},
                      100_000),
            self.changed("cores", ("UPDATE core_sets SET cores = ?", ("0-255," * 500_000 + "0",))),
            self.many("buffers", "circular_buffers",
                      {"layout": 1, "position": "#", "address": "100000 + # * 7", "bytes": 3,
                       "cores": "printf('%d-%d', # % 100, # % 100 + # % 10)", "global": 0}, 1_000),
            self.many("trace", "launch_programs", {"launch": "1 + # % 4", "position": "#",
                                                   "program": "# % 10"}, 10_000),
            self.many("scopes", "scopes", {"id": "#", "path": "printf('%.*c', 2000, '/')"}, 5_000),
            self.many("texts", "texts", {"id": "#", "text": "printf('%.*c', 100000, 'x')"}, 100),
        ])


class Breadth(HostileCase):
    """Many rows of a small file refer to the same large set. Listing each reference would take
    minutes and gigabytes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        skip_if_sanitized()  # even valid files take minutes with sanitizers

    NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "

    def mesh(self, name, devices, allocations):
        recording = Recording()
        process = recording.process(7, "model")
        members = [recording.device(process, number, uid=hex(0xb000 + number))
                   for number in range(devices)]
        recording.allocate(members, "l1", 64, 0, 100, per_bank=64, banks=1, label="activation")
        path = self.path(name)
        recording.save(path, ended=1_000_000)
        with sqlite3.connect(path) as file:
            file.execute(f"{self.NUMBERS.format(allocations)} INSERT INTO allocations SELECT "
                         "1 + i, 1, 1, i, 1048576 + 64 * i, i, i + 100, NULL FROM n")
        file.close()
        return path

    def mebibytes(self, *command):
        """Returns the peak memory of a command in MiB. The command is killed after SECONDS."""
        process = subprocess.Popen([TTMEM, *map(str, command)], env=self.env, preexec_fn=limits,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        stop = threading.Timer(SECONDS, process.kill)
        stop.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stop.cancel()
        self.assertIn(process.returncode, (0, 1, 3, 4), command)
        return usage.ru_maxrss / KIB

    def refused(self, path, *words):
        self.assertLess(path.stat().st_size, MIB)
        self.assertEqual(set(self.run_all([path], every=True)), {1})
        said = self.ttmem("report", path, code=1).stderr
        for word in (str(path), *words):
            self.assertIn(word, said)

    def test_of_allocations_on_all_devices(self):
        self.refused(self.mesh("mesh", 1000, 14_000), "made to be slow", "too many devices")

    def test_of_a_large_mesh_is_read(self):
        path = self.mesh("large", 128, 2_000)
        self.assertEqual(len(self.json("report", path)["devices"]), 128)
        self.assertLessEqual(set(self.run_all([path], every=True)), {0, 3, 4})

    def test_of_programs_with_all_buffers(self):
        layouts = self.NUMBERS.format(6000)
        rows = self.NUMBERS.format(9000)
        self.refused(self.changed(
            "programs", "DELETE FROM programs", "DELETE FROM dispatches",
            "DELETE FROM circular_buffers", "INSERT OR IGNORE INTO layouts VALUES (2, 3000)",
            f"{layouts} INSERT INTO circular_buffers SELECT 1 + i % 2, i, 100000 + i * 7, 3000, "
            "printf('%d-%d', i % 100, i % 100 + i % 150), 0 FROM n",
            f"{rows} INSERT INTO programs SELECT i, 1, 1 + i % 2, i, NULL, NULL, i, i + 1, NULL "
            "FROM n"), "made to be slow", "too many circular buffers")

    def test_of_a_dispatch_of_all_programs_to_all_devices(self):
        path = self.mesh("dispatches", 1000, 10)
        with sqlite3.connect(path) as file:
            file.execute("INSERT INTO launches VALUES (1, 1)")
            file.execute(f"{self.NUMBERS.format(8000)} INSERT INTO launch_programs "
                         "SELECT 1, i, i FROM n")
            file.execute("INSERT INTO dispatches VALUES (1, 500, 1, 1)")
        file.close()
        codes = self.run_all([path], every=True)
        self.assertIn(1, codes)
        self.ttmem("export", path, "--format", "ttnn-visualizer", "-f", "-o", f"{path}.v", code=1)

    def test_of_a_graph_of_many_programs_on_many_devices(self):
        path = self.mesh("graph", 1000, 10)
        with sqlite3.connect(path) as file:
            file.execute("INSERT INTO launches VALUES (1, 1)")
            file.execute(f"{self.NUMBERS.format(1000)} INSERT INTO launch_programs "
                         "SELECT 1, i, i FROM n")
            file.execute("INSERT INTO dispatches VALUES (1, 500, 1, 1)")
        file.close()
        out = pathlib.Path(self.dir) / "graph"
        export = ("export", path, "--format", "ttnn-visualizer", "-f", "-o", out)
        self.assertLess(self.mebibytes(*export), FEW_MIB)
        self.assertIn("1 graph is cut", self.ttmem(*export).stderr)
        with sqlite3.connect(out / "db.sqlite") as report:
            [[graph]] = report.execute("SELECT captured_graph FROM captured_graph")
            [[cut]] = report.execute("SELECT value FROM operation_arguments WHERE name = 'graph'")
        report.close()
        nodes = json.loads(graph)
        self.assertEqual(nodes[-1]["node_type"], "capture_end")
        self.assertEqual([node["id"] for node in nodes], list(range(len(nodes))))
        added = sum(node["node_type"] == "function_end" for node in nodes)
        self.assertEqual(cut, f"cut after {added} of 1000000 programs")

    def page(self, path):
        [run] = json.loads(document_in(self.ttmem("report", path, "--html", "-").stdout))["runs"]
        return run["timeline"]

    def test_of_a_page_of_many_devices_at_many_moments(self):
        recording = Recording()
        process = recording.process(7, "model")
        devices = [recording.device(process, number, uid=hex(0xb000 + number))
                   for number in range(400)]
        for number, device in enumerate(devices):
            for step in range(2):
                recording.place(device, step, [(102_400, 64 + 64 * step, range(20), False)],
                                10 + 10 * number + step)
        path = self.path("moments")
        recording.save(path, ended=10_000)
        self.assertLess(path.stat().st_size, MIB)
        timeline = self.page(path)
        self.assertTrue(timeline["moments_thinned"])
        self.assertEqual(len(timeline["lines"]), 400)
        self.assertGreater(len(timeline["moments"]), 10)
        self.assertLess(sum(len(moment["devices"]) for moment in timeline["moments"]), 150_000)

    def test_of_a_page_of_rows_with_long_names(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150")
        for number in range(16_000):
            recording.allocate([device], "l1", 64, number, per_bank=64, banks=1,
                               address=MIB + 64 * number, label="L" * 4096, scope="s/" * 2048)
        path = self.path("names")
        recording.save(path, ended=100_000)
        self.assertLess(path.stat().st_size, MIB)
        self.assertLess(self.mebibytes("report", path, "--html", "-"), FEW_MIB)
        self.assertGreater(len(self.page(path)["moments"]), 40)

    def held(self, name, devices, allocations, long=0):
        """Makes a recording in which all devices hold these allocations at the end. Each allocation
        has a label. Returns the path."""
        recording = Recording()
        process = recording.process(7, "model")
        members = [recording.device(process, number, uid=hex(0xb000 + number))
                   for number in range(devices)]
        for number in range(allocations):
            recording.allocate(members, "l1", 64, number, per_bank=64, banks=1,
                               label=f"{number % 30 if long else number}" + "L" * long,
                               scope=f"{number // 30}" + "s" * long if long else None)
        path = self.path(name)
        recording.save(path, ended=10_000)
        self.assertLess(path.stat().st_size, MIB)
        return path

    def test_of_a_report_of_many_names_on_many_devices(self):
        path = self.held("many", 128, 1600)
        for view in (("--json",), ("--html", "-")):
            self.assertLess(self.mebibytes("report", path, *view), FEW_MIB)
        devices = self.json("report", path)["devices"]
        self.assertEqual([len(device["held_at_end"]) for device in devices], [1600] * 128)

    def test_of_a_report_of_too_many_names(self):
        for path in (self.held("devices", 1000, 900), self.held("long", 64, 900, long=4000)):
            for command in (("report", path), ("report", path, "--json"),
                            ("report", path, "--html", "-"), ("diff", path, path)):
                self.assertLess(self.mebibytes(*command), FEW_MIB)
                said = self.ttmem(*command, code=1).stderr
                self.assertIn(f"{path} is damaged, or made to be slow: what its devices held", said)

    def snapshot(self, path, ending):
        out = pathlib.Path(self.dir) / f"snapshot.{ending}"
        return "export", path, "--format", "memory-viz", "-f", "-o", out

    def test_of_a_snapshot_of_all_devices(self):
        path = self.mesh("held", 128, 7_000)
        with sqlite3.connect(path) as file:
            file.execute("UPDATE allocations SET end_ns = NULL")
        file.close()
        self.assertLess(self.mebibytes(*self.snapshot(path, "pickle")), FEW_MIB)
        self.assertLess(self.mebibytes(*self.snapshot(path, "json")), FEW_MIB)

    def test_of_a_snapshot_with_too_many_entries(self):
        path = self.mesh("entries", 128, 9_000)
        with sqlite3.connect(path) as file:
            file.execute("UPDATE allocations SET end_ns = NULL")
        file.close()
        for ending in ("pickle", "json"):
            self.assertLess(self.mebibytes(*self.snapshot(path, ending)), FEW_MIB)
            said = self.ttmem(*self.snapshot(path, ending), code=1).stderr
            self.assertIn("more than 1000000 entries", said)
            self.assertIn("--device", said)
        self.ttmem(*self.snapshot(path, "json"), "--device", "0")

    def test_of_a_snapshot_with_many_names(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150")
        for number in range(8000):
            recording.allocate([device], "l1", 64, 1000 + number, per_bank=64, banks=1,
                               address=MIB + 64 * number, scope="s/" * 2000)
        path = self.path("stacks")
        recording.save(path, ended=10_000)
        said = self.ttmem(*self.snapshot(path, "json"), code=1).stderr
        self.assertIn("bytes of JSON", said)
        self.assertIn(".pickle", said)
        self.ttmem(*self.snapshot(path, "pickle"))

    def test_of_peaks_of_many_devices_at_one_moment(self):
        path = self.mesh("peaks", 128, 2_000)
        with sqlite3.connect(path) as file:
            file.execute("UPDATE allocations SET end_ns = NULL")
        file.close()
        out = pathlib.Path(self.dir) / "peaks"
        self.ttmem("export", path, "--format", "ttnn-visualizer", "-o", out)
        with sqlite3.connect(out / "db.sqlite") as report:
            [[rows, devices]] = report.execute("SELECT COUNT(*), COUNT(DISTINCT device_id) "
                                               "FROM buffers")
            said = report.execute("SELECT value FROM operation_arguments WHERE name = 'buffers'")
            self.assertEqual(set(said), {("of this device only",)})
        report.close()
        self.assertEqual((rows, devices), (128 * 2_000, 128))  # one buffer has no address


class Schemas(HostileCase):
    """Views, triggers or computed columns in place of ordinary tables."""

    def test_views_in_place_of_tables_do_not_run(self):
        paths = []
        for table, columns in (("run", "'ttmem.recording.v1' AS schema, i AS version, i AS source, "
                                       "'' AS command, '' AS host, 0 AS started_unix_ns, "
                                       "0 AS ended_ns, 0 AS exit_code, 0 AS events, "
                                       "0 AS lost_events, 0 AS aggregate, '' AS imported FROM n"),
                               ("texts", "i AS id, 'x' AS text FROM n"),
                               ("marks", "i AS id, 1 AS time_ns, 1 AS process, 'x' AS name FROM n"),
                               ("timeline", "i AS id, 0 AS time_ns, 1 AS device, 'l1' AS kind, "
                                            "0 AS used_bytes, 0 AS peak_bytes FROM n WHERE i < 0"),
                               ("allocations", "i AS id, 1 AS devices, 1 AS request, i AS number, "
                                               "0 AS address, 0 AS begin_ns, NULL AS end_ns, "
                                               "NULL AS ending FROM n")):
            paths.append(self.changed(f"view-{table}", f"DROP TABLE {table}",
                                      f"CREATE VIEW {table} AS {ENDLESS}{columns}"))
        paths.append(self.changed("run-twice", "CREATE TABLE other AS SELECT * FROM run",
                                  "DROP TABLE run", "CREATE VIEW run AS SELECT * FROM other"))
        paths.append(self.changed("virtual", "DROP TABLE texts",
                                  "CREATE VIRTUAL TABLE texts USING fts4(id, text)"))
        self.assertEqual(set(self.run_all(paths)), {1})

    def test_computed_columns_do_not_run(self):
        long = "printf('%.*c', 900000, 'a')"
        self.assertEqual(set(self.run_all([
            self.changed(f"computed{number}", "DROP TABLE texts", "CREATE TABLE texts (id)",
                         "INSERT INTO texts VALUES (1), (2)",
                         f"ALTER TABLE texts ADD COLUMN text AS ({value})")
            for number, value in enumerate(("zeroblob(900000000)",
                                            f"instr({long} || {long}, {long} || 'b')"))])), {1})

    def test_foreign_triggers_indexes_and_tables_do_not_matter(self):
        path = self.changed("others", "CREATE TABLE mine (a, b UNIQUE)",
                            "CREATE TRIGGER t AFTER INSERT ON marks BEGIN DELETE FROM run; END",
                            "CREATE INDEX i ON allocations (begin_ns, id)",
                            f"CREATE VIEW forever AS {ENDLESS}i FROM n", "ANALYZE")
        self.assertLessEqual(set(self.run_all([path], every=True)), {0, 3, 4})

    def test_missing_columns_and_tables(self):
        with sqlite3.connect(self.model("tables")) as file:
            tables = [row[0] for row in
                      file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        file.close()
        paths = [self.changed(f"no-{table}", f"DROP TABLE {table}") for table in tables]
        paths += [self.changed("all-short", *(statement for table in tables for statement in
                                              (f"DROP TABLE {table}", f"CREATE TABLE {table} (id)"))),
                  self.changed("all-empty", *(f"DELETE FROM {table}" for table in tables))]
        self.run_all(paths)

    def test_enormous_texts(self):
        paths = [self.changed(f"long-{table}",
                              (f"UPDATE {table} SET {column} = zeroblob(?)", (20 * MIB,)))
                 for table, column in (("texts", "text"), ("run", "command"),
                                       ("core_sets", "cores"))]
        self.assertEqual(set(self.run_all(paths)), {1})


class Bytes(HostileCase):
    def real(self):
        path = self.path("real")
        self.ttmem("record", "-o", path, "--", TTMEM, "demo", "single", "--seconds", "0.1")
        return path.read_bytes()

    def test_that_are_missing(self):
        whole = self.real()
        chance = random.Random(18)
        paths = []
        for number in range(24):
            size = chance.randrange(len(whole)) if number > 4 else (0, 1, 99, 100, 8192)[number]
            paths.append(self.path(f"cut{number}"))
            paths[-1].write_bytes(whole[:size])
        self.assertEqual(set(self.run_all(paths)), {1})

    def test_that_are_changed(self):
        whole = self.real()
        page_bytes = int.from_bytes(whole[16:18], "big")
        paths = []
        for seed in range(40):
            chance = random.Random(seed)
            data = bytearray(whole)
            for _ in range(chance.choice((1, 3, 20))):
                page = chance.randrange(len(data) // page_bytes) * page_bytes
                # A page contains data only at its beginning and at its end, so only those bytes are
                # changed.
                at = chance.choice((page + chance.randrange(64), page + page_bytes - 1 -
                                    chance.randrange(page_bytes // 4)))
                data[at] = chance.choice((0, 1, 127, 128, 255, data[at] ^ 1 << chance.randrange(8)))
            paths.append(self.path(f"flip{seed}"))
            paths[-1].write_bytes(data)
        self.run_all(paths)

    def test_pages_that_lead_back_to_themselves(self):
        """A tree whose branches all lead to one leaf has more rows than the file has bytes."""
        whole = bytearray(self.real())
        page_bytes = int.from_bytes(whole[16:18], "big")
        with sqlite3.connect(self.path("real")) as file:
            roots = dict(file.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))
        file.close()
        paths = []
        for table in ("allocations", "texts", "marks", "timeline"):
            data = bytearray(whole)
            root = (roots[table] - 1) * page_bytes
            data += data[root:root + page_bytes]  # a copy of the leaf
            below = len(data) // page_bytes
            for _ in range(8):
                page = bytearray(page_bytes)
                children = 400
                page[0] = 5  # an inner page of a table
                page[3:5] = children.to_bytes(2, "big")
                page[8:12] = below.to_bytes(4, "big")
                for child in range(children):
                    at = page_bytes - 5 * (child + 1)
                    page[at:at + 5] = below.to_bytes(4, "big") + b"\x01"
                    page[12 + 2 * child:14 + 2 * child] = at.to_bytes(2, "big")
                page[5:7] = (page_bytes - 5 * children).to_bytes(2, "big")
                data += page
                below += 1
            data[root:root + page_bytes] = data[-page_bytes:]
            data[28:32] = (len(data) // page_bytes).to_bytes(4, "big")
            paths.append(self.path(f"endless-{table}"))
            paths[-1].write_bytes(data)
        self.assertEqual(set(self.run_all(paths)), {1})


if __name__ == "__main__":
    unittest.main()
