# SPDX-License-Identifier: Apache-2.0
"""How well the page knows a figure: unknown is not zero, "at least", "at most" and estimates are said
where the commands say them."""

import unittest

from recording_file import Recording
from support import KIB, MIB
from test_view_page import MS, ViewCase

DRAM, CB = 1 << 0, 1 << 4


class UnknownL1(ViewCase):
    """Only DRAM and circular buffers are reported: what L1 holds in all is unknown."""

    def setUp(self):
        super().setUp()
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, uid="0xb150", known_kinds=DRAM | CB)
        recording.place(device, 1, [(102_400, 64 * KIB, range(64), False)], 10 * MS, name="matmul")
        recording.mark(process, "step", 20 * MS)
        self.save(recording)

    def aggregate(self):
        """The same as an aggregate keeps it."""
        recording = Recording()
        recording.run[10] = 1
        device = recording.device(recording.process(7, "model"), 0, uid="0xb150",
                                  known_kinds=DRAM | CB)
        for number, (kind, size) in enumerate((("dram", 5 * MIB), ("cb", 4 * MIB)), start=1):
            recording.rows["timeline"].append((number, 10 * MS, device, kind, size, size))
        self.path.unlink()
        self.save(recording)

    def check_total(self, selector):
        self.assertEqual(self.data(f"{selector} [data-field=l1_total]"), ["null"])
        self.assertEqual(self.text(f"{selector} .total"), ["L1 n/a"])

    def test_at_a_moment(self):
        [device] = self.report("--at", "20ms")["devices"]
        self.assertIsNone(device["l1"]["used_bytes"])
        self.view()
        self.open(f"t={20 * MS}")
        self.check_total("#strip")
        self.assertEqual(self.data("#strip [data-field=cb]"), [str(4 * MIB)])
        self.assertEqual(self.figures("0xb150")["l1"], ["n/a", "null"])

    def test_over_time(self):
        self.view()
        self.open(f"view=timeline&t={20 * MS}")
        [mark] = self.wait_rows("Marks and failures")
        self.assertEqual(mark[3:5], ["n/a", "0.00 MiB"])
        if self.has_charts():
            self.check_total("[data-memory=l1]")

    def test_of_an_aggregate(self):
        self.aggregate()
        self.view()
        self.open(f"t={20 * MS}")
        self.check_total("#strip")
        card = self.figures("0xb150")
        self.assertEqual([card[field][1] for field in ("dram", "l1", "cb")],
                         [str(5 * MIB), "null", str(4 * MIB)])


if __name__ == "__main__":
    unittest.main()
