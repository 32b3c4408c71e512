# SPDX-License-Identifier: Apache-2.0
"""`ttmem top --replay`: a recording in the live view, in tmux."""

import os
import re
import sqlite3

import capture_model
import test_top
from support import CAPTURES, TTMEM, mib

MIB = 1024**2


class Replay(test_top.Terminal):
    def setUp(self):
        super().setUp()
        self.recording = os.path.join(self.dir, "model.ttmem")
        self.ttmem("import", CAPTURES / "model_wh1.jsonl", "-o", self.recording)

    def play(self, width=80, height=24):
        self.open(width, height)
        self.type(f"{TTMEM} top --replay {self.recording}; echo ended $?")
        self.see(r"Device 0: wormhole_b0")

    def end(self):
        self.press("q")
        self.see(r"^ended 0$")
        self.assert_as_before()

    def now(self):
        """Returns the time in the recording that is shown, in milliseconds."""
        return float(re.search(r"([\d.]+) ms of", self.screen())[1])

    def test_it_plays_pauses_and_seeks(self):
        self.play()
        self.see(r"\d ms of 140\.\d+ ms +0\.005x")
        first = self.now()
        self.wait_for(lambda: self.now() > first, "time to go on")
        self.press("Space")
        self.see(r"^ \|\| ")
        self.press("g")
        self.see(r"^ \|\| 0\.000 ms")
        self.press("F")
        self.see(r"^ \|\| 14\.069 ms")
        self.press("+")
        self.see(r"0\.01x")
        self.press("G")
        self.see(r"\|\| 140\.693 ms of 140\.693 ms")
        self.see(r"DRAM +0\.00 MiB")
        self.press("Space")
        self.see(r"^ ▶ ")
        self.end()

    def test_the_peak_has_the_figures_of_the_capture(self):
        lines = capture_model.lines_of(CAPTURES / "model_wh1.jsonl")
        model, most = capture_model.Model(), 0
        for line in lines:
            model.feed(line)
            most = max([most, *(device.bytes_of("L1")[1] + sum(
                union for union, _ in device.cb_by_core().values())
                for device in model.devices.values())])
        self.play()
        self.press("Space", "P")
        self.see(r"peak: L1 of device 0")
        self.see(rf"Total L1 +{mib(most, 1)} MiB")
        self.press("P")
        self.see(r"peak: DRAM of device 0")
        self.end()

    def test_all_views_show_the_same_moment(self):
        for size in ((80, 24), (200, 50)):
            with self.subTest(size):
                self.play(*size)
                self.press("Space", "P", "2")
                self.see(r"Device 0 L1 18%: 16\.5 MiB of 91\.5 MiB")
                self.see(r"0\.000 ms .*140\.693 ms")
                self.press("3")
                self.see(r"Core \(0,0\)")
                self.see(r"CB 13\.0 MiB")
                self.press("l")
                self.see(r"Core \(1,0\)")
                self.press("4")
                self.see(r"model_wh1\.jsonl")
                self.press("K")
                self.see(r"cannot be ended")
                self.press("?")
                self.see(r"to the peak")
                self.press("x")
                self.end()

    def test_marks_and_gaps_are_on_the_line(self):
        with sqlite3.connect(self.recording) as database:
            database.execute("INSERT INTO marks VALUES (1, 50000000, 1, 'warm')")
            database.execute("INSERT INTO gaps VALUES (1, 1, 60000000, 70000000, 12)")
        database.close()
        self.play()
        self.press("Space", "g", "n")
        self.see(r"mark: warm")
        self.see(r"^ \|\| 50\.000 ms .* warm$")
        self.press("F")
        self.see(r"warm \+14\.069 ms +gap: 12 lost")
        self.press("N")
        self.see(r"^ \|\| 50\.000 ms")
        self.end()


class Mistakes(test_top.Case):
    def test_each_is_one_line(self):
        recording = os.path.join(self.dir, "basic.ttmem")
        self.ttmem("import", CAPTURES / "basic_wh1.jsonl", "-o", recording)
        said = self.ttmem("top", "--replay", recording, code=2).stderr
        self.assertIn("needs a terminal", said)
        self.assertIn("ttmem report", said)


class NoRecording(test_top.Terminal):
    def test_other_files_are_one_line_and_a_failure(self):
        self.open()
        self.type(f"{TTMEM} top --replay /etc/passwd; echo ended $?")
        self.see(r"^ended 1$")
        self.see(r"ttmem: .*/etc/passwd")
