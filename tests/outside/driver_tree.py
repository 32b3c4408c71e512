# SPDX-License-Identifier: Apache-2.0
"""Writes the files of the kernel driver as a tree for TTMEM_SYSROOT. Names, units and formats
follow tt-kmd: chardev.c, telemetry.c, wormhole.c, blackhole.c, docs/sysfs-attributes.md."""

import os
import pathlib
import shutil

# PCI device id and name of the sensors, for each architecture.
WORMHOLE = ("0x401e", "wormhole")
BLACKHOLE = ("0xb140", "blackhole")
ARCH = {"n150": WORMHOLE, "n300": WORMHOLE, "galaxy-wormhole": WORMHOLE, "p100a": BLACKHOLE,
        "p150a": BLACKHOLE, "p150b": BLACKHOLE, "p300a": BLACKHOLE, "galaxy-blackhole": BLACKHOLE}


class DriverTree:
    MAJOR = 240

    def __init__(self, root, version="2.5.0"):
        self.root = pathlib.Path(root)
        (self.root / "dev/tenstorrent/by-id").mkdir(parents=True)
        (self.root / "sys/class/tenstorrent").mkdir(parents=True)
        (self.root / "proc/driver/tenstorrent").mkdir(parents=True)
        module = self.root / "sys/module/tenstorrent"
        module.mkdir(parents=True)
        (module / "version").write_text(version + "\n")
        self.count = 0

    def add(self, card, temperature=41.5, power=18, clock=500):
        """Adds a chip with the files of recent firmware. Returns its number."""
        number = self.count
        self.count += 1
        device, name = ARCH[card]
        bus_id = f"0000:{number + 1:02x}:00.0"
        pci = self.root / f"sys/devices/pci0000:00/{bus_id}"
        hwmon = pci / f"hwmon/hwmon{number + 3}"
        hwmon.mkdir(parents=True)
        (pci / "device").write_text(device + "\n")
        (pci / "vendor").write_text("0x1e52\n")
        folder = pci / f"tenstorrent/tenstorrent!{number}"
        folder.mkdir(parents=True)
        (folder / "device").symlink_to(f"../../../{bus_id}")
        (self.root / f"sys/class/tenstorrent/tenstorrent!{number}").symlink_to(
            f"../../devices/pci0000:00/{bus_id}/tenstorrent/tenstorrent!{number}")
        for file, text in {"tt_aiclk": clock, "tt_axiclk": 900, "tt_arcclk": 540,
                           "tt_serial": f"{self.serial(number):016X}",
                           "tt_card_type": card,
                           "tt_asic_id": f"{self.asic_id(number):016X}",
                           "tt_fw_bundle_ver": "19.4.2.0", "tt_heartbeat": 4711,
                           "dev": f"{self.MAJOR}:{number}"}.items():
            (folder / file).write_text(f"{text}\n")
        for file, text in {"name": name, "temp1_input": round(temperature * 1000),
                           "temp1_label": "asic_temp", "temp1_max": 100000, "in0_input": 850,
                           "curr1_input": 21000, "power1_input": power * 1000000,
                           "power1_max": 160000000}.items():
            (hwmon / file).write_text(f"{text}\n")
        (self.root / f"dev/tenstorrent/{number}").write_text("")
        self.hold(number, [])
        return number

    @staticmethod
    def asic_id(number):
        return 0x5A1B00000000A000 + number

    @staticmethod
    def serial(number):
        return 0x1000186119020000 + number

    def folder(self, number):
        return self.root / f"sys/class/tenstorrent/tenstorrent!{number}"

    def hwmon(self, number):
        return next((self.folder(number) / "device/hwmon").iterdir())

    def node(self, number):
        return self.root / f"dev/tenstorrent/{number}"

    def hold(self, number, pids):
        """Writes the driver's list of the processes that have the chip open. A process that opened
        the chip twice is listed twice."""
        folder = self.root / f"proc/driver/tenstorrent/{number}"
        folder.mkdir(exist_ok=True)
        (folder / "pids").write_text("".join(f"{pid}\n" for pid in pids))

    def reset(self, number):
        """Imitates firmware that does not answer: reading a file with a value of the firmware fails
        with EIO."""
        for file in [*self.folder(number).glob("tt_*"), *self.hwmon(number).glob("*_input")]:
            file.unlink()
            file.symlink_to("/proc/self/mem")

    def fall_off_the_bus(self, number):
        """Imitates a chip that the PCI bus no longer reaches: every value reads as all ones,
        without an error."""
        for file, text in {"tt_asic_id": "F" * 16, "tt_serial": "F" * 16, "tt_card_type": "unknown",
                           "tt_aiclk": 0xffffffff}.items():
            (self.folder(number) / file).write_text(f"{text}\n")
        (self.hwmon(number) / "temp1_input").write_text("65535999\n")
        (self.hwmon(number) / "power1_input").write_text("4293967296\n")

    def make_older(self):
        """Imitates a driver without telemetry in /sys and without the list of pids."""
        for number in range(self.count):
            for file in self.folder(number).glob("tt_*"):
                file.unlink()
        shutil.rmtree(self.root / "proc")
        (self.root / "sys/module/tenstorrent/version").write_text("1.29\n")
