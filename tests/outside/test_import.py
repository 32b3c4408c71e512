# SPDX-License-Identifier: Apache-2.0
"""`ttmem import`: graphs of ttnn and captures become recordings, which the tests read with SQL
only."""

import collections
import contextlib
import csv
import json
import os
import pathlib
import sqlite3

import capture_model
from support import CAPTURES, Case

BUFFER_TYPES = {"DRAM": 0, "L1": 1, "L1_SMALL": 3, "TRACE": 4}
DEVICE = {"device_id": 0, "arch": "WORMHOLE_B0", "num_x_cores": 10, "num_y_cores": 12,
          "num_x_compute_cores": 8, "num_y_compute_cores": 8, "worker_l1_size": 1499136,
          "l1_num_banks": 64, "l1_bank_size": 1360704, "address_at_first_l1_cb_buffer": 105664,
          "num_dram_channels": 12, "dram_size_per_channel": 1073741824}


class Graph:
    """Builds the JSON of a ttnn graph. With `old`, values and core ranges are written as in builds
    until 2026."""

    def __init__(self, old=False):
        self.old, self.nodes = old, []
        self.add("capture_start", None)

    def add(self, node_type, params, connections=(), **more):
        counter = len(self.nodes)
        if params and self.old:
            params = {name: str(value) for name, value in params.items()}
        self.nodes.append({"counter": counter, "node_type": node_type, "params": params,
                           "arguments": [], "connections": list(connections),
                           "input_tensors": [], "stacking_level": 1, **more})
        return counter

    def start(self, name):
        return self.add("function_start", {"name": name, "inputs": "1"})

    def end(self, name, **more):
        return self.add("function_end", {"name": name}, **more)

    def buffer(self, kind, size):
        return self.add("buffer", {"size": size, "type": "DRAM" if kind == "DRAM" else "L1",
                                   "device_id": 1})

    def _buffer_event(self, node_type, node, kind, size, per_bank, address):
        params = {"size": size, "address": address, "type": "DRAM" if kind == "DRAM" else "L1",
                  "buffer_type": BUFFER_TYPES[kind], "layout": "INTERLEAVED", "page_size": 2048,
                  "num_cores": 0, "device_id": 1, "max_size_per_bank": per_bank}
        self.add(node_type, params, [node])

    def allocate(self, *event):
        self._buffer_event("buffer_allocate", *event)

    def free(self, *event):
        self._buffer_event("buffer_deallocate", *event)

    def cb(self, size, address, corner=(7, 7), view=False, chip=0):
        x, y = corner
        cores = f"{{[(x=0,y=0) - (x={x},y={y})]}}" if self.old else f"{{[0-0 - {x}-{y}]}}"
        self.add("circular_buffer_allocate",
                 {"size": size, "address": address, "core_range_set": cores,
                  "globally_allocated": str(int(view)), "device_id": chip})

    def free_cbs(self):
        self.add("circular_buffer_deallocate_all", {"device_id": 0})

    def report(self):
        return {"version": 1, "graph": self.nodes, "devices": [DEVICE],
                "metadata": {"capture_timestamp_ns": 1700000000000000000, "rank": 0},
                "buffer_pages": [{"counter": 0, "address": 1}]}


def upstream_peaks(nodes):
    """Computes the peaks of a graph as ttnn describes for extract_resource_usage_per_core."""
    level, peak = collections.Counter(), collections.Counter()
    for node in nodes:
        kind, params = node["node_type"], node["params"] or {}
        if kind == "circular_buffer_allocate":
            if params["globally_allocated"] != "1":
                level["cb"] += int(params["size"])
        elif kind == "circular_buffer_deallocate_all":
            level["cb"] = 0
        elif kind.startswith("buffer_") and params["type"] != "DRAM":
            sign = 1 if kind == "buffer_allocate" else -1
            level["l1"] = max(0, level["l1"] + sign * int(params["max_size_per_bank"]))
        level["total"] = level["cb"] + level["l1"]
        for name, value in level.items():
            peak[name] = max(peak[name], value)
    return {f"peak_{name}": peak[name] for name in ("cb", "l1", "total")}


def model_graph(old):
    """Returns a graph with two layers: an input from before the capture, a buffer that stays, a
    buffer that is freed, and two programs."""
    graph = Graph(old)
    graph.start("ttnn::linear")
    before, weights, hidden = (graph.buffer(kind, size) for kind, size in
                               (("L1", 65536), ("DRAM", 196608), ("L1", 131072)))
    graph.allocate(weights, "DRAM", 196608, 16384, 1048640)
    graph.start("ttnn::matmul")
    graph.allocate(hidden, "L1", 131072, 2048, 1462272)
    graph.free_cbs()
    for chip in (0, 1):  # a mesh program with the same layout on two chips
        graph.cb(4096, 105664, chip=chip)
    graph.cb(2048, 109760, corner=(3, 3))
    graph.cb(2048, 1462272, view=True)
    graph.end("ttnn::matmul", duration_ns=5000)
    graph.free(before, "L1", 65536, 1024, 1400000)
    graph.end("ttnn::linear", duration_ns=9000)
    graph.start("ttnn::relu")
    small = graph.buffer("L1_SMALL", 6400)
    graph.allocate(small, "L1_SMALL", 6400, 100, 1490000)
    graph.free_cbs()
    graph.cb(1024, 105664, corner=(1, 0))
    graph.free(hidden, "L1", 131072, 2048, 1462272)
    graph.start("ttnn::fails")
    return graph


class Import(Case):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.dir, "out.ttmem")

    def write(self, content, name="graph.json"):
        path = pathlib.Path(self.dir) / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def imported(self, content, name="graph.json"):
        """Imports the content. Returns the messages of the import."""
        return self.ttmem("import", self.write(content, name), "-o", self.out, "-f").stderr

    def rows(self, sql, *arguments):
        with contextlib.closing(sqlite3.connect(self.out)) as database:
            return database.execute(sql, arguments).fetchall()

    def figures(self):
        return json.loads(self.rows("SELECT imported FROM run")[0][0])


class OfGraphs(Import):
    def test_all_spellings_give_the_same_recording(self):
        for old in (False, True):
            for shape in ("bare", "report"):
                with self.subTest(old=old, shape=shape):
                    graph = model_graph(old)
                    self.imported(graph.nodes if shape == "bare" else graph.report())
                    live = self.rows("SELECT kind, scope, bytes, bytes_per_bank, used_bytes "
                                     "FROM allocation_list WHERE end_ns IS NULL ORDER BY id")
                    whole = shape == "report"
                    self.assertEqual(live, [
                        ("dram", "ttnn::linear", 196608, 16384, 12 * 16384 if whole else 196608),
                        ("l1_small", "ttnn::relu", 6400, 100, 64 * 100 if whole else 6400)])
                    self.assertEqual(
                        self.rows("SELECT name, scope, end_ns IS NULL FROM program_list"),
                        [("ttnn::matmul", "ttnn::linear/ttnn::matmul", 0),
                         ("ttnn::relu", "ttnn::relu", 1)])
                    self.assertEqual(
                        self.rows("SELECT layout, address, bytes, cores, global "
                                  "FROM circular_buffers"),
                        [(1, 105664, 4096, "0-63", 0),
                         (1, 109760, 2048, "0-3,8-11,16-19,24-27", 0),
                         (1, 1462272, 2048, "0-63", 1), (2, 105664, 1024, "0-1", 0)])

    def test_figures_equal_the_definition_of_ttnn(self):
        for old in (False, True):
            graph = model_graph(old)
            self.imported(graph.nodes)
            expected = upstream_peaks(graph.nodes)
            self.assertEqual({name: self.figures()[name] for name in expected}, expected)
            # 4096 bytes of one CB on each of two chips, and 2048 bytes of another CB. The CB that
            # lies in a buffer is not counted.
            self.assertEqual(expected, {"peak_cb": 10240, "peak_l1": 2048, "peak_total": 12288})

    def test_facts_missing_in_the_graph_are_reported(self):
        said = self.imported(model_graph(False).nodes)
        self.assertIn("1 free of buffers from before the capture", said)
        self.assertIn("2 functions never ended, the innermost is ttnn::fails", said)
        self.assertIn(("never ended: ttnn::fails",), self.rows("SELECT name FROM marks"))
        self.assertEqual(self.rows("SELECT count(*) FROM allocations"), [(3,)])

    def test_times_come_from_the_functions_where_known(self):
        self.imported(model_graph(False).nodes)
        (ended,), = self.rows("SELECT ended_ns FROM run")
        self.assertGreaterEqual(ended, 9000)
        self.assertLess(ended, 9100)
        begins = [row[0] for row in self.rows("SELECT begin_ns FROM allocations ORDER BY id")]
        self.assertEqual(begins, sorted(begins))
        self.assertLess(begins[1], 5000)
        self.assertGreaterEqual(begins[2], 9000)

    def test_a_recording_without_a_clock_has_no_date(self):
        self.imported(model_graph(old=False).nodes)
        self.assertNotIn("1970", self.ttmem("report", self.out, "--at", "end").stdout)
        self.assertIsNone(self.json("report", self.out, "--at", "end")["time_unix_ns"])

    def test_unknown_figures_are_not_in_an_export(self):
        self.imported(model_graph(old=False).nodes)
        table = pathlib.Path(self.dir) / "out.csv"
        self.ttmem("export", self.out, "--format", "csv", "-o", table)
        with open(table, newline="", encoding="utf-8") as file:
            self.assertEqual({row["pid"] for row in csv.DictReader(file)}, {""})
        folder = pathlib.Path(self.dir) / "report"
        self.ttmem("export", self.out, "--format", "ttnn-visualizer", "-o", folder)
        with sqlite3.connect(folder / "db.sqlite") as file:
            known = {name for name, in file.execute("SELECT key FROM report_metadata")}
        file.close()
        self.assertIn("total_duration_ns", known)
        self.assertNotIn("capture_timestamp_ns", known)

    def test_cbs_hidden_by_the_program_cache_are_unknown(self):
        graph = Graph()
        graph.start("ttnn::relu")
        graph.allocate(graph.buffer("L1", 6400), "L1", 6400, 100, 1490000)
        graph.free_cbs()
        graph.end("ttnn::relu")
        said = self.imported(graph.nodes)
        self.assertIn("program cache", said)
        figures = self.figures()
        self.assertIsNone(figures["peak_cb"])
        self.assertIsNone(figures["peak_total"])
        self.assertEqual(figures["peak_l1"], 100)
        (known,), = self.rows("SELECT known_kinds FROM devices")
        self.assertFalse(known & 1 << 4, "CBs are not zero but unknown")
        self.assertTrue(known & 1 << 1)

    def test_without_dispatch_sizes_count_and_addresses_do_not(self):
        graph = Graph()
        graph.allocate(graph.buffer("L1", 6400), "L1", 6400, 100, 0)
        graph.free_cbs()
        graph.cb(1000, 0)
        graph.cb(500, 0, corner=(0, 0))
        graph.cb(250, 0, corner=(7, 0))
        said = self.imported(graph.report())
        self.assertIn("NO_DISPATCH", said)
        self.assertEqual(self.rows("SELECT address FROM allocations"), [(None,)])
        ends = collections.Counter()
        for address, size, cores in self.rows("SELECT address, bytes, cores FROM circular_buffers"):
            self.assertGreaterEqual(address, ends[cores[0]], "they do not overlap on core 0")
            ends["0"] = address + size
        self.assertEqual(ends["0"], 105664 + 1750)
        self.assertEqual(self.rows("SELECT cb_estimate FROM devices"), [(1,)])

    def test_every_spelling_of_a_view_is_understood(self):
        """TT-Metal's documentation writes "false" where ttnn writes "0"."""
        for spelled, view in (("false", 0), (False, 0), (0, 0), ("0", 0),
                              ("true", 1), (True, 1), (1, 1), ("1", 1)):
            graph = Graph()
            graph.free_cbs()
            graph.cb(4096, 105664)
            graph.nodes[-1]["params"]["globally_allocated"] = spelled
            self.imported(graph.nodes)
            self.assertEqual(self.rows("SELECT bytes, global FROM circular_buffers"),
                             [(4096, view)], spelled)
        graph.nodes[-1]["params"]["globally_allocated"] = "maybe"
        said = self.ttmem("import", self.write(graph.nodes), "-o", self.out, "-f", code=1).stderr
        self.assertIn("parameter 'globally_allocated' is not 0, 1, false or true", said)

    def test_tensors_name_their_buffers(self):
        graph = Graph()
        node = graph.buffer("L1", 6400)
        graph.allocate(node, "L1", 6400, 100, 1490000)
        tensor = graph.add("tensor", {"tensor_id": 7, "shape": "Shape([1, 32])",
                                      "dtype": "DataType::BFLOAT16"})
        graph.nodes[node]["connections"] = [tensor]
        self.imported(graph.nodes)
        self.assertEqual(self.rows("SELECT label FROM allocation_list"), [("BFLOAT16 [1, 32]",)])


class OfCaptures(Import):
    def state(self, time=None):
        """Returns {(device, kind): [logical, physical]} and {device: {core: [CB ranges]}}."""
        alive = "(end_ns IS NULL OR end_ns > ?1) AND begin_ns <= ?1"
        time = 1 << 62 if time is None else time
        sums = collections.defaultdict(lambda: [0, 0])
        for device, kind, size, used in self.rows(
                f"SELECT device, kind, bytes, used_bytes FROM allocation_list WHERE {alive}", time):
            sums[device, kind][0] += size
            sums[device, kind][1] += used
        cores = collections.defaultdict(lambda: collections.defaultdict(list))
        for device, address, size, text in self.rows(
                "SELECT device, address, bytes, cores FROM program_list p "
                f"JOIN circular_buffers c ON c.layout = p.layout WHERE NOT global AND {alive}",
                time):
            for part in text.split(","):
                first, _, last = part.partition("-")
                for core in range(int(first), int(last or first) + 1):
                    cores[device][core].append((address, address + size))
        return sums, cores

    def assert_is(self, model, time=None):
        sums, cores = self.state(time)
        for number, device in model.devices.items():
            for kind in ("DRAM", "L1", "L1_SMALL"):
                self.assertEqual(tuple(sums[number, kind.lower()]), device.bytes_of(kind))
            columns = device.facts["grid"][0]
            self.assertEqual({core: (capture_model.union_bytes(ranges),
                                     sum(end - first for first, end in ranges))
                              for core, ranges in cores[number].items()},
                             {y * columns + x: figures
                              for (x, y), figures in device.cb_by_core().items()})

    def test_the_fullest_state_of_each_capture(self):
        for name, (lines, physical, logical, largest, programs, *_) in capture_model.TABLE.items():
            with self.subTest(name):
                part = capture_model.lines_of(CAPTURES / f"{name}.jsonl")[:lines]
                self.imported("\n".join(part) + "\n", "part.jsonl")
                self.assert_is(capture_model.after(part))
                cores = self.state()[1][0]
                unions = [capture_model.union_bytes(ranges) for ranges in cores.values()]
                self.assertEqual((sum(unions), max(unions)), (physical, largest))
                self.assertEqual(sum(end - first for ranges in cores.values()
                                     for first, end in ranges), logical)
                self.assertEqual(self.rows("SELECT count(*) FROM program_list WHERE device = 0 "
                                           "AND end_ns IS NULL"), [(programs,)])

    def test_the_state_at_any_time(self):
        for name in capture_model.TABLE:
            with self.subTest(name):
                lines = capture_model.lines_of(CAPTURES / f"{name}.jsonl")
                self.imported("\n".join(lines) + "\n", "all.jsonl")
                events = [json.loads(line) for line in lines]
                model = capture_model.Model()
                for line, event, after in zip(lines, events, [*events[1:], {"t_ns": 1 << 62}]):
                    model.feed(line)
                    # In the recording, successive events of CBs have one time, so the state between
                    # them cannot be compared.
                    settled = event["ev"] in ("buffer_alloc", "buffer_free", "program_register")
                    if settled and event["t_ns"] < after["t_ns"]:
                        self.assert_is(model, event["t_ns"])
                self.assertEqual(self.rows("SELECT count(*) FROM allocations "
                                           "WHERE end_ns IS NULL"), [(0,)])


class Refused(Import):
    def refused(self, content, name="x.json"):
        path = self.write(content, name)
        said = self.ttmem("import", path, "-o", self.out, code=1).stderr
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn(str(path), said)
        self.assertFalse(os.path.exists(self.out))
        return said

    def test_hostile_files(self):
        self.assertIn("neither a graph of ttnn", self.refused(""))
        self.assertIn("neither a graph of ttnn", self.refused("pid,bytes\n1,2\n"))
        self.assertIn("no list of nodes", self.refused({"traceEvents": []}))
        self.assertIn("parse error", self.refused('[{"counter": 0, "node_ty'))
        self.assertIn("node 0", self.refused([{"a": 1}]))
        self.assertIn("node 1: buffer_allocate", self.refused([
            {"counter": 0, "node_type": "capture_start"},
            {"counter": 1, "node_type": "buffer_allocate", "params": {"size": "many",
                                                                      "type": "L1"}}]))
        deep = "[" * 500_000 + "]" * 500_000
        self.assertIn("a node has more than", self.refused(deep))
        self.assertIn("no list of nodes", self.refused('{"a":' * 500_000 + "1" + "}" * 500_000))
        self.assertIn("a node has more than", self.refused('{"graph":[{"params":' + deep + "}]}"))
        self.assertIn("x.jsonl:1", self.refused('{"ev":' + deep + "}\n", "x.jsonl"))
        self.assertIn("x.jsonl:2", self.refused(
            (CAPTURES / "basic_wh1.jsonl").read_text().split("\n")[0] + "\n{}\n", "x.jsonl"))

    def test_files_are_overwritten_only_on_request(self):
        path = self.write(Graph().nodes)
        self.ttmem("import", path, "-o", self.out)
        self.assertIn("-f", self.ttmem("import", path, "-o", self.out, code=1).stderr)
        self.ttmem("import", path, "-f", "-o", self.out)
        self.assertIn("its own recording", self.ttmem("import", path, "-o", path, "-f",
                                                      code=1).stderr)
        self.assertIn("it is a database", self.ttmem("import", self.out, "-o", "y", code=1).stderr)
        self.ttmem("import", path, code=2)

    def test_a_failed_import_leaves_the_old_recording(self):
        self.ttmem("import", self.write(Graph().nodes), "-o", self.out)
        before = pathlib.Path(self.out).read_bytes()
        self.ttmem("import", self.write("[1"), "-o", self.out, "-f", code=1)
        self.assertEqual(pathlib.Path(self.out).read_bytes(), before)
