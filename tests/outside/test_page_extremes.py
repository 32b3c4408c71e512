# SPDX-License-Identifier: Apache-2.0
"""Recordings with far more rows than a page can show: the page draws the visible part."""

import unittest

from recording_file import Recording
from support import KIB
from test_page import shown
from test_view_page import MS, ViewCase


class Extremes(ViewCase):
    def setUp(self):
        super().setUp()
        self.recording = Recording()
        self.process = self.recording.process(7, "model")
        self.device = self.recording.device(self.process, 0, uid="0xb150")

    def allocate(self, **about):
        self.recording.allocate([self.device], "l1", 130 * 60 * KIB, 10 * MS, per_bank=60 * KIB,
                                banks=130, address=1300 * KIB, **about)

    def test_deeply_nested_scopes(self):
        for last in ("left", "right"):
            self.allocate(label="state", scope="a/" * 20_000 + last)
        self.save(self.recording)
        self.view()
        self.open("view=peak&peak=l1")
        peak = 2 * 130 * 60 * KIB
        self.assertEqual(self.data(".icicle [data-level='0']"), [str(peak)])
        rows = self.wait_rows("Parts of the peak", 2)
        self.assertEqual(rows[0][0], shown(peak))
        self.assertEqual(rows[1][4].strip(), "▾ a")
        # The page shows 63 levels of scopes. The recording has more levels, so the two rows of the
        # last level show the rest of their path.
        self.open("view=peak&peak=l1&path=" + "/".join("a" * 63))
        rows = self.wait_rows("Parts of the peak", 5)
        ends = sorted(row[4][-5:] for row in rows if "a/a" in row[4])
        self.assertEqual(ends, ["/left", "right"])

    def test_more_gaps_than_pixels(self):
        self.allocate(label="state")
        for number in range(20_000):
            begin = 20 * MS + number * 20_000
            self.recording.gap(self.process, begin, begin + 1000, 1)
        self.save(self.recording)
        self.view()
        if not self.has_charts():
            return
        self.open()
        self.browser.run("(() => { const { prototype } = CanvasRenderingContext2D;"
                         " const { clip } = prototype; window.clips = 0;"
                         " prototype.clip = function (...all)"
                         " { ++window.clips; return clip.apply(this, all); }; })()")
        self.browser.press("d")  # draws another memory from scratch
        self.wait_for(lambda: self.browser.run("window.clips") > 0, "a chart that is painted")
        self.assertLess(self.browser.run("window.clips"), 100)


if __name__ == "__main__":
    unittest.main()
