# SPDX-License-Identifier: Apache-2.0
"""`ttmem export --format ttnn-visualizer`, read with SQL and json."""

import json
import os
import re
import sqlite3
import unittest

from export_case import SEEDS, ExportCase
from recording_file import Recording, random_recording

# The tables of schema version 3.3 that ttnn creates, with their columns in order. Each table but the
# last three has the column `rank` at its end.
TABLES = {
    "devices": "device_id num_y_cores num_x_cores num_y_compute_cores num_x_compute_cores "
               "worker_l1_size l1_num_banks l1_bank_size address_at_first_l1_bank "
               "address_at_first_l1_cb_buffer num_banks_per_storage_core num_compute_cores "
               "num_storage_cores total_l1_memory total_l1_for_tensors "
               "total_l1_for_interleaved_buffers total_l1_for_sharded_buffers cb_limit",
    "operations": "operation_id name duration",
    "operation_arguments": "operation_id name value",
    "stack_traces": "operation_id stack_trace source_file_id",
    "tensors": "tensor_id shape dtype layout memory_config device_id address buffer_type",
    "device_tensors": "tensor_id device_id address",
    "input_tensors": "operation_id input_index tensor_id",
    "output_tensors": "operation_id output_index tensor_id",
    "tensor_lifetime": "tensor_id producer_operation_id last_use_operation_id "
                       "deallocate_operation_id producer_source_file producer_source_line "
                       "last_use_source_file last_use_source_line",
    "tensor_consumers": "tensor_id operation_id input_index",
    "tensor_producers": "tensor_id operation_id output_index",
    "local_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc",
    "global_tensor_comparison_records": "tensor_id golden_tensor_id matches desired_pcc actual_pcc",
    "buffers": "operation_id device_id address max_size_per_bank buffer_type buffer_layout",
    "buffer_chunks": "operation_id device_id address bank_id core_x core_y chunk_address "
                     "chunk_size page_size num_pages buffer_type",
    "captured_graph": "operation_id captured_graph",
    "nodes": "operation_id unique_id node_operation_id name",
    "edges": "operation_id source_unique_id sink_unique_id source_output_index sink_input_index "
             "key",
    "errors": "operation_id operation_name error_type error_message stack_trace timestamp",
}
TABLES = {table: columns + " rank" for table, columns in TABLES.items()}
TABLES |= {"source_files": "id path contents", "report_metadata": "key value"}
TEXTS = {"name", "value", "stack_trace", "shape", "dtype", "layout", "memory_config", "path",
         "contents", "captured_graph", "key", "error_type", "error_message", "operation_name",
         "timestamp", "producer_source_file", "last_use_source_file"}
FLOATS = {"duration", "desired_pcc", "actual_pcc"}
# The columns that must be different in each row.
UNIQUE = {"operations": {("operation_id", "rank")}, "tensors": {("tensor_id", "rank")},
          "tensor_lifetime": {("tensor_id", "rank")},
          "tensor_consumers": {("tensor_id", "operation_id", "input_index", "rank")},
          "tensor_producers": {("tensor_id", "operation_id", "output_index", "rank")},
          "local_tensor_comparison_records": {("tensor_id", "rank")},
          "global_tensor_comparison_records": {("tensor_id", "rank")},
          "source_files": {("path",)}, "report_metadata": {("key",)}}
BUFFER_TYPES = {"dram": 0, "l1": 1, "l1_small": 3, "trace": 4}


class TtnnVisualizer(ExportCase):
    def read(self, *arguments):
        out, self.said = self.export("ttnn-visualizer", *arguments, name="report")
        self.assertEqual(sorted(os.listdir(out)),
                         ["cluster_descriptor.yaml", "config.json", "db.sqlite"])
        self.cluster = mapping_of((out / "cluster_descriptor.yaml").read_text())
        self.config = json.loads((out / "config.json").read_text())
        file = sqlite3.connect(f"file:{out}/db.sqlite?mode=ro", uri=True)
        self.addCleanup(file.close)
        self.check_schema(file)
        self.assertEqual(file.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(dict(file.execute("SELECT * FROM report_metadata"))["schema_version"],
                         "3.3")
        return file

    def check_schema(self, file):
        tables = {row[0] for row in file.execute("SELECT name FROM sqlite_master "
                                                 "WHERE type = 'table'")}
        self.assertEqual(tables, set(TABLES))
        for table, columns in TABLES.items():
            found = file.execute(f"PRAGMA table_info({table})").fetchall()
            self.assertEqual([row[1] for row in found], columns.split())
            for _, name, kind, not_null, default, _ in found:
                if name == "rank":
                    self.assertEqual((not_null, default), (1, "0"), table)
                is_text = name in TEXTS and (table, name) != ("edges", "key")
                expected = "TEXT" if is_text else "FLOAT" if name in FLOATS else "INT"
                self.assertTrue(kind.startswith(expected), (table, name, kind))
            indexes = [row[1] for row in file.execute(f"PRAGMA index_list({table})") if row[2]]
            unique = {tuple(row[2] for row in file.execute(f"PRAGMA index_info('{index}')"))
                      for index in indexes}
            self.assertEqual(unique, UNIQUE.get(table, set()), table)

    def operations(self, file):
        """Returns the operations as [(id, name, time)]. Checks that the ids are 1, 2, 3 and so on,
        and that each duration lasts until the next operation."""
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
                         [(3, "decoder.0/mlp", None, 0)])
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

    def test_tensors_have_the_labels(self):
        recording = self.small()  # device 1 of the recording is device 0
        mesh = [1, recording.device(1, 3)]
        recording.allocate(mesh, "l1", 100, 35, 47, per_bank=64, banks=130, address=900,
                           label="hidden")
        recording.allocate([1], "l1", 100, 36, per_bank=64, banks=130, address=2000)
        recording.place(1, 5, [], 40, 50, name="matmul")
        for time in (45, 48):
            recording.dispatch([1], (5,), time)
        self.save(recording)
        file = self.read()
        names = dict((operation, name) for operation, name, _ in self.operations(file))
        tensors = file.execute("""SELECT shape, device_id, address, buffer_type, tensor_id
                                  FROM tensors ORDER BY tensor_id""").fetchall()
        self.assertEqual([tensor[:4] for tensor in tensors],
                         [("decoder.0/attention/weights", 0, 64, 0), ("hidden", 0, 900, 1),
                          ("(no label)", 0, 2000, 1)])
        weights, hidden, _ = [tensor[4] for tensor in tensors]
        self.assertEqual(file.execute("SELECT * FROM device_tensors WHERE tensor_id = ?",
                                      [hidden]).fetchall(), [(hidden, 0, 900, 0), (hidden, 3, 900, 0)])
        # Each tensor is an output of the first operation at which it is live.
        outputs = dict(file.execute("SELECT tensor_id, operation_id FROM output_tensors"))
        self.assertEqual(len(outputs), 3)
        self.assertEqual(names[outputs[weights]], "peak of DRAM (device 0)")
        for tensor, operation in outputs.items():
            (address,), = file.execute("SELECT address FROM tensors WHERE tensor_id = ?", [tensor])
            (first,), = file.execute("SELECT min(operation_id) FROM buffers WHERE address = ?",
                                     [address])
            self.assertEqual(operation, first)
        self.assertEqual(
            file.execute("SELECT tensor_id, operation_id, output_index FROM tensor_producers "
                         "ORDER BY 1").fetchall(),
            file.execute("SELECT tensor_id, operation_id, output_index FROM output_tensors "
                         "ORDER BY 1").fetchall())

    def test_every_core_has_its_buffers(self):
        recording = Recording()
        process = recording.process(7, "model")
        device = recording.device(process, 0)
        blind = recording.device(process, 1, grid_x=None, grid_y=None)
        place = {"per_bank": 64, "banks": 130}
        recording.allocate([device, blind], "l1", 100, 10, address=900, **place)
        recording.allocate([device], "l1_small", 100, 11, address=5000, per_bank=32, banks=3,
                           cores=[0, 1, 14])
        recording.allocate([device], "dram", 4096, 12, address=0, per_bank=512, banks=8)
        recording.place(device, 5, [], 40, name="matmul")
        recording.dispatch([device], (5,), 45)
        self.save(recording)
        file = self.read()
        operation, _, _ = self.operations(file)[-1]
        rows = file.execute("""SELECT device_id, address, bank_id, core_x, core_y, chunk_address,
            chunk_size, num_pages, buffer_type FROM buffer_chunks WHERE operation_id = ?
            ORDER BY address, bank_id""", [operation]).fetchall()
        self.assertEqual(rows, [
            (0, 900, core, core % 13, core // 13, 900, 64, None, 1) for core in range(130)] + [
            (0, 5000, core, core % 13, core // 13, 5000, 32, None, 3) for core in (0, 1, 14)])

    def test_too_many_cores_leave_some_operations_without(self):
        recording = Recording()
        device = recording.device(recording.process(7, "model"), 0)
        recording.place(device, 5, [], 0, name="matmul")
        for number in range(100):
            recording.allocate([device], "l1", 100, 1, address=64 * number, per_bank=64, banks=130)
        for number in range(1000):
            recording.dispatch([device], (5,), 10 + number)
        self.save(recording)
        file = self.read()
        (count,), = file.execute("SELECT count(*) FROM buffer_chunks")
        self.assertTrue(2_000_000 <= count <= 4_000_000, count)
        without = {row[0] for row in file.execute(
            "SELECT operation_id FROM operation_arguments WHERE name = 'cores'")}
        self.assertIn(f"{len(without)} operations are without the cores", self.said)
        every = {operation for operation, _, _ in self.operations(file)}
        shown = {row[0] for row in file.execute("SELECT DISTINCT operation_id FROM buffer_chunks")}
        self.assertEqual((shown | without, shown & without), (every, set()))
        self.assertIn("peak of L1 (device 0)", [name for operation, name, _ in self.operations(file)
                                                if operation in shown])
        gaps = sorted(shown)
        self.assertLess(max(after - before for before, after in zip(gaps, gaps[1:])), 20)

    def test_the_cluster_has_the_chips(self):
        recording = Recording()
        process = recording.process(7, "model")
        recording.device(process, 0, "0xa0", arch="wormhole_b0", board='n300 "L"')
        recording.device(process, 1, None, arch=None, board=None)
        self.save(recording)
        self.read()
        self.assertEqual(self.cluster, {
            "arch": {0: "wormhole_b0"}, "chip_to_boardtype": {0: 'n300 "L"'},
            "chip_unique_ids": {0: 0xa0, 1: 1}, "chips": {}, "ethernet_connections": [],
            "chips_with_mmio": [], "harvesting": {}, "boards": []})

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


def mapping_of(text):
    """Reads the part of YAML that a cluster descriptor of ttmem uses."""
    mapping = {}
    for line in text.splitlines():
        name, value = line.split(":", 1)
        if line.startswith("  "):
            mapping[last][int(name)] = json.loads(value)
        else:
            last = name
            mapping[name] = json.loads(value) if value else {}
    return mapping


def cores_of(text, grid_x):
    """Returns the set of core numbers in a text of the form "{[x-y - x-y], ...}"."""
    cores = set()
    for corners in re.findall(r"\[(\d+)-(\d+) - (\d+)-(\d+)\]", text):
        x0, y0, x1, y1 = map(int, corners)
        cores |= {y * grid_x + x for x in range(x0, x1 + 1) for y in range(y0, y1 + 1)}
    return sorted(cores)


if __name__ == "__main__":
    unittest.main()
