# SPDX-License-Identifier: Apache-2.0
"""A host program on the dry run, hooked, and looked at with `ttmem` after each of its steps."""

import pathlib
import tempfile
import unittest

import host_program
from support import HERE, KIB, Case

CORES = 64
CB = 4 * KIB * CORES


class AHostProgram(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-host-")
        cls.addClassCleanup(folder.cleanup)
        cls.binary = pathlib.Path(folder.name) / "steps"
        host_program.build("g++", cls.binary, HERE / "host" / "steps.cpp",
                           *host_program.processor_sources())

    def setUp(self):
        super().setUp()
        self.host = self.start([self.binary], self.tracked(TTMEM_DRYRUN_SYSTEM="galaxy:8x8"))
        self.expect("one page")

    def expect(self, step):
        self.assertEqual(self.host.line(), step)

    def go_on_to(self, step):
        self.host.go_on()
        self.expect(step)

    def state(self):
        """Everything that is shown, but the time."""
        snapshot = self.json()
        self.assert_sane(snapshot)
        self.assertEqual(snapshot["warnings"], [])
        for device in snapshot["devices"]:
            self.assertEqual(set(device["anomalies"].values()), {0})
        return snapshot["devices"]

    def cbs(self):
        return [device["l1"]["cb"]["logical_bytes"] for device in self.state()]

    def test_a_one_page_l1_buffer_has_2_kib_and_takes_128(self):
        devices = self.state()
        self.assertEqual(len(devices), 8)
        for device in devices:
            self.assertEqual(device["l1"]["buffers"],
                             {"logical_bytes": 2 * KIB, "physical_bytes": 128 * KIB,
                              "data_bytes": 128 * KIB})
            self.assertEqual(device["l1"]["used_bytes"], 128 * KIB)

    def test_a_program_counts_once_on_each_device_also_on_a_ninth_later(self):
        self.go_on_to("program")
        self.assertEqual(self.cbs(), [CB] * 8)
        self.go_on_to("again")
        self.assertEqual(self.cbs(), [CB] * 8)
        self.go_on_to("ninth")
        self.assertEqual(self.cbs(), [CB] * 9)

    def test_what_fails_has_figures_and_a_clash_shows_them(self):
        for step in ("program", "again", "ninth"):
            self.go_on_to(step)
        before = self.state()
        listed = self.json("allocs")["allocations"]
        self.host.go_on()
        message = self.host.line()
        self.assertIn("Out of Memory: Not enough space to allocate 134217728 B L1 buffer across 64 "
                      "banks, where each bank needs to store 2097152 B", message)
        self.assertIn("2048 B per bank at 1497088", message)
        self.assertEqual(self.state(), before)
        self.host.go_on()
        message = self.host.line()
        self.assertIn("L1 buffer allocated at 1497088 and static circular buffer region ends at "
                      "1498304", message)
        self.assertIn("overlap by 1216 B", message)
        headroom = sorted(device["l1"]["headroom_bytes_per_core"] for device in self.state())
        self.assertEqual(headroom[:8], [-1216] * 8)
        self.assertGreater(headroom[8], 0)  # the ninth device is not in that mesh
        self.assertEqual([entry["address"] for entry in self.json("allocs")["allocations"]],
                         [entry["address"] for entry in listed])
        self.go_on_to("destroyed")
        self.assertEqual(self.cbs(), [0] * 9)
        self.check_a_shard_and_cbs_on_other_cores()
        self.host.go_on()
        self.assertEqual(self.host.wait(), 0)

    def ninth(self):
        """The device with the shard."""
        return max(self.json("--per-core")["devices"], key=lambda d: d["l1"]["used_bytes"])

    # The allocator works in lockstep: 800 KiB on core (0,0) are gone on every core.
    def check_a_shard_and_cbs_on_other_cores(self):
        self.go_on_to("shard")
        device = self.ninth()
        self.assertEqual(device["l1"]["buffers"],
                         {"logical_bytes": 800 * KIB, "physical_bytes": CORES * 800 * KIB,
                          "data_bytes": 800 * KIB})
        self.assertEqual({core["headroom_bytes"] for core in device["per_core"]}, {574272})
        self.host.go_on()
        self.assertIn("free: 574272 B", self.host.line())
        self.host.go_on()
        self.assertIn("on core range [(x=5,y=5) - (x=6,y=6)]. L1 buffer allocated at 679936 and "
                      "static circular buffer region ends at 720064", self.host.line())
        device = self.ninth()
        headroom = {(core["x"], core["y"]): core["headroom_bytes"] for core in device["per_core"]}
        self.assertEqual((headroom[5, 5], headroom[0, 0]), (679936 - 720064, 574272))
        self.assertEqual(device["l1"]["headroom_bytes_per_core"], -40128)


if __name__ == "__main__":
    unittest.main()
