# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --format ttnn-visualizer`, read with SQL and json."""

import json
import os
import re
import sqlite3
import unittest

from export_case import SEEDS, ExportCase
from recording_file import Recording, random_recording

# {table that the viewer needs: its columns}. None: the columns do not matter.
TABLES = {
    "devices": "device_id num_y_cores num_x_cores num_y_compute_cores num_x_compute_cores "
               "worker_l1_size l1_num_banks l1_bank_size address_at_first_l1_bank "
               "address_at_first_l1_cb_buffer num_banks_per_storage_core num_compute_cores "
               "num_storage_cores total_l1_memory total_l1_for_tensors "
               "total_l1_for_interleaved_buffers total_l1_for_sharded_buffers cb_limit rank",
    "operations": "operation_id name duration rank",
    "operation_arguments": "operation_id name value rank",
    "stack_traces": "operation_id stack_trace rank",
    "tensors": "tensor_id shape dtype layout memory_config device_id address buffer_type rank",
    "input_tensors": "operation_id input_index tensor_id rank",
    "output_tensors": "operation_id output_index tensor_id rank",
    "buffers": "operation_id device_id address max_size_per_bank buffer_type buffer_layout rank",
    "local_tensor_comparison_records": None,
    "global_tensor_comparison_records": None,
    "captured_graph": "operation_id captured_graph rank",
    "errors": "operation_id operation_name error_type error_message stack_trace timestamp rank",
}
BUFFER_TYPES = {"dram": 0, "l1": 1, "l1_small": 3, "trace": 4}


class TtnnVisualizer(ExportCase):
    def read(self, *arguments):
        out, self.said = self.export("ttnn-visualizer", *arguments, name="report")
        self.assertEqual(sorted(os.listdir(out)), ["config.json", "db.sqlite"])
        self.config = json.loads((out / "config.json").read_text())
        file = sqlite3.connect(f"file:{out}/db.sqlite?mode=ro", uri=True)
        self.addCleanup(file.close)
        for table, columns in TABLES.items():
            found = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            self.assertTrue(found, table)
            if columns:
                self.assertEqual(found, columns.split())
        self.assertEqual(file.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(dict(file.execute("SELECT * FROM report_metadata"))["schema_version"],
                         "3.3")
        return file

    def operations(self, file):
        """Returns [(id, name, time)], numbered from 1."""
        rows = file.execute("""SELECT o.operation_id, o.name, CAST(a.value AS INT), o.duration
                               FROM operations o JOIN operation_arguments a USING (operation_id)
                               WHERE a.name = 'time_ns' ORDER BY 1""").fetchall()
        self.assertEqual([row[0] for row in rows], list(range(1, len(rows) + 1)))
        for (_, _, time, duration), following in zip(rows, [row[2] for row in rows[1:]]):
            self.assertAlmostEqual(duration, (following - time) / 1e9)
        return [row[:3] for row in rows]

    def graph(self, file, operation):
        text, = file.execute("SELECT captured_graph FROM captured_graph WHERE operation_id = ?",
                             [operation]).fetchone()
        nodes = json.loads(text)
        self.assertEqual([node["id"] for node in nodes], list(range(len(nodes))))
        self.assertEqual((nodes[0]["node_type"], nodes[-1]["node_type"]),
                         ("capture_start", "capture_end"))
        depth = 0
        for node in nodes:
            self.assertLessEqual({"id", "node_type", "params", "connections"}, set(node))
            depth += {"function_start": 1, "function_end": -1}.get(node["node_type"], 0)
            if node["node_type"].startswith("circular_buffer"):
                self.assertEqual(depth, 1)
        self.assertEqual(depth, 0)
        return nodes

    def test_an_operation(self):
        recording = self.small()
        cores = [0, 1, 2, 13, 14, 15, 27]
        recording.allocate([1], "l1", 100, 35, per_bank=64, banks=2, address=900, cores=[0, 1])
        recording.place(1, 5, [(110_000, 2048, cores, False), (0, 64, (129,), True)], 40, 50,
                        name="matmul", scope="decoder.0/mlp")
        recording.dispatch([1], (5,), 45)
        self.save(recording)
        file = self.read()
        self.assertEqual(self.config, {"report_name": "model --layers 2"})
        names = [name for _, name, _ in self.operations(file)]
        self.assertEqual(names, ["peak of DRAM (device 0)", "peak of L1 (device 0)", "matmul"])
        self.assertEqual(file.execute("SELECT * FROM buffers WHERE operation_id = 3").fetchall(),
                         [(3, 0, 64, 512, 0, 0, 0), (3, 0, 900, 64, 1, None, 0)])
        self.assertEqual(file.execute("SELECT * FROM stack_traces").fetchall(),
                         [(3, "decoder.0/mlp", 0)])
        first, second = [node["params"] for node in self.graph(file, 3)
                         if node["node_type"] == "circular_buffer_allocate"]
        self.assertEqual(first, {"address": "110000", "size": "2048", "globally_allocated": "0",
                                 "core_range_set": "{[0-0 - 2-1], [1-2 - 1-2]}", "device_id": "0"})
        self.assertEqual((second["core_range_set"], second["globally_allocated"]),
                         ("{[12-9 - 12-9]}", "1"))
        device = dict(zip(TABLES["devices"].split(),
                          file.execute("SELECT * FROM devices").fetchone()))
        self.assertEqual((device["num_x_cores"], device["num_y_cores"], device["worker_l1_size"],
                          device["l1_num_banks"], device["address_at_first_l1_cb_buffer"]),
                         (13, 10, 1464 * 1024, 130, 100 * 1024))

    def test_buffers_equal_the_recording(self):
        for seed in SEEDS:
            recording = self.save(random_recording(seed))
            file = self.read()
            for operation, name, time in self.operations(file):
                shown = sorted(row[1:5] for row in file.execute(
                    "SELECT * FROM buffers WHERE operation_id = ?", [operation]))
                expected = sorted(
                    (recording.devices[life.device - 1][2], life.address, life.bytes // 8,
                     BUFFER_TYPES[life.kind])
                    for life in recording.lives if life.address is not None and
                    life.kind in BUFFER_TYPES and life.lives_at(time))
                self.assertEqual(shown, expected, (seed, name, time))

    def test_circular_buffers_equal_the_recording(self):
        recording = self.save(random_recording(1))
        file = self.read()
        programs = [life for life in recording.lives if life.cbs is not None]
        shown = [operation for operation, name, _ in self.operations(file)
                 if not name.startswith("peak")]
        self.assertEqual(len(shown), len(programs))
        for operation, program in zip(shown, programs):
            found = [(int(node["params"]["address"]), int(node["params"]["size"]),
                      cores_of(node["params"]["core_range_set"], 13))
                     for node in self.graph(file, operation)
                     if node["node_type"] == "circular_buffer_allocate"]
            alive = program.end is None or program.end > program.begin
            expected = [(address, size, list(cores)) for address, size, cores, _ in program.cbs]
            self.assertEqual(found, expected if alive else [])

    def test_too_many_dispatches(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        recording.place(device, 5, [(110_000, 2048, (0,), False)], 0)
        place = {"per_bank": 64, "banks": 2, "address": 0}
        for number in range(5000):
            recording.allocate([device], "l1", 128, 10 * number, 10 * number + 9, **place)
            recording.dispatch([device], (5,), 10 * number + 5)
        self.save(recording)
        file = self.read()
        count = len([name for _, name, _ in self.operations(file) if not name.startswith("peak")])
        self.assertTrue(500 <= count <= 2000, count)
        self.assertIn(f"{count} of 5000 dispatches", self.said)

    def test_without_dispatches_and_placements_only_peaks_are_operations(self):
        self.small()
        file = self.read()
        self.assertEqual([name for _, name, _ in self.operations(file)],
                         ["peak of DRAM (device 0)", "peak of L1 (device 0)"])
        self.assertIn("no programs", self.said)
        self.assertIn("1 allocation is not in the report", self.said)

    def test_without_dispatches_placements_are_operations(self):
        recording = self.small()
        recording.place(1, 5, [(110_000, 2048, (0,), False)], 40, 50, name="matmul")
        self.save(recording)
        file = self.read()
        self.assertIn("no dispatches: placements", self.said)
        operation, name, time = self.operations(file)[1]
        self.assertEqual((name, time), ("matmul", 40))
        self.assertEqual(len(self.graph(file, operation)), 6)

    def test_an_existing_folder_is_refused(self):
        self.small()
        out, _ = self.export("ttnn-visualizer", name="report")
        export = ("export", self.path, "--format", "ttnn-visualizer", "-o")
        self.assertIn("is there already", self.ttmem(*export, out, code=1).stderr)
        (out / "mine").write_text("mine")
        self.assertIn("other files", self.ttmem(*export, out, "-f", code=1).stderr)
        self.assertIn("is a folder", self.ttmem(*export, "-", code=2).stderr)
        self.assertIn("the recording itself", self.ttmem(*export, self.path, "-f", code=1).stderr)
        self.assertIn("Not a directory",
                      self.ttmem(*export, out / "mine", "-f", code=1).stderr)
        self.assertEqual(self.files(), ["report", "run.ttmem"])


def cores_of(text, grid_x):
    """Returns the numbers of the cores in "{[x-y - x-y], ...}"."""
    cores = set()
    for corners in re.findall(r"\[(\d+)-(\d+) - (\d+)-(\d+)\]", text):
        x0, y0, x1, y1 = map(int, corners)
        cores |= {y * grid_x + x for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)}
    return sorted(cores)


if __name__ == "__main__":
    unittest.main()
