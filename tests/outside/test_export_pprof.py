# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --format pprof`, read by gzip and protoc."""

import collections
import gzip
import unittest

import proto_text
from export_case import SEEDS, ExportCase
from recording_file import KINDS, MEMORIES, random_recording

SCHEMA = """
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
  repeated Function function = 5; repeated string string_table = 6; int64 time_nanos = 9;
  int64 duration_nanos = 10; repeated int64 comment = 13; int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
message Location { uint64 id = 1; repeated Line line = 4; }
message Line { uint64 function_id = 1; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; }
"""
TYPES = ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_objects",
         "peak_space"]


class Pprof(ExportCase):
    def read(self, *arguments):
        """Returns the samples of a profile as [(stack from the root, labels, values by type)], and
        checks the rules of pprof."""
        out, _ = self.export("pprof", *arguments)
        packed = out.read_bytes()
        self.assertEqual(packed[:2], b"\x1f\x8b")
        profile = proto_text.decode(gzip.decompress(packed), SCHEMA, "Profile")
        texts = profile["string_table"]
        self.assertEqual(texts[0], "")
        self.assertEqual(len(set(texts)), len(texts))
        units = [(texts[kind.one("type")], texts[kind.one("unit")])
                 for kind in profile["sample_type"]]
        self.assertEqual(units, [(name, "count" if "objects" in name else "bytes")
                                 for name in TYPES])
        self.assertEqual(texts[profile.one("default_sample_type")], "peak_space")
        names = {function.one("id"): texts[function.one("name")]
                 for function in profile["function"]}
        frames = {place.one("id"): names[place.one("line").one("function_id")]
                  for place in profile["location"]}
        for ids in (names, frames):
            self.assertNotIn(0, ids)
            self.assertNotIn(None, ids)
        self.assertEqual((len(names), len(frames)),
                         (len(profile["function"]), len(profile["location"])))
        self.profile = profile
        return [self.sample(sample, frames, texts) for sample in profile["sample"]]

    def sample(self, sample, frames, texts):
        labels = {texts[label.one("key")]: texts[label.one("str")] if "str" in label
                  else label.one("num", 0) for label in sample["label"]}
        self.assertFalse([key for key in labels if key.startswith("pprof::")])
        self.assertEqual(len(sample["value"]), len(TYPES))
        stack = tuple(frames[place] for place in reversed(sample["location_id"]))
        return stack, labels, dict(zip(TYPES, sample["value"]))

    def test_a_sample(self):
        self.small()
        weights, activation = sorted(self.read(), key=lambda sample: sample[1]["kind"])
        self.assertEqual(weights, (
            ("device blackhole", "dram", "model", "decoder.0", "attention", "weights"),
            {"device": "0", "pid": "7", "kind": "dram", "bytes": 4096},
            dict(zip(TYPES, (1, 4096, 1, 4096, 1, 4096)))))
        self.assertEqual(list(activation[2].values()), [1, 1000, 0, 0, 1, 1000])
        self.assertEqual(self.profile.one("time_nanos"), 1_790_000_000_000_000_000)
        self.assertEqual(self.profile.one("duration_nanos"), 1_000_000)

    def test_sums_equal_the_sums_of_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            sums = collections.Counter()
            for stack, labels, values in self.read():
                self.assertEqual(stack[1], labels["kind"])
                for name, value in values.items():
                    sums[labels["device"], labels["kind"], name] += value
            for (number, _), devices in recording.chips().items():
                for kind in KINDS:
                    self.check(recording, sums, str(number), devices, kind)

    def check(self, recording, sums, number, devices, kind):
        lives = [life for life in recording.lives if life.device in devices and life.kind == kind]
        memory = next(name for name, kinds in MEMORIES.items() if kind in kinds)
        peak = -recording.peak(devices, memory)[1]
        expected = {"alloc_objects": len(lives),
                    "alloc_space": sum(life.own_bytes() for life in lives),
                    "inuse_space": recording.left([kind], devices),
                    "peak_objects": sum(life.lives_at(peak) for life in lives),
                    "peak_space": recording.held_by(devices, [kind], peak)}
        for name, value in expected.items():
            self.assertEqual(sums[number, kind, name], value, (number, kind, name))

    def test_the_same_recording_gives_the_same_file(self):
        self.save(random_recording(1))
        first, _ = self.export("pprof", name="first")
        second, _ = self.export("pprof", name="second")
        self.assertEqual(first.read_bytes(), second.read_bytes())


if __name__ == "__main__":
    unittest.main()
