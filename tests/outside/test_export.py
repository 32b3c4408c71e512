# SPDX-License-Identifier: Apache-2.0
"""`ttmem export`: the rules for every format, and the text formats. Readers that do not use ttmem
read each file. The sums in the file equal the sums of the recording."""

import ast
import collections
import csv
import importlib.util
import json
import pathlib
import re
import resource
import signal
import subprocess
import unittest

import recording_file
from export_case import SEEDS, ExportCase
from recording_file import KINDS, MEMORIES, Recording, random_recording
from support import DEADLINE_SECONDS, HERE, TTMEM, shown


class Files(ExportCase):
    def test_never_overwrites_unless_told(self):
        self.small()
        out = pathlib.Path(self.dir) / "out"
        out.write_text("mine")
        said = self.ttmem("export", self.path, "--format", "csv", "-o", out, code=1).stderr
        self.assertIn("is there already; -f overwrites it", said)
        self.assertEqual(out.read_text(), "mine")
        self.ttmem("export", self.path, "--format", "csv", "-o", out, "-f")
        self.assertIn("weights", out.read_text())
        self.assertEqual(self.files(), ["out", "run.ttmem"])

    def test_never_replaces_its_input(self):
        self.small()
        before = self.path.read_bytes()
        for out in (self.path, f"{self.dir}/./run.ttmem"):
            said = self.ttmem("export", self.path, "--format", "csv", "-f", "-o", out,
                              code=1).stderr
            self.assertIn("is the recording itself", said)
        self.assertEqual(self.path.read_bytes(), before)

    def test_standard_output(self):
        self.small()
        out, _ = self.export("csv")
        printed = self.ttmem("export", self.path, "--format", "csv", "-o", "-").stdout
        self.assertEqual(printed, out.read_text())
        self.ttmem("export", self.path, "--format", "csv", "-o", "/dev/null")

    def test_says_what_it_wrote_unless_to_standard_output_or_a_device(self):
        self.small()
        out, said = self.export("csv")
        self.assertEqual(said, f"ttmem: wrote {out}: {shown(out.stat().st_size)}\n")
        folder, said = self.export("ttnn-visualizer", name="folder")
        sizes = [file.stat().st_size for file in folder.iterdir()]
        self.assertIn(f"ttmem: wrote {folder}: {len(sizes)} files, {shown(sum(sizes))}\n", said)
        for silent in ("-", "/dev/null"):
            said = self.ttmem("export", self.path, "--format", "csv", "-o", silent).stderr
            self.assertEqual(said, "")

    def test_a_full_disk_leaves_nothing(self):
        recording = self.small()
        for number in range(3000):
            recording.allocate([1], "l1", number, 40 + number)
        self.save(recording)
        full = self.ttmem("export", self.path, "--format", "csv", "-o", "/dev/full", code=1).stderr
        self.assertIn("cannot write /dev/full: No space left on device", full)
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = subprocess.run([TTMEM, "export", self.path, "--format", "csv", "-o",
                                 f"{self.dir}/out"], preexec_fn=small, env=self.env, text=True,
                                capture_output=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("cannot write", result.stderr)
        self.assertEqual(self.files(), ["run.ttmem"])

    def test_an_interrupted_export_leaves_nothing(self):
        recording = self.small()
        for number in range(200_000):
            recording.allocate([1], "l1", 64, 40 + number, per_bank=8, banks=8, address=8 * number)
            recording.dispatch([1], (5,), 40 + number)
        self.save(recording)
        for form in ("perfetto", "ttnn-visualizer"):
            export = self.start_ttmem("export", self.path, "--format", form, "-o",
                                      f"{self.dir}/out")
            self.wait_for(lambda: len(self.files()) > 1, "the unfinished file")
            export.signal(signal.SIGINT)
            self.assertEqual(export.wait(), -signal.SIGINT)
            self.assertEqual(self.files(), ["run.ttmem"])

    def test_wrong_usage_is_refused(self):
        self.small()
        export = ("export", self.path, "--format", "csv")
        for arguments, code, words in (
                ((*export, "-o", f"{self.dir}/no/out"), 1, "No such file or directory"),
                ((*export, "-o", self.dir), 1, "Is a directory"),
                ((*export, "-o", "-", "--device", "0,9"), 1, "no device 9 in"),
                (("export", TTMEM, "--format", "csv", "-o", "-"), 1, "not a recording"),
                (("export", "nothing", "--format", "csv", "-o", "-"), 1, "No such file"),
                (("export", self.path, "-o", "-"), 2, "name a --format"),
                (("export", self.path, "--format", "cvs", "-o", "-"), 2, "did you mean csv?"),
                (("export", self.path, "--format", "csv"), 2, "-o OUT"),
                (("export", "--format", "csv", "-o", "-"), 2, "name a recording"),
                ((*export, "-o", "-", "--at", "noon"), 2, "12.5s, 300ms or 2m, or peak or end")):
            self.assertIn(words, self.ttmem(*arguments, code=code).stderr)

    def test_the_help_has_examples(self):
        self.assertIn("Examples:", self.ttmem("export", "--help").stdout)


class Collapsed(ExportCase):
    def stacks(self, *arguments):
        out, _ = self.export("collapsed", *arguments)
        lines = out.read_text().splitlines()
        found = {}
        for line in lines:
            stack, size = line.rsplit(" ", 1)
            self.assertNotIn(stack, found)
            found[stack] = int(size)
        return found

    def test_a_line_is_a_stack(self):
        self.small()
        self.assertEqual(self.stacks(), {
            "device blackhole;dram;model;decoder.0;attention;weights": 4096,
            "device blackhole;l1;model;activation": 1000})
        self.assertEqual(self.stacks("--at", "end"), {
            "device blackhole;dram;model;decoder.0;attention;weights": 4096})
        self.assertEqual(list(self.stacks("--kind", "l1").values()), [1000])

    def test_sums_equal_the_sums_of_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            at_peak, at_end = collections.Counter(), collections.Counter()
            for stack, size in self.stacks().items():
                at_peak[stack.split(";")[1]] += size
            for stack, size in self.stacks("--at", "end").items():
                at_end[stack.split(";")[1]] += size
            for kind in KINDS:
                memory = next(name for name, kinds in MEMORIES.items() if kind in kinds)
                peaks = sum(recording.held_by(devices, [kind], -recording.peak(devices, memory)[1])
                            for devices in recording.chips().values())
                self.assertEqual(at_peak[kind], peaks, (seed, kind))
                self.assertEqual(at_end[kind], recording.left([kind]), (seed, kind))
            for time in (0, 250_000, 999_000, 5_000_000):
                sums = collections.Counter()
                for stack, size in self.stacks("--at", f"{time}ns").items():
                    sums[stack.split(";")[1]] += size
                every = range(1, len(recording.devices) + 1)
                self.assertEqual({kind: sums[kind] for kind in KINDS},
                                 {kind: recording.held_by(every, [kind], time) for kind in KINDS})

    def test_leftovers_on_a_mesh_that_is_closed_one_by_one(self):
        recording = Recording()
        process = recording.process(7, "model", end=60)
        first = recording.device(process, 0, "0xa", end=50)
        second = recording.device(process, 1, "0xb", end=60)
        recording.allocate([first, second], "dram", 4096, 10, 50, "changed", label="weights")
        recording.allocate([second], "dram", 4096, 50, 60, "device_closed", label="weights")
        self.save(recording)
        self.assertEqual(self.stacks("--at", "end"), {"device blackhole;dram;model;weights": 8192})
        for number in ("0", "1"):
            self.assertEqual(sum(self.stacks("--at", "end", "--device", number).values()), 4096)

    def test_nothing_at_the_end(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        recording.allocate([device], "l1", 1000, 20, 30)
        self.save(recording)
        out, said = self.export("collapsed", "--at", "end")
        self.assertEqual(out.read_text(), "")
        self.assertIn("--at peak", said)


class Speedscope(ExportCase):
    def read(self, *arguments):
        out, _ = self.export("speedscope", *arguments)
        file = json.loads(out.read_text())
        self.check(file)
        return file

    def check(self, file):
        """Checks a file of sampled profiles against the rules of the published schema."""
        self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
        self.assertLessEqual(set(file), {"$schema", "shared", "profiles", "name",
                                         "activeProfileIndex", "exporter"})
        frames = file["shared"]["frames"]
        for frame in frames:
            self.assertLessEqual(set(frame), {"name", "file", "line", "col"})
            self.assertIsInstance(frame["name"], str)
        self.assertEqual(len({frame["name"] for frame in frames}), len(frames))
        self.assertIn(file["activeProfileIndex"], range(len(file["profiles"])))
        for profile in file["profiles"]:
            self.assertEqual(set(profile), {"type", "name", "unit", "startValue", "endValue",
                                            "samples", "weights"})
            self.assertEqual((profile["type"], profile["unit"], profile["startValue"]),
                             ("sampled", "bytes", 0))
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(profile["endValue"], sum(profile["weights"]))
            for sample in profile["samples"]:
                self.assertTrue(sample)
                self.assertTrue(all(number in range(len(frames)) for number in sample))

    def test_a_profile_for_each_peak_and_the_end(self):
        self.small()
        file = self.read()
        names = [frame["name"] for frame in file["shared"]["frames"]]
        profiles = {profile["name"]: profile for profile in file["profiles"]}
        self.assertEqual(list(profiles), ["device 0: peak of DRAM at 0.000 s",
                                          "device 0: peak of L1 at 0.000 s",
                                          "device 0: held at the end"])
        first = file["profiles"][0]
        self.assertEqual([names[number] for number in first["samples"][0]],
                         ["device blackhole", "dram", "model", "decoder.0", "attention", "weights"])

    def test_sums_equal_the_sums_of_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            sums = {profile["name"].split(" at ")[0]: profile["endValue"]
                    for profile in self.read()["profiles"]}
            expected = {}
            for (number, _), devices in recording.chips().items():
                for memory in MEMORIES:
                    expected[f"device {number}: peak of {memory}"] = \
                        recording.peak(devices, memory)[0]
                expected[f"device {number}: held"] = recording.left(KINDS, devices)
            self.assertEqual(sums, {name: size for name, size in expected.items() if size})

    def test_an_empty_recording_can_be_opened(self):
        self.save(Recording())
        self.assertEqual(self.read()["profiles"][0]["samples"], [])

    def test_invalid_utf8_is_replaced(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        recording.allocate([device], "l1", 1000, 20, label="bad?")
        self.save(recording)
        with recording_file.sqlite3.connect(self.path) as file:
            file.execute("UPDATE texts SET text = CAST(x'62ff64' AS TEXT)")
        file.close()
        self.assertIn("b\ufffdd", [frame["name"] for frame in self.read()["shared"]["frames"]])


class CsvCase(ExportCase):
    def rows(self, *arguments):
        out, _ = self.export("csv", *arguments)
        with open(out, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, strict=True))


class Csv(CsvCase):
    def test_a_row_for_each_allocation(self):
        self.small()
        first, second = self.rows()
        self.assertEqual(first, {
            "pid": "7", "process": "model", "device": "0", "kind": "dram", "label": "weights",
            "scope": "decoder.0/attention", "number": "1000", "program": "", "address": "64",
            "bytes": "4000", "bytes_per_bank": "512", "banks": "8", "used_bytes": "4096",
            "cores": "", "begin_ns": "10", "end_ns": "", "ending": ""})
        self.assertEqual((second["used_bytes"], second["end_ns"], second["address"]),
                         ("1000", "30", ""))

    def test_rows_equal_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            expected = []
            for life in recording.lives:
                pid, process, number, _, _ = recording.devices[life.device - 1]
                sizes = [life.bytes] if life.cbs is None else [
                    0 if is_global else size * len(cores)
                    for _, size, cores, is_global in life.cbs]
                end = "" if life.end is None else str(life.end)
                expected += [(str(pid), process, str(number), life.kind, life.label or "",
                              life.scope or "", str(size), str(life.begin), end) for size in sizes]
            names = ("pid", "process", "device", "kind", "label", "scope", "used_bytes", "begin_ns",
                     "end_ns")
            rows = self.rows()
            self.assertEqual(sorted(tuple(row[name] for name in names) for row in rows),
                             sorted(expected))
            begins = [int(row["begin_ns"]) for row in rows]
            self.assertEqual(begins, sorted(begins))
            self.assertEqual({row["device"] for row in self.rows("--device", "1,3")}, {"1", "3"})
            self.assertEqual({row["device"] for row in self.rows("--device", "0xb3")}, {"3"})


class NeverFreed(CsvCase):
    """The example in the guide: what was never freed, by kind, scope and label."""
    LARGE = 2**60 + 1  # a float does not hold this id exactly

    def setUp(self):
        super().setUp()
        recording = Recording()
        device = recording.device(recording.process(7, "model", end=900), 0, end=900)
        place = {"per_bank": 512, "banks": 8}
        recording.allocate([device], "dram", 4000, 10, 900, "device_closed", label="weights",
                           scope="decoder.0", **place)
        recording.allocate([device], "dram", 4000, 20, 30, label="weights", scope="decoder.0",
                           **place)
        recording.allocate([device], "l1", 100, 40, 900, "process_ended")
        recording.place(device, self.LARGE, [(110_000, 2048, (0, 1), False)], 50, 900,
                        "device_closed", name="matmul")
        first, *others = recording.rows["allocations"]
        recording.rows["allocations"] = [(*first[:3], -3, *first[4:]), *others]  # 2**64 - 3
        self.save(recording)
        self.sums = {("cb", "", "matmul"): 4096, ("dram", "decoder.0", "weights"): 4096,
                     ("l1", "", ""): 100}
        self.ids = [(str(2**64 - 3), ""), ("1001", ""), ("1002", ""), ("", str(self.LARGE))]

    def test_the_file_has_what_the_example_needs(self):
        sums = collections.Counter()
        for row in self.rows():
            if not row["end_ns"] or row["ending"] in ("device_closed", "process_ended"):
                sums[row["kind"], row["scope"], row["label"]] += int(row["used_bytes"])
        self.assertEqual(sums, self.sums)
        self.assertEqual([(row["number"], row["program"]) for row in self.rows()], self.ids)

    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "pandas is not installed")
    def test_the_example_works_as_printed(self):
        out, _ = self.export("csv", name="run.csv")
        guide = (HERE.parents[1] / "docs" / "guides" / "export.md").read_text(encoding="utf-8")
        (example,) = re.findall("^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
        *lines, result = ast.parse(example.replace("run.csv", str(out))).body
        names = {}
        exec(compile(ast.Module(lines, []), "export.md", "exec"), names)
        sums = eval(compile(ast.Expression(result.value), "export.md", "eval"), names)
        self.assertEqual({tuple("" if part != part else part for part in key): size
                          for key, size in sums.items()}, self.sums)
        run = names["run"].fillna({"number": "", "program": ""})
        self.assertEqual(list(zip(run.number, run.program)), self.ids)


if __name__ == "__main__":
    unittest.main()
