# SPDX-License-Identifier: Apache-2.0
"""Every command reports unread files in its output, marks estimates, and leaves out impossible
figures."""

import json
import os
import pwd
import re
import subprocess
import unittest

from support import TTMEM, Case

NOBODY = pwd.getpwnam("nobody").pw_uid
COMMANDS = ((), ("allocs",), ("programs",), ("top", "--once"), ("clean", "--dry-run"), ("--list",))


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Looking(Case):
    def as_nobody(self, *arguments):
        return subprocess.run([TTMEM, *arguments], env=self.env, text=True, capture_output=True,
                              timeout=20, preexec_fn=become_nobody)


class ADirectoryThatIsNotThere(Looking):
    def test_every_command_reports_it_on_stdout_and_fails(self):
        missing = os.path.join(self.dir, "missing")
        env = {**self.env, "TTMEM_DIR": missing}
        for command in COMMANDS:
            with self.subTest(command):
                said = self.ttmem(*command, env=env, code=1).stdout
                self.assertIn("missing", "".join(said.split()))
                self.assertNotIn("No process uses", said)
                self.assertNotIn("No live", said)

    def test_json_says_that_it_is_not_complete(self):
        env = {**self.env, "TTMEM_DIR": os.path.join(self.dir, "missing")}
        for command in ((), ("allocs",), ("programs",)):
            document = json.loads(self.ttmem(*command, "--json", env=env, code=1).stdout)
            self.assertIs(document["complete"], False)
            self.assertIs(self.json(*command)["complete"], True)


@unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
class ProcessesOfOthers(Looking):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o1777)

    def test_alone_they_are_named_and_the_command_fails(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)")
        for command in COMMANDS[:4]:
            with self.subTest(command):
                result = self.as_nobody(*command)
                self.assertEqual(result.returncode, 1, result)
                self.assertIn("root", result.stdout)
                self.assertIn("Nothing was seen", result.stdout)

    def test_beside_own_processes_totals_are_lower_bounds(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)")
        self.start([TTMEM, "demo", "single", "--hold"],
                   preexec_fn=become_nobody).line("stderr")
        self.env["COLUMNS"] = "80"
        result = self.as_nobody()
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"\n +DRAM: >=1\.78 GiB")
        self.assertIn("At least", result.stdout)
        self.assertTrue(all(len(line) <= 80 for line in result.stdout.splitlines()))
        self.assertIn(">=1.78 GiB", self.as_nobody("top", "--once").stdout)
        self.assertIn(">=1.78 GiB", self.as_nobody("--brief").stdout)
        self.assertRegex(self.as_nobody("allocs").stdout, r"\nAt least \d+ allocations")
        self.assertIs(json.loads(self.as_nobody("--json").stdout)["complete"], False)
        self.assertNotIn(">=", self.ttmem().stdout)

    def test_explain_says_that_their_failures_are_unknown(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)")
        self.assertRegex(self.as_nobody("explain").stderr, "(?m)^ttmem: warning: .*root")
        self.assertEqual(self.as_nobody("run", "--no-adapter", "--", "false").stderr, "")


class AnEstimate(Looking):
    ESTIMATE = ("open_device()\nalloc(L1, 1, 1024)\n"
                "lib.ttmem_kernel_load_estimate.argtypes = lib.ttmem_kernel_load.argtypes\n"
                "lib.ttmem_kernel_load_estimate(0, 7, 1 << 20, APP)")

    def test_is_marked_in_every_view_and_width(self):
        held = self.hold_calls(self.ESTIMATE)
        for width in ("40", "60", "80", "200"):
            env = {**self.env, "COLUMNS": width}
            for command in ((), ("top", "--once")):
                text = self.ttmem(*command, env=env).stdout
                for row in re.findall(r"^.*\b(?:Kernels|Total L1)\b.*$", text, re.M):
                    self.assertIn("~", row, (width, text))
        table = self.ttmem().stdout
        self.assertIn("~1.00 MiB", table.split("PID")[1], "the row of the process")
        self.assertRegex(table, r"\n +L1: ~")
        process = self.devices()[0]["processes"][0]
        self.assertEqual(process["kernels_estimated_bytes"], 1 << 20)
        held.kill()
        self.assertIn("~1.00 MiB", self.ttmem("clean").stdout)

    def test_a_measured_size_is_not_marked(self):
        self.hold_calls("open_device()\nlib.ttmem_kernel_load(0, 7, 1 << 20, APP)")
        self.assertNotIn("~", self.ttmem().stdout)


class AnEstimateOfCircularBuffers(Looking):
    PLACED = "open_device()\nplace(1, (105664, 16384, [(0, 0, 7, 7)]))\nalloc(L1, 1, 1024)\n"

    def test_is_marked_in_every_view_and_width(self):
        held = self.hold_calls(self.PLACED + "lib.ttmem_cb_estimate(0, 1)")
        for width in ("40", "60", "80", "200"):
            env = {**self.env, "COLUMNS": width}
            for command in ((), ("top", "--once")):
                text = self.ttmem(*command, env=env).stdout
                for row in re.findall(r"^.*\b(?:CB|Total L1|Headroom) .*$", text.split("PID")[0],
                                      re.M):
                    self.assertIn("~", row, (width, text))
        table = self.ttmem().stdout
        self.assertRegex(table, r"\n +CB: ~1\.00 MiB")
        self.assertRegex(table, r"\n +L1: ~")
        self.assertRegex(table, r"\n +Headroom: ~")
        self.assertIn("~1 program", table)
        self.assertIn("~1.00 MiB", table.split("PID")[1], "the row of the process")
        device = self.devices()[0]
        self.assertIs(device["l1"]["cb"]["estimate"], True)
        self.assertIs(device["processes"][0]["cb_estimate"], True)
        self.assertEqual(self.ttmem("--query=cb_estimate", "--format=csv,noheader").stdout,
                         "true\n")
        held.kill()
        self.assertIn("~1.00 MiB", self.ttmem("clean").stdout)

    def test_measured_figures_and_later_figures_are_not_marked(self):
        again = "lib.ttmem_cb_estimate(0, 1)\nlib.ttmem_cb_estimate(0, 0)\n"
        reopened = "lib.ttmem_cb_estimate(0, 1)\nlib.ttmem_device_close(0)\n" + self.PLACED
        for calls in (self.PLACED, self.PLACED + again, self.PLACED + reopened):
            held = self.hold_calls(calls)
            self.assertNotIn("~", self.ttmem().stdout)
            self.assertIs(self.devices()[0]["l1"]["cb"]["estimate"], False)
            held.kill()
            self.ttmem("clean")

    def test_is_unknown_where_circular_buffers_are_unknown(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 1024)\nlib.ttmem_cb_estimate(0, 1)")
        self.assertIsNone(self.devices()[0]["l1"]["cb"]["estimate"])
        self.assertIsNone(self.devices()[0]["processes"][0]["cb_estimate"])


class FiguresThatCannotBe(Looking):
    def test_are_left_out_and_a_warning_names_the_process(self):
        liar = self.hold_calls("open_device()\nalloc(DRAM, 1, 1 << 40)\nalloc(L1, 2, 1024)")
        self.hold_calls("open_device()\nalloc(DRAM, 1, 1 << 20)")
        snapshot = self.json()
        device = snapshot["devices"][0]
        self.assertEqual(device["dram"]["used_bytes"], 12 << 20)
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 64 * 1024)
        row = next(p for p in device["processes"] if p["pid"] == liar.pid)
        self.assertIsNone(row["dram_bytes"])
        self.assertTrue(any(f"process {liar.pid} " in w and "12.0 TiB" in w
                            for w in snapshot["warnings"]), snapshot["warnings"])

    def test_are_left_out_of_sums_of_allocations(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 1 << 40)\nalloc(L1, 2, 1024)")
        self.assertIn("2 allocations, 64.0 KiB physical, 1 not added up: more than there is.",
                      self.ttmem("allocs").stdout)
        groups = self.json("allocs", "--group-by", "kind")["groups"]
        self.assertEqual([group["kind"] for group in groups], ["l1"])

    def test_are_left_out_beyond_the_size_of_any_device(self):
        self.hold_calls("open_device(dram_channels=0)\nalloc(DRAM, 1, 0, size=2 << 40)")
        self.assertIsNone(self.devices()[0]["dram"]["used_bytes"])
