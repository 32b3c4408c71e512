# SPDX-License-Identifier: Apache-2.0
"""Chips that the kernel driver shows: idle chips with their capacity, and processes that have a
chip open and report nothing."""

import os
import pathlib
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

from driver_tree import DriverTree
from http_case import HttpCase
from support import DEADLINE_SECONDS, GIB, MIB, TTMEM
from test_could_not_look import become_nobody
from test_regions import region

BLACKHOLE_CHANNEL = 4278190080
NOT_LOADED = "import time\nprint(flush=True)\ntime.sleep(600)"


class Machine(HttpCase):
    def setUp(self):
        super().setUp()
        root = tempfile.TemporaryDirectory(prefix="ttmem-sysroot-")
        self.addCleanup(root.cleanup)
        self.tree = DriverTree(root.name + "/root")
        self.env["TTMEM_SYSROOT"] = str(self.tree.root)

    def add(self, *cards):
        for card in cards:
            self.tree.add(card)

    def untracked(self, env=None, numbers=(0,), source=None, before=()):
        """Starts a process that has a file libtt_metal.so mapped and these chips open."""
        library = pathlib.Path(self.tree.root) / "libtt_metal.so"
        library.write_bytes(b"x" * 4096)
        source = source or (
            "import mmap, time\n"
            f"with open({str(library)!r}, 'rb') as file:\n"
            "    kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n" + NOT_LOADED)
        process = self.start([*before, sys.executable, "-c", source],
                             {**self.env, **(env or {})})
        process.line()
        for number in numbers:
            self.tree.hold(number, [process.pid, process.pid])
        return process

    def only_process(self, device=0):
        [process] = self.devices()[device]["processes"]
        return process


class IdleChips(Machine):
    def assert_idle(self, device, dram, l1):
        self.assertEqual((device["dram"]["used_bytes"], device["l1"]["used_bytes"]), (0, 0))
        self.assertEqual((device["dram"]["capacity_bytes"], device["l1"]["capacity_bytes"]),
                         (dram, l1))
        self.assertIsNone(device["dram"]["peak_bytes"])
        self.assertEqual((device["processes"], device["capacities_from"]), ([], "card"))

    def test_a_card_is_shown_with_all_facts_of_the_driver(self):
        self.add("n150")
        snapshot = self.json()
        [device] = snapshot["devices"]
        self.assert_idle(device, 12 * GIB, 64 * 1499136)
        self.assertEqual(
            {name: device[name] for name in ("id", "uid", "board", "arch", "bus_id",
                                             "temperature_c", "power_w", "aiclk_mhz")},
            {"id": 0, "uid": hex(self.tree.asic_id(0)), "board": "n150", "arch": "wormhole_b0",
             "bus_id": "0000:01:00.0", "temperature_c": 41.5, "power_w": 18, "aiclk_mhz": 500})
        self.assertEqual((device["state"], device["open_in"]), ("idle", []))
        self.assertEqual((snapshot["complete"], snapshot["warnings"]), (True, []))
        self.assertIn("Device 0: n150, 8x8 cores, idle",
                      self.ttmem(env={**self.env, "COLUMNS": "40"}).stdout)
        text = self.ttmem(env={**self.env, "COLUMNS": "80"}).stdout
        for words in ("Device 0: n150 (wormhole_b0), 8x8 cores, idle, 42 C, 18 W, 500 MHz",
                      "DRAM: 0.00 MiB", "12.0 GiB by card type"):
            self.assertIn(words, text)
        self.assertIn("idle", self.ttmem("top", "--once").stdout)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)

    def test_machines(self):
        for cards, dram, l1 in ((["n300"] * 4, 12 * GIB, None),
                                (["galaxy-wormhole"] * 32, 12 * GIB, None),
                                (["p150b"] * 4, 8 * BLACKHOLE_CHANNEL, None),
                                (["p100a"], 7 * BLACKHOLE_CHANNEL, None),
                                (["galaxy-blackhole"] * 32, 8 * BLACKHOLE_CHANNEL, None)):
            with self.subTest(cards[0]):
                root = tempfile.TemporaryDirectory(prefix="ttmem-sysroot-")
                self.addCleanup(root.cleanup)
                self.tree = DriverTree(root.name + "/root")
                self.env["TTMEM_SYSROOT"] = str(self.tree.root)
                self.add(*cards)
                devices = self.devices()
                self.assertEqual([device["id"] for device in devices], list(range(len(cards))))
                for device in devices:
                    self.assert_idle(device, dram, l1)

    def test_metrics(self):
        self.add("n150", "n150")
        self.serve()
        page = self.get("/metrics")
        labels = f'device="1",uid="{hex(self.tree.asic_id(1))}"'
        for sample in (f"ttmem_device_temperature_celsius{{{labels}}} 41.5",
                       f"ttmem_device_power_watts{{{labels}}} 18",
                       f"ttmem_device_clock_hertz{{{labels}}} 500000000",
                       f"ttmem_untracked_processes{{{labels}}} 0",
                       f'ttmem_memory_capacity_bytes{{{labels},arch="wormhole_b0",memory="dram"}} '
                       f"{12 * GIB}"):
            self.assertIn(sample + "\n", page)
        self.assertIn('bus_id="0000:02:00.0"', page)

    def test_sensors_are_read_each_time(self):
        self.add("p150a")
        self.serve()
        self.assertEqual(self.get_json("/api/v1/snapshot")["devices"][0]["temperature_c"], 41.5)
        (self.tree.hwmon(0) / "temp1_input").write_text("71250\n")
        self.wait_for(lambda: self.get_json("/api/v1/snapshot")["devices"][0]["temperature_c"]
                      == 71.25, "the new temperature")

    def test_a_chip_is_named_by_its_pci_address(self):
        self.add("n150", "n300")
        for name in ("0000:02:00.0", "02:00.0"):
            [device] = self.json("--device", name)["devices"]
            self.assertEqual((device["id"], device["board"]), (1, "n300"))
        self.assertIn("0000:02:00.0", self.ttmem("--list").stdout)
        self.assertIn("07:00.0", self.ttmem("--device", "07:00.0", code=1).stderr)


class FilesThatAreMissing(Machine):
    def test_an_older_driver(self):
        self.add("n300")
        self.tree.make_older()
        [device] = self.devices()
        self.assertEqual((device["arch"], device["board"], device["capacities_from"]),
                         ("wormhole_b0", None, "chip"))
        self.assertEqual(device["dram"]["capacity_bytes"], 12 * GIB)
        # This driver does not show which processes have the chip open: used is unknown, not 0.
        self.assertIsNone(device["dram"]["used_bytes"])
        self.assertEqual((device["state"], device["untracked_processes"]), (None, None))
        self.assertIn("no process seen", self.ttmem().stdout)
        self.assertIn("No process is seen", self.ttmem("top", "--once").stdout)
        self.serve()
        page = self.get("/metrics")
        self.assertNotIn("ttmem_processes{", page)
        self.assertNotIn("ttmem_untracked_processes{", page)

    def test_an_older_driver_and_a_tracked_process(self):
        self.add("n150")
        self.tree.make_older()
        process = self.untracked(numbers=(), source=f"kept = open({str(self.tree.node(0))!r})\n"
                                 + NOT_LOADED)
        self.assertEqual(self.only_process()["pid"], process.pid)

    def test_a_chip_in_reset(self):
        self.add("p150a", "p150a")
        self.tree.reset(1)
        first, second = self.devices()
        self.assertEqual(first["dram"]["used_bytes"], 0)
        self.assertEqual((second["arch"], second["board"], second["bus_id"]),
                         ("blackhole", None, "0000:02:00.0"))
        self.assertEqual([second[name] for name in ("uid", "temperature_c", "power_w")], [None] * 3)
        self.assertIsNone(second["dram"]["used_bytes"])
        self.assertEqual(second["state"], "in_reset")
        text = self.ttmem().stdout
        self.assertIn("in reset", text)
        self.assertRegex(text, r"DRAM +>=0.00 MiB of")  # the sum contains the known devices

    def test_a_chip_that_is_off_the_bus(self):
        self.add("n150")
        self.tree.fall_off_the_bus(0)
        [device] = self.devices()
        self.assertEqual([device[name] for name in ("uid", "temperature_c", "power_w", "aiclk_mhz")],
                         [None] * 4)
        self.assertEqual((device["state"], device["dram"]["used_bytes"]), ("in_reset", None))

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_no_permission(self):
        self.add("n150")
        for path in (self.tree.root.parent, self.tree.root):
            os.chmod(path, 0o755)
        os.chmod(self.dir, 0o1777)
        os.chmod(self.tree.root / "proc/driver/tenstorrent/0/pids", 0)
        said = subprocess.run([TTMEM], env=self.env, text=True, capture_output=True,
                              timeout=DEADLINE_SECONDS, preexec_fn=become_nobody)
        self.assertIn("no process seen", said.stdout)
        self.assertNotIn("0.00 MiB", said.stdout)

    def test_a_container_shows_only_its_own_nodes(self):
        self.add("n150", "n150")
        self.tree.node(0).unlink()
        self.assertEqual([device["id"] for device in self.devices()], [1])

    @unittest.skipIf(os.geteuid() != 0, "making a device node needs root")
    def test_a_node_that_a_container_has_under_another_number(self):
        for _ in range(3):
            self.tree.add("n150", temperature=40 + self.tree.count)
        for number in range(3):
            self.tree.node(number).unlink()
        os.mknod(self.tree.node(0), stat.S_IFCHR | 0o600, os.makedev(self.tree.MAJOR, 2))
        self.tree.hold(2, [0])
        [device] = self.devices()
        self.assertEqual((device["id"], device["bus_id"], device["temperature_c"]),
                         (0, "0000:03:00.0", 42))
        self.assertEqual(device["open_in"], [0])

    def test_arbitrary_contents_of_the_files(self):
        self.add("n150", "n150", "n150")
        for number, data in enumerate((b"\x1b[31m\xff\n", b"9" * 100000, b"")):
            for file in self.tree.folder(number).glob("tt_*"):
                file.write_bytes(data)
            for file in self.tree.hwmon(number).glob("*"):
                file.write_bytes(data)
            pids = self.tree.root / f"proc/driver/tenstorrent/{number}/pids"
            pids.write_bytes(b"-1\nx\n99999999999999\n" + data)
        self.assertEqual(len(self.devices()), 3)
        self.assertNotIn("\x1b", self.ttmem().stdout)


class OneChipOnce(Machine):
    """A device that a process reports and the chip that the driver shows are one device."""

    def hold(self, facts=""):
        return self.hold_calls(f"open_device({facts})\nalloc(DRAM, 1, 1 << 20)")

    def test_by_the_uid_of_the_chip(self):
        self.add("n150", "n150")
        process = self.hold(f"uid={self.tree.asic_id(1)}")
        self.tree.hold(1, [process.pid])
        idle, used = self.devices()
        self.assertEqual((idle["dram"]["used_bytes"], used["dram"]["used_bytes"]), (0, 12 * MIB))
        self.assertEqual((used["id"], used["ids"], used["bus_id"]), (1, [0, 1], "0000:02:00.0"))
        self.assertEqual(used["capacities_from"], "process")
        self.assertEqual([row["source"] for row in used["processes"]], ["ttmem"])
        process.kill()
        self.tree.hold(1, [])
        _, used = self.devices()
        self.assertEqual([row["state"] for row in used["processes"]], ["dead"])

    def test_by_the_number_of_umd(self):
        """UMD computes a chip's uid from the serial number of its board. For linked Blackholes the
        uid also contains the chip's place on the board."""
        for card, uid in (("n150", self.tree.serial(0)), ("p150a", self.tree.serial(1) << 5 | 3)):
            number = self.tree.add(card)
            uid &= 2**64 - 1
            arch = "b'blackhole'" if card == "p150a" else "b'wormhole_b0'"
            process = self.hold(f"uid={uid}, arch={arch}")
            for state in ("alive", "dead"):  # also when the driver lists no process any more
                self.tree.hold(number, [process.pid] if state == "alive" else [])
                device = self.devices()[number]
                self.assertEqual((len(self.devices()), device["uid"]),
                                 (number + 1, hex(self.tree.asic_id(number))))
                self.assertEqual([row["state"] for row in device["processes"]], [state])
                self.assertEqual(self.json("--device", hex(uid))["devices"][0]["id"], number)
                process.kill()

    def test_two_replicas_whose_chips_are_both_0(self):
        self.add("n150", "n150", "n150")
        for number, per_bank in ((1, 1 << 20), (2, 3 << 20)):
            process = self.hold_calls(f"open_device(uid=0)\nalloc(DRAM, 1, {per_bank})")
            self.tree.hold(number, [process.pid])
        self.assertEqual([device["dram"]["used_bytes"] for device in self.devices()],
                         [0, 12 * MIB, 36 * MIB])
        self.assertEqual([device["id"] for device in self.devices()], [0, 1, 2])

    def test_two_chips_with_the_same_number(self):
        self.add("n150", "n150")
        for number in (0, 1):
            (self.tree.folder(number) / "tt_asic_id").write_text(f"{0x77:016X}\n")
        process = self.hold("uid=0x77")
        self.tree.hold(0, [process.pid])
        used, idle = self.devices()
        self.assertEqual((used["dram"]["used_bytes"], idle["dram"]["used_bytes"]), (12 * MIB, 0))

    def test_a_chip_behind_another_is_not_a_chip_of_the_driver(self):
        self.add("n300", "n300")
        process = self.hold_calls(f"open_device(0, uid={self.tree.asic_id(0)})\n"
                                  "open_device(1, uid=0x9999)\nalloc(DRAM, 1, 4096, device=1)")
        for number in (0, 1):
            self.tree.hold(number, [process.pid])
        with_address = [device for device in self.devices() if device["bus_id"]]
        self.assertEqual([device["uid"] for device in with_address],
                         [hex(self.tree.asic_id(0)), hex(self.tree.asic_id(1))])
        self.assertEqual(len(self.devices()), 3)

    def test_a_region_of_the_runtime(self):
        self.add("n150")
        process = self.untracked()
        for uid in (self.tree.asic_id(0), self.tree.serial(0), 0x5555):
            path = pathlib.Path(self.dir, f"tt_device_{uid}_memory")
            data = bytearray(region(process.pid))
            struct.pack_into("<Q", data, 32, uid)
            path.write_bytes(data)
            [device] = self.devices()
            self.assertEqual((device["dram"]["used_bytes"], device["bus_id"]),
                             (MIB, "0000:01:00.0"))
            path.unlink()

    def test_by_the_process_that_has_it_open(self):
        self.add("n150")
        for facts in ("", "uid=0", "uid=0, arch=None"):
            with self.subTest(facts):
                process = self.hold(facts)
                self.tree.hold(0, [process.pid])
                [device] = self.devices()
                self.assertEqual((device["dram"]["used_bytes"], device["bus_id"]),
                                 (12 * MIB, "0000:01:00.0"))
                process.kill()
                self.tree.hold(0, [])
                self.ttmem("clean")

    def test_a_simulated_chip_is_another_chip(self):
        self.add("n150")
        self.hold()
        devices = self.devices()
        self.assertEqual(sorted(device["dram"]["used_bytes"] for device in devices), [0, 12 * MIB])
        self.assertEqual([device["id"] for device in devices], [0, 0])

    def test_a_process_that_reports_another_chip_is_tracked(self):
        self.add("n150", "n150")
        process = self.hold(f"uid={self.tree.asic_id(0)}")
        for number in (0, 1):
            self.tree.hold(number, [process.pid])
        used, other = self.devices()
        self.assertEqual((used["dram"]["used_bytes"], other["processes"]), (12 * MIB, []))
        self.assertEqual((other["state"], other["open_in"]), ("in_use", [process.pid]))
        self.assertTrue(self.json()["complete"])
        self.assertIn("open in 1 process, nothing reported here", self.ttmem().stdout)


class NotTracked(Machine):
    def setUp(self):
        super().setUp()
        self.add("n150", "n150")

    def test_the_process_is_listed_and_its_chips_figures_are_unknown(self):
        process = self.untracked({"TT_METAL_SHM_TRACKING_DISABLED": "1"})
        snapshot = self.json()
        used, idle = snapshot["devices"]
        [row] = used["processes"]
        self.assertEqual((row["pid"], row["source"], row["state"], row["dram_bytes"]),
                         (process.pid, "driver", "alive", None))
        self.assertIn("switched off", row["not_tracked"])
        self.assertIsNone(used["dram"]["used_bytes"])
        self.assertEqual(idle["dram"]["used_bytes"], 0)
        self.assertIs(snapshot["complete"], False)
        [warning] = snapshot["warnings"]
        self.assertIn(f"process {process.pid} ", warning)
        self.assertIn("ttmem run -- CMD", warning)
        for text in (self.ttmem().stdout, self.ttmem("top", "--once").stdout):
            self.assertIn("not tracked", text)
        process.kill()
        self.tree.hold(0, [])
        self.assertTrue(self.json()["complete"])

    def test_beside_a_tracked_process_the_sum_is_a_lower_bound(self):
        tracked = self.hold_calls(f"open_device(uid={self.tree.asic_id(0)})\n"
                                  "alloc(DRAM, 1, 1 << 20)")
        other = self.untracked(numbers=())
        self.tree.hold(0, [tracked.pid, other.pid])
        text = self.ttmem().stdout
        self.assertIn(">=12.0 MiB", text)
        self.assertNotIn(">=", text.split("Device 1:")[1].split("All 2 devices")[0])

    def reason(self):
        return self.only_process()["not_tracked"]

    def test_reasons(self):
        other = tempfile.TemporaryDirectory(prefix="ttmem-other-")
        self.addCleanup(other.cleanup)
        tracked = {"TT_ALLOC_TRACKING_ENABLED": "1"}
        odd = os.path.join(other.name, "x; echo y")
        os.mkdir(odd)
        for env, words, advice in (
                ({"TT_METAL_SHM_TRACKING_DISABLED": "1"}, "switched off", "ttmem run"),
                ({"TTMEM_DIR": other.name}, f"its TTMEM_DIR is {other.name}",
                 f"`TTMEM_DIR={other.name} ttmem`"),
                ({"TTMEM_DIR": odd}, "its TTMEM_DIR is", f"`TTMEM_DIR='{odd}' ttmem`"),
                ({**tracked, "TTMEM_DIR": ""}, "its TTMEM_DIR is /dev/shm", "`TTMEM_DIR=/dev/shm"),
                ({**tracked, "TTMEM_TRANSPORT": "socket"}, "does not answer", "ttmem serve"),
                ({"X": "x" * 100000, "TT_METAL_SHM_TRACKING_DISABLED": "1"}, "switched off",
                 "ttmem run"),
                ({}, "older than 2026", "ttmem run")):
            with self.subTest(words):
                process = self.untracked(env)
                self.assertIn(words, self.reason())
                self.assertIn(advice, self.json()["warnings"][0])
                process.kill()

    def test_a_process_whose_statistics_cannot_be_read(self):
        self.untracked()
        pathlib.Path(self.dir, "tt_device_7_memory").write_bytes(b"\x09" + b"\0" * 8575)
        self.assertIn("cannot be read", self.reason())

    def test_a_segment_that_was_deleted(self):
        library = self.tree.root / "libtt_metal.so"
        library.write_bytes(b"x" * 4096)
        process = self.hold_calls(
            f"import mmap\nfile = open({str(library)!r}, 'rb')\n"
            "kept = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)\n"
            f"open_device(uid={self.tree.asic_id(0)})")
        self.tree.hold(0, [process.pid])
        [name] = self.files()
        os.unlink(os.path.join(self.dir, name))
        self.assertIn("deleted", self.reason())

    def test_a_process_that_ended_and_left_the_chip_to_a_child(self):
        process = self.untracked()
        process.kill()
        self.tree.hold(0, [process.pid])  # the driver still names the process that opened the chip
        self.assertIn("has ended", self.reason())
        self.assertIs(self.json()["complete"], False)

    @unittest.skipIf(os.geteuid() != 0, "a mount namespace needs root")
    def test_a_process_with_another_shared_memory(self):
        process = self.untracked(before=["unshare", "--mount", "sh", "-c",
                                         f'mount -t tmpfs tmpfs {self.dir} && exec "$@"', "sh"])
        self.assertIn(f"another {self.dir}", self.reason())
        self.assertIn("--ipc=host", self.json()["warnings"][0])
        process.kill()

    def test_a_process_without_the_runtime_holds_nothing(self):
        self.untracked(source=NOT_LOADED)
        self.assertIn("no TT-Metal", self.reason())
        snapshot = self.json()
        self.assertEqual((snapshot["complete"], snapshot["warnings"]), (True, []))
        device = snapshot["devices"][0]
        self.assertEqual((device["state"], device["dram"]["used_bytes"]), ("idle", 0))
        self.assertEqual(device["untracked_processes"], 0)

    def test_a_process_of_another_pid_namespace(self):
        self.tree.hold(0, [0])
        row = self.only_process()
        self.assertEqual((row["pid"], row["host_pid"]), (None, None))
        self.assertIn("pid namespace", row["not_tracked"])
        self.assertRegex(self.ttmem().stdout, r"\n +\? ")

    @unittest.skipIf(os.geteuid() != 0, "becoming another user needs root")
    def test_the_view_of_another_user(self):
        process = self.untracked()
        for path in (self.tree.root.parent, self.tree.root):
            os.chmod(path, 0o755)
        os.chmod(self.dir, 0o1777)
        said = subprocess.run([TTMEM], env=self.env, text=True, capture_output=True,
                              timeout=DEADLINE_SECONDS, preexec_fn=become_nobody).stdout
        self.assertIn(f"process {process.pid} ", said)
        self.assertIn("run ttmem as root", " ".join(said.split()))

    def test_metrics_count_untracked_processes(self):
        self.untracked(numbers=(0, 1))
        self.serve()
        page = self.get("/metrics")
        for number in (0, 1):
            self.assertIn(f'ttmem_untracked_processes{{device="{number}",'
                          f'uid="{hex(self.tree.asic_id(number))}"}} 1\n', page)
        self.assertIn("ttmem_complete 0\n", page)


if __name__ == "__main__":
    unittest.main()
