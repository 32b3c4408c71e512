# SPDX-License-Identifier: Apache-2.0
"""Tests the scenarios of `ttmem demo`. Reads their figures from JSON."""

import signal
import time
import unittest

from support import Case, gib, mib

RING_BYTES_PER_CORE = 69 * 1024


class Demo(Case):
    def hold(self, scenario):
        """Returns the final state of the scenario."""
        demo = self.start_ttmem("demo", scenario, "--hold")
        self.assertIn(f"demo {scenario}: ", demo.line("stderr"))
        snapshot = self.json()
        self.assert_sane(snapshot)
        self.assertEqual(snapshot["warnings"], [])
        for device in snapshot["devices"]:
            self.assertEqual([process["pid"] for process in device["processes"]], [demo.pid])
            self.assertEqual(set(device["anomalies"].values()), {0})
        return snapshot["devices"]


class FiguresOfTheScenarios(Demo):
    def test_single_has_29_0_mib_of_cbs_in_45_3_mib_of_l1(self):
        (device,) = self.hold("single")
        self.assertEqual((device["arch"], device["board"]), ("wormhole_b0", "n150"))
        self.assertEqual(device["grid"], {"x": 8, "y": 8})
        self.assertEqual(mib(device["l1"]["cb"]["physical_bytes"], 1), 29.0)
        self.assertEqual(mib(device["l1"]["used_bytes"], 1), 45.3)
        self.assertEqual(mib(device["l1"]["buffers"]["physical_bytes"], 1), 16.0)
        self.assertGreater(device["l1"]["cb"]["logical_bytes"],
                           device["l1"]["cb"]["physical_bytes"])

    def test_mesh8_has_29_0_mib_of_cbs_on_each_device(self):
        devices = self.hold("mesh8")
        self.assertEqual([device["id"] for device in devices], list(range(8)))
        self.assertEqual(len({device["uid"] for device in devices}), 8)
        for device in devices:
            self.assertEqual(device["board"], "n300")
            self.assertEqual(mib(device["l1"]["cb"]["physical_bytes"], 1), 29.0)
            self.assertEqual(mib(device["l1"]["used_bytes"], 1), 45.3)
            self.assertGreater(device["dram"]["used_bytes"], 0)

    def test_mesh8_is_the_default(self):
        demo = self.start_ttmem("demo", "--hold")
        self.assertIn("demo mesh8: 8 devices", demo.line("stderr"))

    def test_cached_programs_take_300_mib_logically_and_10_physically(self):
        (device,) = self.hold("cached-programs")
        self.assertEqual(device["programs"], 30)
        self.assertEqual(mib(device["l1"]["cb"]["logical_bytes"], 1), 300.0)
        self.assertEqual(mib(device["l1"]["cb"]["physical_bytes"], 1), 10.0)
        self.assertEqual(mib(device["l1"]["cb"]["resident_bytes"], 1), 10.0)

    def test_blackhole_has_the_figures_of_its_box(self):
        (device,) = self.hold("blackhole")
        self.assertEqual((device["arch"], device["board"]), ("blackhole", "p150"))
        self.assertEqual(device["grid"], {"x": 13, "y": 10})
        l1 = device["l1"]
        self.assertEqual(mib(l1["buffers"]["physical_bytes"], 2), 20.00)
        self.assertEqual(mib(l1["cb"]["physical_bytes"], 2), 22.47)
        self.assertEqual(mib(l1["kernels_bytes"], 2), 0.20)
        self.assertEqual(mib(l1["used_bytes"], 2), 42.67)
        self.assertEqual(gib(device["dram"]["used_bytes"], 2), 1.23)
        self.assertEqual(gib(device["dram"]["capacity_bytes"], 1), 31.9)

    def test_device_init_has_only_the_persistent_dispatch_kernels(self):
        (device,) = self.hold("device-init")
        l1 = device["l1"]
        self.assertEqual(round(l1["kernels_bytes"] / 1e6, 1), 0.2)
        self.assertEqual(l1["kernels_persistent_bytes"], l1["kernels_bytes"])
        self.assertEqual(l1["used_bytes"], l1["kernels_bytes"])
        self.assertEqual(device["dram"]["used_bytes"], 0)
        self.assertEqual(device["programs"], 0)
        listed = self.json("allocs")["allocations"]
        self.assertEqual({entry["kind"] for entry in listed}, {"kernel"})
        self.assertTrue(all(entry["persistent"] for entry in listed))
        self.assertIn("persistent", self.ttmem().stdout)

    def test_galaxy_has_32_devices(self):
        devices = self.hold("galaxy")
        self.assertEqual([device["id"] for device in devices], list(range(32)))
        self.assertEqual(len({device["uid"] for device in devices}), 32)
        for device in devices:
            self.assertEqual(device["grid"], {"x": 8, "y": 9})
            self.assertEqual(device["l1"]["cb"]["physical_bytes"], 464 * 1024 * 72)


def level(part, whole):
    for name, limit in (("low", 0.10), ("medium", 0.33), ("high", 0.80)):
        if part < limit * whole:
            return name
    return "very high"


def levels(device):
    cores = device["grid"]["x"] * device["grid"]["y"]
    l1 = device["l1"]
    return {"dram": level(device["dram"]["used_bytes"], device["dram"]["capacity_bytes"]),
            "l1": level(l1["buffers"]["physical_bytes"], l1["capacity_bytes"]),
            "cb": level(l1["cb"]["physical_bytes"], l1["capacity_bytes"]),
            "kernels": level(l1["kernels_bytes"], cores * RING_BYTES_PER_CORE)}


TRAINING = {"dram": "high", "l1": "medium", "cb": "high", "kernels": "low"}
INFERENCE = {"dram": "very high", "l1": "low", "cb": "medium", "kernels": "medium"}


class ScenariosThatChange(Demo):
    def check_levels_while_it_changes(self, scenario, expected, changing):
        """Takes samples until `changing` has returned five different values. Checks the levels in
        every sample."""
        demo = self.start_ttmem("demo", scenario)
        demo.line("stderr")
        seen = set()

        def changed():
            snapshot = self.json()
            self.assert_sane(snapshot)
            for device in snapshot["devices"]:
                self.assertEqual(levels(device), expected)
            seen.add(changing(snapshot["devices"][0]))
            return len(seen) >= 5

        self.wait_for(changed, f"five different states of {scenario}")

    def test_training_ends_with_the_levels_of_training(self):
        for device in self.hold("training"):
            self.assertEqual(levels(device), TRAINING)

    def test_training_keeps_its_levels_while_activations_come_and_go(self):
        self.check_levels_while_it_changes("training", TRAINING,
                                           lambda d: d["l1"]["buffers"]["physical_bytes"])

    def test_inference_ends_with_the_levels_of_inference(self):
        for device in self.hold("inference"):
            self.assertEqual(levels(device), INFERENCE)

    def test_inference_keeps_its_levels_while_its_cache_grows(self):
        self.check_levels_while_it_changes("inference", INFERENCE,
                                           lambda d: d["dram"]["used_bytes"])

    def test_leak_grows_although_it_also_frees(self):
        demo = self.start_ttmem("demo", "leak")
        demo.line("stderr")
        first = self.devices()[0]
        # Temporary buffers take less than 40 MiB, so growth by 40 MiB (ten requests of 4 MiB) shows
        # the leak.
        grown = self.wait_for(
            lambda: [d for d in self.devices()
                     if d["dram"]["used_bytes"] >= first["dram"]["used_bytes"] + 40 * 1024**2],
            "the leak to grow by 40 MiB")[0]
        self.assertGreater(grown["frees_total"], first["frees_total"])
        self.assertGreater(grown["l1"]["buffers"]["physical_bytes"], 0)

    def test_leak_names_what_was_left_behind(self):
        (device,) = self.hold("leak")
        labels = [entry["label"] for entry in self.json("allocs", "--kind", "dram")["allocations"]]
        self.assertEqual(sum(label.endswith(".logits") for label in labels), 600)
        self.assertEqual(sum(label.endswith(".input") for label in labels), 1)
        self.assertGreater(device["frees_total"], 1000)


class TheEndOfADemo(Demo):
    def test_each_stop_signal_ends_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for arguments in (("--hold",), ()):
                with self.subTest(signal=number, arguments=arguments):
                    demo = self.start_ttmem("demo", "single", *arguments)
                    demo.line("stderr")
                    self.assertEqual(len(self.files()), 1)
                    demo.signal(number)
                    self.assertEqual(demo.wait(), 0)
                    self.assertEqual(self.files(), [])

    def test_it_ends_by_itself_after_its_seconds(self):
        first, last = self.ttmem("demo", "single", "--seconds", "0.3").stderr.splitlines()
        self.assertIn("demo single: 1 device ready for 0.3 s, pid ", first)
        self.assertIn("demo single: ended after 0.3 s; --seconds N lasts longer", last)
        self.assertEqual(self.files(), [])

    def test_it_says_how_long_it_runs_only_if_it_ends_by_itself(self):
        self.assertIn(" ready for 60 s, pid ", self.start_ttmem("demo", "single").line("stderr"))
        held = self.start_ttmem("demo", "single", "--seconds", "1", "--hold").line("stderr")
        self.assertIn(" ready, pid ", held)

    def test_hold_after_seconds_keeps_the_state(self):
        demo = self.start_ttmem("demo", "device-init", "--seconds", "0.1", "--hold")
        demo.line("stderr")
        held_from = time.monotonic() + 0.5
        self.wait_for(lambda: time.monotonic() > held_from, "its seconds to be over")
        self.assertEqual(len(self.devices()), 1)
        demo.signal(signal.SIGTERM)
        self.assertEqual(demo.wait(), 0)

    def test_list_names_every_scenario(self):
        listed = self.ttmem("demo", "--list").stdout
        for name in ("single", "mesh8", "cached-programs", "blackhole", "device-init", "training",
                     "inference", "leak", "galaxy"):
            self.assertIn(name, listed)

    def test_the_line_to_type_shows_the_demo_wherever_it_writes(self):
        demo = self.start_ttmem("demo", "single", "--hold")
        self.assertIn(f"TTMEM_DIR={self.dir} ttmem", demo.line("stderr"))


if __name__ == "__main__":
    unittest.main()
