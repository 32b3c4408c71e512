# SPDX-License-Identifier: Apache-2.0
"""`ttmem export` of recordings that `ttmem record` made: the figures equal the process's own
counts, the result of SQL on the recording, and `ttmem report`."""

import collections
import csv
import gzip
import json
import pickle
import sqlite3
import sys
import unittest

import memory_snapshot
import proto_text
from export_case import ExportCase
from support import HERE, LIBRARY, TTMEM
from test_export_perfetto import Trace
from test_export_pprof import SCHEMA as PPROF

# Kinds that a process counts itself and that the recorder samples.
KINDS = ("dram", "l1", "l1_small", "trace", "cb", "kernel")


class Recorded(ExportCase):
    def record(self, *scenario, options=()):
        self.path.unlink(missing_ok=True)
        self.ttmem("record", "-o", self.path, *options, "--", TTMEM, "demo", *scenario)
        self.file = sqlite3.connect(self.path)
        self.addCleanup(self.file.close)

    def sql(self, query, *arguments):
        return self.file.execute(query, arguments).fetchall()

    def counted_peak(self, kind):
        """Returns the peaks that the process counted on its devices, added up."""
        return sum(peak for _, peak in self.sql(
            "SELECT device, max(peak_bytes) FROM timeline WHERE kind = ? GROUP BY device", kind))

    def test_peaks_equal_the_counts_of_the_process(self):
        for scenario in ("single", "cached-programs", "training"):
            self.record(scenario, "--seconds", "1")
            for kind in KINDS:
                out, _ = self.export("collapsed", "--kind", kind)
                shown = sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines())
                self.assertEqual(shown, self.counted_peak(kind), (scenario, kind))

    def test_peaks_and_their_parts_equal_the_report(self):
        for scenario in ("blackhole", "leak", "training"):
            self.record(scenario, "--seconds", "1")
            report = self.json("report", self.path)
            out, _ = self.export("speedscope")
            shown = json.loads(out.read_text())
            names = [frame["name"] for frame in shown["shared"]["frames"]]
            profiles = {profile["name"].split(" at ")[0]: profile
                        for profile in shown["profiles"]}
            for device in report["devices"]:
                for memory in ("dram", "l1"):
                    profile = profiles[f"device {device['id']}: peak of {memory.upper()}"]
                    self.assertEqual(profile["endValue"], device[memory]["peak_bytes"])
                    self.assertIn(f"{device[memory]['peak_time_ns'] / 1e9:.3f} s", profile["name"])
                    parts = collections.Counter()
                    for sample, size in zip(profile["samples"], profile["weights"]):
                        kind, label = names[sample[1]], names[sample[-1]]
                        parts[kind, label if kind in ("dram", "l1") else None] += size
                    for part in device["at_peak"][memory]:
                        if part["kind"] in ("dram", "l1") and part["label"]:
                            self.assertEqual(parts[part["kind"], part["label"]], part["bytes"])
                left = profiles.get(f"device {device['id']}: held", {"endValue": 0})["endValue"]
                self.assertEqual(left, device["dram"]["end_bytes"] + device["l1"]["end_bytes"] +
                                 device["trace"]["end_bytes"])

    def test_an_aggregate_has_no_peak(self):
        self.record("training", "--seconds", "1", options=["--aggregate"])
        out, said = self.export("speedscope")
        self.assertIn("the recording is an aggregate", said)
        self.assertFalse([profile["name"] for profile in json.loads(out.read_text())["profiles"]
                          if "peak" in profile["name"]])
        at_peak, _ = self.export("collapsed", name="peak")
        at_end, _ = self.export("collapsed", "--at", "end", name="end")
        self.assertEqual(at_peak.read_text(), at_end.read_text())
        out, _ = self.export("pprof")
        profile = proto_text.decode(gzip.decompress(out.read_bytes()), PPROF, "Profile")
        texts = profile["string_table"]
        self.assertEqual([texts[kind.one("type")] for kind in profile["sample_type"]],
                         ["inuse_objects", "inuse_space"])
        self.assertEqual(texts[profile.one("default_sample_type")], "inuse_space")
        self.assertEqual({len(sample["value"]) for sample in profile["sample"]}, {2})
        out, _ = self.export("perfetto")
        trace = Trace(self, out.read_bytes())
        shown = {trace.path(track): max(value for _, value in values)
                 for track, values in trace.counters.items()}
        for number, used in self.sql("""SELECT d.number, max(t.used_bytes) FROM timeline t
                JOIN devices d ON d.id = t.device WHERE t.kind = 'dram' GROUP BY 1"""):
            self.assertIn(used, [value for path, value in shown.items()
                                 if path[0].startswith(f"device {number}:") and path[1] == "DRAM"])

    def test_every_allocation_is_exported(self):
        self.record("leak", "--seconds", "1")
        count, size = self.sql("SELECT count(*), sum(used_bytes) FROM allocation_list")[0]
        self.assertGreater(count, 10)

        out, _ = self.export("csv")
        with open(out, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if not row["program"]]
        self.assertEqual((len(rows), sum(int(row["used_bytes"]) for row in rows)), (count, size))

        out, _ = self.export("perfetto")
        slices = [event for _, _, _, event in Trace(self, out.read_bytes()).slices
                  if event["categories"] not in (["program"], ["gap"])]
        self.assertEqual((len(slices), sum(event.one("callstack_weight") for event in slices)),
                         (count, size))

        out, _ = self.export("pprof")
        profile = proto_text.decode(gzip.decompress(out.read_bytes()), PPROF, "Profile")
        texts = profile["string_table"]
        samples = [sample["value"] for sample in profile["sample"]
                   if not any(texts[label.one("str", 0)] == "cb" for label in sample["label"])]
        self.assertEqual([sum(values[i] for values in samples) for i in (0, 1)], [count, size])
        left = self.sql("""SELECT sum(used_bytes) FROM allocation_list WHERE end_ns IS NULL OR
                           ending IN ('device_closed', 'process_ended')""")[0][0]
        self.assertEqual(sum(values[3] for values in samples), left or 0)

    def test_the_memory_viewer_ends_with_what_was_never_freed(self):
        for scenario in ("leak", "training"):
            self.record(scenario, "--seconds", "1")
            out, _ = self.export("memory-viz", name="run.pickle")
            _, live = memory_snapshot.check(self, pickle.loads(out.read_bytes()))
            out, _ = self.export("collapsed", "--at", "end")
            left = sum(int(line.rsplit(" ", 1)[1]) for line in out.read_text().splitlines())
            self.assertEqual(sum(size for size, _ in live.values()), left, scenario)
            self.assertTrue(left > 0 or scenario != "leak")

    def test_the_memory_viewer_can_read_the_file(self):
        for scenario in ("mesh8", "training"):
            self.record(scenario, "--seconds", "1")
            out, _ = self.export("memory-viz", name="run.pickle")
            histories, _ = memory_snapshot.check(self, pickle.loads(out.read_bytes()))
            for kind in ("dram", "l1", "cb"):
                shown = sum(max((totals.get(kind, 0) for totals in history), default=0)
                            for history in histories)
                self.assertEqual(shown, self.counted_peak(kind), (scenario, kind))

    def test_the_report_has_the_buffers_of_each_operation(self):
        self.record("training", "--seconds", "1")
        out, _ = self.export("ttnn-visualizer", name="report")
        report = sqlite3.connect(out / "db.sqlite")
        self.addCleanup(report.close)
        operations = report.execute("""SELECT o.operation_id, CAST(a.value AS INT)
            FROM operations o JOIN operation_arguments a USING (operation_id)
            WHERE a.name = 'time_ns' ORDER BY 1""").fetchall()
        self.assertGreater(len(operations), 2)
        for operation, time in operations[::max(1, len(operations) // 20)]:
            shown = report.execute("SELECT count(*), sum(max_size_per_bank) FROM buffers "
                                   "WHERE operation_id = ?", [operation]).fetchone()
            expected = self.sql("""SELECT count(*), sum(bytes_per_bank) FROM allocation_list
                WHERE begin_ns <= ?1 AND (end_ns IS NULL OR end_ns > ?1) AND address IS NOT NULL
                AND bytes_per_bank IS NOT NULL AND kind IN ('dram', 'l1', 'l1_small', 'trace')""",
                                time)[0]
            self.assertEqual(shown, expected, time)


class InParts(ExportCase):
    """A buffer of a mesh is one allocation on each device, even if the buffer ends on one device after
    the other."""
    CHIPS = 8
    USED = 12 * 64  # bytes on each device
    CLOSES = "for i in ALL: lib.ttmem_device_close(i)"
    FREES = "for i in ALL: mesh_free([i], DRAM, 5)"

    def record(self, ends):
        self.path.unlink(missing_ok=True)
        code = (f"from abi import *\nALL = range({self.CHIPS})\nfor i in ALL: open_device(i)\n"
                f"mesh_alloc(ALL, DRAM, 5, 64, label=b'weights')\n{ends}")
        env = {**self.env, "TTMEM_LIB": LIBRARY, "PYTHONPATH": str(HERE)}
        self.ttmem("record", "--no-adapter", "-o", self.path, "--", sys.executable, "-c", code,
                   env=env)

    def test_csv_has_one_row_for_each_device_with_its_end(self):
        for ends, ending in ((self.CLOSES, "device_closed"), (self.FREES, "")):
            self.record(ends)
            out, _ = self.export("csv")
            with open(out, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([(row["device"], row["ending"]) for row in rows],
                             [(str(i), ending) for i in range(self.CHIPS)])
            self.assertEqual(len({row["begin_ns"] for row in rows}), 1)
            self.assertEqual([int(row["end_ns"]) for row in rows],
                             sorted(int(row["end_ns"]) for row in rows))

    def test_pprof_counts_it_once_on_each_device(self):
        for ends, left in ((self.CLOSES, self.CHIPS), (self.FREES, 0)):
            self.record(ends)
            out, _ = self.export("pprof")
            profile = proto_text.decode(gzip.decompress(out.read_bytes()), PPROF, "Profile")
            sums = [sum(values) for values in
                    zip(*(sample["value"] for sample in profile["sample"]))]
            self.assertEqual(sums, [self.CHIPS, self.CHIPS * self.USED, left, left * self.USED,
                                    self.CHIPS, self.CHIPS * self.USED])

    def test_perfetto_has_one_slice_on_each_device(self):
        for ends in (self.CLOSES, self.FREES):
            self.record(ends)
            out, _ = self.export("perfetto")
            slices = Trace(self, out.read_bytes()).slices
            self.assertEqual([event.one("callstack_weight") for _, _, _, event in slices],
                             [self.USED] * self.CHIPS)
            self.assertEqual(len({begin for _, begin, _, _ in slices}), 1)

    def test_memory_viz_allocates_it_once_on_each_device(self):
        self.record(self.FREES)
        out, _ = self.export("memory-viz", name="run.pickle")
        entries = [[entry["action"] for entry in trace if entry["action"] != "snapshot"]
                   for trace in pickle.loads(out.read_bytes())["device_traces"]]
        self.assertEqual(entries, [["alloc", "free_requested", "free_completed"]] * self.CHIPS)

    def test_the_report_counts_it_once(self):
        for ends, frees in ((self.FREES, 1), ("", 0)):
            self.record(ends)
            devices = self.json("report", self.path, "--at", "end")["devices"]
            for name, expected in (("allocations_total", 1), ("frees_total", frees)):
                self.assertEqual([sum(kind[name] or 0 for kind in device["kinds"])
                                  for device in devices], [expected] * self.CHIPS)
            self.assertEqual(self.json("report", self.path)["most_often"], [])


if __name__ == "__main__":
    unittest.main()
