# SPDX-License-Identifier: Apache-2.0
"""`ttmem fit`: the answer for another board agrees with a run of the same host program on that
board."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import host_program
from python_case import SOURCE
from support import DEADLINE_SECONDS, HERE, LIBRARY, MIB, TTMEM, Case, skip_if_sanitized

TRACE_REGION = 1 << 20  # as in host/requests.cpp; a device reports it rounded up
KINDS = ("dram", "l1", "cb", "l1_buffers", "l1_small", "trace")


class FitCase(Case):
    def setUp(self):
        super().setUp()
        self.env.update(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE), LC_ALL="C.UTF-8")
        folder = tempfile.TemporaryDirectory(prefix="ttmem-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, command, options=("--no-adapter",), **variables):
        """Returns the recording and the output of the command."""
        file = os.path.join(self.folder, name + ".ttmem")
        result = self.ttmem("record", *options, "-f", "-o", file, "--", *command,
                            env={**self.env, **variables})
        return file, result.stdout

    def fit(self, file, board, *options, code=None):
        """Returns the answer of `ttmem fit` for one board. `code` is the expected exit status;
        without it, any verdict is accepted."""
        words = (TTMEM, "fit", file, "--board", board, *options, "--json")
        result = self.run_command(words)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["schema"], "ttmem.fit.v1")
        (judged,) = answer["boards"]
        expected = {"fits": 0, "does not fit": 3, "unknown": 4}[judged["verdict"]]
        self.assertEqual(result.returncode, expected)
        if code is not None:
            self.assertEqual(result.returncode, code, judged)
        return judged

    def run_command(self, words):
        return subprocess.run([str(word) for word in words], env=self.env, text=True,
                              capture_output=True, timeout=DEADLINE_SECONDS)

    def report(self, file):
        return self.json("report", file)["devices"]

    def assert_same_figures(self, judged, file):
        """Checks that the figures of each chip equal the report of `file`, a run on that board. All
        chips of the run must hold the same memory."""
        there = self.report(file)[0]
        for here in judged["devices"]:
            for kind in KINDS:
                self.assertEqual(here[kind]["peak_bytes"], there[kind]["peak_bytes"], kind)
            for kind in ("dram", "l1"):
                for name in ("largest_free_min_bytes_per_bank", "capacity_bytes"):
                    self.assertEqual(here[kind][name], there[kind][name], (kind, name))
            self.assertEqual(here["headroom_min_bytes_per_core"],
                             there["headroom_min_bytes_per_core"])


class Examples(FitCase):
    """Host programs that use the whole grid of the board, which is the same on these two boards."""

    def test_the_figures_on_the_other_board_are_right(self):
        skip_if_sanitized()  # the adapter is built without sanitizers
        examples = pathlib.Path(os.environ["TTMEM_BUILD"]) / "bin" / "examples"
        self.env["XDG_CACHE_HOME"] = self.folder
        for command in ((examples / "matmul", "2560", "2560", "1280"), (examples / "program_cache",)):
            for here, there in (("p150", "p100"), ("p100", "p150")):
                file, _ = self.record("here", command, options=(), TTMEM_DRYRUN_SYSTEM=here)
                other, _ = self.record("there", command, options=(), TTMEM_DRYRUN_SYSTEM=there)
                self.assert_same_figures(self.fit(file, there, code=0), other)


class RandomRequests(FitCase):
    """A host program that makes the same requests on every board."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-host-")
        cls.addClassCleanup(folder.cleanup)
        cls.binary = pathlib.Path(folder.name) / "requests"
        host_program.build("g++", cls.binary, HERE / "host" / "requests.cpp",
                           host_program.processor())

    def run_on(self, board, seed, steps):
        """Returns the recording, the number of successful steps, and the failure: None, or (number
        of requests so far, whether a dispatch failed, message)."""
        file, said = self.record(f"{board.replace(':', '_')}_{seed}", [self.binary, seed, steps],
                                 TTMEM_DRYRUN_SYSTEM=board)
        failed = re.search(r"^failed (\d+) (\w+) (.*)$", said, re.M)
        made = int(re.search(r"^steps (\d+)$", said, re.M)[1])
        return file, made, failed and (int(failed[1]), failed[2] == "dispatch", failed[3])

    def check_failure(self, failure, failed):
        requests, at_dispatch, words = failed
        self.assertEqual(failure["request"], requests)
        numbers = [int(number) for number in re.findall(r"\d+", words)]
        if "Out of Memory" in words:
            per_bank = re.search(r"each bank needs to store (\d+) B, but bank size is (\d+) B "
                                 r"\(allocated: \d+ B, free: (\d+) B, largest free block: (\d+)",
                                 words)
            self.assertEqual([failure["bytes_per_bank"], failure["bank_bytes"],
                              failure["free_bytes_per_bank"],
                              failure["largest_free_bytes_per_bank"]],
                             [int(number) for number in per_bank.groups()])
            return
        self.assertEqual(failure["at_dispatch"], at_dispatch)
        if "clash" in words:
            self.assertEqual(failure["cause"], "clash")
            self.assertEqual([failure["lowest_l1_address"], failure["cb_end"]], numbers[-2:])
            self.assertEqual(failure["cores"], numbers[-7:-3] if len(numbers) > 7 else numbers[1:5])
        else:
            self.assertEqual(failure["cause"], "beyond_l1")
            self.assertEqual([failure["cb_end"], failure["l1_bytes_per_core"]],
                             [numbers[4], numbers[-1]] if len(numbers) > 5 else numbers[-2:])

    def compare(self, recorded_on, judged_for, seeds, steps=150):
        causes = []
        for seed in seeds:
            with self.subTest(seed=seed):
                file, made, failed = self.run_on(recorded_on, seed, steps)
                # A program whose circular buffers clash is already placed, so the recording has the
                # program.
                is_recorded = failed and not failed[1] and "Out of Memory" not in failed[2]
                there, _, failed_there = self.run_on(judged_for, seed, made + bool(is_recorded))
                judged = self.fit(file, judged_for, "--trace-region", TRACE_REGION)
                self.assertEqual(judged["unknown"], [])
                self.assertEqual(judged["verdict"], "does not fit" if failed_there else "fits",
                                 failed_there)
                if failed_there:
                    self.check_failure(judged["failure"], failed_there)
                    causes.append(judged["failure"]["cause"])
                else:
                    causes.append("fits")
                self.assert_same_figures(judged, there)
        return set(causes)

    def test_p150_to_p100(self):
        causes = self.compare("p150", "p100", range(1, 13))
        self.assertGreater(len(causes), 1, causes)

    def test_p150_to_itself(self):
        self.compare("p150", "p150", range(1, 5))

    def test_n300_to_n150(self):
        self.compare("n300", "n150", range(1, 5))

    def test_n150_to_n300_which_has_fewer_cores(self):
        self.compare("n150", "n300", range(1, 5))

    def test_wormhole_to_blackhole(self):
        self.compare("n150", "p150", range(1, 7))

    def test_blackhole_to_wormhole(self):
        causes = self.compare("p150", "n150", range(1, 13))
        self.assertGreater(len(causes), 1, causes)

    def test_a_mesh(self):
        self.compare("t3000", "p150_x8", range(1, 3), steps=60)


class Recorded(FitCase):
    def test_demos_fit_where_they_were_recorded_with_the_figures_of_the_report(self):
        for scenario, board in (("single", "n150"), ("blackhole", "p150:13x10"),
                                ("mesh8", "galaxy:8x8"), ("training", None), ("inference", None)):
            with self.subTest(scenario=scenario):
                file, _ = self.record(scenario, [TTMEM, "demo", scenario, "--seconds", "1"])
                board = board or self.report(file)[0]["board"]
                judged = self.fit(file, board, code=0)
                self.assert_same_figures(judged, file)

    def calls(self, source):
        return [sys.executable, "-c", "import ttmem\nfrom ttmem import BufferType\n" + source]

    DEVICE = """
ttmem.device_open(0, uid=1, arch="blackhole", board="p150", grid_x=11, grid_y=10,
                  l1_bytes_per_core=1572864, l1_base=111616, dram_channels=8,
                  dram_bytes_per_channel=4278190080)
ttmem.reports(0, 0xff)
"""

    def python(self, source, device=DEVICE):
        file, _ = self.record("python", self.calls(device + source), PYTHONPATH=str(SOURCE))
        return file

    def test_the_page_layout_of_the_calls_is_in_the_recording(self):
        file = self.python("""
ttmem.buffer_alloc(0, BufferType.DRAM, 20480, 1048704, id=1, bytes_per_bank=4096, page_bytes=2048,
                   layout="interleaved", bottom_up=False)
ttmem.buffer_alloc(0, BufferType.DRAM, 4096, 1148704, id=2, bytes_per_bank=2048, page_bytes=1024,
                   layout="sharded", cores=[(0, 0, 1, 0)])
ttmem.buffer_alloc(0, BufferType.L1, 2048, 1500000, id=3, bytes_per_bank=2048, layout="sharded",
                   cores=[(0, 0, 0, 0)])
ttmem.buffer_alloc(0, BufferType.L1, 2048, 1400000, id=4, bytes_per_bank=2048)
""")
        connection = sqlite3.connect(file)
        self.addCleanup(connection.close)
        rows = connection.execute("SELECT spread, direction, page_bytes, shard_banks FROM requests "
                                  "ORDER BY id").fetchall()
        self.assertEqual(rows, [("interleaved", "top_down", 2048, None),
                                ("sharded", None, 1024, 2), ("sharded", None, None, None),
                                (None, None, None, None)])

    def test_a_request_that_cannot_be_translated_is_unknown_with_a_reason(self):
        file = self.python("""
ttmem.buffer_alloc(0, BufferType.DRAM, 20480, 1048704, id=1, bytes_per_bank=4096)
ttmem.buffer_alloc(0, BufferType.L1, 2048, 1500000, id=2, bytes_per_bank=2048,
                   cores=[(9, 9, 9, 9)], layout="sharded")
ttmem.buffer_alloc(0, BufferType.DRAM, 8192, 2048704, id=3, bytes_per_bank=1024, page_bytes=1024,
                   cores=[(0, 0, 7, 0)], layout="sharded")
ttmem.program_place(0, 1, [(111616, 4096, [(10, 0, 10, 0)])])
""")
        self.assertEqual(self.fit(file, "p150")["verdict"], "fits")
        judged = self.fit(file, "n150", code=4)
        self.assertEqual({(entry["why"], entry["kind"], entry["count"]) for entry in
                          judged["unknown"]},
                         {("layout_unknown", "dram", 1), ("cores_missing", "l1", 1),
                          ("cores_missing", "cb", 1)})
        self.assertIn(("banks_missing", 8192), {(entry["why"], entry["bytes"]) for entry in
                                                self.fit(file, "p100", code=4)["unknown"]})
        text = self.run_command([TTMEM, "fit", file, "--board", "n150"]).stdout
        self.assertIn("on n150: unknown", text)
        self.assertIn("they lie on cores that the board does not have", " ".join(text.split()))

    def test_a_certain_failure_counts_although_another_request_is_unknown(self):
        file = self.python("""
ttmem.buffer_alloc(0, BufferType.L1, 2048, 1500000, id=2, bytes_per_bank=2048,
                   cores=[(9, 9, 9, 9)], layout="sharded")
ttmem.buffer_alloc(0, BufferType.DRAM, 16 << 30, 1048704, id=1, bytes_per_bank=2 << 30,
                   page_bytes=4096, layout="interleaved", label="weights")
""")
        judged = self.fit(file, "n150", code=3)
        self.assertEqual((judged["failure"]["cause"], judged["failure"]["label"]),
                         ("capacity", "weights"))

    KV = """
with ttmem.scope("kv"):
    ttmem.buffer_alloc(0, BufferType.DRAM, 1 << 30, 1048704, id=1, bytes_per_bank=1 << 27,
                       page_bytes=4096, layout="interleaved", label="cache")
ttmem.buffer_alloc(0, BufferType.DRAM, 1 << 30, 135266432, id=2, bytes_per_bank=1 << 27,
                   page_bytes=4096, layout="interleaved", label="weights")
"""

    def test_scale_and_max(self):
        file = self.python(self.KV)
        self.fit(file, "p150", code=0)
        twice = self.fit(file, "p150", "--scale", "kv=2", code=0)
        self.assertEqual(twice["devices"][0]["dram"]["peak_bytes"], 3 << 30)
        failure = self.fit(file, "p150", "--scale", "kv/cache=40", code=3)["failure"]
        self.assertEqual((failure["scope"], failure["label"]), ("kv", "cache"))
        largest = self.fit(file, "p150", "--max", "kv")
        # The 8 DRAM banks have 4278190080 - 1048704 bytes each. The weights take 1 GiB in total.
        # The scaled buffers may take the rest.
        room = (8 * (4278190080 - 1048704) - (1 << 30)) / (1 << 30)
        self.assertLess(largest["largest_factor"], room)
        self.assertGreater(largest["largest_factor"], room / 1.02)
        self.assertGreaterEqual(largest["smallest_failing_factor"], room)
        self.ttmem("fit", file, "--board", "p150", "--scale", "nothing=2", code=1)

    PROGRAM = """
ttmem.program_place(0, 1, [(111616, 12288, [(0, 0, 10, 9)])])
"""

    def test_a_larger_grid_takes_more_circular_buffers(self):
        """The figures of a program that keeps its cores are exact, and an estimate shows that a
        program on the whole grid grows with it."""
        file = self.python(self.PROGRAM)
        judged = self.fit(file, "p150:13x10", code=0)
        self.assertEqual(judged["devices"][0]["cb"]["peak_bytes"], 110 * 12288)
        self.assertEqual(judged["estimate"]["recorded_grid"], {"x": 11, "y": 10})
        self.assertEqual(judged["estimate"]["verdict"], "fits")
        [device] = judged["estimate"]["devices"]
        self.assertEqual(device["cb"]["peak_bytes"], 130 * 12288)
        text = self.run_command([TTMEM, "fit", file, "--board", "p150:13x10"]).stdout
        self.assertRegex(text, r"CB +1\.29 MiB +~1\.52 MiB ")
        self.assertIn("takes circular buffers on more cores here", " ".join(text.split()))
        self.assertIsNone(self.fit(file, "p100")["estimate"])

    def test_a_smaller_grid_has_an_estimate_beside_unknown(self):
        file = self.python(self.PROGRAM + """
ttmem.buffer_alloc(0, BufferType.L1, 2048 * 22, 1500000, id=2, bytes_per_bank=2048,
                   cores=[(0, 0, 10, 1)], layout="sharded", page_bytes=64)
""")
        judged = self.fit(file, "n150", code=4)
        self.assertEqual(judged["verdict"], "unknown")
        [device] = judged["estimate"]["devices"]
        self.assertEqual(device["cb"]["peak_bytes"], 64 * 12288)
        self.assertEqual(device["l1_buffers"]["peak_bytes"], 64 * 2816)  # 22 cores become 16
        text = self.run_command([TTMEM, "fit", file, "--board", "n150"]).stdout
        self.assertIn("on n150: unknown, as an estimate ~fits\n", text)
        self.assertRegex(text, r"CB +n/a +~768\.0 KiB |CB +0\.00 MiB +~768\.0 KiB ")

    def test_max_says_why_it_is_unknown(self):
        file = self.python("""
ttmem.buffer_alloc(0, BufferType.DRAM, 20480, 1048704, id=1, bytes_per_bank=4096, label="kv")
""")
        judged = self.fit(file, "n150", "--max", "kv", code=4)
        self.assertEqual((judged["largest_factor"], judged["smallest_failing_factor"],
                          judged["scope_unknown"]), (None, None, "layout_unknown"))
        text = " ".join(self.run_command([TTMEM, "fit", file, "--board", "n150", "--max",
                                          "kv"]).stdout.split())
        self.assertIn("How large kv may be is unknown: none of its buffers can be translated "
                      "(their layout was not reported, and the board has other banks).", text)

    def test_boards_by_the_names_of_cards(self):
        file = self.python(self.KV)
        for name, system in (("p100a", "p100"), ("P150b", "p150"), ("n150d", "n150"),
                             ("Blackhole p300c", "p300"), ("galaxy-wormhole", "galaxy")):
            self.assertEqual(self.fit(file, name)["board"], system)

    def test_several_boards_and_the_text_at_80_columns(self):
        file = self.python(self.KV)
        env = {**self.env, "COLUMNS": "80"}
        result = self.ttmem("fit", file, "--board", "p150,n150,p100", "--scale", "kv=12", code=3,
                            env=env)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        for words in ("on p150: fits", "on n150: does not fit", "on p100: fits", "kv/cache",
                      "What would help"):
            self.assertIn(words, result.stdout)

    def test_regions_can_be_set(self):
        file = self.python("""
ttmem.buffer_alloc(0, BufferType.L1_SMALL, 4096, 1568768, id=1, bytes_per_bank=4096,
                   cores=[(0, 0, 0, 0)], layout="sharded")
""")
        self.assertEqual(self.fit(file, "n150", code=3)["failure"]["cause"], "l1_small_region")
        self.fit(file, "n150", "--l1-small", "4096", code=0)

    def test_mistakes(self):
        file = self.python(self.KV)
        self.assertIn("n150, n300", self.ttmem("fit", file, "--board", "p999", code=2).stderr)
        self.ttmem("fit", file, code=2)
        self.ttmem("fit", file, "--board", "p150", "--scale", "kv", code=2)
        self.ttmem("fit", os.path.join(self.folder, "none"), "--board", "p150", code=1)
        self.assertIn("cannot be opened", self.ttmem("fit", file, "--board", "p150", "--l1-small",
                                                     2 * MIB, code=1).stderr)


if __name__ == "__main__":
    unittest.main()
