# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --format perfetto`, read by protoc."""

import collections
import unittest

import proto_text
from export_case import SEEDS, ExportCase
from recording_file import MEMORIES, Recording, random_recording

SCHEMA = """
syntax = "proto2";
message Trace { repeated Packet packet = 1; }
message Packet {
  optional uint64 timestamp = 8; optional uint32 sequence_id = 10; optional Event event = 11;
  optional Track track = 60;
}
message Track {
  optional uint64 uuid = 1; optional string name = 2; optional Process process = 3;
  optional uint64 parent_uuid = 5; optional Counter counter = 8; optional int32 child_ordering = 11;
  optional int32 sibling_order_rank = 12; optional string description = 14;
}
message Process { optional int32 pid = 1; repeated string cmdline = 2; optional string name = 6; }
message Counter { optional int32 unit = 3; optional string y_axis_share_key = 7; }
message Event {
  repeated Annotation annotation = 4; optional int32 type = 9; optional uint64 track_uuid = 11;
  repeated string categories = 22; optional string name = 23; optional int64 counter_value = 30;
  optional Callstack callstack = 55; optional double callstack_weight = 57;
}
message Annotation { optional uint64 uint = 3; optional string string = 6; optional string name = 10; }
message Callstack { repeated Frame frames = 1; }
message Frame { optional string function_name = 1; }
"""
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
COUNTERS = {"DRAM": ("dram",), "L1 buffers": ("l1",), "L1_SMALL": ("l1_small",),
            "Trace": ("trace",), "CB": ("cb",), "Kernels": ("kernel",),
            "Host memory": ("system",), "L1": MEMORIES["L1"]}


class Trace:
    """The tracks and events of a file. Checks the rules of Perfetto while it reads the file."""

    def __init__(self, test, data):
        self.tracks, self.instants, self.slices = {}, [], []
        self.counters = collections.defaultdict(list)
        pending, pids = {}, set()
        for packet in proto_text.decode(data, SCHEMA, "Trace")["packet"]:
            test.assertGreater(packet.one("sequence_id"), 0)
            if "track" in packet:
                track = packet.one("track")
                test.assertNotIn(track.one("uuid"), (0, None, *self.tracks))
                test.assertIn(track.one("parent_uuid"), (None, *self.tracks))
                if "process" in track:
                    pid = track.one("process").one("pid")
                    test.assertTrue(pid > 0 and pid not in pids)
                    pids.add(pid)
                self.tracks[track.one("uuid")] = track
                continue
            event, time = packet.one("event"), packet.one("timestamp")
            track = event.one("track_uuid")
            test.assertIn(track, self.tracks)  # described earlier in the file
            test.assertEqual(event.one("type") == COUNTER, "counter" in self.tracks[track])
            if event.one("type") == COUNTER:
                self.counters[track].append((time, event.one("counter_value")))
            elif event.one("type") == BEGIN:
                test.assertNotIn(track, pending)  # one slice at a time, because slices cannot nest
                pending[track] = (time, event)
            elif event.one("type") == END:
                begin, event = pending.pop(track)
                test.assertGreaterEqual(time, begin)
                self.slices.append((track, begin, time, event))
            else:
                self.instants.append((track, time, event.one("name")))
        test.assertFalse(pending)

    def path(self, track):
        """Returns the names of a track and of all tracks above it."""
        about = self.tracks[track]
        name = about.one("name") or about.one("process").one("name")
        parent = about.one("parent_uuid")
        return (*self.path(parent), name) if parent else (name,)


class Perfetto(ExportCase):
    def read(self, *arguments):
        out, self.said = self.export("perfetto", *arguments)
        return Trace(self, out.read_bytes())

    def test_slices_counters_and_instants(self):
        recording = self.small()
        recording.place(1, 5, [(110_000, 2048, (0, 1), False)], 40, 50, name="matmul")
        recording.dispatch([1], (5,), 45)
        recording.mark(1, "iteration", 46)
        self.save(recording)
        trace = self.read()
        device = "device 0: p150 (blackhole)"
        slices = {trace.path(track): (begin, end, event) for track, begin, end, event in trace.slices}
        self.assertEqual({path: (begin, end) for path, (begin, end, _) in slices.items()}, {
            (device, "DRAM buffers"): (10, 1_000_000), (device, "L1 buffers, each"): (20, 30),
            (device, "Programs"): (40, 50)})
        event = slices[device, "DRAM buffers"][2]
        self.assertEqual(event.one("name"), "weights")
        self.assertEqual([frame.one("function_name") for frame in event.one("callstack")["frames"]],
                         ["device blackhole", "dram", "model", "decoder.0", "attention", "weights"])
        self.assertEqual(event.one("callstack_weight"), 4096)
        self.assertEqual({about.one("name"): about.one("uint") for about in event["annotation"]},
                         {"bytes": 4096, "address": 64, "pid": 7})
        self.assertEqual([(trace.path(track), time, name) for track, time, name in trace.instants],
                         [((device, "Dispatches"), 45, "matmul"), (("model",), 46, "iteration")])
        counters = {trace.path(track)[1]: values for track, values in trace.counters.items()}
        self.assertEqual(counters["L1"], [(0, 0), (20, 1000), (30, 0), (40, 4096), (50, 0)])
        self.assertEqual(counters["CB resident"], [(0, 0), (45, 4096), (50, 0)])
        self.assertEqual(counters["Trace"], [(0, 0)])

    def test_unreported_kinds_have_no_counter(self):
        recording = Recording()
        recording.device(recording.process(7, "model"), 0, known_kinds=1, resident_known=0)
        self.save(recording)
        trace = self.read()
        self.assertEqual([trace.path(track)[1] for track in trace.counters], ["DRAM"])

    def test_counters_equal_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            trace = self.read()
            for track, values in trace.counters.items():
                device, name = trace.path(track)
                if name == "CB resident":
                    continue
                number = int(device.split(":")[0].split()[1])
                rows = next(rows for chip, rows in recording.chips().items() if chip[0] == number)
                self.assertEqual([time for time, _ in values], sorted({time for time, _ in values}))
                for time in (0, *recording.moments()):
                    shown = [value for at, value in values if at <= time]
                    if shown:
                        self.assertEqual(shown[-1], recording.held_by(rows, COUNTERS[name], time),
                                         (seed, device, name, time))

    def test_slices_equal_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            trace = self.read()
            shown = sorted((int(trace.path(track)[0].split(":")[0].split()[1]), begin, end,
                            event.one("callstack_weight"))
                           for track, begin, end, event in trace.slices
                           if event["categories"] != ["gap"])
            expected = sorted((recording.devices[life.device - 1][2], life.begin,
                               1_000_000 if life.end is None else life.end, life.own_bytes())
                              for life in recording.lives)
            self.assertEqual(shown, expected)
            gaps = [(trace.path(track), begin, end) for track, begin, end, event in trace.slices
                    if event["categories"] == ["gap"]]
            self.assertEqual(gaps, [(("serv;er", "Lost events"), 700_000, 710_000)])

    def test_too_many_slices_at_once(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        for number in range(1003):
            recording.allocate([device], "l1", 10, number)
        self.save(recording)
        trace = self.read()
        self.assertEqual(len(trace.slices), 1000)
        self.assertIn("3 allocations and programs are not drawn", self.said)
        self.assertEqual(max(value for values in trace.counters.values() for _, value in values),
                         10_030)

    def test_a_time_before_the_recording(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model", begin=-50), 0, begin=-40)
        recording.allocate([device], "l1", 10, -30, -20)
        recording.allocate([device], "l1", 10, -10)
        self.save(recording)
        self.assertEqual([(begin, end) for _, begin, end, _ in self.read().slices],
                         [(0, 0), (0, 1_000_000)])


if __name__ == "__main__":
    unittest.main()
