# SPDX-License-Identifier: Apache-2.0
"""`ttmem replay`: replays captures of the real runtime. The tests check the figures of every
device."""

import collections
import os
import pathlib
import signal
import subprocess
import unittest

import capture_model
from support import CAPTURES, TTMEM, Case, is_sanitized


class Replay(Case):
    def replay(self, capture, lines=None):
        """Starts a replay of this number of lines of the capture, or of all lines. Returns when the
        replay holds its state."""
        only = () if lines is None else ("--lines", lines)
        held = self.start_ttmem("replay", CAPTURES / f"{capture}.jsonl", *only, "--hold")
        held.line("stderr")
        return held

    def stop(self, held):
        held.signal(signal.SIGTERM)
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.files(), [])

    def listed_bytes(self):
        """Returns {(device, kind): [logical bytes, physical bytes]}, the sums of what `ttmem
        allocs` lists."""
        sums = collections.defaultdict(lambda: [0, 0])
        for entry in self.json("allocs")["allocations"]:
            for device in entry["devices"]:
                sums[device, entry["kind"]][0] += entry["bytes"]
                sums[device, entry["kind"]][1] += entry["physical_bytes"]
        return sums

    def assert_shows(self, model):
        """Checks that the snapshot and both lists equal the model, for every device."""
        snapshot = self.json("--per-core")
        self.assert_sane(snapshot)
        self.assertEqual([device["id"] for device in snapshot["devices"]],
                         sorted(model.devices))
        listed = self.listed_bytes()
        programs = self.json("programs")["programs"]
        for device in snapshot["devices"]:
            self.assert_device_shows(device, model.devices[device["id"]], listed, programs)

    def assert_device_shows(self, device, expected, listed, programs):
        l1, number = device["l1"], device["id"]
        by_core = expected.cb_by_core()
        self.assertEqual(l1["cb"]["physical_bytes"], sum(union for union, _ in by_core.values()))
        self.assertEqual(l1["cb"]["logical_bytes"], sum(plain for _, plain in by_core.values()))
        headroom = expected.headroom()
        for core in device["per_core"]:
            place = core["x"], core["y"]
            self.assertEqual(core["cb_bytes"], by_core.get(place, (0, 0))[0])
            self.assertEqual(core["headroom_bytes"], headroom[place])
        self.assertEqual(l1["headroom_bytes_per_core"], min(headroom.values()))
        self.assertEqual(l1["buffers"]["data_bytes"], expected.data("L1"))
        self.assertEqual(l1["small_data_bytes"], expected.data("L1_SMALL"))
        self.assertEqual(device["programs"], len(expected.programs) + len(expected.ending))

        kinds = {"DRAM": ("dram", device["dram"]["logical_bytes"], device["dram"]["used_bytes"]),
                 "L1": ("l1", l1["buffers"]["logical_bytes"], l1["buffers"]["physical_bytes"]),
                 "L1_SMALL": ("l1_small", None, l1["small_bytes"]),
                 "TRACE": ("trace", None, device["trace"]["used_bytes"])}
        for kind, (key, logical, physical) in kinds.items():
            self.assertEqual(physical, expected.bytes_of(kind)[1], kind)
            if logical is not None:
                self.assertEqual(logical, expected.bytes_of(kind)[0], kind)
            self.assertEqual(tuple(listed[number, key]), expected.bytes_of(kind), kind)

        own = [p for p in programs if p["device"] == number]
        self.assertEqual(sum(p["logical_bytes"] for p in own), l1["cb"]["logical_bytes"])
        self.assertEqual({p["program"] for p in own}, set(expected.programs) | expected.ending)
        overlapping = device["anomalies"]["overlapping_buffers"]
        self.assertEqual(overlapping > 0, expected.overlapping())


class FiguresOfTheCaptures(Replay):
    def test_the_state_before_the_first_program_ends_equals_the_table(self):
        for capture, state in capture_model.TABLE.items():
            lines, physical, logical, most, programs, dram, l1, small = state
            with self.subTest(capture):
                held = self.replay(capture, lines)
                devices = self.json("--per-core")["devices"]
                self.assertEqual(len(devices), 8 if capture.endswith("8") else 1)
                listed = self.listed_bytes()
                for device in devices:
                    self.assertEqual(device["l1"]["cb"]["physical_bytes"], physical)
                    self.assertEqual(device["l1"]["cb"]["logical_bytes"], logical)
                    self.assertEqual(max(c["cb_bytes"] for c in device["per_core"]), most)
                    self.assertEqual(device["programs"], programs)
                    for kind, figures in (("dram", dram), ("l1", l1), ("l1_small", small)):
                        if figures is not None:
                            self.assertEqual(tuple(listed[device["id"], kind]), figures, kind)
                self.stop(held)

    def test_device_0_of_the_submesh_equals_the_table(self):
        self.replay("submesh_wh8", 71)
        self.assertEqual(tuple(self.listed_bytes()[0, "dram"]), (249856, 270336))

    def test_the_facts_of_the_devices_equal_the_capture(self):
        self.replay("basic_bh1")
        (device,) = self.devices()
        self.assertEqual(device["arch"], "blackhole")
        self.assertEqual((device["uid"], device["board"]), (None, None))
        self.assertEqual(device["grid"], {"x": 11, "y": 10})
        self.assertEqual(device["l1"]["capacity_bytes"], 110 * 1572864)
        self.assertEqual(device["dram"]["capacity_bytes"], 8 * 4278190080)
        self.assertEqual(device["trace"]["capacity_bytes"], 8 * 524288)

    def test_at_the_end_nothing_is_held(self):
        for capture in capture_model.TABLE:
            with self.subTest(capture):
                held = self.replay(capture)
                for device in self.devices():
                    self.assertEqual(device["dram"]["used_bytes"], 0)
                    self.assertEqual(device["l1"]["used_bytes"], 0)
                    self.assertEqual(device["trace"]["used_bytes"], 0)
                    self.assertEqual(device["l1"]["cb"]["logical_bytes"], 0)
                    self.assertEqual(device["programs"], 0)
                    self.assertGreater(device["l1"]["peak_bytes"], 0)
                    self.assertEqual(device["anomalies"]["unknown_frees"], 0)
                self.stop(held)

    def test_overlapping_live_buffers_show_on_the_two_chips_of_the_submesh(self):
        self.replay("submesh_wh8", 71)
        overlapping = {device["id"] for device in self.devices()
                       if device["anomalies"]["overlapping_buffers"] > 0}
        self.assertEqual(overlapping, {0, 4})


class EveryLineOfACapture(Replay):
    """Compares ttmem with capture_model.py after each line, or after every `step`-th line."""

    def check(self, capture, first=1, step=1):
        lines = capture_model.lines_of(CAPTURES / f"{capture}.jsonl")
        if is_sanitized():
            step *= 5  # fewer lines under sanitizers
        for count in range(first, len(lines) + 1, step):
            with self.subTest(capture=capture, lines=count):
                held = self.replay(capture, count)
                self.assert_shows(capture_model.after(lines[:count]))
                self.stop(held)

    def test_basic_wh1(self):
        self.check("basic_wh1")

    def test_basic_bh1(self):
        self.check("basic_bh1")

    def test_relayout_wh1(self):
        self.check("relayout_wh1")

    def test_mesh_wh8(self):
        self.check("mesh_wh8", first=8)

    def test_submesh_wh8(self):
        self.check("submesh_wh8", first=8)

    def test_model_wh1(self):
        self.check("model_wh1", first=60, step=61)


class Pace(Replay):
    def test_speed_stretches_the_recorded_times(self):
        # At a millionth of the speed, the replay allocates the second buffer only after 168
        # seconds.
        held = self.start_ttmem("replay", CAPTURES / "basic_wh1.jsonl", "--speed", "0.000001")
        self.wait_for(lambda: self.json("allocs")["allocations"], "the first buffer")
        self.assertEqual(len(self.json("allocs")["allocations"]), 1)
        held.signal(signal.SIGINT)
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.files(), [])

    def test_without_hold_it_ends_by_itself(self):
        self.ttmem("replay", CAPTURES / "mesh_wh8.jsonl")
        self.assertEqual(self.files(), [])

    def test_a_dash_is_standard_input(self):
        held = self.start_ttmem("replay", "-", "--lines", "15", "--hold")
        held.process.stdin.write((CAPTURES / "basic_wh1.jsonl").read_bytes())
        held.process.stdin.flush()
        self.assertIn("replay standard input: 15 lines", held.line("stderr"))
        (piped,) = self.devices()
        held.signal(signal.SIGINT)
        self.assertEqual(held.wait(), 0)
        held = self.start_ttmem("replay", CAPTURES / "basic_wh1.jsonl", "--lines", "15", "--hold")
        held.line("stderr")
        (read,) = self.devices()
        self.assertEqual(piped["dram"], read["dram"])
        self.assertEqual(piped["l1"], read["l1"])

    def test_an_error_on_standard_input_names_its_line(self):
        result = subprocess.run([TTMEM, "replay", "-"], env=self.env, input="{}\n", text=True,
                                capture_output=True, timeout=20)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard input:1: field 'ev' is missing", result.stderr)


class InvalidCaptures(Replay):
    def refuse(self, content, reason, lines=()):
        """Asserts that a file with this content is refused, with one line that names the file and
        the reason. `lines` are further arguments of the command."""
        path = pathlib.Path(self.dir) / "given.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.assert_refused(path, reason, *lines)
        path.unlink()
        self.assertEqual(self.files(), [])

    def assert_refused(self, path, reason, *more):
        result = self.ttmem("replay", path, *more, code=1)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn(str(path), result.stderr)
        self.assertIn(reason, result.stderr)

    def capture_with(self, line, changes):
        """Returns the text of basic_wh1 with changed fields in one line (the first is line 1). The
        value None removes a field."""
        lines = capture_model.lines_of(CAPTURES / "basic_wh1.jsonl")
        event = capture_model.json.loads(lines[line - 1])
        for name, value in changes.items():
            event[name] = value
            if value is None:
                del event[name]
        lines[line - 1] = capture_model.json.dumps(event)
        return "\n".join(lines)

    def test_an_empty_file(self):
        self.refuse("", "is empty")

    def test_binary_junk(self):
        self.refuse(bytes(range(256)) * 8, "given.jsonl:1: ")
        self.refuse(b"\0" * 4096, "given.jsonl:1: ")
        self.refuse(b"[" * (2 << 20), "given.jsonl:1: ")

    def test_a_last_line_that_is_cut_off(self):
        whole = (CAPTURES / "basic_wh1.jsonl").read_text()
        self.refuse(whole[:-40], f"given.jsonl:{len(whole.splitlines())}: ")

    def test_an_empty_line(self):
        self.refuse(self.capture_with(1, {}) + "\n\n", "given.jsonl:28: ")

    def test_json_that_is_not_an_object(self):
        for line in ("1", "null", "[]", '"ev"'):
            self.refuse(line, "given.jsonl:1: not a JSON object")

    def test_an_unknown_event(self):
        self.refuse(self.capture_with(5, {"ev": "buffer_move"}), "given.jsonl:5: field 'ev': there is no event 'buffer_move'")
        self.refuse(self.capture_with(5, {"ev": "x" * 100000}), "event '" + "x" * 64 + "'")

    def test_a_missing_field(self):
        for line, field in ((1, "grid"), (1, "trace_banks"), (2, "chips"), (3, "bytes_per_bank"),
                            (3, "thread"), (4, "t_ns"), (9, "globally_allocated")):
            self.refuse(self.capture_with(line, {field: None}),
                        f"given.jsonl:{line}: field '{field}' is missing")

    def test_a_field_of_another_type(self):
        for line, field, value in ((1, "arch", 7), (1, "grid", [8]), (1, "grid", "8x8"),
                                   (3, "chips", 0), (3, "size", "many"), (3, "size", 1.5),
                                   (3, "type", "SRAM"), (6, "cores", [[0, 0, 7]]),
                                   (6, "cores", [[7, 7, 0, 0]]), (6, "cores", {}),
                                   (9, "globally_allocated", 0)):
            self.refuse(self.capture_with(line, {field: value}),
                        f"given.jsonl:{line}: field '{field}'")

    def test_a_number_out_of_range(self):
        for line, field, value in ((1, "device", 1 << 32), (1, "grid", [8, 65536]),
                                   (1, "l1_base", -1), (3, "id", (1 << 64) - 1),
                                   (3, "size", 1 << 64), (3, "thread", -1), (4, "t_ns", -5),
                                   (6, "cores", [[0, 0, 65536, 7]])):
            self.refuse(self.capture_with(line, {field: value}),
                        f"given.jsonl:{line}: field '{field}'")
        self.refuse(self.capture_with(1, {"trace_banks": 1 << 40, "trace_bank_bytes": 1 << 40}),
                    "given.jsonl:1: 'trace_bank_bytes' times 'trace_banks'")

    def test_an_unannounced_device(self):
        self.refuse(self.capture_with(3, {"chips": [1]}), "given.jsonl:3: ")
        self.refuse(self.capture_with(2, {"chips": [9]}), "given.jsonl:2: ")

    def test_a_cb_of_a_program_that_was_not_laid_out(self):
        self.refuse(self.capture_with(9, {"program": 5}), "given.jsonl:9: ")

    def test_too_many_threads(self):
        lines = capture_model.lines_of(CAPTURES / "basic_wh1.jsonl")[:2]
        event = {"t_ns": 0, "ev": "cb_free_all", "device": 0}
        lines += [capture_model.json.dumps({**event, "thread": n}) for n in range(257)]
        self.refuse("\n".join(lines), "257 threads")

    def test_a_damaged_line_behind_the_last_played_line_does_no_harm(self):
        path = pathlib.Path(self.dir) / "given.jsonl"
        path.write_text(self.capture_with(5, {"ev": "buffer_move"}))
        self.ttmem("replay", path, "--lines", 4)

    def test_a_directory_a_missing_file_and_an_unreadable_file(self):
        self.assert_refused(self.dir, "Is a directory")
        self.assert_refused(pathlib.Path(self.dir) / "nothing", "No such file")
        if os.geteuid() != 0:
            path = pathlib.Path(self.dir) / "given.jsonl"
            path.write_text("{}")
            path.chmod(0)
            self.assert_refused(path, "Permission denied")


if __name__ == "__main__":
    unittest.main()
