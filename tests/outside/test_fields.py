# SPDX-License-Identifier: Apache-2.0
"""Field names: docs/reference/query.md and docs/reference/json.md list exactly the fields that the
commands print."""

import csv
import io
import re
import unittest

from support import HERE, Case

DOCS = HERE.parents[1] / "docs" / "reference"


def table_rows(text):
    """Returns the cells of every table row whose first cell is code. The first cells lose their
    backquotes."""
    rows = []
    for line in text.splitlines():
        if line.startswith("| `"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [[row[0].strip("`"), *row[1:]] for row in rows]


def paths_in(value, path=""):
    """Returns the paths of all values: devices[].l1.cb.physical_bytes. A list of plain values
    counts as one value."""
    if isinstance(value, dict):
        return {found for key, part in value.items()
                for found in paths_in(part, f"{path}.{key}" if path else key)}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {found for part in value for found in paths_in(part, path + "[]")}
    return {path}


def text_of(value):
    """Returns a JSON value as --query prints it."""
    if value is None:
        return "[N/A]"
    return str(value).lower() if isinstance(value, bool) else str(value)


class Fields(Case):
    def setUp(self):
        super().setUp()
        self.start_ttmem("demo", "single", "--hold").line("stderr")

    def query(self, fields, *more):
        text = self.ttmem(f"--query={fields}", *more).stdout
        return [line.split(", ") for line in text.splitlines()]


class JsonPage(Fields):
    def test_every_document_has_the_fields_of_the_page_and_no_others(self):
        page = (DOCS / "json.md").read_text()
        common, *sections = re.split(r"^## ", page, flags=re.M)
        everywhere = {row[0] for row in table_rows(common)}
        documents = {"ttmem.snapshot.v1": (), "ttmem.devices.v1": ("-L",),
                     "ttmem.allocations.v1": ("allocs",),
                     "ttmem.allocation_groups.v1": ("allocs", "--group-by", "label"),
                     "ttmem.fleet.v1": None,  # needs a server, so test_fleet.py checks it
                     "ttmem.programs.v1": ("programs",)}
        self.assertEqual([section.split()[0] for section in sections], list(documents))
        for section in sections:
            schema = section.split()[0]
            if documents[schema] is None:
                continue
            document = self.json(*documents[schema])
            self.assertEqual(document["schema"], schema)
            listed = {row[0] for row in table_rows(section)}
            self.assertEqual(paths_in(document), listed | everywhere, schema)


class Lists(Fields):
    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.ttmem(*arguments, "--csv").stdout)))

    def assert_same(self, row, entry):
        self.assertEqual(list(row), list(entry))
        for key, value in entry.items():
            if key == "age_ns":
                continue
            if key == "cores" and isinstance(value, list):
                value = " ".join(f"{x0},{y0}-{x1},{y1}" for x0, y0, x1, y1 in value)
            elif key == "devices":  # in the form of --device; the ids here are consecutive
                value = f"{value[0]}-{value[-1]}" if len(value) > 1 else value[0]
            elif isinstance(value, list):
                value = len(value)
            elif isinstance(value, bool):
                value = str(value).lower()
            self.assertEqual(row[key], "n/a" if value is None else str(value), key)

    def test_csv_has_the_values_of_json(self):
        for command, key in ((("allocs",), "allocations"), (("programs",), "programs"),
                             (("allocs", "--kind", "cb,l1"), "allocations"),
                             (("allocs", "--group-by", "kind"), "groups")):
            entries, table = self.json(*command)[key], self.table(*command)
            self.assertTrue(entries)
            self.assertEqual(len(table), len(entries))
            for row, entry in zip(table, entries):
                self.assert_same(row, entry)

    def test_an_empty_list_still_has_its_columns(self):
        header = self.ttmem("allocs", "--csv").stdout.splitlines()[0]
        self.assertEqual(self.ttmem("allocs", "--pid", "1", "--csv").stdout, header + "\n")

    def test_groups_add_up_to_the_list(self):
        listed = self.json("allocs")["allocations"]
        (device,) = self.devices()
        (process,) = device["processes"]
        names = {"label": lambda entry: entry["label"], "kind": lambda entry: entry["kind"],
                 "process": lambda entry: f"{entry['pid']} {process['name']}",
                 "device": lambda entry: f"{entry['device']} (uid {entry['uid']})"}
        for by, name_of in names.items():
            expected = {}
            for entry in listed:
                expected.setdefault(name_of(entry), []).append(entry["physical_bytes"])
            groups = self.json("allocs", "--group-by", by)["groups"]
            self.assertEqual({group[by]: (group["allocations"], group["physical_bytes"],
                                          group["largest_bytes"]) for group in groups},
                             {name: (len(sizes), sum(sizes), max(sizes))
                              for name, sizes in expected.items()}, by)
            sizes = [group["physical_bytes"] for group in groups]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        header, *lines = self.ttmem("allocs", "--group-by", "kind").stdout.splitlines()
        self.assertEqual(re.split(" {2,}", header.strip()),
                         ["ALLOCS", "SIZE/DEVICE", "PHYSICAL/DEVICE", "LARGEST/DEVICE",
                          "ALL DEVICES", "KIND"])
        self.assertEqual(lines[0].split()[-1], "dram")
        self.assertIn("label", self.ttmem("allocs", "--group-by", "size", code=2).stderr)


class QueryPage(Fields):
    def setUp(self):
        super().setUp()
        self.rows = [row for row in table_rows((DOCS / "query.md").read_text()) if len(row) == 4]

    def test_the_page_lists_the_fields_of_the_help(self):
        shown = re.findall(r"^  (\w+) {2,}(\S.*)$", self.ttmem("--query=help").stdout, re.M)
        self.assertEqual([(row[0], row[3]) for row in self.rows], shown)

    def test_the_page_lists_the_columns_of_csv(self):
        header = self.ttmem("--csv").stdout.splitlines()[0].split(",")
        self.assertEqual([row[1].strip("`") for row in self.rows], header)

    def test_every_field_has_the_value_that_csv_and_json_have(self):
        (named,) = csv.DictReader(io.StringIO(self.ttmem("--csv").stdout))
        (device,) = self.devices()
        names = [row[0] for row in self.rows]
        values = self.query(",".join(names), "--format=csv,noheader,nounits", "--units", "bytes")[0]
        self.assertEqual(len(values), len(names))
        for (name, column, path, _), value in zip(self.rows, values):
            if name == "time_unix_ns":
                continue
            self.assertEqual(value.replace("[N/A]", "n/a"), named[column.strip("`")], name)
            if path and "snapshot" not in path:
                found = device
                for key in path.strip("`").split("."):
                    found = found[key]
                self.assertEqual(value, text_of(found), name)


class Query(Fields):
    def test_units_are_in_the_header_and_behind_the_values(self):
        used = self.devices()[0]["dram"]["used_bytes"]
        header, row = self.query("device,dram_used", "--format=csv")
        self.assertEqual(header, ["device", "dram_used [MiB]"])
        self.assertEqual(row, ["0", f"{used / 2**20:.2f} MiB"])
        self.assertEqual(self.query("dram_used", "--format=csv,noheader"), [row[1:]])
        self.assertEqual(self.query("dram_used", "--format=csv,noheader,nounits"),
                         [[f"{used / 2**20:.2f}"]])
        self.assertEqual(self.query("dram_used", "--units=GiB"),
                         [["dram_used [GiB]"], [f"{used / 2**30:.2f} GiB"]])
        self.assertEqual(self.query("dram_used", "--units=bytes"),
                         [["dram_used [B]"], [f"{used} B"]])
        self.assertEqual(self.query("dram_used", "--units", "auto")[0], ["dram_used"])

    def test_unknown_values_are_not_available(self):
        self.assertEqual(self.query("bus_id,device", "--format=csv,noheader"), [["[N/A]", "0"]])

    def test_with_watch_the_header_is_printed_once(self):
        watch = self.start_ttmem("--query=device", "--format=csv", "-l", "0.05")
        self.assertEqual([watch.line() for _ in range(4)], ["device", "0", "0", "0"])

    def test_each_mistake_is_one_line_and_exit_2(self):
        for arguments, says in ((("--query=dram_sued",), "did you mean dram_used?"),
                                (("--query=device,",), "--query=help"),
                                (("--query=device", "--format=xml"), "xml"),
                                (("--query=device", "--format=noheader"), "csv"),
                                (("--query=device", "--json"), "--json"),
                                (("--query=dram_used", "--format=csv,nounits", "--units=auto"),
                                 "--units"),
                                (("--query=device", "--units=KB"), "MiB"),
                                (("--format=csv",), "--query")):
            with self.subTest(arguments):
                result = self.ttmem(*arguments, code=2)
                self.assertEqual(result.stdout, "")
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(says, result.stderr)


class List(Fields):
    def test_the_list_distinguishes_devices(self):
        (device,) = self.json("--list")["devices"]
        (whole,) = self.devices()
        self.assertEqual(device, {key: whole[key] for key in
                                  ("id", "uid", "bus_id", "board", "arch")})
        self.assertIsNone(device["bus_id"])
        header, row = self.ttmem("-L").stdout.splitlines()
        self.assertEqual(header.split(), ["DEV", "UID", "BUS", "ID", "BOARD", "ARCH"])
        self.assertEqual(row.split(), ["0", device["uid"], "n/a", device["board"], device["arch"]])
        (named,) = csv.DictReader(io.StringIO(self.ttmem("-L", "--csv").stdout))
        self.assertEqual(named, {"device": "0", "uid": device["uid"], "bus_id": "n/a",
                                 "board": device["board"], "arch": device["arch"]})


if __name__ == "__main__":
    unittest.main()
