# SPDX-License-Identifier: Apache-2.0
"""The Python package: the effect of each call on the figures of `ttmem`, and reading these
figures."""

import pathlib
import re
import shutil
import unittest

from python_case import ALONE, DEVICE, PythonCase
from support import LIBRARY, PREFIX, TTMEM


class Calls(PythonCase):
    def device_after(self, code):
        (device,) = self.after(DEVICE, "open_device()", code)
        return device

    def test_there_is_a_function_for_every_call_of_the_header(self):
        header = (PREFIX / "include" / "ttmem" / "ttmem.h").read_text()
        calls = re.findall(r"^TTMEM_API \w+ ttmem_(\w+)\(", header, re.M)
        calls.remove("program_place_with")  # in Python: program_place() with a name
        calls.remove("mesh_program_place_with")
        calls.remove("scope_push")  # in Python: scope()
        calls.remove("scope_pop")
        self.assertGreater(len(calls), 10)
        missing = self.value("import ttmem", f"print(json.dumps([name for name in {calls!r} "
                                             "if name not in ttmem.__all__]))")
        self.assertEqual(missing, [])

    def test_a_device_has_the_figures_of_its_opening(self):
        device = self.device_after("")
        facts = {name: device[name] for name in ("id", "uid", "arch", "board", "grid")}
        self.assertEqual(facts, {"id": 0, "uid": "0x7e57", "arch": "wormhole_b0", "board": "n150",
                                 "grid": {"x": 8, "y": 8}})
        self.assertEqual(device["l1"]["capacity_bytes"], 64 * 1499136)
        self.assertEqual(device["dram"]["capacity_bytes"], 12 << 30)
        self.assertEqual(device["trace"]["capacity_bytes"], 1 << 20)

    def test_buffers(self):
        device = self.device_after("""
            ttmem.buffer_alloc(0, BufferType.DRAM, 49152, 1 << 20, id=1, bytes_per_bank=4096,
                               label="layers.0.wq")
            ttmem.buffer_alloc(0, BufferType.DRAM, 49152, 2 << 20, bytes_per_bank=4096)
            ttmem.buffer_free(0, BufferType.DRAM, 2 << 20)
            ttmem.buffer_alloc(0, BufferType.L1, 4 * 64, 1400000, id=2, bytes_per_bank=64,
                               cores=[(0, 0, 1, 0), (3, 3, 3, 4)])
            ttmem.buffer_alloc(0, BufferType.L1, 64, 1400064, id=3, bytes_per_bank=64,
                               cores=[(5, 5, 5, 5)], own_banks=True)
        """)
        self.assertEqual(device["dram"]["used_bytes"], 49152)
        taken = {(core["x"], core["y"]): core["l1_bytes"] for core in device["per_core"]}
        self.assertEqual(taken, {core: 128 if core == (5, 5) else 64 for core in taken})
        data = {(core["x"], core["y"]) for core in device["per_core"] if core["l1_data_bytes"]}
        self.assertEqual(data, {(0, 0), (1, 0), (3, 3), (3, 4), (5, 5)})
        labels = {entry["label"] for entry in self.json("allocs")["allocations"]}
        self.assertEqual(labels, {"layers.0.wq", None})
        self.assertEqual(set(device["anomalies"].values()), {0})

    def test_a_name_that_utf8_cannot_encode_does_not_stop_the_program(self):
        self.device_after("""
            with ttmem.scope("layer\\ud800"):
                ttmem.mark("step\\ud800")
                ttmem.buffer_alloc(0, BufferType.DRAM, 64, 64, label="w\\ud800")
        """)
        (entry,) = self.json("allocs")["allocations"]
        self.assertEqual((entry["scope"], entry["label"]), ("layer?", "w?"))

    def test_programs(self):
        device = self.device_after("""
            ttmem.buffer_alloc(0, BufferType.L1, 64 * 64, 1400000, id=2, bytes_per_bank=64)
            ttmem.program_place(0, 1, [Cb(105664, 4096, [(0, 0, 7, 7)]),
                                       Cb(1400000, 64, [(0, 0, 7, 7)], is_global=True)])
            ttmem.program_place(0, 2, [(105664, 1024, [(0, 0, 3, 7)])], name="decoder.0.matmul")
            ttmem.program_place(0, 3, [(105664, 65536, [(0, 0, 7, 7)])])
            ttmem.program_destroy(3)
            ttmem.program_dispatch(0, 1)
            ttmem.trace_replay(0, [2])
        """)
        self.assertEqual(device["programs"], 2)
        names = {entry["program"]: entry["name"] for entry in self.json("programs")["programs"]}
        self.assertEqual(names, {1: None, 2: "decoder.0.matmul"})
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64 * 4096)
        self.assertEqual(device["l1"]["cb"]["resident_bytes"], 32 * 1024 + 32 * 4096)
        self.assertEqual(set(device["anomalies"].values()), {0})

    def test_kernels_and_cbs_by_number(self):
        device = self.device_after("""
            ttmem.kernel_load(0, 1, 1000)
            ttmem.kernel_load(0, 2, 200, KernelRole.FABRIC)
            ttmem.kernel_load_estimate(0, 3, 30)
            ttmem.kernel_load(0, 4, 4)
            ttmem.kernel_unload(0, 4)
            ttmem.cb_alloc(0, 7, 4096)
            ttmem.cb_alloc(0, 8, 64)
            ttmem.cb_free(0, 8)
        """)
        l1 = device["l1"]
        self.assertEqual((l1["kernels_bytes"], l1["kernels_persistent_bytes"],
                          l1["kernels_estimated_bytes"]), (1230, 200, 30))
        self.assertEqual(l1["cb"]["physical_bytes"], 4096)
        self.assertEqual(set(device["anomalies"].values()), {0})

    def test_a_mesh_is_a_list_of_devices(self):
        devices = self.after(DEVICE, """
            for number in range(4):
                open_device(number)
            ttmem.mesh_buffer_alloc(range(4), BufferType.L1, 64 * 2048, address=1400000, id=7,
                                    bytes_per_bank=2048, label="activations")
            ttmem.mesh_buffer_alloc([0, 1], BufferType.DRAM, 12, address=4096)
            ttmem.mesh_buffer_free([0, 1], BufferType.DRAM, 4096)
            ttmem.mesh_program_place(range(4), 1, [Cb(105664, 4096, [(0, 0, 7, 7)])], name="matmul")
            ttmem.mesh_program_dispatch(range(4), 1)
        """)
        for device in devices:
            self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 64 * 2048)
            self.assertEqual(device["l1"]["cb"]["resident_bytes"], 64 * 4096)
            self.assertIn(device["dram"]["used_bytes"], (0, None))
            self.assertEqual(set(device["anomalies"].values()), {0})
        (entry,) = self.json("allocs")["allocations"]
        self.assertEqual((entry["devices"], entry["label"]), ([0, 1, 2, 3], "activations"))

    def test_a_closed_device_holds_nothing(self):
        devices = self.after(DEVICE, """
            open_device()
            open_device(1)
            ttmem.device_close(0)
        """)
        self.assertEqual([device["id"] for device in devices if device["processes"]], [1])

    def test_numbers_that_do_not_fit_are_refused_and_never_cut(self):
        self.assertEqual(self.value(DEVICE, """
            refused = 0
            for call in (lambda: ttmem.device_close(-1), lambda: ttmem.device_close(1 << 32),
                         lambda: ttmem.kernel_unload(0, 1 << 64),
                         lambda: ttmem.device_open(0, grid_x=65536),
                         lambda: ttmem.buffer_alloc(0, 99, 64, 0),
                         lambda: ttmem.program_place(0, 1, [(0, 1, [(0, 0, 0, 70000)])])):
                try:
                    call()
                except ValueError:
                    refused += 1
            print(json.dumps(refused))
        """), 6)

    def test_an_already_loaded_library_is_used(self):
        copy = pathlib.Path(self.dir) / "elsewhere.so"
        shutil.copy(LIBRARY, copy)
        self.addCleanup(copy.unlink)
        self.output(f"""
            import ctypes, os, ttmem
            first = ctypes.CDLL({str(copy)!r})
            assert first.ttmem_enabled() == 1
            ttmem.cb_alloc(0, 1, 64)
            assert ttmem.enabled()
            assert ttmem.devices()[0]["processes"][0]["cb_bytes"] == 64
        """)


class Snapshots(PythonCase):
    def test_a_snapshot_is_the_document_of_the_command(self):
        self.after(DEVICE, "open_device()")
        document = self.value("import ttmem", "print(json.dumps(ttmem.snapshot()))",
                              env=self.found())
        expected = self.json()
        self.assertEqual(document["schema"], "ttmem.snapshot.v1")
        self.assertEqual(document["devices"], expected["devices"])

    def test_devices_equal_the_snapshot(self):
        self.after(DEVICE, "open_device()", "open_device(1)")
        ids = self.value("import ttmem", "print(json.dumps([d['id'] for d in ttmem.devices()]))",
                         env=self.found())
        self.assertEqual(ids, [0, 1])

    def test_a_snapshot_needs_neither_library_nor_tracking(self):
        env = {**self.env, "TTMEM_BIN": TTMEM}
        self.assertEqual(self.value(ALONE, "import json", "print(json.dumps(ttmem.devices()))",
                                    env=env), [])


if __name__ == "__main__":
    unittest.main()
