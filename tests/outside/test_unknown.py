# SPDX-License-Identifier: Apache-2.0
"""Zero is shown only for a figure that is zero. Figures that were not reported are n/a, null, or
absent."""

import os
import pathlib
import signal
import struct
import sys
import time

from http_case import HttpCase
from support import CAPTURES, HERE, LIBRARY, MIB

PYTHON = HERE.parent.parent / "integrations" / "python"


def region(pid, cb):
    """Returns TT-Metal's region of chip 0, in version 2, with one process."""
    data = bytearray(8576)
    struct.pack_into("<I", data, 0, 2)
    struct.pack_into("<QI", data, 32, 0xb0, 0)
    struct.pack_into("<iI6Q16s", data, 856, pid, 0, 18 * MIB, 0, 0, 0, cb, time.time_ns(),
                     b"worker")
    return bytes(data)


def row_of(text, name):
    """Returns the first line of a table that begins with "NAME:", with leading and trailing blanks
    removed."""
    return next(line for line in text.splitlines() if line.strip().startswith(name + ":")).strip()


class Unknown(HttpCase):
    def assert_null(self, device, *paths):
        for path in paths:
            value = device
            for key in path.split("/"):
                value = value[key]
            self.assertIsNone(value, path)

    def test_a_buffer_in_dram_leaves_other_kinds_unknown(self):
        self.hold_calls("open_device(trace_region_bytes=1 << 20)\nalloc(DRAM, 1, 4096)")
        device = self.devices()[0]
        self.assertEqual(device["dram"]["used_bytes"], 12 * 4096)
        self.assert_null(device, "l1/used_bytes", "l1/peak_bytes", "l1/buffers/logical_bytes",
                         "l1/buffers/physical_bytes", "l1/small_bytes", "l1/cb/physical_bytes",
                         "l1/cb/resident_bytes", "l1/cb/logical_bytes", "l1/kernels_bytes",
                         "l1/kernels_persistent_bytes", "l1/kernels_estimated_bytes",
                         "l1/headroom_bytes_per_core", "trace/used_bytes", "programs")
        process = device["processes"][0]
        self.assert_null(process, "l1_bytes", "l1_small_bytes", "trace_bytes", "cb_bytes",
                         "kernels_bytes")
        self.assertEqual(process["allocations"], 1)
        for core in device["per_core"]:
            self.assert_null(core, "cb_bytes", "cb_resident_bytes", "l1_bytes", "headroom_bytes")
        for text in (self.ttmem("--per-core").stdout, self.ttmem("--csv").stdout,
                     self.ttmem("top", "--once").stdout):
            self.assertNotIn("0.00 MiB", text)
            self.assertNotIn("0 programs", text)
            self.assertIn("n/a", text)

    def test_a_freed_kind_is_a_measured_zero(self):
        self.hold_calls("open_device()\nalloc(L1, 1, 4096)\nfree(L1, 1)")
        device = self.devices()[0]
        self.assertEqual(device["l1"]["used_bytes"], 0)
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 0)
        row = row_of(self.ttmem().stdout, "L1 buffers")
        self.assertIn("0.00 MiB", row)
        self.assertFalse(set("▏▎▍▌▋▊▉█#") & set(row), "a zero draws no ink")

    def test_programs_are_not_resident_until_one_is_dispatched(self):
        held = self.hold_calls("open_device()\nplace(1, (105664, 4096, [(0, 0, 7, 7)]))\nhold()\n"
                         "lib.ttmem_program_dispatch(0, 1)")
        device = self.devices()[0]
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64 * 4096)
        self.assertEqual(device["programs"], 1)
        self.assert_null(device, "l1/cb/resident_bytes", "l1/used_bytes")
        self.assertIn("resident n/a", row_of(self.ttmem().stdout, "CB"))
        held.go_on()
        held.line()
        self.assertEqual(self.devices()[0]["l1"]["cb"]["resident_bytes"], 64 * 4096)

    def test_ttmem_reports_reports_a_kind_before_its_first_allocation(self):
        self.hold_calls("open_device()\nlib.ttmem_reports(0, 0x1f | 0x20)")
        device = self.devices()[0]
        for kind in ("dram", "l1", "trace"):
            self.assertEqual(device[kind]["used_bytes"], 0, kind)
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 0)
        self.assertEqual(device["programs"], 0)
        self.assertIsNotNone(device["l1"]["headroom_bytes_per_core"])
        self.assert_null(device, "l1/cb/resident_bytes", "l1/kernels_bytes")

    def test_a_capture_leaves_resident_bytes_and_kernels_unknown(self):
        held = self.start_ttmem("replay", CAPTURES / "basic_wh1.jsonl", "--hold")
        held.line("stderr")
        device = self.devices()[0]
        self.assert_null(device, "l1/cb/resident_bytes", "l1/kernels_bytes",
                         "l1/kernels_persistent_bytes")
        self.assertIsNotNone(device["dram"]["used_bytes"])
        self.assertIsNotNone(device["l1"]["used_bytes"])
        text = self.ttmem("--per-core").stdout
        self.assertNotIn("resident 0", text)
        self.assertTrue(row_of(text, "Kernels").endswith("n/a"), text)
        held.signal(signal.SIGTERM)
        self.assertEqual(held.wait(), 0)

    def test_counting_by_hand_leaves_dram_unknown(self):
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(PYTHON))
        source = ("import os, ttmem\nttmem.cb_alloc(0, 1, 1 << 20)\nprint('ready', flush=True)\n"
                  "os.read(0, 1)")
        self.start([sys.executable, "-c", source], env).line()
        device = self.devices()[0]
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], MIB)
        self.assert_null(device, "dram/used_bytes", "l1/used_bytes", "l1/cb/resident_bytes",
                         "programs")
        self.assertTrue(row_of(self.ttmem().stdout, "DRAM").endswith("n/a"))

    def test_a_device_with_only_dead_processes_is_unknown(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)\nalloc(L1, 2, 4096)").kill()
        device = self.devices()[0]
        self.assert_null(device, "dram/used_bytes", "l1/used_bytes", "l1/cb/physical_bytes",
                         "l1/kernels_bytes", "programs", "anomalies/unknown_frees")
        self.assertEqual(device["processes"][0]["dram_bytes"], 12 * 4096)
        self.assertNotIn("0.00 MiB", self.ttmem().stdout.split("PID")[0])

    def test_a_region_has_logical_sizes_and_no_anomalies(self):
        path = pathlib.Path(self.dir) / "tt_device_0_memory"
        path.write_bytes(region(os.getpid(), 1966080))
        device = self.devices()[0]
        self.assertEqual(device["dram"]["used_bytes"], 18 * MIB)
        self.assert_null(device, "dram/physical_bytes", "l1/buffers/physical_bytes",
                         "l1/kernels_bytes", "programs", "anomalies/unknown_frees",
                         "anomalies/bad_arguments")
        self.assertIn("physical n/a", row_of(self.ttmem().stdout, "DRAM"))
        programs = self.ttmem("programs").stdout
        self.assertNotIn("No live program", programs)
        self.assertIn("1.88 MiB of circular buffers", programs)

    def test_allocations_of_unknown_physical_size_have_no_physical_sum(self):
        self.hold_calls("open_device()\n"
                  "for i in range(3): alloc(DRAM, i + 1, 0, address=i << 20, size=1 << 20)")
        footer = self.ttmem("allocs").stdout.split("\n\n")[1]
        self.assertNotIn("0.00 MiB", footer)
        self.assertIn("3 allocations, 3.00 MiB logical, of unknown physical size", footer)

    def test_the_holdings_of_a_damaged_segment_are_unknown(self):
        self.hold_calls("open_device()\nalloc(DRAM, 1, 4096)").kill()
        path = pathlib.Path(self.dir) / self.files()[0]
        os.truncate(path, 40000)
        text = self.ttmem("clean").stdout
        self.assertNotIn("0.00 MiB", text)
        self.assertIn("n/a", text)

    def test_every_view_names_kinds_that_a_process_does_not_see(self):
        held = self.hold_calls(
            "open_device()\nlib.ttmem_reports(0, 0xff)\n"
            "lib.ttmem_not_seen(0x20, b'programs are not seen: a test')")
        text = f"process {held.pid} ({self.name_of(held)}): programs are not seen: a test"
        snapshot = self.json()
        self.assertEqual(snapshot["warnings"], [text])
        self.assert_null(snapshot["devices"][0], "programs", "l1/cb/physical_bytes")
        self.assertEqual(snapshot["devices"][0]["dram"]["used_bytes"], 0)
        self.assertIn(text, self.ttmem().stderr)
        self.assertIn(text, self.ttmem("top", "--once").stderr)
        self.assertIn("programs are not seen: a test",
                      self.on_terminal(100, 30, "top", until="programs are not seen: a test"))
        self.serve()
        self.assertEqual(self.get_json("/api/v1/snapshot")["warnings"], [text])
        self.assertIn("\nttmem_warnings 1\n", self.get("/metrics"))

    @staticmethod
    def name_of(process):
        return pathlib.Path(f"/proc/{process.pid}/comm").read_text().strip()

    def test_metrics_and_history_have_no_sample_of_unreported_kinds(self):
        self.hold_calls("open_device()\nlib.ttmem_cb_alloc.argtypes = [ctypes.c_uint32, ctypes.c_uint64,"
                  " ctypes.c_uint64]\nlib.ttmem_cb_alloc(0, 1, 1 << 20)")
        self.serve()
        page = self.get("/metrics")
        self.assertIn('kind="cb"} 1048576', page)
        for absent in ('kind="dram"', 'kind="kernel"', 'view="resident"', "ttmem_l1_used_bytes",
                       "ttmem_programs{"):
            self.assertNotIn(absent, page)
