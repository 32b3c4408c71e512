# SPDX-License-Identifier: Apache-2.0
"""Chips are identified by their uid: several chips can have the same number."""

import re
import sys
import textwrap

from http_case import HttpCase
from support import HERE, KIB, LIBRARY, MIB
from test_top import Terminal
import wire

BANKS = 12


class Devices(HttpCase):
    def start_tracked(self, code):
        code = "from abi import *\n" + textwrap.dedent(code) + "\nhold()\n"
        env = self.tracked(TTMEM_LIB=LIBRARY, PYTHONPATH=str(HERE), PYTHONDONTWRITEBYTECODE="1")
        workload = self.start([sys.executable, "-c", code], env=env)
        self.assertEqual(workload.line(), "ready")
        return workload

    def start_on(self, number, uid, size):
        return self.start_tracked(f"""
            open_device({number}, uid={uid})
            alloc(DRAM, 1, {size}, device={number})
            place(7, (105664, 2048, [(0, 0, 7, 7)]), device={number})
        """)

    def start_two_called_0(self):
        self.start_on(0, 0xaa1, 1 * MIB)
        self.start_on(0, 0xaa2, 2 * MIB)


class TwoChipsWithOneNumber(Devices):
    def test_each_chip_is_shown_with_its_uid_and_found_by_it(self):
        self.start_two_called_0()
        table = self.ttmem().stdout
        for uid in ("0xaa1", "0xaa2"):
            self.assertRegex(table, rf"(?m)^Device 0: {uid}, ")
            (device,) = self.json("--device", uid)["devices"]
            self.assertEqual(device["uid"], uid)
            for command, key in (("allocs", "allocations"), ("programs", "programs")):
                listed = self.json(command, "--device", uid)[key]
                self.assertEqual([entry["uid"] for entry in listed], [uid], command)
                self.assertIn(uid, self.ttmem(command).stdout)
            top = self.ttmem("top", "--once", "--device", uid).stdout
            self.assertEqual(re.findall(r"Device 0: (0x\w+),", top), [uid])
        self.assertEqual(len(self.json("--device", 0)["devices"]), 2)

    def test_a_narrow_brief_table_distinguishes_the_chips(self):
        self.start_two_called_0()
        self.start_tracked(f"""
            open_device(0, uid=0, arch=b"blackhole", board=b"")
            alloc(DRAM, 1, {MIB}, device=0)
        """)
        table = self.on_terminal(60, 24, "--brief")
        for name in ("0 (0xaa1)", "0 (0xaa2)", "0 (blackhole)"):
            self.assertEqual(table.count(name), 1, table)

    def test_an_unknown_uid_is_an_error_that_lists_the_known_uids(self):
        self.start_two_called_0()
        said = self.ttmem("--device", "0xaa3", code=1).stderr
        self.assertIn("no device 0xaa3; there are 0 (0xaa1), 0 (0xaa2)", said)

    def test_http_and_the_socket_take_a_uid(self):
        self.start_two_called_0()
        self.serve()
        for uid, size in ((0xaa1, 1), (0xaa2, 2)):
            (device,) = self.get_json(f"/api/v1/snapshot?device={uid:#x}")["devices"]
            self.assertEqual(device["uid"], hex(uid))
            # Before its first pass the server knows the device, but the history has no point.
            self.wait_for(lambda: self.get_json(f"/api/v1/history?device={uid:#x}")["points"],
                          "the first pass")
            history = self.get_json(f"/api/v1/history?device={uid:#x}")
            self.assertEqual((history["device"], history["uid"]), (0, hex(uid)))
            self.assertEqual(history["points"][-1]["dram_bytes"], BANKS * size * MIB)
            client = wire.Client(self.path)
            self.addCleanup(client.close)
            for question in (wire.QUERY, wire.DEVICE_INFO_QUERY):
                client.say(question, device=-1, buffer_id=uid)
                answer = client.receive()
                self.assertEqual((answer["dram"], answer["is_available"]), (BANKS * size * MIB, 1))
        status, _, body = self.request("/api/v1/history?device=0")
        self.assertEqual(status, 400)
        self.assertIn(b"0 (0xaa1), 0 (0xaa2); name one by its uid", body)

    def test_a_process_on_both_has_a_series_for_each(self):
        self.start_on(0, 0xaa1, 1 * MIB)
        self.start_tracked("""
            open_device(1, uid=0xaa1)
            open_device(0, uid=0xaa2)
            alloc(DRAM, 1, 4 << 20, device=1)
            alloc(DRAM, 2, 8 << 20, device=0)
        """)
        self.serve()
        found = re.findall(r'ttmem_process_memory_used_bytes{.*uid="(0x\w+)",kind="dram"} (\d+)',
                           self.get("/metrics"))
        self.assertEqual(sorted((uid, int(value) // MIB) for uid, value in found),
                         [("0xaa1", 12), ("0xaa1", 48), ("0xaa2", 96)])


class OneChip(Devices):
    def test_with_two_numbers_is_found_under_both(self):
        self.start_on(0, 0xaa1, 1 * MIB)
        self.start_on(3, 0xaa1, 2 * MIB)
        for number in (0, 3):
            (device,) = self.json("--device", number)["devices"]
            self.assertEqual((device["ids"], device["dram"]["used_bytes"]),
                             ([0, 3], BANKS * 3 * MIB))
        self.assertIn("also called", self.ttmem().stdout)

    def test_a_process_that_gives_only_a_number_joins_the_only_chip_and_is_marked(self):
        self.start_on(0, 0xaa1, 1 * MIB)
        self.start_tracked("alloc(DRAM, 1, 1 << 20, device=0, size=5 << 20)")
        (device,) = self.devices()
        self.assertEqual(device["uid"], "0xaa1")
        self.assertEqual(sorted(process["device_supposed"] for process in device["processes"]),
                         [False, True])
        table = self.ttmem().stdout
        self.assertRegex(table, r"(?m)^ *\d+ .* 0\? ")
        self.assertRegex(table, r"taken for the only\s+chip")

    def test_a_process_that_gives_only_a_number_joins_neither_of_two_chips(self):
        self.start_two_called_0()
        self.start_tracked("alloc(DRAM, 1, 1 << 20, device=0, size=5 << 20)")
        devices = self.devices()
        self.assertEqual([device["uid"] for device in devices], [None, "0xaa1", "0xaa2"])
        self.assertIn("Device 0: uid n/a, ", self.ttmem().stdout)


class Columns(Devices):
    def test_l1_buffers_are_without_l1_small(self):
        self.start_tracked(f"""
            open_device()
            alloc(L1, 1, {64 * KIB})
            alloc(L1_SMALL, 2, {KIB})
        """)
        [process] = self.devices()[0]["processes"]
        self.assertEqual((process["l1_bytes"], process["l1_small_bytes"]), (4 * MIB, 64 * KIB))
        row = self.ttmem("--columns", "pid,l1_buf,l1_small").stdout
        self.assertRegex(row, rf"(?m)^ *{process['pid']}  4\.00 MiB  64\.0 KiB$")
        self.assertRegex(self.ttmem().stdout, r"L1 BUF +L1_SMALL +CB")

    def test_a_title_without_a_board_is_the_architecture(self):
        self.start_tracked("open_device(0, board=b'')\nalloc(DRAM, 1, 4096)")
        self.assertIn("Device 0: wormhole_b0, 8x8 cores", self.ttmem().stdout)


class Shared(Devices):
    SHARED = "2 processes share this chip; sums may overlap"

    def test_sums_of_two_processes_on_one_chip_are_explained(self):
        for _ in range(2):
            self.start_on(0, 0xaa1, MIB)
        self.start_on(1, 0xaa2, MIB)
        self.assertEqual([device["sums_may_overlap"] for device in self.devices()], [True, False])
        for arguments in ((), ("top", "--once"), ("top", "--once", "--view", "3")):
            shown = self.ttmem(*arguments, env=dict(self.env, COLUMNS="200")).stdout
            self.assertEqual(shown.count(self.SHARED), 1, shown)
        self.assertRegex(self.ttmem("--brief").stdout, "2, sums may overlap")

    def test_a_process_without_memory_shares_nothing(self):
        self.start_on(0, 0xaa1, MIB)
        self.start_tracked("open_device(0, uid=0xaa1)")
        [device] = self.devices()
        self.assertFalse(device["sums_may_overlap"])
        self.assertNotIn("sums may overlap", self.ttmem().stdout)


class Top(Devices, Terminal):
    def test_the_keys_step_through_chips_that_share_a_number(self):
        self.start_two_called_0()
        self.start_on(0, 0xaa3, 1 * MIB)
        self.open()
        self.top("--view", "2", "--device", "0xaa2")
        self.see(r"Device 0 \(0xaa2\) DRAM")
        self.press("Right")
        self.see(r"Device 0 \(0xaa3\) DRAM")
        self.press("Left", "Left")
        self.see(r"Device 0 \(0xaa1\) DRAM")
        self.press("q")


del Terminal  # its own tests run in test_top.py
