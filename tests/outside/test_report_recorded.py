# SPDX-License-Identifier: Apache-2.0
"""`ttmem report` and `ttmem diff` of captures and demos that `ttmem record` recorded."""

import json
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from support import CAPTURES, DEADLINE_SECONDS, MIB, TTMEM, Case

# Fields that a recording lacks, or whose values change between two snapshots.
NOT_RECORDED = ("anomalies", "bus_id", "temperature_c", "power_w", "aiclk_mhz", "allocations_total",
                "frees_total")

CLOCK_REALTIME_COARSE = 5  # from linux/time.h


class Recorded(Case):
    def path(self, name="run"):
        return pathlib.Path(self.dir) / f"{name}.ttmem"

    def record(self, path, *command):
        result = subprocess.run([TTMEM, "record", "-f", "-o", path, "--", *command], env=self.env,
                                text=True, capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, 0, result.stderr)

    def report(self, path, *arguments):
        return json.loads(self.ttmem("report", path, "--json", *arguments).stdout)


class Moments(Recorded):
    def figures(self, snapshot):
        """Returns each device without the fields that a recording lacks."""
        devices = []
        for device in snapshot["devices"]:
            device = {key: value for key, value in device.items() if key not in NOT_RECORDED}
            device["processes"] = [
                {key: process[key] for key in process if key.endswith("_bytes") or key == "pid"}
                for process in device["processes"]]
            devices.append(device)
        return devices

    def assert_recorded_as_seen(self, *command):
        path = self.path()
        recorder = self.start([TTMEM, "record", "-f", "-o", str(path), "--", TTMEM, *command])
        while "Ctrl-C ends it" not in recorder.line("stderr"):
            pass  # until the workload holds its memory
        live = self.json()
        # The workload frees its memory when it ends. The recording has times of the coarse clock,
        # so the test waits for the next tick. Otherwise the frees could get the time of the
        # snapshot.
        self.wait_for(lambda: time.clock_gettime_ns(CLOCK_REALTIME_COARSE) > live["time_unix_ns"],
                      "the next tick")
        recorder.signal(signal.SIGTERM)
        recorder.wait()
        started, ended = begin_and_end(path)
        # The recorder's last sample may be older than the snapshot. Nothing changed in between.
        at = min(live["time_unix_ns"] - started, ended - 1)
        then = json.loads(self.ttmem("report", path, "--at", f"{at}ns", "--json").stdout)
        self.assertEqual(self.figures(then), self.figures(live), command)

    def test_a_capture(self):
        for name in ("basic_wh1", "mesh_wh8", "model_wh1"):
            self.assert_recorded_as_seen("replay", CAPTURES / f"{name}.jsonl", "--lines", "15",
                                         "--hold")

    def test_a_demo(self):
        self.assert_recorded_as_seen("demo", "--hold")


class Runs(Recorded):
    def test_a_demo_and_itself(self):
        old, new = self.path("old"), self.path("new")
        for path in (old, new):
            self.record(path, TTMEM, "demo", "--seconds", "0.5")
        report = self.report(old)
        self.assertEqual(len(report["devices"]), 8)
        for device in report["devices"]:
            for key in ("dram", "l1"):
                made_of = device["at_peak"][key]
                self.assertEqual(sum(part["bytes"] for part in made_of), device[key]["peak_bytes"])
                self.assertGreater(device[key]["peak_bytes"], MIB)
            self.assertEqual(sum(part["bytes"] for part in device["held_at_end"]),
                             sum(device[key]["end_bytes"] for key in ("dram", "l1", "trace")))
        ends = {json.dumps(device["held_at_end"]) for device in report["devices"]}
        self.assertEqual(len(ends), 1, "the devices of a mesh are left alike")
        limits = [word for limit in ("l1.peak>+0", "dram.peak>+0", "headroom.min<-0")
                  for word in ("--fail-on", limit)]
        diff = json.loads(self.ttmem("diff", old, new, "--json", *limits).stdout)
        self.assertEqual(diff["l1"]["added"] + diff["l1"]["gone"], [])

    def test_one_screen_of_a_terminal(self):
        path = self.path()
        self.record(path, TTMEM, "demo", "--seconds", "0.2")
        for columns, rows in ((80, 24), (80, 40), (200, 50)):
            text = self.on_terminal(columns, rows, "report", path)
            lines = text.splitlines()
            self.assertLess(len(lines), rows + 1, text)
            self.assertIn("trace_region_size=", text)


def begin_and_end(path):
    with sqlite3.connect(path) as file:
        [times] = file.execute("SELECT started_unix_ns, ended_ns FROM run")
    file.close()
    return times


if __name__ == "__main__":
    unittest.main()
