# SPDX-License-Identifier: Apache-2.0
"""The regions that TT-Metal itself writes. TT-Metal never removes the row of a killed process."""

import mmap
import os
import struct
import time
import unittest

from http_case import HttpCase
from support import MIB

UID = 0x1f00a
SIZE = 8576
DEAD_PID = 4194300  # above every possible pid


def region(*rows):
    """Returns a region of version 3, with a row of 1 MiB of DRAM for each pid."""
    data = bytearray(SIZE)
    struct.pack_into("<II", data, 0, 3, len(rows))
    struct.pack_into("<QI", data, 32, UID, 0)
    for i in range(16):
        struct.pack_into("<I", data, 88 + 48 * i, 0xffffffff)
    for i, pid in enumerate(rows):
        struct.pack_into("<iIQQQQQQ64s", data, 856 + 120 * i, pid, 0, MIB, 0, 0, 0, 0,
                         time.time_ns(), b"model")
    return bytes(data)


class Regions(HttpCase):
    def write(self, *rows):
        self.file = os.path.join(self.dir, f"tt_device_{UID}_memory")
        with open(self.file, "wb") as file:
            file.write(region(*rows))


class OneChip(Regions):
    """A tracked process also has a row in the region. Only the row says which chip is the process's
    device 0."""

    def test_is_shown_once_and_counted_from_the_segment(self):
        holder = self.hold_calls("open_device(uid=0)\nalloc(DRAM, 1, 1 << 20)")
        self.write(holder.pid)
        [device] = self.devices()
        self.assertEqual((device["uid"], device["dram"]["used_bytes"]), (hex(UID), 12 * MIB))
        self.assertEqual([row["source"] for row in device["processes"]], ["ttmem"])
        self.assertEqual(self.json()["warnings"], [])
        holder.kill()
        [device] = self.devices()
        self.assertEqual([(row["source"], row["state"]) for row in device["processes"]],
                         [("ttmem", "dead")])


class DeadRows(Regions):
    def test_clean_removes_and_reports_a_region_without_live_processes(self):
        self.write(DEAD_PID)
        table = self.ttmem().stdout
        self.assertIn("`ttmem clean`", table)
        dry = self.ttmem("clean", "--dry-run").stdout
        self.assertIn("1.00 MiB", dry)
        self.assertTrue(os.path.exists(self.file))
        said = self.ttmem("clean").stdout
        for words in (f"tt_device_{UID}_memory", str(DEAD_PID), "dram 1.00 MiB", "Removed"):
            self.assertIn(words, said)
        self.assertFalse(os.path.exists(self.file))
        self.assertEqual(self.devices(), [])

    def test_clean_keeps_a_region_with_a_live_process(self):
        self.write(DEAD_PID, os.getpid())
        said = self.ttmem("clean").stdout
        self.assertIn("in use", said)
        self.assertTrue(os.path.exists(self.file))

    def test_clean_keeps_a_region_that_a_process_has_mapped(self):
        """The process that has mapped the region may run in a container. The pid in its row is then
        not a pid of this namespace, so `clean` looks at the mapping instead."""
        self.write(DEAD_PID)
        with open(self.file, "r+b") as file, mmap.mmap(file.fileno(), SIZE):
            self.assertIn("in use", self.ttmem("clean").stdout)
            self.assertTrue(os.path.exists(self.file))
        self.ttmem("clean")
        self.assertFalse(os.path.exists(self.file))

    def test_dead_rows_do_not_raise_the_alert_about_dead_owners(self):
        """TT-Metal keeps the row of a dead process while other processes use the region, so the
        alert would never clear."""
        self.write(DEAD_PID, os.getpid())
        self.serve()
        page = self.get("/metrics")
        self.assertIn('ttmem_dead_owner_bytes{device="0",uid="0x1f00a"} 0', page)


if __name__ == "__main__":
    unittest.main()
