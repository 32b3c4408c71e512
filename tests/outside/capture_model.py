# SPDX-License-Identifier: Apache-2.0
"""Computes the memory that is held after the lines of a capture, in the simplest way: core by core
and byte range by byte range."""

import collections
import json

IN_L1 = ("L1", "L1_SMALL")

# The state of each capture just before its first program_unregister, as the README of the captures
# states it. The values are: the number of lines before this program_unregister; physical bytes of
# CBs; logical bytes of CBs; most bytes of CBs on one core, overlaps counted once; number of
# programs; and (logical, physical) bytes of DRAM, of L1 and of L1_SMALL. None: the README does not
# state the value for every device.
TABLE = {
    "basic_wh1": (15, 671744, 671744, 28672, 1, (18087936, 18137088), (393216, 786432),
                  (131072, 131072)),
    "basic_bh1": (15, 860160, 860160, 28672, 1, (18087936, 18087936), (393216, 1351680),
                  (225280, 225280)),
    "mesh_wh8": (78, 638976, 638976, 28672, 1, (18087936, 18137088), (393216, 802816),
                 (114688, 114688)),
    "relayout_wh1": (17, 4194304, 5373952, 65536, 2, (0, 0), (262144, 1048576), (0, 0)),
    "submesh_wh8": (71, 245760, 262144, 8192, 2, None, None, (0, 0)),
    "model_wh1": (909, 13643776, 258473984, 262144, 120, (488767488, 489369600),
                  (1572864, 2359296), (0, 0)),
}


def cores_of(rectangles):
    return {(x, y) for x0, y0, x1, y1 in rectangles
            for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)}


def union_bytes(ranges):
    total, end = 0, 0
    for first, last in sorted(ranges):
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total


class Device:
    def __init__(self, facts):
        self.facts = facts
        self.buffers = {}   # id -> event
        self.programs = {}  # program -> list of cb_alloc events
        self.ending = set()  # programs that ended on this device but live on other devices

    def physical(self, buffer):
        """Returns the physical bytes of a buffer. The allocator works in lockstep: a buffer takes
        the same bytes of every bank, even of banks that hold none of its data."""
        in_l1 = buffer["type"] in IN_L1
        banks = self.facts["grid"][0] * self.facts["grid"][1] if in_l1 \
            else self.facts["dram_channels"]
        return buffer["bytes_per_bank"] * banks

    def data(self, kind):
        """Returns the bytes of the buffers of this type. Counts only the cores that hold data of a
        buffer."""
        return sum(buffer["bytes_per_bank"] * len(cores_of(buffer["cores"])) if buffer["cores"]
                   else self.physical(buffer)
                   for buffer in self.buffers.values() if buffer["type"] == kind)

    def headroom(self):
        """Returns {core: bytes from the end of its CBs to the lowest L1 buffer of the device}."""
        facts, ends = self.facts, {}
        for cbs in self.programs.values():
            for cb in cbs:
                for core in () if cb["globally_allocated"] else cores_of(cb["cores"]):
                    ends[core] = max(ends.get(core, 0), cb["addr"] + cb["size"])
        lowest = min((b["addr"] for b in self.buffers.values() if b["type"] == "L1"),
                     default=facts["l1_base"] + facts["l1_bank_bytes"])
        return {(x, y): lowest - ends.get((x, y), facts["l1_base"])
                for x in range(facts["grid"][0]) for y in range(facts["grid"][1])}

    def bytes_of(self, kind):
        """Returns (logical, physical) bytes of the buffers of this type."""
        held = [buffer for buffer in self.buffers.values() if buffer["type"] == kind]
        return sum(b["size"] for b in held), sum(self.physical(b) for b in held)

    def cb_by_core(self):
        """Returns {core: (bytes of the CBs with overlaps counted once, sum of the CBs' sizes)}."""
        ranges = collections.defaultdict(list)
        for cbs in self.programs.values():
            for cb in cbs:
                if not cb["globally_allocated"]:
                    for core in cores_of(cb["cores"]):
                        ranges[core].append((cb["addr"], cb["addr"] + cb["size"]))
        return {core: (union_bytes(on_core), sum(end - first for first, end in on_core))
                for core, on_core in ranges.items()}

    def overlapping(self):
        """Returns True if two live buffers share bytes of one bank."""
        held = list(self.buffers.values())
        for i, one in enumerate(held):
            for other in held[i + 1:]:
                if (one["type"] == other["type"]
                        and one["addr"] < other["addr"] + other["bytes_per_bank"]
                        and other["addr"] < one["addr"] + one["bytes_per_bank"]):
                    return True
        return False


class Model:
    """The state after the lines passed to feed()."""

    def __init__(self):
        self.devices = {}

    def feed(self, line):
        event = json.loads(line)
        kind = event["ev"]
        if kind == "device":
            self.devices[event["device"]] = Device(event)
        elif kind in ("buffer_alloc", "buffer_free"):
            for chip in event.get("chips", [event.get("device")]):
                if kind == "buffer_alloc":
                    self.devices[chip].buffers[event["id"]] = event
                else:
                    del self.devices[chip].buffers[event["id"]]
        elif kind == "program_layout":
            self.devices[event["device"]].programs[event["program"]] = []
        elif kind == "cb_alloc":
            self.devices[event["device"]].programs[event["program"]].append(event)
        elif kind == "program_unregister":
            self.end_program(event["program"], self.devices[event["device"]])

    def end_program(self, program, device):
        del device.programs[program]
        device.ending.add(program)
        if not any(program in other.programs for other in self.devices.values()):
            for other in self.devices.values():
                other.ending.discard(program)


def lines_of(path):
    return path.read_text().splitlines()


def after(lines):
    model = Model()
    for line in lines:
        model.feed(line)
    return model
