# SPDX-License-Identifier: Apache-2.0
"""`ttmem report`: the figures equal figures that the tests compute in the simplest way, and the
figures of `ttmem` itself."""

import collections
import json
import pathlib
import signal
import sqlite3
import unittest

from recording_file import MEMORIES, Recording, random_recording
from support import CAPTURES, KIB, MIB, TTMEM, Case


class ReportCase(Case):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir) / "run.ttmem"

    def save(self, recording, ended=1_000_000):
        self.path.unlink(missing_ok=True)
        recording.save(self.path, ended=ended)
        return recording

    def report(self, *arguments):
        return json.loads(self.ttmem("report", self.path, "--json", *arguments).stdout)

    def small(self, **device):
        recording = Recording()
        process = recording.process(7, "model")
        row = recording.device(process, 0, **device)
        recording.allocate([row], "dram", 4000, 10, per_bank=512, banks=8, label="weights",
                           scope="decoder.0", address=1048704)
        recording.allocate([row], "l1", 1000, 20, 30, per_bank=64, banks=130, label="activation",
                           address=1_000_000)
        return self.save(recording)


class Figures(ReportCase):
    def test_peaks_and_their_holders(self):
        for seed in range(1, 6):
            recording = self.save(random_recording(seed))
            report = self.report()
            self.assertEqual(report["schema"], "ttmem.report.v1")
            by_uid = {device["uid"]: device for device in report["devices"]}
            for (_, uid), rows in recording.chips().items():
                device = by_uid[uid]
                for key, memory in (("dram", "DRAM"), ("l1", "L1"), ("trace", "trace")):
                    peak, time = recording.peak(rows, memory)
                    self.assertEqual(device[key]["peak_bytes"], peak, (seed, key))
                    if peak > 0:
                        self.assertEqual(device[key]["peak_time_ns"], -time, (seed, key))
                for key, memory in (("dram", "DRAM"), ("l1", "L1")):
                    made_of = device["at_peak"][key]
                    self.assertEqual(sum(part["bytes"] for part in made_of),
                                     device[key]["peak_bytes"], (seed, key))
                    self.assertEqual([part["bytes"] for part in made_of],
                                     sorted((part["bytes"] for part in made_of), reverse=True))

    def test_titles_distinguish_chips_without_uid_and_board(self):
        recording = Recording()
        for pid, arch in ((7, "wormhole_b0"), (8, "blackhole")):
            device = recording.device(recording.process(pid, "model"), 0, arch=arch, board="")
            recording.allocate([device], "dram", pid * 1000, 10)
        self.save(recording)
        text = self.ttmem("report", self.path).stdout
        for arch in ("wormhole_b0", "blackhole"):
            self.assertIn(f"\nDevice 0 ({arch}): {arch}\n", text)

    def test_the_figures_at_the_end(self):
        for seed in range(1, 6):
            recording = self.save(random_recording(seed))
            devices = self.report()["devices"]
            held = sum(device[key]["end_bytes"] for device in devices
                       for key in ("dram", "l1", "trace"))
            kinds = MEMORIES["DRAM"] + MEMORIES["L1"] + MEMORIES["trace"]
            self.assertEqual(held, recording.left(kinds), seed)
            listed = sum(part["bytes"] for device in devices for part in device["held_at_end"])
            self.assertEqual(listed, held, seed)

    def test_headroom_and_free_blocks(self):
        self.small()
        [device] = self.report()["devices"]
        self.assertEqual(device["headroom_min_bytes_per_core"], 1_000_000 - 100 * KIB)
        self.assertEqual(device["headroom_min_time_ns"], 20)
        # There is a free block below the buffer, and one above it, which ends at L1_SMALL. The
        # larger block counts.
        self.assertEqual(device["l1"]["largest_free_min_bytes_per_bank"], 1_000_000 - 100 * KIB)
        region = 4 * 1024**3 - 8 * MIB - 1048704
        self.assertEqual(device["dram"]["largest_free_min_bytes_per_bank"], region - 512)

    def test_processes_on_one_chip_add_up(self):
        recording = Recording()
        first = recording.device(recording.process(7, "model"), 0, "0xa")
        second = recording.device(recording.process(8, "model"), 5, "0xa")
        recording.allocate([first], "dram", 100, 10, 40, label="w")
        recording.allocate([second], "dram", 50, 20, 60, label="w")
        self.save(recording)
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["peak_time_ns"]), (150, 20))
        [part] = device["at_peak"]["dram"]
        self.assertEqual((part["bytes"], part["count"], part["process"]), (150, 2, "model"))

    def test_the_end_of_a_chip_is_the_end_of_its_last_process(self):
        recording = Recording()
        for number in range(3):
            begin, end = 100 * number, 100 * number + 50
            process = recording.process(7 + number, "model", begin, end)
            device = recording.device(process, 0, "0xa", begin=begin, end=end)
            recording.allocate([device], "dram", 100 - number, begin + 10, end, "process_ended",
                               label="w")
            recording.place(device, 1, [(200_000, 2048, [0], False)], begin + 20, end,
                            "process_ended", name="matmul")
        self.save(recording)
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["end_bytes"]), (100, 98))
        self.assertEqual((device["cb"]["peak_bytes"], device["cb"]["end_bytes"]), (2048, 2048))
        held = collections.Counter()
        for part in device["held_at_end"]:
            held[part["kind"]] += part["bytes"]
        self.assertEqual(held, {"dram": 297, "cb": 3 * 2048})
        self.assertEqual(self.report()["leak"], {"bytes": 297, "count": 3})
        self.assertIn("Held at the end of each process on device 0",
                      self.ttmem("report", self.path).stdout)

    def test_processes_that_end_together_are_all_at_the_end(self):
        recording = Recording()
        for number in range(2):
            process = recording.process(7 + number, "model", end=50)
            device = recording.device(process, 0, "0xa", end=50)
            recording.allocate([device], "dram", 100, 10 + number, 50, "process_ended")
        self.save(recording)
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["end_bytes"]), (200, 200))
        self.assertIn("Held at the end on device 0", self.ttmem("report", self.path).stdout)

    def test_unknown_is_null(self):
        self.small(known_kinds=1)
        self.path.unlink()
        recording = Recording()
        recording.device(recording.process(7, "model"), 0, known_kinds=1)
        self.save(recording)
        [device] = self.report()["devices"]
        self.assertEqual(device["dram"]["peak_bytes"], 0)
        for key in ("l1", "cb", "trace", "kernels"):
            self.assertIsNone(device[key]["peak_bytes"], key)
        self.assertIsNone(device["headroom_min_bytes_per_core"])

    def test_a_gap_is_reported(self):
        recording = self.small()
        recording.gap(1, 15, 18, 1234)
        recording.run[9] = 1234
        self.save(recording)
        self.assertEqual(self.report()["lost_events"], 1234)
        self.assertIn("1234 events were lost in 1 gap",
                      self.ttmem("report", self.path).stdout)

    def test_advice_on_settings(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        recording.allocate([device], "trace", 53 * MIB, 10, label="trace")
        recording.allocate([device], "l1_small", 10_000 * 130, 20, per_bank=10_000, banks=130)
        self.save(recording)
        [device] = self.report()["devices"]
        self.assertEqual(device["settings"]["trace_region_size"], 59 * MIB)
        self.assertEqual(device["settings"]["l1_small_size"], 11 * KIB)
        text = self.ttmem("report", self.path).stdout
        self.assertIn(f"trace_region_size={59 * MIB}", text)
        self.assertIn(f"l1_small_size={11 * KIB}", text)


class Moments(ReportCase):
    def test_a_moment_is_a_snapshot(self):
        recording = self.save(random_recording(1))
        for at, time in (("400us", 400_000), ("0.0006s", 600_000), ("peak", None), ("end", None)):
            snapshot = json.loads(self.ttmem("report", self.path, "--at", at, "--json").stdout)
            self.assertEqual(snapshot["schema"], "ttmem.snapshot.v1")
            if time is None:
                continue
            for device in snapshot["devices"]:
                rows = recording.chips()[device["id"], device["uid"]]
                open_rows = [row for row in rows if is_open(recording, row, time)]
                self.assertEqual(device["dram"]["used_bytes"],
                                 recording.held_by(open_rows, ["dram"], time))
        self.assertIn("Device 1:", self.ttmem("report", self.path, "--at", "400us").stdout)

    def test_peak_is_the_moment_of_the_peak(self):
        self.small()
        snapshot = json.loads(self.ttmem("report", self.path, "--at", "l1.peak", "--json").stdout)
        [device] = snapshot["devices"]
        self.assertEqual(device["l1"]["used_bytes"], 64 * 130)
        self.assertEqual(device["l1"]["peak_bytes"], 64 * 130)

    def test_invalid_moments(self):
        self.small()
        for at in ("soon", "-1s", "5 minutes", "x.peak"):
            said = self.ttmem("report", self.path, f"--at={at}", code=2).stderr
            self.assertIn(f"--at {at}: must be a time", said)
        self.assertIn("the recording ends at",
                      self.ttmem("report", self.path, "--at", "9h", code=1).stderr)

    def test_the_end_of_a_capture_equals_the_live_figures(self):
        for name in ("basic_wh1", "mesh_wh8", "model_wh1", "relayout_wh1"):
            self.path.unlink(missing_ok=True)
            self.ttmem("import", CAPTURES / f"{name}.jsonl", "-o", self.path)
            recorded = json.loads(
                self.ttmem("report", self.path, "--at", "end", "--json").stdout)["devices"]
            held = self.start_ttmem("replay", CAPTURES / f"{name}.jsonl", "--hold")
            held.line("stderr")
            live = self.devices()
            held.signal(signal.SIGTERM)
            self.assertEqual(held.wait(), 0)
            for device, other in zip(recorded, live, strict=True):
                for key in ("used_bytes", "peak_bytes"):
                    for memory in ("dram", "l1", "trace"):
                        self.assertEqual(device[memory][key], other[memory][key],
                                         (name, memory, key))
                self.assertEqual(device["l1"]["cb"]["physical_bytes"],
                                 other["l1"]["cb"]["physical_bytes"], name)


def is_open(recording, row, time):
    *_, begin, end = recording.rows["devices"][row - 1]
    return begin <= time and (end is None or time < end)


class Command(ReportCase):
    def test_limits(self):
        self.small()
        for limit, code in (("dram.peak>4095", 3), ("dram.peak>4KiB", 0), ("leak>0", 3),
                            ("l1.peak<1MiB", 3), ("headroom.min<64KiB", 0)):
            result = self.ttmem("report", self.path, "--fail-on", limit, code=code)
            self.assertEqual(limit in result.stderr, code == 3)
            self.assertIn("Device 0:", result.stdout)
        both = self.ttmem("report", self.path, "--fail-on", "dram.peak>1GiB", "--fail-on", "leak>0",
                          "--json", code=3)
        self.assertIn("leak>0: it is 4.00 KiB (4096 bytes)", both.stderr)
        json.loads(both.stdout)

    def test_wrong_limits_are_named(self):
        self.small()
        for limit in ("dram", "dram.peak>lots", "ram.peak>5", "dram.peak>+2%"):
            said = self.ttmem("report", self.path, "--fail-on", limit, code=2).stderr
            self.assertIn(f"--fail-on {limit}: ", said)

    def test_a_limit_that_cannot_be_checked_is_a_failure(self):
        recording = Recording()
        recording.device(recording.process(7, "model"), 0, known_kinds=1)
        self.save(recording)
        said = self.ttmem("report", self.path, "--fail-on", "cb.peak>1MiB", code=1).stderr
        self.assertIn("cb.peak is not known", said)

    def test_devices(self):
        self.save(random_recording(2))
        [device] = self.report("--device", "0xb3")["devices"]
        self.assertEqual(device["id"], 3)
        self.assertIn("no device 9", self.ttmem("report", self.path, "--device", "9", code=1).stderr)

    def test_other_files_are_refused(self):
        for path, words in ((TTMEM, "is not a recording"), (f"{self.dir}/none", "cannot open")):
            said = self.ttmem("report", path, code=1).stderr
            self.assertIn(words, said)
            self.assertEqual(len(said.splitlines()), 1, said)
        self.small()
        with sqlite3.connect(self.path) as file:
            file.execute("UPDATE run SET schema = 'ttmem.recording.v9'")
        file.close()
        said = self.ttmem("report", self.path, code=1).stderr
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("v9", said)
        self.assertIn("FILE", self.ttmem("report", code=2).stderr)

    def test_hostile_names_are_text(self):
        recording = Recording(command="model \x1b[31m")
        device = recording.device(recording.process(7, "mo\x1bdel"), 0)
        recording.allocate([device], "dram", 100, 10, label="\x1b]0;owned\x07", scope="a\nb")
        self.save(recording)
        text = self.ttmem("report", self.path).stdout
        self.assertNotIn("\x1b", text)
        self.report()

    def test_the_report_fits_one_screen(self):
        self.save(random_recording(3))
        for width in (80, 200):
            text = self.ttmem("report", self.path, env={**self.env, "COLUMNS": str(width)}).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), width)
            self.assertLess(len(text.splitlines()), 70)


if __name__ == "__main__":
    unittest.main()
