# SPDX-License-Identifier: Apache-2.0
"""The C interface, called from Python: what each call does to the figures that `ttmem` shows."""

import os
import sys
import textwrap
import unittest

from support import HERE, LIBRARY, Case, rows


class Abi(Case):
    BEFORE = ""  # code that a workload runs before its first call

    def start_python(self, code, env):
        code = "from abi import *\n" + self.BEFORE + textwrap.dedent(code) + "\nhold()\n"
        return self.start([sys.executable, "-c", code],
                          env={**env, "TTMEM_LIB": LIBRARY, "PYTHONPATH": str(HERE),
                               "PYTHONDONTWRITEBYTECODE": "1"})

    def start_tracked(self, code):
        """Returns a tracked process in which the code has run."""
        workload = self.start_python(code, self.tracked())
        self.assertEqual(workload.line(), "ready")
        return workload

    def after(self, code):
        """Returns the devices after the code has run in a tracked process."""
        self.start_tracked(code)
        snapshot = self.json("--per-core")
        self.assert_sane(snapshot)
        return snapshot["devices"]

    def device_after(self, code):
        (device,) = self.after(code)
        return device


class TrackingIsOffUnlessAskedFor(Abi):
    CODE = """
        open_device()
        alloc(DRAM, 1, 4096)
        place(1, (105664, 2048, [(0, 0, 7, 7)]))
        print("enabled", lib.ttmem_enabled(), flush=True)
    """

    def start_and_read(self, env):
        return self.start_python(self.CODE, env).line()

    def test_without_the_variable_no_segment_exists(self):
        self.assertEqual(self.start_and_read(self.env), "enabled 0")
        self.assertEqual(self.files(), [])

    def test_other_values_than_1_do_not_turn_it_on(self):
        for value in ("0", "", "true"):
            self.assertEqual(self.start_and_read({**self.env, "TT_ALLOC_TRACKING_ENABLED": value}),
                             "enabled 0")
        self.assertEqual(self.files(), [])

    def test_with_the_variable_there_is_one_segment_named_after_the_process(self):
        self.assertEqual(self.start_and_read(self.tracked()), "enabled 1")
        (name,) = self.files()
        self.assertRegex(name, rf"^ttmem\.{os.getuid()}\.[0-9]+\.[0-9]+$")
        self.assertEqual(os.stat(os.path.join(self.dir, name)).st_mode & 0o777, 0o600)

    def test_the_mode_can_be_widened(self):
        self.start_and_read(self.tracked(TTMEM_MODE="0644"))
        (name,) = self.files()
        self.assertEqual(os.stat(os.path.join(self.dir, name)).st_mode & 0o777, 0o644)

    def test_an_invalid_mode_keeps_the_default_mode(self):
        for mode in ("world", "07777", "-1"):
            with self.subTest(mode):
                self.start_and_read(self.tracked(TTMEM_MODE=mode))
        for name in self.files():
            self.assertEqual(os.stat(os.path.join(self.dir, name)).st_mode & 0o777, 0o600)


class Buffers(Abi):
    def test_an_interleaved_buffer_takes_its_range_in_every_bank(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 2048, size=2048)
            alloc(DRAM, 2, 4096, size=5000)
        """)
        self.assertEqual(device["l1"]["buffers"],
                         {"logical_bytes": 2048, "physical_bytes": 64 * 2048,
                          "data_bytes": 64 * 2048, "lockstep_bytes": 0})
        self.assertEqual(device["dram"]["used_bytes"], 12 * 4096)
        self.assertEqual(device["dram"]["logical_bytes"], 5000)

    def test_a_sharded_buffer_takes_its_range_on_every_core(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 8192, address=1400000, cores=[(0, 0, 3, 3), (7, 7, 7, 7)])
            alloc(L1_SMALL, 1, 64, address=1490000, cores=[(0, 0, 0, 0)])
            alloc(DRAM, 1, 4096, cores=[(0, 0, 3, 0)])
        """)
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 64 * 8192)
        self.assertEqual(device["l1"]["buffers"]["data_bytes"], 17 * 8192)
        self.assertEqual(device["l1"]["small_bytes"], 64 * 64)
        self.assertEqual(device["l1"]["small_data_bytes"], 64)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 4096)
        for core in device["per_core"]:
            has_data = (core["x"], core["y"]) == (7, 7) or max(core["x"], core["y"]) <= 3
            self.assertEqual(core["l1_bytes"], 8192)
            self.assertEqual(core["l1_data_bytes"], 8192 if has_data else 0)

    def test_a_buffer_with_its_own_banks_takes_only_those_banks(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 8192, address=1400000, cores=[(0, 0, 3, 3), (7, 7, 7, 7)],
                  flags=OWN_BANKS)
            alloc(L1, 2, 4096, address=1400000, cores=[(4, 0, 5, 5)], flags=OWN_BANKS)
            alloc(L1, 3, 2048, address=1450000, flags=OWN_BANKS)
            alloc(DRAM, 1, 4096, cores=[(0, 0, 3, 0)], flags=OWN_BANKS)
        """)
        taken = 17 * 8192 + 12 * 4096 + 64 * 2048
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], taken)
        self.assertEqual(device["l1"]["buffers"]["data_bytes"], taken)
        self.assertEqual(device["dram"]["used_bytes"], 4 * 4096)
        held = {(core["x"], core["y"]): core["l1_bytes"] for core in device["per_core"]}
        self.assertEqual((held[3, 3], held[5, 5], held[6, 6]), (8192 + 2048, 4096 + 2048, 2048))
        self.assertEqual(device["anomalies"]["overlapping_buffers"], 0)

    # The figures were measured on the real allocator. On the real allocator a second shard of this
    # size, on any core, runs out of memory ("free: 574272 B"), and the program below clashes ("L1
    # buffer allocated at 679936 and static circular buffer region ends at 720064").
    def test_a_shard_on_one_core_ends_the_headroom_of_all_cores(self):
        workload = self.start_tracked("""
            open_device(l1_small_bytes_per_core=0)
            lib.ttmem_reports(0, 0x3f)
            alloc(L1, 1, 819200, address=679936, cores=[(0, 0, 0, 0)])
            hold()
            place(1, (105664, 600 * 1024, [(5, 5, 6, 6)]))
        """)
        (before,) = self.json("--per-core")["devices"]
        workload.go_on()
        self.assertEqual(workload.line(), "ready")
        (after,) = self.json("--per-core")["devices"]
        self.assertEqual(before["l1"]["used_bytes"], 52428800)
        self.assertEqual(before["l1"]["peak_bytes"], 52428800)
        self.assertEqual(before["processes"][0]["l1_bytes"], 52428800)
        self.assertEqual(before["l1"]["buffers"]["data_bytes"], 819200)
        self.assertEqual({c["headroom_bytes"] for c in before["per_core"]}, {574272})
        headroom = {(c["x"], c["y"]): c["headroom_bytes"] for c in after["per_core"]}
        self.assertEqual((headroom[5, 5], headroom[0, 0]), (-40128, 574272))
        self.assertEqual(after["l1"]["headroom_bytes_per_core"], -40128)

    def test_every_view_with_l1_shows_the_bytes_that_lockstep_wastes(self):
        self.start_tracked("""
            open_device()
            alloc(L1, 1, 819200, address=679936, cores=[(0, 0, 0, 0)])
        """)
        table = self.ttmem("--per-core").stdout
        self.assertIn("L1 buffers: 50.0 MiB", table)
        self.assertRegex(table, r"logical 800\.0 KiB, (lockstep )?wastes 49\.2 MiB")
        self.assertIn("/ a part of it is taken for buffers on other cores", table)
        self.assertIn("ELSEWHERE", table)
        allocation, = self.json("allocs")["allocations"]
        self.assertEqual(allocation["physical_bytes"], 52428800)
        self.assertEqual(allocation["banks"], 64)
        self.assertEqual(allocation["cores"], [[0, 0, 0, 0]])

    def test_without_wasted_bytes_no_view_mentions_them(self):
        self.start_tracked("""
            open_device()
            alloc(L1, 1, 4096, address=1400000)
        """)
        table = self.ttmem("--per-core").stdout
        self.assertNotIn("wastes", table)
        self.assertNotIn("ELSEWHERE", table)

    def test_shards_at_the_same_address_overlap_wherever_their_bytes_are(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 4096, address=1400000, cores=[(0, 0, 0, 0)])
            alloc(L1, 2, 4096, address=1400000, cores=[(1, 1, 1, 1)])
        """)
        self.assertEqual(device["anomalies"]["overlapping_buffers"], 1)

    def test_the_same_address_twice_is_two_buffers_and_an_overlap(self):
        device = self.device_after("""
            open_device()
            alloc(DRAM, 1, 4096, address=1048640)
            alloc(DRAM, 2, 4096, address=1048640)
        """)
        self.assertEqual(device["dram"]["used_bytes"], 2 * 12 * 4096)
        self.assertGreater(device["anomalies"]["overlapping_buffers"], 0)
        self.assertEqual(device["anomalies"]["allocs_over_live"], 0)

    def test_a_repeated_id_replaces_the_buffer_and_is_an_anomaly(self):
        device = self.device_after("""
            open_device()
            alloc(DRAM, 1, 4096)
            alloc(DRAM, 1, 64)
        """)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 64)
        self.assertEqual(device["anomalies"]["allocs_over_live"], 1)

    def test_id_0_means_the_address(self):
        device = self.device_after("""
            open_device()
            alloc(DRAM, 0, 4096, address=1048640)
            alloc(DRAM, 0, 64, address=2097152)
            free(DRAM, 1048640)
        """)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 64)

    def test_a_free_of_an_unknown_buffer_is_counted_and_changes_nothing(self):
        device = self.device_after("""
            open_device()
            alloc(DRAM, 1, 64)
            free(DRAM, 2)
            free(L1, 1)
            lib.ttmem_kernel_unload(0, 5)
        """)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 64)
        self.assertEqual(device["anomalies"]["unknown_frees"], 3)

    def test_unknown_bytes_per_bank_are_unknown_and_not_zero(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 0, size=5000)
        """)
        self.assertIsNone(device["l1"]["buffers"]["physical_bytes"])
        self.assertEqual(device["l1"]["buffers"]["logical_bytes"], 5000)
        (listed,) = self.json("allocs")["allocations"]
        self.assertIsNone(listed["physical_bytes"])
        self.assertEqual(listed["bytes"], 5000)

    def test_each_type_has_its_own_figure_and_its_peak(self):
        device = self.device_after("""
            open_device(trace_region_bytes=1 << 20)
            alloc(L1_SMALL, 1, 1024)
            alloc(TRACE, 2, 4096)
            alloc(SYSTEM, 3, 0, size=777)
            alloc(DRAM, 4, 1 << 20)
            free(DRAM, 4)
        """)
        self.assertEqual(device["l1"]["small_bytes"], 64 * 1024)
        self.assertEqual(device["trace"]["used_bytes"], 12 * 4096)
        self.assertEqual(device["system_bytes"], 777)
        self.assertEqual(device["dram"]["used_bytes"], 0)
        self.assertEqual(device["dram"]["peak_bytes"], 12 << 20)
        self.assertEqual((device["allocations_total"], device["frees_total"]), (4, 1))

    def test_a_label_is_listed_and_a_very_long_one_loses_its_middle(self):
        name = "model.decoder.layers.{}.self_attention.query_key_value.weight.shard_of_eight.{}"
        self.after(f"""
            open_device()
            alloc(DRAM, 1, 64, label=b"layers.0.wq")
            for i in range(100):
                alloc(DRAM, 10 + i, 64, address=i << 16,
                      label="{name}".format(i, i).ljust(96, ".").encode())
            alloc(DRAM, 2, 64, address=2 << 20, label=b"begin" + b"x" * 5000 + b"end")
            alloc(DRAM, 3, 64, address=3 << 20, label=b"y" * 32)
        """)
        labels = {entry["id"]: entry["label"] for entry in self.json("allocs")["allocations"]}
        self.assertEqual(labels[1], "layers.0.wq")
        self.assertEqual(labels[3], "y" * 32)
        for i in range(100):
            self.assertEqual(labels[10 + i], name.format(i, i).ljust(96, "."))
        self.assertRegex(labels[2], "^beginx{40,}…x{40,}end$")


class Programs(Abi):
    def names_after(self, code):
        self.after("open_device()\n" + textwrap.dedent(code))
        return {entry["program"]: entry["name"] for entry in self.json("programs")["programs"]}

    def test_a_name_is_listed_until_another_name_replaces_it(self):
        names = self.names_after("""
            cb = (105664, 4096, [(0, 0, 7, 7)])
            place(1, cb, name=b"decoder.0.matmul")
            place(1, cb)
            place(2, cb, name=b"before")
            place(2, cb, name=b"after")
            place(3, cb)
            place(4, cb, name=b"x" * 5000)
        """)
        self.assertEqual((names[1], names[2], names[3]), ("decoder.0.matmul", "after", None))
        self.assertRegex(names[4], "^x{32,}…x{32,}$")
        self.assertIn("decoder.0.matmul", self.ttmem("programs").stdout)

    def test_a_placement_may_be_shorter_or_longer_and_its_cbs_longer(self):
        names = self.names_after("""
            place_with(program=1, struct_size=Placement.name.offset, name=b"not there")
            place_with(program=2, struct_size=4096, name=b"longer")
            cores, count = ranges([(0, 0, 7, 7)])
            class Long(ctypes.Structure):
                _fields_ = [("cb", Cb), ("more", ctypes.c_uint64 * 3)]
            cbs = (Long * 2)()
            for i, cb in enumerate(cbs):
                cb.cb = Cb(105664 + 4096 * i, 4096, cores, count, 0)
                cb.more[:] = [1 << 63] * 3
            place_with(program=3, cb_size=ctypes.sizeof(Long), cbs=ctypes.addressof(cbs),
                       cb_count=2)
        """)
        self.assertEqual(names, {1: None, 2: "longer", 3: None})
        (device,) = self.json()["devices"]
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64 * 2 * 4096)

    def test_a_placement_with_missing_fields_is_dropped(self):
        names = self.names_after("""
            lib.ttmem_program_place_with(0, None)
            lib.ttmem_program_place_with(0, ctypes.byref(Placement()))
            place_with(program=1, struct_size=Placement.cb_count.offset)
            place_with(program=1, cb_size=ctypes.sizeof(Cb) - 1)
        """)
        self.assertEqual(names, {})
        (warning,) = self.json()["warnings"]
        self.assertIn("4 calls not recorded", warning)

    def test_placing_the_same_layout_again_changes_nothing(self):
        device = self.device_after("""
            open_device()
            for _ in range(3):
                place(1, (105664, 4096, [(0, 0, 7, 7)]))
        """)
        self.assertEqual(device["programs"], 1)
        self.assertEqual(device["l1"]["cb"]["logical_bytes"], 64 * 4096)

    def test_another_layout_replaces_the_earlier_layout(self):
        device = self.device_after("""
            open_device()
            place(1, (105664, 4096, [(0, 0, 7, 7)]))
            place(1, (105664, 1024, [(0, 0, 0, 0)]))
        """)
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 1024)
        self.assertEqual(device["l1"]["cb"]["logical_bytes"], 1024)

    def test_a_global_cb_is_not_counted_again(self):
        device = self.device_after("""
            open_device()
            alloc(L1, 1, 4096, address=1400000)
            place(1, (1400000, 4096, [(0, 0, 7, 7)], CB_GLOBAL))
        """)
        self.assertEqual(device["l1"]["cb"]["logical_bytes"], 0)
        self.assertEqual(device["l1"]["used_bytes"], 64 * 4096)

    def test_resident_is_the_program_last_dispatched_to_a_core(self):
        device = self.device_after("""
            open_device()
            place(1, (105664, 4096, [(0, 0, 7, 7)]))
            place(2, (105664, 1024, [(0, 0, 3, 7)]))
            lib.ttmem_program_dispatch(0, 1)
            lib.ttmem_program_dispatch(0, 2)
        """)
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64 * 4096)
        self.assertEqual(device["l1"]["cb"]["resident_bytes"], 32 * 1024 + 32 * 4096)
        resident = {p["program"]: p["resident_cores"] for p in self.json("programs")["programs"]}
        self.assertEqual(resident, {1: 32, 2: 32})

    def test_a_trace_replay_makes_the_largest_of_its_programs_resident(self):
        device = self.device_after("""
            open_device()
            place(1, (105664, 4096, [(0, 0, 0, 0)]))
            place(2, (105664, 1024, [(0, 0, 1, 0)]))
            place(3, (105664, 65536, [(0, 0, 7, 7)]))
            replay_trace(1, 2)
        """)
        resident = {(core["x"], core["y"]): core["cb_resident_bytes"]
                    for core in device["per_core"] if core["cb_resident_bytes"]}
        self.assertEqual(resident, {(0, 0): 4096, (1, 0): 1024})

    def test_a_destroyed_program_is_gone_from_every_device(self):
        devices = self.after("""
            for number in range(3):
                open_device(number)
                place(1, (105664, 4096, [(0, 0, 7, 7)]), device=number)
                place(2, (105664, 64, [(0, 0, 0, 0)]), device=number)
            lib.ttmem_program_destroy(1)
        """)
        for device in devices:
            self.assertEqual(device["programs"], 1)
            self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64)

    def test_dispatching_an_unknown_program_is_counted(self):
        device = self.device_after("""
            open_device()
            lib.ttmem_program_dispatch(0, 77)
            replay_trace(78)
        """)
        self.assertEqual(device["anomalies"]["unknown_programs"], 2)

    def test_headroom_is_from_the_end_of_the_cbs_to_the_lowest_buffer(self):
        device = self.device_after("""
            open_device()
            place(1, (105664, 4096, [(0, 0, 7, 7)]))
            alloc(L1, 1, 4096, address=1400000)
            alloc(L1, 2, 4096, address=109000, cores=[(5, 5, 5, 5)])
        """)
        headroom = {(core["x"], core["y"]): core["headroom_bytes"] for core in device["per_core"]}
        self.assertEqual(set(headroom.values()), {109000 - 109760})  # a clash
        self.assertEqual(device["l1"]["headroom_bytes_per_core"], 109000 - 109760)


class Kernels(Abi):
    def test_roles_distinguish_persistent_from_temporary_kernels(self):
        device = self.device_after("""
            open_device()
            lib.ttmem_kernel_load(0, 1, 1000, APP)
            lib.ttmem_kernel_load(0, 2, 200, FABRIC)
            lib.ttmem_kernel_load(0, 3, 30, DISPATCH)
            lib.ttmem_kernel_load(0, 1, 500, APP)
        """)
        self.assertEqual(device["l1"]["kernels_bytes"], 730)
        self.assertEqual(device["l1"]["kernels_persistent_bytes"], 230)
        self.assertEqual(set(device["anomalies"].values()), {0})


class Devices(Abi):
    def test_a_device_named_before_it_is_opened_has_unknown_capacities(self):
        device = self.device_after("""
            alloc(DRAM, 1, 0, size=4096, device=3)
        """)
        self.assertEqual(device["id"], 3)
        self.assertIsNone(device["dram"]["capacity_bytes"])
        self.assertIsNone(device["l1"]["capacity_bytes"])
        self.assertIsNone(device["grid"])
        self.assertEqual(device["dram"]["used_bytes"], 4096)

    def test_a_structure_of_an_older_header_leaves_the_rest_unknown(self):
        device = self.device_after("""
            open_device(struct_size=DeviceInfo.dram_channels.offset)
        """)
        self.assertEqual(device["grid"], {"x": 8, "y": 8})
        self.assertIsNone(device["dram"]["capacity_bytes"])
        self.assertEqual(device["l1"]["capacity_bytes"], 64 * 1499136)

    def test_a_closed_device_holds_nothing_and_reports_its_leftovers(self):
        self.after("""
            open_device()
            alloc(DRAM, 1, 4096)
            alloc(L1, 2, 16)
            lib.ttmem_kernel_load(0, 3, 30, DISPATCH)
            lib.ttmem_device_close(0)
            open_device()
        """)
        (device,) = self.devices()
        self.assertEqual(device["dram"]["used_bytes"], 0)
        self.assertEqual(device["l1"]["used_bytes"], 0)
        self.assertEqual(device["anomalies"]["left_at_close"], 2)
        self.assertEqual(device["anomalies"]["left_at_close_bytes"], 12 * 4096 + 64 * 16)

    def test_leftovers_on_a_device_that_stays_closed_are_a_warning(self):
        workload = self.start_tracked("""
            open_device(2)
            alloc(DRAM, 1, 4096, device=2)
            alloc(L1, 2, 16, device=2)
            lib.ttmem_device_close(2)
        """)
        said = (rf"process {workload.pid} \(.*\) left 2 allocations \(49.0 KiB\) on device 2 "
                "when it closed it")
        for state in ("alive", "dead"):
            with self.subTest(state):
                (warning,) = self.json()["warnings"]
                self.assertRegex(warning, said)
            workload.kill()

    def test_two_processes_on_one_chip_add_up(self):
        first = self.start_tracked("open_device(); alloc(DRAM, 1, 4096)")
        second = self.start_tracked("open_device(); alloc(DRAM, 1, 64)")
        (device,) = self.devices()
        self.assertEqual(device["dram"]["used_bytes"], 12 * (4096 + 64))
        self.assertEqual({process["pid"] for process in device["processes"]},
                         {first.pid, second.pid})


class AForkedChild(Abi):
    """A forked child's calls do not change the segment of its parent."""

    PARENT = """
        open_device()
        alloc(DRAM, 1, 64)
        for number in range(100):
            place(number, (105664, 64 * (1 + number % 7), [(0, 0, 7, 7)]))
            lib.ttmem_program_dispatch(0, number)
        hold()
        child = os.fork()
        if child == 0:
            {child}
            os._exit(0)
        os.waitpid(child, 0)
    """

    def programs(self, pid):
        return [{key: value for key, value in entry.items() if key != "age_ns"}
                for entry in self.json("programs")["programs"] if entry["pid"] == pid]

    def check(self, child):
        workload = self.start_tracked(self.PARENT.format(child=child))
        (name,) = self.files()
        path = os.path.join(self.dir, name)
        with open(path, "rb") as segment:
            bytes_before = segment.read()
        programs, held = self.programs(workload.pid), rows(self.json(), "alive")
        self.assertEqual(len(programs), 100)
        workload.go_on()
        self.assertEqual(workload.line(), "ready")
        self.assertEqual(self.programs(workload.pid), programs)
        self.assertEqual(rows(self.json(), "alive"), held)
        with open(path, "rb") as segment:
            self.assertTrue(segment.read() == bytes_before, "the bytes of the segment changed")

    def test_that_ends_at_once(self):
        self.check("pass")

    def test_that_destroys_its_inherited_programs(self):
        self.check("[lib.ttmem_program_destroy(number) for number in range(100)]; "
                   "lib.ttmem_device_close(0)")


class ADeletedSegment(Abi):
    """If systemd has RemoveIPC=yes, it deletes the segments of a user who logs out. The library
    then writes the segment again."""

    def restored_by(self, code):
        workload = self.start_tracked("""
            open_device()
            for number in range(100): alloc(DRAM, 1 + number, 64, address=number << 16)
            place(1, (105664, 2048, [(0, 0, 7, 7)]), name=b"softmax")
            hold()
        """ + code)
        before = self.device_of(workload)
        (name,) = self.files()
        mode = os.stat(os.path.join(self.dir, name)).st_mode
        os.unlink(os.path.join(self.dir, name))
        self.assertEqual(self.devices(), [])
        workload.go_on()
        self.assertEqual(workload.line(), "ready")
        self.assertEqual(self.files(), [name])
        self.assertEqual(os.stat(os.path.join(self.dir, name)).st_mode, mode)
        self.assertEqual(self.json("programs")["programs"][0]["name"], "softmax")
        return before, self.device_of(workload)

    def device_of(self, workload):
        (device,) = self.devices()
        (process,) = device["processes"]
        self.assertEqual((process["pid"], process["state"]), (workload.pid, "alive"))
        return device

    def test_is_restored_when_it_grows(self):
        before, after = self.restored_by("""
            for number in range(5000): alloc(DRAM, 1000 + number, 64, address=number << 16)
        """)
        self.assertEqual(before["dram"]["used_bytes"], 100 * 12 * 64)
        self.assertEqual(after["dram"]["used_bytes"], 5100 * 12 * 64)
        self.assertEqual(len(self.json("allocs")["allocations"]), 5100)

    def test_is_restored_when_a_device_is_opened(self):
        before, after = self.restored_by("""
            open_device()
        """)
        for device in (before, after):
            del device["processes"][0]["segment"]  # the file's inode number, which differs
        self.assertEqual(before, after)


class InvalidArguments(Abi):
    def test_are_counted_and_do_no_harm(self):
        device = self.device_after("""
            open_device()
            alloc(DRAM, 1, 64)
            alloc(99, 2, 64)
            alloc(DRAM, 3, 1 << 62, size=1 << 62)
            alloc(L1, 4, 64, address=1400000, cores=[(0, 0, 99, 99)])
            lib.ttmem_kernel_load(0, 1, 100, 77)
            place(1, (105664, 1 << 40, [(0, 0, 7, 7)]))
            place(2, (105664, 64, [(9, 9, 9, 9)]))
            place(3, (105664, 1 << 63, [(0, 0, 0, 0)]))
            place(4, ((1 << 64) - 32, 64, [(0, 0, 0, 0)]))
            lib.ttmem_cb_alloc(0, ctypes.c_uint64(7), ctypes.c_uint64(1 << 63))
        """)
        self.assertEqual(device["dram"]["used_bytes"], 12 * 64)
        self.assertGreaterEqual(device["anomalies"]["bad_arguments"], 8)
        self.assertEqual(device["l1"]["cb"]["logical_bytes"], 0)

    def test_null_pointers_and_zero_sizes_do_nothing(self):
        workload = self.start_tracked("""
            open_device()
            alloc(DRAM, 1, 64)
            lib.ttmem_program_place(0, 1, None, 5)  # a program without CBs
            hold()
            lib.ttmem_device_open(None)
            lib.ttmem_buffer_alloc(0, None)
            lib.ttmem_trace_replay(0, None, 5)
            open_device(1, struct_size=0)
            lib.ttmem_device_open(ctypes.byref(DeviceInfo()))
            lib.ttmem_buffer_alloc(0, ctypes.byref(Buffer()))
            lib.ttmem_device_close(77)
        """)
        before = self.figures()
        workload.go_on()
        self.assertEqual(workload.line(), "ready")
        self.assertEqual(self.figures(), before)

    def figures(self):
        """Returns the figures of device 0, the only device, without the counts of anomalies."""
        (device,) = self.json("--per-core")["devices"]
        del device["anomalies"]
        return device

    def test_a_grid_with_more_cores_than_a_segment_holds_is_unknown(self):
        device = self.device_after("""
            open_device(grid_x=300, grid_y=300)
            alloc(DRAM, 1, 64)
        """)
        self.assertIsNone(device["grid"])
        self.assertEqual(device["dram"]["used_bytes"], 12 * 64)
        self.assertGreater(device["anomalies"]["bad_arguments"], 0)

    def test_devices_beyond_the_maximum_of_a_segment_are_reported_as_missing(self):
        self.start_tracked("""
            for number in range(300):
                open_device(number)
                alloc(DRAM, 1, 64, device=number)
        """)
        snapshot = self.json()
        self.assertGreaterEqual(len(snapshot["devices"]), 32)
        for device in snapshot["devices"]:
            self.assertEqual(device["dram"]["used_bytes"], 12 * 64)
        self.assertTrue(any("not recorded" in warning for warning in snapshot["warnings"]),
                        snapshot["warnings"])

    def test_a_program_with_thousands_of_cbs_does_no_harm(self):
        workload = self.start_tracked("""
            open_device()
            place(1, *[(105664 + 64 * i, 64, [(0, 0, 7, 7)]) for i in range(5000)])
            place(2, (105664, 64, [(0, 0, 0, 0)]))
        """)
        snapshot = self.json()
        self.assert_sane(snapshot)
        (device,) = snapshot["devices"]
        self.assertEqual(device["programs"], 2)
        self.assertEqual(device["l1"]["cb"]["physical_bytes"], 64 * 5000 * 64)
        self.assertEqual(device["l1"]["cb"]["logical_bytes"], 64 * 5000 * 64 + 64)
        self.assertEqual([p["program"] for p in self.json("programs")["programs"]], [2])
        self.assertTrue(any(f"process {workload.pid}" in warning and
                            "1 program counted but not listed" in warning
                            for warning in snapshot["warnings"]), snapshot["warnings"])


if __name__ == "__main__":
    unittest.main()
