# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --format memory-viz`, read by Python's pickle and json, and checked against the
rules of the viewer (memory_snapshot.py)."""

import json
import pickle
import random
import unittest

import memory_snapshot
from export_case import SEEDS, ExportCase
from recording_file import KINDS, MEMORIES, Recording, random_recording


class MemoryViz(ExportCase):
    def read(self, *arguments):
        out, self.said = self.export("memory-viz", *arguments, name="run.pickle")
        data = out.read_bytes()
        snapshot = pickle.loads(data)
        self.assertEqual(memory_snapshot.unpickle(data), snapshot)
        return snapshot

    def assert_totals(self, recording, history, devices):
        """Checks that the largest total of each memory in the file is the peak of that memory."""
        for memory, kinds in MEMORIES.items():
            shown = max((sum(totals.get(kind, 0) for kind in kinds) for totals in history),
                        default=0)
            self.assertEqual(shown, recording.peak(devices, memory)[0], memory)

    def test_an_allocation(self):
        self.small()
        snapshot = self.read()
        memory_snapshot.check(self, snapshot)
        first, alloc, other, requested, completed = snapshot["device_traces"][0]
        self.assertEqual([frame["name"] for frame in alloc["frames"]],
                         ["weights", "attention", "decoder.0", "model", "dram", "device blackhole"])
        self.assertEqual((alloc["size"], alloc["category"], alloc["time_us"]),
                         (4096, "dram", 1_790_000_000_000_000))
        self.assertEqual(other["frames"], completed["frames"])
        # The segment contains the 8 banks one after the other: address 64 in each bank becomes
        # address 8 * 64 in the segment.
        dram = next(segment for segment in snapshot["segments"]
                    if segment["total_size"] == 8 * 4 * 1024**3)
        self.assertEqual(alloc["addr"] - dram["address"], 512)
        self.assertEqual(snapshot["allocator_settings"]["command"], "model --layers 2")
        self.assertEqual(snapshot["allocator_settings"]["GPU 0"], "device 0, p150, blackhole")

    def test_json_is_the_same(self):
        self.save(random_recording(1))
        snapshot = self.read()
        out, _ = self.export("memory-viz", name="run.json")
        del snapshot["shared"]
        self.assertEqual(json.loads(out.read_text()), snapshot)

    def test_sums_equal_the_sums_of_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            snapshot = self.read()
            histories, live = memory_snapshot.check(self, snapshot)
            self.assertEqual(len(histories), 4)
            for (number, _), devices in recording.chips().items():
                self.assert_totals(recording, histories[number], devices)
                for kind in KINDS:
                    self.assertEqual(sum(size for (device, _), (size, category) in live.items()
                                         if device == number and category == kind),
                                     recording.held_by(devices, [kind], 1_000_000))

    def test_taken_unknown_and_absurd_addresses(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0)
        again = recording.device(recording.process(8, "other"), 0)
        place = {"per_bank": 512, "banks": 8}
        for number, address in enumerate((0, 0, 256, None, 2**63 - 1, 2**41, 512)):
            recording.allocate([device], "dram", 4096, number, address=address, **place)
        recording.allocate([again], "dram", 4096, 10, address=0, **place)
        recording.allocate([device], "l1", 0, 11, address=0, per_bank=0, banks=8)
        self.save(recording)
        snapshot = self.read()
        _, live = memory_snapshot.check(self, snapshot)
        self.assertEqual(sum(size for size, _ in live.values()), 8 * 4096)

    def test_what_was_left_stays_allocated(self):
        recording = Recording()
        model = recording.process(7, "model", end=900)
        devices = [recording.device(model, number, end=900 + number) for number in range(2)]
        place = {"per_bank": 512, "banks": 8}
        for number, device in enumerate(devices):
            closed = 900 + number
            recording.allocate([device], "dram", 4096, 10, closed, "device_closed", address=0,
                               **place)
            recording.allocate([device], "l1", 4096, 20, closed, "process_ended", address=0,
                               **place)
            recording.allocate([device], "l1", 4096, 30, 40, address=512, **place)
            recording.place(device, 5, [(110_000, 2048, (0, 1), False)], 50, closed,
                            "device_closed")
        self.save(recording)
        _, live = memory_snapshot.check(self, self.read())
        self.assertEqual(sorted((device, category, size)
                                for (device, _), (size, category) in live.items()),
                         sorted((device, *held) for device in range(2)
                                for held in (("dram", 4096), ("l1", 4096), ("cb", 4096))))

    def test_what_was_left_is_gone_where_others_use_the_chip(self):
        recording = Recording()
        place = {"per_bank": 512, "banks": 8, "address": 0}
        for number, (begin, end) in enumerate(((0, 300), (100, 200), (400, 500))):
            process = recording.process(7 + number, "model", begin, end)
            device = recording.device(process, 0, "0xa0", begin=begin, end=end)
            recording.allocate([device], "dram", 4096, begin, end, "device_closed", **place)
        self.save(recording)
        (history,), live = memory_snapshot.check(self, self.read())
        self.assertEqual([totals["dram"] for totals in history],
                         [4096, 8192, 8192, 4096, 4096, 0, 4096])
        self.assertEqual([size for size, _ in live.values()], [4096])

    def test_two_chips_of_one_number(self):
        recording = Recording()
        process = recording.process(7, "model")
        for uid in ("0xa", "0xb"):
            device = recording.device(process, 3, uid)
            recording.allocate([device], "dram", 4096, 0)
        self.save(recording)
        snapshot = self.read()
        memory_snapshot.check(self, snapshot)
        self.assertEqual([len(trace) for trace in snapshot["device_traces"]], [2, 2])

    def test_every_peak_is_exact_after_thinning(self):
        chance = random.Random(1)
        recording = Recording()
        closed = 1_200_000
        device = recording.device(recording.process(7, "model", end=closed), 0, end=closed)
        for number in range(100_000):
            begin = 10 * number
            lasting = chance.choice((1, 5, 5, 5, 5, 5000, 100_000 if number % 100 == 0 else 9))
            left = chance.random() < 0.001
            recording.allocate([device], chance.choice(("dram", "l1")), chance.randrange(1, 99),
                               begin, closed if left else begin + lasting,
                               "device_closed" if left else None)
            if number % 1000 == 0:
                cbs = [(110_000, chance.randrange(1, 9999), (0, 1), False)]
                recording.place(device, number, cbs, begin, begin + 7000)
        self.save(recording)
        snapshot = self.read()
        self.assertIn("allocations are left out", self.said)
        self.assertIn("Every peak is exact", self.said)
        self.assertGreater(snapshot["allocator_settings"]["left out"], 0)
        (history,), live = memory_snapshot.check(self, snapshot)
        self.assertLess(len(history), 200_000)
        self.assertGreater(len(history), 50_000)
        for memory in ("DRAM", "L1"):
            shown = max(sum(totals.get(kind, 0) for kind in MEMORIES[memory])
                        for totals in history)
            self.assertEqual(shown, peak(recording, MEMORIES[memory]))
        self.assertEqual(sum(size for size, _ in live.values()),
                         sum(life.bytes for life in recording.lives if life.end == closed))


def peak(recording, kinds):
    """Returns the peak of these kinds, computed in one pass over a recording of one device. The
    programs of the recording must not be live at the same time."""
    changes = {}
    for life in recording.lives:
        if life.kind in kinds and life.end != life.begin:
            changes[life.begin] = changes.get(life.begin, 0) + life.own_bytes()
            if life.end is not None:
                changes[life.end] = changes.get(life.end, 0) - life.own_bytes()
    total = largest = 0
    for _, change in sorted(changes.items()):
        total += change
        largest = max(largest, total)
    return largest


if __name__ == "__main__":
    unittest.main()
