# SPDX-License-Identifier: Apache-2.0
"""`ttmem view` and `ttmem report --html` in a real browser: at every moment the page of a recording
shows the figures of the commands. The page also gives data to other tools."""

import http.server
import json
import pathlib
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import threading
import unittest

from browser import Browser
from recording_file import Recording
from support import DEADLINE_SECONDS, HERE, KIB, LIBRARY, MIB, TTMEM
from test_page import PageCase, shown

MS = 1_000_000
ALL = range(130)
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m \u202egnp.exe"
HOSTILE_SHOWN = "</script><img src=x onerror=alert(1)>?[31m ?gnp.exe"


def model(grown=0):
    """Returns a recording of three steps on one device. Each step holds more than the step before;
    the third is the peak."""
    recording = Recording()
    process = recording.process(7, "model")
    device = recording.device(process, 0, uid="0xb150")
    recording.allocate([device], "dram", 512 * MIB, 10 * MS, per_bank=64 * MIB, banks=8,
                       label="weights", scope="load", address=MIB)
    recording.allocate([device], "l1", 96 * KIB * 130, 20 * MS, per_bank=96 * KIB, banks=130,
                       label="hidden", address=1_300_000)
    for step in range(3):
        begin = (100 + 100 * step) * MS
        per_core = (64 + 30 * step + grown) * KIB
        recording.mark(process, f"step {step}", begin)
        recording.allocate([device], "l1", per_core * 130, begin + 10 * MS, begin + 40 * MS,
                           per_bank=per_core, banks=130, label="scores",
                           scope="decoder.0/attention", address=1_000_000)
        recording.place(device, 10 + step, [(102_400, 64 * KIB, range(64), False)],
                        begin + 20 * MS, begin + 50 * MS, name="matmul",
                        scope="decoder.0/attention")
    return recording


class ViewCase(PageCase):
    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.folder) / "run.ttmem"

    def save(self, recording, path=None, ended=500 * MS):
        recording.save(path or self.path, ended=ended)
        return recording

    def view(self, *files):
        """Serves the recordings; self.url is the address that the viewer prints."""
        self.viewer = self.start_ttmem("view", "--no-open", "--http", "127.0.0.1:0",
                                       *(files or [self.path]))
        self.url = re.search(r"http://\S+", self.viewer.line("stderr"))[0]

    def write(self, *files):
        """Writes the page as one file. Sets self.url to the address of the file."""
        out = pathlib.Path(self.folder) / "page.html"
        self.ttmem("report", *(files or [self.path]), "--html", out)
        self.url = out.as_uri()
        return out

    def open(self, place=""):
        self.browser.open("about:blank")
        self.browser.open(f"{self.url}#{place}")
        self.wait_for(lambda: self.browser.run("document.body?.dataset.number > 0"),
                      f"a moment of the recording; complaints: {self.browser.complaints}")

    def report(self, *arguments):
        return self.json("report", self.path, *arguments)

    def moment(self):
        """Returns the time of the shown moment in ns."""
        return int(self.browser.run("document.querySelector('.moment-words').dataset.ns"))

    def data(self, selector, name="bytes"):
        return self.browser.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".map((one) => one.dataset.{name})")

    def notes(self):
        return self.text(".strip-notes")[0]

    def has_charts(self):
        """Returns whether the page has charts. They are missing in a build without uPlot."""
        self.open("view=timeline")
        return self.browser.run("document.querySelector('.u-over') !== null")

    def point(self, selector, share):
        """Returns a point in an element. `share` is its distance from the left edge, as a share of
        the width."""
        left, top, width, height = self.browser.box(selector)
        return left + width * share, top + height / 2


class Peaks(ViewCase):
    def check(self, memory):
        """Checks that the bars and the rows of the tree equal the report."""
        [device] = self.report()["devices"]
        peak = device[memory]["peak_bytes"]
        self.open(f"view=peak&peak={memory}")
        self.assertEqual(self.data("main h2"), [str(peak)])
        self.assertEqual(self.data(".icicle [data-level='0']"), [str(peak)])
        level = self.data(".icicle [data-level='1']")
        self.assertEqual(sum(map(int, level)), peak)
        rows = self.wait_rows("Parts of the peak")
        self.assertEqual(rows[0][:2], [shown(peak), "100%"])
        leaves = sorted(row[0] for row in rows if not re.search("[▾▸]", row[4]))
        parts = device["at_peak"][memory]
        if len(parts) < 20:  # all parts are visible
            self.assertEqual(leaves, sorted(shown(part["bytes"]) for part in parts))

    def test_the_holders_of_a_peak(self):
        self.save(model())
        self.view()
        self.check("l1")
        self.check("dram")

    def test_of_a_real_recording(self):
        self.ttmem("record", "-o", self.path, "--", TTMEM, "demo", "single", "--seconds", "1")
        self.view()
        self.check("l1")
        self.check("dram")

    def test_a_click_looks_closer_and_escape_goes_back(self):
        self.save(model())
        self.view()
        self.open("view=peak&peak=l1")
        self.browser.run("document.querySelector(\".icicle [data-level='1']\").click()")
        self.assertIn("path=decoder.0", self.address())
        [first, *_] = self.wait_rows("Parts of the peak")
        self.assertIn("decoder.0", first[4])
        self.browser.press("Escape")
        self.assertNotIn("path", self.address())

    def test_parts_too_small_for_a_bar_do_not_lead_out(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150")
        for number in range(20):
            recording.allocate([device], "dram", 1024 * MIB if number == 0 else 32 * KIB, 10 + number,
                               label=f"part {number}", scope="load")
        self.save(recording)
        self.view()
        self.open("view=peak&peak=dram")
        self.click_bar("19 more")
        self.assertIn("path=load", self.address())
        self.click_bar("19 more")
        self.assertIn("path=load", self.address())
        self.assertEqual(len(self.wait_rows("Parts of the peak")), 21)
        self.click_bar("load ")
        self.assertNotIn("path", self.address())

    def test_the_peak_of_a_chip_without_a_uid(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid=None)
        recording.allocate([device], "l1", 8 * MIB, 10, label="state")
        self.save(recording)
        self.view()
        self.check("l1")

    def click_bar(self, words):
        self.browser.run("[...document.querySelectorAll('.icicle button')]"
                         f".find((one) => one.textContent.startsWith('{words}')).click()")

    def test_two_kinds_of_one_name_are_two_parts(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150")
        for kind, size in (("l1", 8 * MIB), ("l1_small", 2 * MIB)):
            recording.allocate([device], kind, size, 10, label="state")
        self.save(recording)
        self.view()
        for size in (8 * MIB, 2 * MIB):
            self.open("view=peak&peak=l1")
            self.browser.run(f"document.querySelector(\".icicle [data-bytes='{size}']\").click()")
            [row] = self.wait_rows("Parts of the peak")
            self.assertEqual(row[0], shown(size))

    def test_bars_by_the_keyboard(self):
        self.save(model())
        self.view()
        self.open("view=peak&peak=l1")
        self.browser.run("document.querySelector(\".icicle [data-level='1']\").focus()")
        [words] = self.text(".icicle-words")
        self.assertRegex(words, r"^decoder\.0 · [\d.]+ MiB, \d+%$")
        self.browser.press("Enter")
        self.assertIn("path=decoder.0", self.address())
        self.assertEqual(self.browser.run("document.activeElement.dataset.words"), words)

    def test_the_first_moment_is_the_peak(self):
        self.save(model())
        self.view()
        self.open()
        [device] = self.report()["devices"]
        self.assertEqual(self.moment(), device["l1"]["peak_time_ns"])
        self.assertIn("L1 peak of device 0", self.text(".moment-words")[0])
        self.assertEqual(self.figures("0xb150")["l1"][1], str(device["l1"]["peak_bytes"]))
        self.assertEqual(self.data("#strip [data-field=l1_total]"),
                         [str(device["l1"]["peak_bytes"])])


class Cursor(ViewCase):
    def check_moment(self, recording, time):
        """Compares the device's card with figures that recording_file.py computes."""
        self.assertEqual(self.moment(), time)
        card = self.figures("0xb150")
        for field, kind in (("dram", "dram"), ("l1_buffers", "l1"), ("cb", "cb")):
            self.assertEqual(card[field][1], str(recording.held(1, kind, time)), (field, time))

    def test_every_moment_equals_the_holdings(self):
        recording = self.save(model())
        self.view()
        self.open("t=0")
        times = [time for time in recording.moments() if time > self.moment()]
        for time in times:
            for _ in range(4):  # the key also stops at marks, which moments() lacks
                self.browser.press(".")
                if self.moment() >= time:
                    break
            self.check_moment(recording, time)
        self.browser.press(",")
        self.assertLess(self.moment(), times[-1])

    def test_all_views_follow_the_cursor(self):
        self.save(model())
        self.view()
        self.open(f"view=cores&t={325 * MS}")
        self.wait_text(".core-map .words", "CB 64.0 KiB")
        rows = self.wait_rows("What lies in the core", 4)
        self.assertEqual({row[3] for row in rows if row[2] == "L1 buffers"},
                         {"hidden", "decoder.0/attention/scores"})
        snapshot = self.report("--at", "325ms")["devices"][0]
        core = next(one for one in snapshot["per_core"] if (one["x"], one["y"]) == (0, 0))
        self.wait_text(".core-map .words", f"headroom {shown(core['headroom_bytes'], 1)}")
        self.browser.press("4")
        self.assertEqual({row[2] for row in self.wait_rows("Allocations", 3)},
                         {"weights", "hidden", "scores"})
        self.browser.press("5")
        [program] = self.wait_rows("Programs")
        self.assertEqual(program[:2], ["12", "matmul"])
        self.open(f"view=processes&t={50 * MS}")
        self.assertEqual({row[2] for row in self.wait_rows("Allocations", 2)},
                         {"weights", "hidden"})
        [process] = self.wait_rows("Processes")
        self.assertEqual(process[3], shown(512 * MIB))
        self.browser.press("3")
        self.wait_text(".core-map .words", "CB 0.00 KiB")
        self.wait_for(lambda: len(self.wait_rows("What lies in the core")) == 2, "hidden alone")

    def test_ages_are_computed_for_the_moment(self):
        self.save(model())
        self.view()
        self.open(f"view=processes&t={310 * MS}&search=weights")
        [row] = self.wait_rows("Allocations")
        self.assertEqual(row[9], "0.3 s")

    def test_reasons_marks_and_peaks(self):
        self.save(model())
        self.view()
        self.open("t=0")
        times = []
        for _ in range(3):
            self.browser.press("m")
            times.append(self.moment())
        self.assertEqual(times, [100 * MS, 200 * MS, 300 * MS])
        self.browser.press("M")
        self.assertEqual(self.moment(), 200 * MS)
        self.browser.press("P")
        self.assertEqual(self.moment(), 320 * MS)
        self.browser.press("<")
        self.assertEqual(self.moment(), 300 * MS)
        self.assertIn("mark step 2", self.text(".moment-words")[0])
        self.browser.press(">")
        self.assertEqual(self.moment(), 320 * MS)
        self.browser.press(">")
        self.assertEqual(self.moment(), 500 * MS)  # the end

    def test_a_click_and_a_drag_on_the_strip(self):
        self.save(model())
        self.view()
        if not self.has_charts():
            return
        self.open()
        self.browser.click(*self.point("#strip .u-over", 325 / 500))
        self.assertEqual(self.moment(), 320 * MS)
        self.assertIn(f"t={320 * MS}", self.address())
        self.browser.drag(self.point("#strip .u-over", 0.8), self.point("#strip .u-over", 122 / 500))
        self.assertEqual(self.moment(), 120 * MS)

    def test_a_link_leads_to_the_moment(self):
        recording = self.save(model())
        self.view()
        self.open(f"t={220 * MS}")
        self.check_moment(recording, 220 * MS)
        self.open(f"t={222 * MS}")  # between two moments
        self.check_moment(recording, 220 * MS)


class Addresses(ViewCase):
    def test_more_changes_than_a_browser_records(self):
        self.save(model())
        self.view()
        self.open(f"t={100 * MS}")
        self.browser.run("for (let i = 0; i < 700; ++i) document.body.dispatchEvent("
                         "new KeyboardEvent('keydown', {key: i % 2 ? ',' : '.', bubbles: true}))")
        self.assertEqual(self.moment(), 100 * MS)
        self.browser.press(".")
        self.assertEqual(self.moment(), 110 * MS)
        self.wait_for(lambda: f"t={110 * MS}" in self.address(), "the address of the last place")
        self.browser.press(",")
        self.assertEqual(self.moment(), 100 * MS)
        self.browser.press("4")
        self.assertIn(f"t={100 * MS}", self.address())
        self.browser.run("history.back()")
        self.wait_for(lambda: "view=processes" not in self.address(), "the place before")
        self.assertIn(f"t={100 * MS}", self.address())

    def test_a_device_that_is_not_in_the_recording(self):
        self.save(model())
        self.view()
        self.open("device=77")
        self.wait_text("#notice", "There is no device 77 in this recording: Device 0 is shown")

    def test_an_invalid_address_shows_the_default_view(self):
        self.save(model())
        self.view()
        for view in ("peak", "timeline", "compare", "nothing"):
            self.open(f"view={view}&run=9&memory=x&peak=y&path=%25&from=z&to=-1&device=77")
            self.assertEqual(self.moment(), 320 * MS)
        self.open("t=yesterday")
        self.assertEqual(self.moment(), 0)

    def test_a_device_that_is_not_open_yet_is_empty(self):
        recording = Recording()
        process = recording.process(7, "model")
        early = recording.device(process, 0, uid="0x1")
        late = recording.device(process, 1, uid="0x2", begin=200 * MS)
        recording.allocate([early], "l1", 1000, 50 * MS, per_bank=KIB, banks=130, label="early")
        recording.allocate([late], "l1", 1000, 250 * MS, per_bank=KIB, banks=130, label="late")
        self.save(recording)
        self.view()
        self.open(f"view=processes&t={50 * MS}")
        self.assertEqual([row[2] for row in self.wait_rows("Allocations")], ["early"])
        self.open(f"view=processes&t={50 * MS}&device=0x2")
        self.wait_text(".empty", "No live allocation")
        self.assertEqual(self.text("#strip strong"), ["Device 1"])
        self.open(f"view=processes&t={250 * MS}&device=0x2")
        self.assertEqual([row[2] for row in self.wait_rows("Allocations")], ["late"])

    def test_processes_are_searched(self):
        recording = Recording()
        for pid, name in ((7, "trainer"), (8, "server")):
            process = recording.process(pid, name)
            device = recording.device(process, 0, uid="0x1")
            recording.allocate([device], "l1", 1000, 50 * MS, per_bank=KIB, banks=130)
        self.save(recording)
        self.view()
        self.open(f"t={50 * MS}")
        self.wait_rows("Processes", 2)
        self.browser.press("/", *"serv")
        self.wait_for(lambda: len(self.wait_rows("Processes")) == 1, "one that matches")
        self.assertIn("find=serv", self.address())
        self.browser.press("Escape", "Escape")
        self.wait_rows("Processes", 2)


class TimeLine(ViewCase):
    def test_zoom_requests_the_range(self):
        self.save(model())
        self.view()
        if not self.has_charts():
            return self.wait_text(".empty", "This build has no charts")
        over = "[data-memory=l1] .u-over"
        self.browser.drag(self.point(over, 0.4), self.point(over, 0.8))
        self.wait_for(lambda: "from=" in self.address(), "a zoom in the address")
        begin, end = (int(re.search(rf"{name}=(\d+)", self.address())[1]) for name in ("from", "to"))
        self.assertAlmostEqual(begin / MS, 200, delta=3)
        self.assertAlmostEqual(end / MS, 400, delta=3)
        self.browser.press("0")
        self.assertNotIn("from=", self.address())
        self.browser.press("+")
        self.assertIn("from=", self.address())
        self.browser.press("-")
        self.assertNotIn("from=", self.address())

    def test_a_long_recording_is_thinned_and_reloaded(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, uid="0xb150")
        for number in range(20_000):
            size = 100 * KIB if number == 11_111 else (1 + number * 7 % 50) * KIB
            recording.allocate([device], "l1", size * 130, number * MS // 10,
                               number * MS // 10 + MS // 20, per_bank=size, banks=130)
        recording.mark(process, "middle", 1000 * MS + MS // 20 + 1)
        self.save(recording, ended=2000 * MS)
        self.view()
        self.open("view=timeline")
        self.assertRegex(self.notes(), r"Thinned: [\d,]+ stretches; every peak is kept")
        [device] = self.report()["devices"]
        self.assertEqual(self.data("#strip [data-field=l1_total]"),
                         [str(device["l1"]["peak_bytes"])])
        self.assertEqual(device["l1"]["peak_bytes"], 100 * KIB * 130)
        [mark] = self.wait_rows("Marks and failures")
        self.assertEqual(mark[3], shown(0))
        self.open(f"view=devices&from={500 * MS}&to={502 * MS}&t={501 * MS}")
        self.wait_for(lambda: "Thinned" not in self.notes() and "Reading" not in self.notes(),
                      "every change of the stretch")
        for _ in range(5):
            self.browser.press(".")
            self.assertEqual(self.figures("0xb150")["l1_buffers"][1],
                             str(recording.held(1, "l1", self.moment())))
        self.assertEqual(self.moment(), 501 * MS + 5 * MS // 20)

    def test_marks_and_gaps_are_listed(self):
        recording = model()
        recording.gap(1, 250 * MS, 260 * MS, 12)
        recording.run[9] = 12
        self.save(recording)
        self.view()
        self.open("view=timeline")
        rows = self.wait_rows("Marks and failures", 4)
        self.assertEqual([row[:3] for row in rows],
                         [["0.100 s", "mark", "step 0"], ["0.200 s", "mark", "step 1"],
                          ["0.250 s", "gap", "12 events lost"], ["0.300 s", "mark", "step 2"]])
        self.assertEqual(rows[3][3], shown(recording.held_by([1], ("l1", "cb"), 300 * MS)))
        self.assertIn("12 events lost", self.notes())
        self.open(f"t={100 * MS}")
        self.assertNotIn("gap", self.text(".moment-words")[0])
        self.open(f"t={250 * MS}")
        self.assertIn("in a gap: figures are at least", self.text(".moment-words")[0])

    def test_a_failure_is_shown(self):
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE))
        calls = ("from abi import *\nopen_device()\nalloc(L1, 1, 4096, label=b'held')\n"
                 "lib.ttmem_failure(b'no room for 5 tiles')")
        self.ttmem("record", "-o", self.path, "--", sys.executable, "-c", calls, env=env)
        self.view()
        self.open("view=timeline")
        rows = self.wait_rows("Marks and failures")
        self.assertIn(["failure", "no room for 5 tiles"], [row[1:3] for row in rows])

    def test_a_recorder_that_was_killed(self):
        self.save(model(), ended=None)
        self.view()
        self.open()
        self.assertIn("the recorder was killed", self.notes().lower())

    def highest_sampled_l1(self):
        """Returns the highest L1 of the timeline of a recording with one device."""
        highest, used = 0, {}
        with sqlite3.connect(self.path) as file:
            samples = file.execute("SELECT time_ns, kind, used_bytes FROM timeline WHERE kind IN "
                                   "('l1', 'l1_small', 'cb', 'kernel') ORDER BY time_ns, id").fetchall()
        for index, (time, kind, used_bytes) in enumerate(samples):
            used[kind] = used_bytes
            if index + 1 == len(samples) or samples[index + 1][0] != time:
                highest = max(highest, sum(used.values()))
        return highest

    def test_an_aggregate_shows_its_timeline(self):
        self.ttmem("record", "--aggregate", "-o", self.path, "--", TTMEM, "demo", "leak",
                   "--seconds", "1")
        self.view()
        self.open()
        [device] = self.report()["devices"]
        peak = device["l1"]["peak_bytes"]
        sampled = self.highest_sampled_l1()
        self.assertLessEqual(sampled, peak)  # the process counts its own peak between two samples
        self.assertEqual(self.figures(device["uid"])["l1"], [shown(sampled), str(sampled)])
        self.assertEqual(self.figures(device["uid"])["headroom"], ["n/a", "null"])
        self.assertIn("An aggregate", self.notes())
        [process] = self.wait_rows("Processes")
        self.assertEqual(process[3:6], ["n/a"] * 3)  # an aggregate lacks these figures
        self.browser.press("4")
        self.wait_text(".empty", "An aggregate does not keep")

    def test_unknown_is_not_zero(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, uid="0xb150", known_kinds=0b11)
        recording.allocate([device], "l1", 1000, 20, per_bank=64 * KIB, banks=130, address=MIB)
        self.save(recording)
        self.view()
        self.open()
        self.assertEqual(self.data("#strip [data-field=kernel]"), ["null"])
        self.assertEqual(self.text("#strip [data-field=kernel]"), ["n/a"])
        self.assertEqual(self.figures("0xb150")["cb"], ["n/a", "null"])


class Leaks(ViewCase):
    def test_leaks_equal_the_command(self):
        self.ttmem("record", "-o", self.path, "--", TTMEM, "demo", "leak", "--seconds", "2")
        [found] = self.json("leaks", self.path)["sources"]
        self.assertTrue(found["leaks"])
        self.view()
        self.open("view=leaks")
        self.assertEqual(self.data("main h2", "leaks")[0], "true")
        rows = self.wait_rows("Grew from mark to mark, and never shrank (bytes of all devices)")
        grown = {(row[4], row[0]) for row in rows}
        self.assertEqual(grown, {(leak["label"], shown(leak["last_bytes"] - leak["first_bytes"]))
                                 for leak in found["growth"]})

    def test_none(self):
        recording = Recording()
        process = recording.process(7, "model", end=400 * MS)
        device = recording.device(process, 0, uid="0xb150", end=300 * MS)
        recording.allocate([device], "l1", 1000, 20, 100 * MS, label="freed")
        self.save(recording)
        self.assertFalse(self.json("leaks", self.path)["sources"][0]["leaks"])
        self.view()
        self.open("view=leaks")
        self.wait_text("main h2", "No leak")


class Two(ViewCase):
    def setUp(self):
        super().setUp()
        self.other = pathlib.Path(self.folder) / "new.ttmem"
        self.save(model())
        self.save(model(grown=32), self.other)

    def test_figures_and_changes_equal_diff(self):
        diff = self.json("diff", self.path, self.other)
        self.view(self.path, self.other)
        self.open("view=compare")
        rows = {row[0]: row for row in self.wait_rows("Figures", 5)}
        for figure in diff["figures"]:
            if figure["old"] is None or figure["name"] == "lost":
                continue
            row = rows[figure["name"]]
            self.assertEqual(row[1:3], [shown(figure["old"]), shown(figure["new"])])
        [change] = self.wait_rows("What changed of l1")
        self.assertEqual(change[0], "grown")
        self.assertEqual(change[1], f"+{shown(32 * KIB * 130)}")
        self.assertEqual(change[5], "decoder.0/attention/scores")

    def test_keys_move_the_list_that_has_the_focus(self):
        self.view(self.path, self.other)
        self.open("view=compare")
        self.browser.press("r")  # has no effect yet: no column was chosen for sorting
        self.browser.press("s")
        sorted_by = ("[...document.querySelectorAll('[aria-sort=ascending], [aria-sort=descending]')]"
                     ".map((one) => one.textContent)")
        self.assertEqual(self.browser.run(sorted_by)[0], "Figure")
        self.browser.run("document.querySelector(\"[aria-label='What changed of l1']\").focus()")
        self.browser.press("s")
        self.assertEqual(self.browser.run(sorted_by)[:2], ["Figure", "Old"])

    def test_all_views_show_the_other_run(self):
        self.view(self.path, self.other)
        self.open()
        peaks = [self.json("report", path)["devices"][0]["l1"]["peak_bytes"]
                 for path in (self.path, self.other)]
        self.assertEqual(self.figures("0xb150")["l1"][1], str(peaks[0]))
        self.browser.press("x")
        self.assertEqual(self.figures("0xb150")["l1"][1], str(peaks[1]))
        self.assertIn("run=1", self.address())
        self.browser.press("6")
        self.assertEqual(self.data("main h2"), [str(peaks[1])])

    def test_a_click_on_a_run_shows_it(self):
        self.view(self.path, self.other)
        if not self.has_charts():
            return
        self.open("view=compare")
        self.browser.click(*self.point("[data-run='1'] .u-over", 225 / 500))
        self.assertIn("run=1", self.address())
        self.assertEqual(self.moment(), 220 * MS)

    def test_a_single_run_says_how_to_compare(self):
        self.view(self.path)
        self.open("view=compare")
        self.wait_text(".empty", "ttmem view OLD NEW")
        self.assertEqual(self.browser.run(
            "document.querySelector('#tabs [data-view=compare]').hidden"), True)


class Hostile(ViewCase):
    def test_labels_scopes_and_marks_are_text(self):
        recording = Recording(command=HOSTILE)
        recording.run[4] = HOSTILE  # the host
        process = recording.process(7, HOSTILE)
        device = recording.device(process, 0, uid="0xb150", arch=HOSTILE, board=HOSTILE)
        recording.mark(process, HOSTILE, 15)
        recording.allocate([device], "l1", 1000, 20, per_bank=64 * KIB, banks=130, address=MIB,
                           label=HOSTILE, scope=HOSTILE)
        self.save(recording)
        for make in (self.view, self.write):
            make()
            for view, rows in (("processes", "Allocations"), ("peak", "Parts of the peak"),
                               ("timeline", "Marks and failures"),
                               ("cores", "What lies in the core")):
                self.open(f"view={view}")
                self.wait_rows(rows)
                self.wait_text(f"[aria-label='{rows}'] .cell", HOSTILE_SHOWN)
            self.open("view=leaks")
            self.wait_text("#host", HOSTILE_SHOWN)
            self.open("view=devices")
            self.wait_text(".card.device", HOSTILE_SHOWN)
            self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_a_text_that_became_an_element_runs_no_script(self):
        """The page in one file contains all its scripts. No other script may run."""
        self.save(model())
        self.write()
        self.open()
        self.normal = ("Content Security Policy", "data:x")
        self.browser.run("document.body.insertAdjacentHTML('beforeend', "
                         "'<img src=data:x onerror=\"document.title = 1\">')")
        self.wait_for(lambda: any("Content Security Policy" in complaint
                                  for complaint in self.browser.complaints),
                      "a complaint about the handler")
        self.assertNotEqual(self.browser.run("document.title"), "1")


class OneFile(ViewCase):
    def test_from_disk_without_a_server(self):
        recording = self.save(model())
        self.write()
        self.open()
        [device] = self.report()["devices"]
        self.assertEqual(self.figures("0xb150")["l1"][1], str(device["l1"]["peak_bytes"]))
        self.open(f"t={220 * MS}")
        self.assertEqual(self.figures("0xb150")["l1_buffers"][1],
                         str(recording.held(1, "l1", 220 * MS)))
        self.open("view=peak&peak=l1")
        self.assertEqual(self.data("main h2"), [str(device["l1"]["peak_bytes"])])
        self.open(f"view=cores&t={325 * MS}")
        self.wait_text(".core-map .words", "CB 64.0 KiB")
        self.open("view=timeline&from=200000000&to=400000000")
        self.assertEqual(self.text("main .toolbar .words")[0], "0.200 s to 0.400 s")
        schemes = {url.split(":")[0] for url in self.browser.requests}
        self.assertLessEqual(schemes, {"file", "data", "about", "blob"})

    def test_says_where_exports_come_from(self):
        self.save(model())
        self.write()
        self.open()
        self.browser.press("o")
        self.wait_text("#elsewhere .note", "ttmem export run.ttmem")
        self.assertEqual(self.text("#elsewhere [data-format]"), [])

    def test_report_and_leaks_are_downloads(self):
        self.save(model())
        self.write()
        self.open()
        self.browser.press("o")
        self.browser.run("window.saved = []; const made = URL.createObjectURL;"
                         "URL.createObjectURL = (blob) => { saved.push(blob); return made(blob); }")
        for words, document in (("report", self.report()), ("leaks", self.json("leaks", self.path))):
            self.browser.run("[...document.querySelectorAll('#elsewhere .link')]"
                             f".find((one) => one.textContent === '{words}').click()")
            got = json.loads(self.browser.run("saved.pop().text()"))
            if words == "leaks":  # the page does not know the folder of the file
                document["sources"][0]["file"] = "run.ttmem"
            self.assertEqual(got, document)

    def test_a_damaged_file_is_reported(self):
        self.save(model())
        page = self.write()
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'(id="recording">.{40}).{40}', r"\1", text), encoding="utf-8")
        self.browser.open(self.url)
        self.wait_text("#notice", "The recording cannot be read")


class Elsewhere(ViewCase):
    def test_exports_equal_the_command(self):
        self.save(model())
        self.view()
        self.open()
        self.browser.press("o")
        formats = self.data("#elsewhere [data-format]", "format")
        self.assertEqual(formats, ["perfetto", "pprof", "memory-viz", "speedscope", "collapsed",
                                   "csv"])
        out = pathlib.Path(self.folder) / "out"
        for form in ("collapsed", "csv", "speedscope"):
            self.ttmem("export", self.path, "--format", form, "-f", "-o", out)
            got = self.browser.run(
                f"fetch(document.querySelector('[data-format={form}]').href)"
                ".then((answer) => answer.text())")
            self.assertEqual(got, out.read_text(encoding="utf-8"), form)

    def test_an_export_is_saved_under_its_name(self):
        self.save(model())
        self.view()
        self.open()
        self.browser.press("o")
        self.browser.run("document.querySelector('[data-format=csv]').click()")
        self.wait_text("#elsewhere .note", "Saved as run.csv")

    def test_an_export_that_fails_says_why(self):
        self.normal = ("status of 500",)
        self.save(model())
        self.env["TMPDIR"] = "/proc"  # no folder can be made there
        perfetto = self.stand_in()
        self.view()
        self.open()
        self.browser.press("o")
        self.browser.run("document.querySelector('[data-format=csv]').click()")
        self.wait_text("#elsewhere .note", "There is no CSV: cannot make a temporary file in")
        self.browser.click(*self.point("#perfetto", 0.5))
        self.wait_text("#elsewhere .note", "Perfetto did not get it: cannot make a temporary file in")
        self.assertFalse(perfetto.got.is_set())
        self.assertFalse(self.browser.run("document.getElementById('perfetto').disabled"))

    def stand_in(self):
        """Starts a stand-in for Perfetto's page, and a browser that finds it."""
        perfetto = StandInPerfetto(self.folder)
        self.addCleanup(perfetto.close)
        self.browser = Browser(flags=[
            f"--host-resolver-rules=MAP ui.perfetto.dev:443 127.0.0.1:{perfetto.port}",
            "--ignore-certificate-errors"])
        self.addCleanup(self.browser.close)
        return perfetto

    def test_perfetto_gets_the_trace_in_its_window(self):
        self.save(model())
        perfetto = self.stand_in()
        self.view()
        self.open()
        self.browser.press("o")
        self.browser.click(*self.point("#perfetto", 0.5))
        self.assertTrue(perfetto.got.wait(DEADLINE_SECONDS), self.text("#elsewhere .note"))
        self.wait_text("#elsewhere .note", "Perfetto has opened the trace")
        out = pathlib.Path(self.folder) / "run.pftrace"
        self.ttmem("export", self.path, "--format", "perfetto", "-o", out)
        self.assertEqual(perfetto.trace, out.read_bytes())
        self.assertEqual(perfetto.title, "run.ttmem")


PERFETTO_PAGE = b"""<!doctype html><title>Perfetto</title><script>
addEventListener('message', (event) => {
  if (event.data === 'PING') return event.source.postMessage('PONG', event.origin);
  const {buffer, title} = event.data.perfetto;
  fetch('/got?title=' + encodeURIComponent(title), {method: 'POST', body: buffer});
});
</script>"""


class StandInPerfetto:
    """Answers as ui.perfetto.dev does, and keeps the received data."""

    def __init__(self, folder):
        certificate = pathlib.Path(folder) / "certificate.pem"
        if shutil.which("openssl") is None:
            raise unittest.SkipTest("no openssl to make a certificate with")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=ui.perfetto.dev", "-keyout", certificate, "-out",
                        f"{certificate}.crt"], check=True, capture_output=True)
        self.got = threading.Event()
        self.trace = self.title = None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{certificate}.crt", certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _handler(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, body):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(PERFETTO_PAGE)

            def do_POST(self):
                outer.trace = self.rfile.read(int(self.headers["Content-Length"]))
                outer.title = self.path.partition("title=")[2]
                self.answer(b"")
                outer.got.set()
        return Handler

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Phone(ViewCase):
    def test_nothing_is_wider_than_the_screen(self):
        self.save(model())
        other = pathlib.Path(self.folder) / "new.ttmem"
        self.save(model(grown=32), other)
        self.view(self.path, other)
        self.browser.resize(390, 844)
        for view in ("devices", "timeline", "cores", "processes", "programs", "peak", "leaks",
                     "compare"):
            self.open(f"view={view}")
            width = self.browser.run("Math.max(document.documentElement.scrollWidth,"
                                     " document.getElementById('main').scrollWidth)")
            self.assertLessEqual(width, 390, view)


if __name__ == "__main__":
    unittest.main()
