# SPDX-License-Identifier: Apache-2.0
"""How the page shows incomplete knowledge: unknown is not zero, and lower bounds, upper bounds and
estimates are marked wherever the commands mark them."""

import unittest

from recording_file import Recording
from support import KIB, MIB
from test_discovery import Machine
from test_page import PageCase, shown
from test_view_page import MS, ViewCase

DRAM, CB = 1 << 0, 1 << 4


class UnknownL1(ViewCase):
    """A recording in which only DRAM and circular buffers are reported, so Total L1 is unknown."""

    def setUp(self):
        super().setUp()
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0, uid="0xb150", known_kinds=DRAM | CB)
        recording.place(device, 1, [(102_400, 64 * KIB, range(64), False)], 10 * MS, name="matmul")
        recording.mark(process, "step", 20 * MS)
        self.save(recording)

    def aggregate(self):
        """Replaces the recording with an aggregate (`--aggregate`) of the same run."""
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


class Estimates(ViewCase):
    def test_they_are_marked_as_in_the_text(self):
        recording = Recording()
        process = recording.process(7, "model")
        for number in range(2):
            device = recording.device(process, number, uid=f"0xb{number}", cb_estimate=1 - number)
            recording.place(device, 1, [(102_400, 64 * KIB, range(64), False)], 10 * MS)
            recording.allocate([device], "kernel", MIB, 10 * MS)
        [request] = recording.rows["requests"]
        recording.rows["requests"] = [(*request[:8], 1, *request[9:])]  # an estimated size
        self.save(recording)
        text = self.ttmem("report", self.path, "--at", "20ms").stdout
        self.view()
        self.open(f"t={20 * MS}")
        first, second = (self.figures(f"0xb{number}") for number in range(2))
        self.assertEqual([first[field][0][0] for field in ("l1", "cb", "kernel", "headroom")],
                         ["~"] * 4)
        self.assertEqual([second[field][0][0] for field in ("l1", "cb", "kernel", "headroom")],
                         ["~", "4", "~", shown(int(second["headroom"][1]), 1)[0]])
        for figure in (first["l1"][0], first["cb"][0], first["headroom"][0], second["kernel"][0]):
            self.assertIn(figure, text)
        self.assertNotIn("~", first["dram"][0] + first["l1_buffers"][0])
        self.wait_text(".summary", "L1~10.0 MiB")
        self.wait_text(".chips", "~1 program")
        [row] = self.wait_rows("Processes")
        self.assertEqual(row[3:8],
                         ["0.00 MiB", "0.00 MiB", "0.00 MiB", "~8.00 MiB", "~2.00 MiB"])


class AtLeast(PageCase, Machine):
    """A process on the first of two chips is not tracked. The figures of the first chip and all
    sums are therefore lower bounds."""

    def test_figures_of_that_device_and_sums(self):
        self.add("n150", "n150")
        for number in range(2):
            self.hold_calls(f"open_device(uid={self.tree.asic_id(number)})\n"
                            f"alloc(DRAM, 1, {MIB})\nalloc(L1, 2, 4096)\n"
                            "place(3, (110_000, 4096, [(0, 0, 7, 7)]))")
        self.untracked()
        text = self.ttmem().stdout
        self.assertRegex(text, r"DRAM: +>=12\.0 MiB")
        self.serve()
        first, second = self.wait_for(lambda: len(got := self.devices()) == 2 and got, "devices")
        self.assertEqual((first["complete"], second["complete"]), (False, True))
        self.open()
        self.wait_for(lambda: len(self.text(".card.device")) == 2, "two devices")
        card, other = self.figures(first["uid"]), self.figures(second["uid"])
        self.assertEqual([card["dram"][0], other["dram"][0]], [">=12.0 MiB", "12.0 MiB"])
        for field in ("l1", "l1_buffers"):
            self.assertEqual(card[field][0], ">=" + other[field][0])
        self.assertEqual(card["kernel"], ["n/a", "null"])
        self.assertEqual(card["headroom"][0], "<=" + other["headroom"][0])
        self.wait_text(".summary", "DRAM>=24.0 MiB")
        self.wait_text(".tightest", f"<={other['headroom'][0]}")


if __name__ == "__main__":
    unittest.main()
