# SPDX-License-Identifier: Apache-2.0
"""A mesh in the C interface: one call makes one record, which counts in the figures of each
device."""

import csv
import io
import re
import sys
import textwrap
import unittest

from http_case import HttpCase
from support import HERE, LIBRARY, MIB

CHIPS = 32
PER_BANK = 65536
ON_EACH = 64 * PER_BANK  # L1 of all cores of a chip


class Mesh(HttpCase):
    def start_tracked(self, code, **more):
        """Returns a tracked process that opened 32 chips and has run the code."""
        code = f"""
from abi import *
ALL = range({CHIPS})
for number in ALL:
    open_device(number)
{textwrap.dedent(code)}
hold()
"""
        workload = self.start([sys.executable, "-c", code],
                              env={**self.tracked(**more), "TTMEM_LIB": LIBRARY,
                                   "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(workload.line(), "ready")
        return workload

    def entries(self, *arguments):
        return self.json("allocs", *arguments)["allocations"]

    def held(self):
        """Returns the bytes of L1 buffers on each chip."""
        return [device["l1"]["buffers"]["physical_bytes"] for device in self.devices()]


class Sums(Mesh):
    """The same holder has the same bytes per device in every list that adds up allocations."""

    SIZES = {"BYTES/DEVICE": "4.00 MiB", "PHYSICAL/DEVICE": "4.00 MiB", "ALL DEVICES": "128.0 MiB"}

    def check(self, text):
        """Checks each column of bytes in the row of the weights. The last line with the header
        before that row has the names of the columns."""
        lines = [re.split(" {2,}", line.strip()) for line in text.splitlines()]
        at = next(i for i, line in enumerate(lines) if "weights" in line)
        head = next(line for line in reversed(lines[:at]) if any("/DEVICE" in one for one in line))
        found = {name: cell for name, cell in zip(head, lines[at]) if name in self.SIZES}
        self.assertEqual(found, {name: self.SIZES[name] for name in found}, text)
        self.assertTrue(set(found) & {"BYTES/DEVICE", "PHYSICAL/DEVICE"}, text)

    def test_of_a_living_and_a_dead_process(self):
        workload = self.start_tracked(WEIGHTS)
        self.check(self.ttmem("allocs", "--group-by", "label").stdout)
        (group,) = self.json("allocs", "--group-by", "label")["groups"]
        self.assertEqual((group["physical_bytes_per_device"], group["physical_bytes"]),
                         (ON_EACH, CHIPS * ON_EACH))
        workload.kill()
        self.check(self.ttmem("leaks").stdout)
        (leak,) = self.json("leaks")["sources"][0]["dead_process"]
        self.assertEqual((leak["bytes_per_device"], leak["bytes"]), (ON_EACH, CHIPS * ON_EACH))

    def test_of_a_run(self):
        path = f"{self.dir}/run.ttmem"
        env = {**self.env, "TTMEM_LIB": LIBRARY, "PYTHONPATH": str(HERE)}
        code = (f"from abi import *\nALL = range({CHIPS})\n"
                f"for number in ALL: open_device(number)\n{WEIGHTS}")
        for command in (("record", "-o", path), ("run", "--summary", "--no-adapter")):
            said = self.ttmem(*command, "--", sys.executable, "-c", code, env=env).stderr
        self.check(said)
        self.check(self.ttmem("report", path).stdout)
        self.check(self.ttmem("leaks", path).stdout)


WEIGHTS = f'mesh_alloc(ALL, L1, 7, {PER_BANK}, address=900000, label=b"weights")'


class Lists(Mesh):
    def setUp(self):
        super().setUp()
        self.start_tracked(WEIGHTS + """
alloc(L1, 8, 2048, address=800000, device=5)
for number in ALL:
    lib.ttmem_reports(number, 0x20)
""")

    def test_json_has_one_entry_with_all_devices(self):
        weights, other = self.entries()
        self.assertEqual((weights["device"], weights["devices"]), (0, list(range(CHIPS))))
        self.assertEqual((weights["physical_bytes"], weights["label"]), (ON_EACH, "weights"))
        self.assertEqual((other["device"], other["devices"]), (5, [5]))

    def test_the_table_has_one_row_and_the_sum_of_all_devices(self):
        text = self.ttmem("allocs").stdout
        row = next(line for line in text.splitlines() if "weights" in line)
        self.assertEqual(row.split()[0], "0-31")
        total = (CHIPS * ON_EACH + 64 * 2048) / MIB
        self.assertIn(f"2 allocations, {total:.1f} MiB physical; on all devices", text)

    def test_csv_has_the_devices_as_the_option_takes_them(self):
        (weights, other) = csv.DictReader(io.StringIO(self.ttmem("allocs", "--csv").stdout))
        self.assertEqual((weights["device"], weights["devices"]), ("0", "0-31"))
        self.assertEqual(other["devices"], "5")

    def test_each_of_its_devices_lists_the_buffer(self):
        for chip in (0, 17, 31):
            (entry,) = self.entries("--device", chip)
            self.assertEqual((entry["device"], entry["devices"]), (chip, [chip]))
        weights, other = self.entries("--device", "4-6")
        self.assertEqual(weights["devices"], [4, 5, 6])

    def test_groups_add_up(self):
        groups = self.json("allocs", "--group-by", "device")["groups"]
        self.assertEqual(len(groups), CHIPS)
        self.assertEqual(sorted(group["allocations"] for group in groups), [1] * 31 + [2])
        self.assertEqual(sum(group["physical_bytes"] for group in groups),
                         CHIPS * ON_EACH + 64 * 2048)
        (group,) = self.json("allocs", "--group-by", "kind")["groups"]
        self.assertEqual((group["allocations"], group["physical_bytes"]),
                         (2, CHIPS * ON_EACH + 64 * 2048))

    def test_every_chip_counts_the_buffer_and_its_headroom(self):
        snapshot = self.json("--per-core")
        self.assert_sane(snapshot)
        for device in snapshot["devices"]:
            lowest = 800000 if device["id"] == 5 else 900000
            self.assertEqual(device["l1"]["headroom_bytes_per_core"], lowest - 105664)
            self.assertEqual(device["processes"][0]["allocations"], 2 if lowest == 800000 else 1)
            self.assertEqual(device["per_core"][9]["l1_bytes"],
                             PER_BANK + (2048 if lowest == 800000 else 0))

    def test_the_server_gives_the_same_figures(self):
        self.serve()
        served = self.get_json("/api/v1/allocations?device=3")["allocations"]
        self.assertEqual([entry["devices"] for entry in served], [[3]])
        everything = self.get_json("/api/v1/allocations")["allocations"]
        self.assertEqual(everything[0]["devices"], list(range(CHIPS)))


class Ends(Mesh):
    def test_a_buffer_is_freed_on_all_its_devices(self):
        self.start_tracked(WEIGHTS + "\nmesh_free(ALL, L1, 7)")
        self.assertEqual(self.entries(), [])
        for device in self.devices():
            self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 0)
            self.assertEqual(device["l1"]["peak_bytes"], ON_EACH)
            self.assertEqual((device["allocations_total"], device["frees_total"]), (1, 1))
            self.assertEqual(set(device["anomalies"].values()), {0})

    def test_a_buffer_freed_on_some_devices_stays_on_the_others(self):
        self.start_tracked(WEIGHTS + """
mesh_free(range(8, 16), L1, 7)
free(L1, 7, device=31)
free(L1, 7, device=31)
""")
        (entry,) = self.entries()
        left = [chip for chip in range(31) if not 8 <= chip < 16]
        self.assertEqual(entry["devices"], left)
        self.assertEqual(self.held(), [ON_EACH if chip in left else 0 for chip in range(CHIPS)])
        devices = self.devices()
        self.assertEqual([device["anomalies"]["unknown_frees"] for device in devices],
                         [0] * 31 + [1])
        self.assertEqual([(device["allocations_total"], device["frees_total"])
                          for device in devices], [(1, int(chip not in left))
                                                   for chip in range(CHIPS)])

    def test_the_other_devices_keep_the_buffer_when_one_closes(self):
        workload = self.start_tracked(WEIGHTS + """
lib.ttmem_device_close(3)
hold()
open_device(3)
""")
        (entry,) = self.entries()
        self.assertEqual(entry["devices"], [chip for chip in range(CHIPS) if chip != 3])
        self.assertEqual(self.held(), [ON_EACH] * 31)
        workload.go_on()
        self.assertEqual(workload.line(), "ready")
        self.assertEqual(self.held()[3], 0)
        self.assertEqual(self.entries()[0]["devices"], entry["devices"])

    def test_another_buffer_takes_the_id_on_one_device(self):
        self.start_tracked(WEIGHTS + "\nalloc(L1, 7, 1024, address=700000, device=2)")
        weights, other = self.entries()
        self.assertNotIn(2, weights["devices"])
        self.assertEqual(other["devices"], [2])
        self.assertEqual(self.devices()[2]["anomalies"]["allocs_over_live"], 1)
        self.assertEqual(self.held()[2], 64 * 1024)

    def test_a_killed_process_leaves_the_buffer_as_evidence(self):
        workload = self.start_tracked(WEIGHTS)
        workload.kill()
        (entry,) = self.entries()
        self.assertEqual((entry["state"], entry["devices"]), ("dead", list(range(CHIPS))))
        self.serve()
        (postmortem,) = self.wait_for(lambda: self.get_json("/api/v1/postmortems")["postmortems"],
                                      "a post-mortem")
        self.assertEqual(postmortem["l1_bytes"], CHIPS * ON_EACH)
        (held,) = postmortem["largest"]
        self.assertEqual((held["devices"], held["used_bytes"]), (list(range(CHIPS)), ON_EACH))
        self.wait_for(lambda: self.logged("held: device 0-31 "), "the line of the log")

    def test_a_forked_child_does_not_have_the_buffer(self):
        self.start_tracked(WEIGHTS + """
child = os.fork()
if child == 0:
    mesh_alloc([0, 1], L1, 7, 1024)
    mesh_free(ALL, L1, 9)
    hold()
    os._exit(0)
""")
        self.wait_for(lambda: len(self.entries()) == 2, "the child's buffer")
        weights, of_child = self.entries()
        self.assertEqual(weights["devices"], list(range(CHIPS)))
        self.assertEqual(of_child["devices"], [0, 1])
        self.assertNotEqual(weights["pid"], of_child["pid"])


class BadLists(Mesh):
    def test_no_device_or_too_many_drop_the_call(self):
        self.start_tracked("""
buffer = buffer_of(L1, 7, 1024)
lib.ttmem_mesh_buffer_alloc(None, 4, ctypes.byref(buffer))
mesh_alloc([], L1, 7, 1024)
mesh_alloc(range(129), L1, 7, 1024)
mesh_free([], L1, 7)
lib.ttmem_mesh_program_dispatch(None, 1, 7)
""")
        snapshot = self.json()
        self.assertEqual(len(snapshot["devices"]), CHIPS)
        self.assertTrue(any("5 calls" in warning for warning in snapshot["warnings"]),
                        snapshot["warnings"])
        self.assertEqual(self.entries(), [])

    def test_a_device_twice_counts_once(self):
        self.start_tracked("mesh_alloc([4, 9, 4], L1, 7, 1024)")
        (entry,) = self.entries()
        self.assertEqual(entry["devices"], [4, 9])
        self.assertEqual(self.devices()[4]["anomalies"]["bad_arguments"], 1)
        self.assertEqual(self.held()[4], 64 * 1024)

    def test_devices_that_are_not_open_are_opened(self):
        self.start_tracked("mesh_alloc([40, 41], L1, 7, 1024)")
        (entry,) = self.entries()
        self.assertEqual(entry["devices"], [40, 41])


class Programs(Mesh):
    def test_a_program_is_placed_and_dispatched_on_each_device(self):
        self.start_tracked("""
cores, count = ranges([(0, 0, 7, 7)])
cbs = (Cb * 1)(Cb(105664, 2048, cores, count, 0))
lib.ttmem_mesh_program_place(*list_of(ALL), 1, cbs, 1)
placement = Placement(ctypes.sizeof(Placement), ctypes.sizeof(Cb), 2, ctypes.addressof(cbs), 1, 0,
                      b"matmul")
lib.ttmem_mesh_program_place_with(*list_of(ALL), ctypes.byref(placement))
lib.ttmem_mesh_program_dispatch(*list_of(range(16)), 2)
""")
        devices = self.devices()
        self.assertEqual([device["programs"] for device in devices], [2] * CHIPS)
        self.assertEqual([device["l1"]["cb"]["physical_bytes"] for device in devices],
                         [64 * 2048] * CHIPS)
        self.assertEqual([device["l1"]["cb"]["resident_bytes"] for device in devices],
                         [64 * 2048] * 16 + [None] * 16)
        names = {entry["name"] for entry in self.json("programs")["programs"]}
        self.assertEqual(names, {None, "matmul"})


class OverTheSocket(Mesh):
    def test_every_device_has_its_figures(self):
        self.serve()
        self.start_tracked(WEIGHTS + "\nmesh_free(range(8), L1, 7)", TTMEM_TRANSPORT="socket",
                           TTMEM_SOCKET=self.path)
        expected = [0] * 8 + [ON_EACH] * 24
        self.wait_for(lambda: len(self.devices()) == CHIPS and self.held() == expected,
                      "the figures of all chips")


if __name__ == "__main__":
    unittest.main()
