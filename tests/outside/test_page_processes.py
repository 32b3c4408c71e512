# SPDX-License-Identifier: Apache-2.0
"""Several processes with the same pid, and several chips with the same number, each have their own
rows on the page."""

import os
import sys
import unittest

from recording_file import Recording
from support import HERE, KIB, MIB
from test_containers import refused
from test_page import PageCase, shown
from test_view_page import MS, ViewCase


class RowsCase(PageCase):
    def choose(self, row):
        self.browser.run(
            f"document.querySelector('[aria-label=Processes] [data-row=\"{row}\"]').click()")

    def current(self):
        """Returns the pids of the rows that are marked as chosen."""
        return self.text("[aria-label=Processes] .current > :first-child")


@unittest.skipIf(refused(), f"no pid namespaces here: {refused()}")
class InContainers(RowsCase):
    def start_container(self, uid, per_bank):
        """Starts a process that has pid 1 in its container. Returns the pid of the process outside
        of the container."""
        env = self.tracked(TTMEM_LIB=os.environ["TTMEM_LIB"])
        container = self.start([sys.executable, HERE / "container.py", "0", str(uid),
                                str(per_bank)], env=env)
        self.assertEqual(container.line(), "waiting")
        container.go_on()
        said = sorted((container.line(), container.line()))
        self.assertEqual(said[1], "ready 1")
        return said[0].split()[1]

    def test_a_click_shows_only_the_allocations_of_that_process(self):
        small = self.start_container(0xc0de01, 2 * MIB)
        large = self.start_container(0xc0de02, 4 * MIB)
        self.serve()
        self.open("view=processes")
        rows = self.wait_rows("Processes", 2)
        self.assertEqual([row[0] for row in rows], [large, small])
        self.wait_rows("Allocations", 2)
        for row, pid in enumerate((large, small)):
            self.choose(row)
            self.wait_text("main h2", f"Allocations of {pid}: 1")
            self.assertEqual(self.current(), [pid])
            self.assertIn(f"pid={pid}", self.address())
        self.open()
        self.wait_rows("Processes", 2)
        self.choose(0)
        self.wait_text("main h2", f"Allocations of {large}: 1")


class InRecordings(ViewCase, RowsCase):
    def two_of_one_pid(self):
        recording = Recording()
        for number, size in enumerate((10 * MIB, 30 * MIB)):
            process = recording.process(1, "python3")
            device = recording.device(process, number, uid=f"0xa{number}")
            recording.allocate([device], "dram", 8 * size, 10 * MS, per_bank=size, banks=8,
                               address=0, label=f"of {number}")
        return recording

    def test_two_processes_of_one_pid(self):
        self.save(self.two_of_one_pid())
        self.view()
        self.open(f"view=processes&t={20 * MS}")
        rows = self.wait_rows("Processes", 2)
        self.assertEqual([row[3] for row in rows], [shown(240 * MIB), shown(80 * MIB)])
        for row, label in enumerate(("of 1", "of 0")):
            self.choose(row)
            self.wait_text("main h2", "Allocations of 1: 1")
            self.assertEqual([one[2] for one in self.wait_rows("Allocations")], [label])
            self.assertEqual(self.current(), ["1"])
        self.open(f"view=processes&t={20 * MS}&pid=1")  # matches both processes
        self.wait_rows("Allocations", 2)

    def test_a_device_by_any_of_its_numbers(self):
        recording = Recording()
        for number, uid, label in ((0, "0xa0", "a"), (1, "0xb0", "b"), (5, "0xb0", "c")):
            device = recording.device(recording.process(10 + number, "model"), number, uid=uid)
            recording.allocate([device], "l1", 130 * KIB, 10 * MS, per_bank=KIB, banks=130,
                               label=label)
        self.save(recording)
        self.view()
        self.open(f"view=processes&device=5&t={20 * MS}")
        self.assertEqual({row[2] for row in self.wait_rows("Allocations", 2)}, {"b", "c"})
        self.assertTrue(self.browser.run("document.getElementById('notice').hidden"))

    def test_a_mesh_is_on_its_own_chips(self):
        recording = Recording()
        mesh = recording.process(7, "mesh")
        chips = [recording.device(mesh, number, uid=f"0xa{number}") for number in range(2)]
        other = recording.device(recording.process(8, "other"), 1, uid="0xc1")
        for devices, label in ((chips, "of the mesh"), ([other], "of the other")):
            recording.allocate(devices, "l1", 130 * KIB, 10 * MS, per_bank=KIB, banks=130,
                               address=1300 * KIB, label=label)
        self.save(recording)
        self.view()
        for key, label in (("0xa0", "of the mesh"), ("0xa1", "of the mesh"),
                           ("0xc1", "of the other")):
            self.open(f"view=processes&device={key}&t={20 * MS}")
            self.assertEqual([row[2] for row in self.wait_rows("Allocations")], [label])


if __name__ == "__main__":
    unittest.main()
