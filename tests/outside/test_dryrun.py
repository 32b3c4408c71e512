# SPDX-License-Identifier: Apache-2.0
"""A host program on the dry run with the processor attached. The tests run `ttmem` after each step
of the program."""

import pathlib
import tempfile
import unittest

import host_program
from support import HERE, KIB, Case

CORES = 64
CB = 4 * KIB * CORES


class HostProgram(Case):
    """Compiles host/NAME.cpp with the processor."""

    NAME = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-host-")
        cls.addClassCleanup(folder.cleanup)
        cls.binary = pathlib.Path(folder.name) / cls.NAME
        host_program.build("g++", cls.binary, HERE / "host" / f"{cls.NAME}.cpp",
                           host_program.processor())


class AHostProgram(HostProgram):
    NAME = "steps"

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
        """Returns the devices. Checks that there is no warning and no anomaly."""
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
                              "data_bytes": 128 * KIB, "lockstep_bytes": 0})
            self.assertEqual(device["l1"]["used_bytes"], 128 * KIB)

    def test_a_program_counts_once_on_each_device_also_on_a_ninth_later(self):
        self.go_on_to("program")
        self.assertEqual(self.cbs(), [CB] * 8)
        self.go_on_to("again")
        self.assertEqual(self.cbs(), [CB] * 8)
        self.go_on_to("ninth")
        self.assertEqual(self.cbs(), [CB] * 9)

    def test_after_a_failure_figures_are_right_and_a_clash_is_shown(self):
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
        """Returns the ninth device. Only this device has the shard, so it uses the most L1."""
        return max(self.json("--per-core")["devices"], key=lambda d: d["l1"]["used_bytes"])

    # The allocator works in lockstep: a shard of 800 KiB on core (0,0) takes 800 KiB of every core.
    def check_a_shard_and_cbs_on_other_cores(self):
        self.go_on_to("shard")
        device = self.ninth()
        self.assertEqual(device["l1"]["buffers"],
                         {"logical_bytes": 800 * KIB, "physical_bytes": CORES * 800 * KIB,
                          "data_bytes": 800 * KIB, "lockstep_bytes": (CORES - 1) * 800 * KIB})
        self.assertEqual({core["headroom_bytes"] for core in device["per_core"]}, {574272})
        self.host.go_on()
        self.assertIn("free: 574272 B", self.host.line())
        self.host.go_on()
        self.assertIn("on core range [5-5 - 6-6]. L1 buffer allocated at 679936 and "
                      "static circular buffer region ends at 720064", self.host.line())
        device = self.ninth()
        headroom = {(core["x"], core["y"]): core["headroom_bytes"] for core in device["per_core"]}
        self.assertEqual((headroom[5, 5], headroom[0, 0]), (679936 - 720064, 574272))
        self.assertEqual(device["l1"]["headroom_bytes_per_core"], -40128)


class FreeBlocks(HostProgram):
    """The free bytes of a bank and its largest free block equal the allocator's figures."""

    NAME = "free_blocks"

    @staticmethod
    def shown(device):
        """Returns the device's figures in the form in which the host program prints its own."""
        where = {"dram": (device["dram"], ""), "l1": (device["l1"], ""),
                 "l1_small": (device["l1"], "small_"), "trace": (device["trace"], "")}
        return " ".join(f"{kind} {of[prefix + 'free_bytes_per_bank']} "
                        f"{of[prefix + 'largest_free_bytes_per_bank']}"
                        for kind, (of, prefix) in where.items())

    def check(self, system, chips):
        host = self.start([self.binary], self.tracked(TTMEM_DRYRUN_SYSTEM=system))
        fragmented = False
        for _ in range(40):
            told = host.line().strip()
            figures = told.split()
            fragmented = fragmented or (figures[1] != figures[2] and figures[4] != figures[5])
            devices = self.json()["devices"]
            self.assertEqual(len(devices), chips)
            self.assertEqual({self.shown(device) for device in devices}, {told})
            host.go_on()
        self.assertTrue(fragmented)
        self.assertEqual(host.wait(), 0)

    def test_on_wormhole(self):
        self.check("n150", 1)

    def test_on_blackhole(self):
        self.check("p150", 1)

    def test_on_a_mesh(self):
        self.check("t3000", 8)

    def test_the_table_shows_free_bytes_unless_a_list_is_incomplete(self):
        host = self.start([self.binary], self.tracked(TTMEM_DRYRUN_SYSTEM="n150"))
        for _ in range(4):
            host.line()
            host.go_on()
        host.line()
        shown = self.ttmem().stdout
        free = (r"DRAM 11.9 GiB \(12 banks x 0.99 GiB, largest block \d+\.\d MiB\), "
                r"L1 80\.\d MiB \(64 banks x 1\.25 MiB")
        self.assertRegex(shown, rf"\n *Free: {free}")
        top = self.ttmem("top", "--once", env=dict(self.env, COLUMNS="200")).stdout
        self.assertRegex(top, r"Free +DRAM 11\.9 GiB \(12 x 0\.99 GiB, max \d+\.\d MiB\), "
                              r"L1 80\.\d MiB \(64 x 1\.25 MiB")
        self.assertIn("Free: for buffers, in all banks", " ".join(shown.split()))
        (pathlib.Path(self.dir) / "ttmem.0.1.1").write_bytes(b"not a segment" * 100)
        device = self.json()["devices"][0]
        self.assertEqual(self.shown(device), "dram None None l1 None None "
                                             "l1_small None None trace None None")
        host.go_on()


class GlobalObjects(HostProgram):
    """L1 of sub-devices, semaphores and global circular buffers. Views take no memory of their
    own."""

    NAME = "global_objects"

    def environment(self, system):
        return self.tracked(TTMEM_DRYRUN_SYSTEM=system)

    def steps(self, system):
        """Returns {step: (devices after the step, number of allocations)}. Checks that the L1 of
        buffers equals the allocators' figure that the program prints. In the steps with a semaphore
        or a global circular buffer, ttmem's figure may be smaller, because the allocators round
        up."""
        host = self.start([self.binary], self.environment(system))
        seen = {}
        while "nothing" not in seen:
            step, taken = host.line().split()
            snapshot = self.json()
            self.assert_sane(snapshot)
            self.assertEqual(snapshot["warnings"], [])
            for device in snapshot["devices"]:
                self.assertEqual(set(device["anomalies"].values()), {0}, step)
                shown = device["l1"]["buffers"]["physical_bytes"]
                self.assertLessEqual(shown, int(taken), step)
                if step not in ("semaphore", "global", "program"):
                    self.assertEqual(shown, int(taken), step)
            seen[step] = (snapshot["devices"], len(self.json("allocs")["allocations"]))
            host.go_on()
        self.assertEqual(host.wait(), 0)
        return seen

    def check(self, system, cores, chips):
        seen = self.steps(system)
        l1 = {step: devices[0]["l1"] for step, (devices, _) in seen.items()}
        buffers = {step: of["buffers"]["physical_bytes"] for step, of in l1.items()}
        self.assertEqual({len(devices) for devices, _ in seen.values()}, {chips})
        # A buffer of a sub-device takes only the 16 cores of the sub-device. A buffer of the mesh
        # takes all cores.
        self.assertEqual(buffers["left"], 16 * 4 * KIB)
        self.assertEqual(buffers["right"], 2 * 16 * 4 * KIB)
        self.assertEqual(buffers["all"], (2 * 16 + cores) * 4 * KIB)
        self.assertEqual([seen[step][1] for step in ("left", "right", "all")], [1, 2, 3])
        self.assertEqual(buffers["buffer"], cores * 4 * KIB)
        for step in ("views", "view"):
            self.assertEqual((l1[step], seen[step][1]), (l1["buffer"], 1), step)
        self.assertEqual([seen[step][1] for step in ("semaphore", "global")], [1, 3])
        self.assertEqual(buffers["semaphore"], cores * 16)
        self.assertEqual(buffers["global"], cores * (16 + 8 * KIB + 160))
        # The program's circular buffer lies in the global circular buffer, so it takes no further 8
        # KiB.
        self.assertEqual(buffers["program"], buffers["global"])
        self.assertEqual(l1["program"]["cb"]["physical_bytes"], 4 * 2 * KIB)
        self.assertEqual(seen["program"][0][0]["programs"], 1)
        self.assertEqual((buffers["nothing"], seen["nothing"][1]), (0, 0))

    def test_on_wormhole(self):
        self.check("n150", 64, 1)

    def test_on_blackhole(self):
        self.check("p150", 110, 1)

    def test_on_a_mesh(self):
        self.check("t3000", 56, 8)


if __name__ == "__main__":
    unittest.main()
