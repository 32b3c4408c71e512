# SPDX-License-Identifier: Apache-2.0
"""`--fail-on` for a recording that lost events. The table `timeline` has the peaks that the process
itself counted, so a limit is judged correctly even if the events of the peak are lost. Unknown
figures are reported."""

import json
import pathlib
import signal
import subprocess
import sys
import unittest

from recording_file import Recording
from support import DEADLINE_SECONDS, HERE, LIBRARY, MIB, TTMEM, Case


class LossyCase(Case):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.dir) / "run.ttmem"

    def save(self, recording, path=None, lost=1000, ended=10_000):
        recording.run[9] = lost
        (path or self.path).unlink(missing_ok=True)
        return recording.save(path or self.path, ended=ended)

    def sample(self, recording, device, kind, used, peak, time=9_000):
        rows = recording.rows["timeline"]
        rows.append((len(rows) + 1, time, device, kind, used, peak))

    def one_process(self, peak=60 * MIB, begin=0, samples=True):
        """Returns a recording of a process with 10 MiB of DRAM in its events. `peak` is the peak
        that the process counted."""
        recording = Recording()
        process = recording.process(7, "model", begin=begin)
        device = recording.device(process, 0, "0xa0", begin=begin)
        recording.allocate([device], "dram", 10 * MIB, 100, label="weights", address=0)
        recording.gap(process, 200, 300, 1000)
        if samples:
            self.sample(recording, device, "dram", 10 * MIB, peak)
            self.sample(recording, device, "l1", 0, 0)
        return recording

    def judged(self, limit, code, command="report", files=None):
        said = self.ttmem(command, *(files or [self.path]), "--fail-on", limit, code=code)
        if code == 1:
            self.assertIn(f"--fail-on {limit}: it cannot be checked: ", said.stderr)
        return said

    def report(self):
        return self.json("report", self.path)


class Limits(LossyCase):
    def test_the_peak_of_the_process_counts(self):
        self.save(self.one_process())
        self.judged("dram.peak>50MiB", 3)
        self.judged("dram.peak>60MiB", 0)
        self.judged("dram.peak>=60MiB", 3)
        self.judged("dram.peak<60MiB", 0)
        said = self.judged("dram.peak>50MiB", 3).stderr
        self.assertIn("it is 60.0 MiB", said)
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["peak_at_most_bytes"]),
                         (60 * MIB, 60 * MIB))
        self.assertFalse(device["all_seen"])
        text = self.ttmem("report", self.path).stdout
        self.assertRegex(text, r"DRAM +60\.0 MiB")
        self.assertIn("made of is not known; the most that was seen is 10.0 MiB", text)

    def test_a_figure_with_only_a_bound_cannot_be_checked(self):
        self.save(self.one_process(samples=False))
        self.judged("dram.peak>5MiB", 3)
        self.assertIn("dram.peak is not known exactly: it is at least 10.0 MiB, because 1000 events were "
                      "lost; record with a larger TTMEM_EVENTS", self.judged("dram.peak>50MiB", 1).stderr)
        self.judged("leak>100MiB", 1)
        self.judged("leak>5MiB", 3)
        self.judged("lost>1000", 0)
        self.judged("lost>999", 3)
        [device] = self.report()["devices"]
        self.assertEqual(device["dram"]["peak_bytes"], 10 * MIB)
        self.assertIsNone(device["dram"]["peak_at_most_bytes"])
        self.assertRegex(self.ttmem("report", self.path).stdout, r"DRAM +>=10\.0 MiB")

    def test_an_exceeded_limit_wins_over_a_limit_that_cannot_be_checked(self):
        self.save(self.one_process())
        self.ttmem("report", self.path, "--fail-on", "leak>1GiB", "--fail-on", "dram.peak>50MiB", code=3)
        self.ttmem("report", self.path, "--fail-on", "dram.peak>50MiB", "--fail-on", "leak>1GiB", code=3)

    def test_a_peak_from_before_the_recording_is_only_a_bound(self):
        self.save(self.one_process(begin=-500))
        self.judged("dram.peak>5MiB", 3)
        self.judged("dram.peak>50MiB", 1)
        self.judged("dram.peak>60MiB", 0)

    def test_the_peak_of_an_earlier_opening_limits_an_unknown_peak(self):
        """A process keeps the highest peaks of all openings. An opening without a sample of its own
        has at most these peaks, which may be from before the recording."""
        for begin, code in ((0, 0), (-500, 1)):
            recording = Recording()
            process = recording.process(7, "model", begin=begin)
            first = recording.device(process, 0, "0xa0", begin=begin, end=100)
            second = recording.device(process, 0, "0xa0", begin=150)
            recording.allocate([second], "dram", 10 * MIB, 160)
            recording.gap(process, 200, 300, 1000)
            self.sample(recording, first, "dram", 0, 60 * MIB, time=100)
            self.save(recording)
            self.judged("dram.peak>5MiB", 3)
            self.judged("dram.peak>60MiB", 0)
            self.judged("dram.peak<60MiB", code)

    def test_a_device_that_is_opened_again_in_a_gap_counts_once(self):
        recording = Recording()
        process = recording.process(7, "model")
        first = recording.device(process, 0, "0xa0", end=201)
        second = recording.device(process, 0, "0xa0", begin=201)
        recording.gap(process, 200, 300, 1000)
        self.sample(recording, first, "dram", 0, 60 * MIB, time=201)
        self.sample(recording, second, "dram", 0, 50 * MIB)
        self.save(recording)
        self.judged("dram.peak>60MiB", 0)
        self.judged("dram.peak>=60MiB", 3)

    def test_processes_on_one_chip_add_up_to_bounds(self):
        recording = Recording()
        for number in range(2):
            process = recording.process(7 + number, "model")
            device = recording.device(process, 0, "0xa0")
            recording.gap(process, 200, 300, 500)
            self.sample(recording, device, "dram", 0, (40 + number) * MIB)
        self.save(recording)
        self.judged("dram.peak>40MiB", 3)
        self.judged("dram.peak>80MiB", 1)
        self.judged("dram.peak>81MiB", 0)

    def test_processes_one_after_the_other_do_not_add_up(self):
        recording = Recording()
        for number in range(2):
            process = recording.process(7 + number, "model", 1000 * number, 1000 * number + 900)
            device = recording.device(process, 0, "0xa0", begin=1000 * number, end=1000 * number + 900)
            recording.gap(process, 1000 * number + 200, 1000 * number + 300, 500)
            self.sample(recording, device, "dram", 0, (40 + number) * MIB)
        self.save(recording)
        self.judged("dram.peak>41MiB", 0)
        self.judged("dram.peak>40MiB", 3)

    def test_a_chip_whose_process_lost_nothing_is_exact(self):
        recording = Recording()
        lossy = recording.process(7, "model")
        other = recording.process(8, "model")
        recording.device(lossy, 0, "0xa0", known_kinds=2)
        exact = recording.device(other, 1, "0xa1")
        recording.allocate([exact], "dram", 10 * MIB, 100)
        recording.gap(lossy, 200, 300, 1000)
        self.save(recording)
        self.ttmem("report", self.path, "--device", "1", "--fail-on", "dram.peak>10MiB", code=0)

    def test_the_kinds_of_l1_bound_its_total(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, "0xa0")
        recording.allocate([device], "l1", MIB, 100, per_bank=MIB // 128, banks=128, address=1 << 20)
        recording.gap(process, 200, 300, 1000)
        self.sample(recording, device, "l1", MIB, 3 * MIB)
        self.sample(recording, device, "cb", 0, 2 * MIB)
        self.save(recording)
        self.judged("l1_buffers.peak>3MiB", 0)
        self.judged("l1.peak>2MiB", 3)
        self.judged("l1.peak>3MiB", 1)
        self.judged("l1.peak>5MiB", 0)
        self.assertIn("at most", self.judged("headroom.min<1KiB", 1).stderr)
        self.judged("headroom.min<1GiB", 3)

    def test_diff_compares_known_figures_only(self):
        old = pathlib.Path(self.dir) / "old.ttmem"
        files = [old, self.path]
        self.save(self.one_process(50 * MIB), old)
        self.save(self.one_process(60 * MIB))
        self.judged("dram.peak>+10%", 3, "diff", files)
        self.judged("dram.peak>+20%", 0, "diff", files)
        self.save(self.one_process(samples=False), old)
        said = self.judged("dram.peak>+100%", 1, "diff", files).stderr
        self.assertIn("dram.peak of the old run is not known exactly: it is at least 10.0 MiB", said)
        figures = {figure["name"]: figure for figure in self.json("diff", *files)["figures"]}
        self.assertEqual(figures["dram.peak"], {"name": "dram.peak", "old": 10 * MIB, "new": 60 * MIB,
                                                "change": None, "old_exact": False, "new_exact": True})
        self.assertIn("at least 10.0 MiB", self.ttmem("diff", *files).stdout)
        self.assertIn("at least 10.0 MiB", self.ttmem("diff", *files, "--markdown").stdout)

    def whole_process(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, "0xa0")
        recording.allocate([device], "dram", 10 * MIB, 100)
        self.sample(recording, device, "dram", 10 * MIB, 10 * MIB)
        return recording

    def assert_only_lower_bounds(self, why):
        self.judged("dram.peak>5MiB", 3)
        self.assertIn(f"it is at least 10.0 MiB, because {why}",
                      self.judged("dram.peak>50MiB", 1).stderr)
        self.judged("leak>5MiB", 3)
        self.judged("leak>50MiB", 1)
        self.assertFalse(self.report()["devices"][0]["all_seen"])

    def test_with_untracked_processes_figures_are_lower_bounds(self):
        recording = self.whole_process()
        recording.rows["not_tracked"] = [("No space left on device", 5)]
        self.save(recording, lost=0)
        self.assert_only_lower_bounds("some processes were not tracked")

    def test_without_an_end_figures_are_lower_bounds(self):
        recording = self.whole_process()
        self.save(recording, lost=0, ended=None)
        self.assert_only_lower_bounds("the end of the recording is missing")

    def test_samples_of_another_machine_are_bounds(self):
        recording = self.one_process()
        recording.run[2] = "looks"
        self.save(recording, lost=0)
        self.judged("dram.peak>5MiB", 3)
        self.assertIn("made of samples", self.judged("dram.peak>50MiB", 1).stderr)


class Recorded(LossyCase):
    def has_device(self):
        done = subprocess.run([TTMEM, "report", self.path, "--json"], env=self.env,
                              capture_output=True, timeout=DEADLINE_SECONDS, check=False)
        return done.returncode == 0 and json.loads(done.stdout)["devices"]

    STORM = "for i in range(40000):\n  alloc(DRAM, 10 + i, 64)\n  free(DRAM, 10 + i)\n"
    PEAK = "alloc(DRAM, 2, 1 << 24)\nfree(DRAM, 2)\n"

    def record(self, before, while_stopped, after=""):
        """Records a process. The recorder is stopped during a part of it, in which the process loses
        events."""
        source = f"from abi import *\n{before}\nhold()\n{while_stopped}\nhold()\n{after}"
        env = {**self.env, "TTMEM_EVENTS": "65536", "TTMEM_LIB": LIBRARY, "PYTHONPATH": str(HERE)}
        held = self.start([TTMEM, "record", "--no-adapter", "-o", self.path, "--", sys.executable,
                           "-c", source], env)
        held.line()
        if before:
            self.wait_for(self.has_device, "the recorder to write the device down")
        held.signal(signal.SIGSTOP)
        held.go_on()
        self.assertEqual(held.line(), "ready")
        held.signal(signal.SIGCONT)
        held.go_on()
        self.assertEqual(held.wait(), 0)
        report = self.report()
        self.assertGreater(report["lost_events"], 0)
        self.assertFalse(report["complete"])
        return report

    def assert_dram_peak(self, peak):
        self.judged(f"dram.peak>={peak}", 3)
        self.judged(f"dram.peak>{peak}", 0)
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["peak_bytes"], device["dram"]["peak_at_most_bytes"]),
                         (peak, peak))
        self.assertRegex(self.ttmem("report", self.path).stdout, rf"DRAM +{peak / MIB:.1f} MiB ")

    def test_a_peak_while_the_recorder_was_stopped(self):
        self.record("open_device(0)\nalloc(DRAM, 1, 1 << 20)", self.PEAK + self.STORM,
                    "free(DRAM, 1)\nlib.ttmem_device_close(0)")
        self.assert_dram_peak(12 * ((1 << 20) + (1 << 24)))

    def test_a_device_that_was_open_only_while_events_were_lost(self):
        self.record("", "open_device(0)\nalloc(DRAM, 1, 1 << 20)\n" + self.PEAK + self.STORM +
                    "lib.ttmem_device_close(0)")
        self.assert_dram_peak(12 * ((1 << 20) + (1 << 24)))
        [device] = self.report()["devices"]
        self.assertEqual((device["arch"], device["uid"]), ("wormhole_b0", "0x7e57"))
        # What the device held when it was closed is unknown.
        self.assertIsNone(device["dram"]["end_bytes"])
        self.assertIsNone(device["held_at_end"])
        self.assertIn("What was held at the end on device 0 is not known",
                      self.ttmem("report", self.path).stdout)

    def test_a_device_that_was_opened_again_while_events_were_lost(self):
        self.record("open_device(0)\nalloc(DRAM, 1, 1 << 20)",
                    self.PEAK + "lib.ttmem_device_close(0)\nopen_device(0)\n"
                    "alloc(DRAM, 3, 1 << 10)\n" + self.STORM, "free(DRAM, 3)")
        self.assert_dram_peak(12 * ((1 << 20) + (1 << 24)))
        [device] = self.report()["devices"]
        self.assertEqual((device["dram"]["end_bytes"], device["held_at_end"]), (0, []))

    def test_the_peak_of_l1_is_the_peak_of_the_process(self):
        report = self.record(
            "open_device(0)\nalloc(L1, 1, 1024, address=0x100000)",
            "place(7, (0x20000, 4096, [(0, 0, 7, 7)]))\nlib.ttmem_program_destroy(7)\n"
            "alloc(L1, 2, 2048, address=0x110000)\nfree(L1, 2)\n" + self.STORM)
        peak = 64 * (1024 + 4096)  # less than the sum of the peaks of buffers and circular buffers
        [device] = report["devices"]
        self.assertEqual((device["l1"]["peak_bytes"], device["l1"]["peak_at_most_bytes"]),
                         (peak, peak))
        self.judged(f"l1.peak>={peak}", 3)
        self.judged(f"l1.peak>{peak}", 0)
        text = self.ttmem("report", self.path).stdout
        self.assertIn("Headroom: least <=", text)
        self.assertRegex(text, r"DRAM .* <=\S+ GiB ")


if __name__ == "__main__":
    unittest.main()
