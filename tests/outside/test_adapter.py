# SPDX-License-Identifier: Apache-2.0
"""Tests the adapter. The stub is preloaded into host code that does not use ttmem. The figures of
`ttmem` must equal the runtime's own figures."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import host_program
import test_dryrun
from support import HERE, KIB, Case, library_path

PRELOAD = f"{library_path()}/ttmem/libttmem_preload.so"
PROGRAM = "_ZN2tt8tt_metal6detail11ProgramImpl"
# Functions of the runtime. A call of one of these functions shows that a program ended.
ENDS = (PROGRAM + "27deallocate_circular_buffersEv",
        "_ZN2tt8tt_metal9Inspector17program_destroyedEPKNS0_6detail11ProgramImplE",
        PROGRAM + "D1Ev", PROGRAM + "D2Ev")
# The hook that reports a circular buffer.
HOOK = "_ZN2tt8tt_metal12GraphTracker17track_allocate_cbERKNS0_12CoreRangeSetEmmbPKNS0_7IDeviceE"
PYTHON = """
import ctypes, os, sys
library = ctypes.CDLL({library!r})  # with RTLD_LOCAL
def hold():
    print("ready", flush=True)
    os.read(0, 1)
library.open_device()
"""


class Adapter(Case):
    PUBLIC = False

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="ttmem-adapter-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.adapter = host_program.adapter(cls.PUBLIC)

    def preloaded(self, **variables):
        return self.tracked(LD_PRELOAD=PRELOAD, TTMEM_ADAPTER=str(self.adapter), **variables)


class WithPublicHeaders:
    """Builds the adapter with the headers in a package of TT-Metal. The package lacks the runtime's
    internal headers."""

    PUBLIC = True


class APlainProgram(Adapter):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = cls.folder / "plain"
        host_program.build_plain("g++", cls.binary, HERE / "host" / "plain.cpp")

    @staticmethod
    def shown(device):
        """Returns the device's figures in the form in which the program prints its own figures."""
        return (f"dram {device['dram']['used_bytes']} "
                f"l1 {device['l1']['buffers']['physical_bytes']} "
                f"small {device['l1']['small_bytes']} cb {device['l1']['cb']['physical_bytes']} "
                f"programs {device['programs']}")

    def steps(self, system):
        """Yields the name of each step and the devices after the step. Checks that the figures of
        the devices equal the program's own figures."""
        host = self.start([self.binary], self.preloaded(TTMEM_DRYRUN_SYSTEM=system))
        step = None
        while step != "last":
            step, told = host.line().split(" ", 1)
            snapshot = self.json()
            self.assertEqual(snapshot["warnings"], [])
            self.assertEqual({self.shown(device) for device in snapshot["devices"]}, {told}, step)
            yield step, snapshot["devices"]
            host.go_on()
        self.assertEqual(host.wait(), 0)
        self.assertEqual(self.devices(), [])

    def test_has_the_runtimes_figures_after_every_step(self):
        seen = {}
        for step, devices in self.steps("n150"):
            seen[step] = devices[0]
            if step not in ("again", "last"):  # buffers were alive when the device closed
                self.assertEqual(set(devices[0]["anomalies"].values()), {0}, step)
        self.assertEqual(len(seen), 16)
        resident = {step: device["l1"]["cb"]["resident_bytes"] for step, device in seen.items()}
        cores = 7 * 7
        self.assertEqual(resident["open"], 0)
        self.assertEqual(resident["programs"], 8 * 12 * 2 * KIB * cores)
        self.assertEqual(resident["recorded"], 8 * 2 * 2 * KIB * cores)
        self.assertEqual(resident["replayed"], 8 * 1 * 2 * KIB * cores)
        self.assertLess(seen["clash"]["l1"]["headroom_bytes_per_core"], 0)
        self.assertEqual(seen["programs"]["l1"]["kernels_bytes"], cores * 50 * KIB)
        self.assertEqual(seen["programs"]["l1"]["kernels_estimated_bytes"], cores * 50 * KIB)

    def test_on_blackhole(self):
        self.assertEqual(len(list(self.steps("p150"))), 16)

    def test_on_a_mesh_of_eight(self):
        for _, devices in self.steps("t3000"):
            self.assertEqual(len(devices), 8)

    def test_runs_without_an_adapter_and_prints_one_line(self):
        for adapter, said in (("/nowhere/adapter.so", "ttmem: cannot load the adapter"), ("", "")):
            env = self.preloaded(TTMEM_DRYRUN_SYSTEM="n150")
            env["TTMEM_ADAPTER"] = adapter
            result = subprocess.run([self.binary], env=env, input="x" * 20, text=True,
                                    capture_output=True, timeout=60)
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr.count("\n"), 1 if said else 0)
            self.assertIn(said, result.stderr)

    def test_an_adapter_that_others_can_write_is_not_loaded(self):
        adapter = shutil.copy(self.adapter, self.folder / "writable.so")
        env = self.preloaded(TTMEM_DRYRUN_SYSTEM="n150")
        env["TTMEM_ADAPTER"] = str(adapter)
        cases = [(0o775, 0, "others may write to it"), (0o757, 0, "others may write to it")]
        if os.geteuid() == 0:
            cases.append((0o755, 12345, "it belongs to another user"))
        for mode, owner, why in cases:
            adapter.chmod(mode)
            if owner != 0:
                os.chown(adapter, owner, owner)
            result = subprocess.run([self.binary], env=env, input="x" * 20, text=True,
                                    capture_output=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (0, 1))
            self.assertIn(f"cannot load the adapter, so the memory of this process is not seen: "
                          f"{adapter}: {why}", result.stderr)

    def test_an_adapter_of_another_build_is_not_loaded(self):
        """The name of the adapter's folder begins with the build id of the library for which the
        adapter was built."""
        notes = subprocess.run(["readelf", "-n", f"{library_path()}/libttmem_dryrun.so"], text=True,
                               capture_output=True, check=True).stdout
        right = notes.split("Build ID:")[1].split()[0]
        for build_id, seen in ((right, True), ("0" * len(right), False)):
            adapter = self.folder / f"{build_id}-1" / "adapter.so"
            adapter.parent.mkdir()
            adapter.symlink_to(self.adapter)
            env = self.preloaded(TTMEM_DRYRUN_SYSTEM="n150")
            env["TTMEM_ADAPTER"] = str(adapter)
            host = self.start([self.binary], env)
            host.line()
            self.assertEqual(len(self.devices()), 1 if seen else 0)
            warnings = self.json()["warnings"]
            self.assertEqual(len(warnings), 0 if seen else 1)
            if not seen:
                self.assertIn("libttmem_dryrun.so", host.line("stderr"))
                self.assertIn("the adapter is for another TT-Metal", warnings[0])
            host.kill()
            self.ttmem("clean")

    def run_on(self, library, expected=""):
        """Runs the program on another build of the runtime. Returns the devices and the program's
        own figures after the step "threads". If `expected` is not "", the line on stderr and the
        only warning must contain it; otherwise there must be neither."""
        host = self.start([self.binary], self.preloaded(TTMEM_DRYRUN_SYSTEM="n150",
                                                        LD_LIBRARY_PATH=library))
        step = None
        while step != "threads":
            step, told = host.line().split(" ", 1)
            snapshot = self.json()
            if step != "threads":
                host.go_on()
        self.assertEqual(len(snapshot["warnings"]), 1 if expected else 0)
        if expected:
            [warning] = snapshot["warnings"]
            self.assertIn(f"process {host.pid} (plain): ", warning)
            self.assertIn(expected, warning)
        for _ in ("threads", "again", "last"):
            host.go_on()
        self.assertEqual(host.wait(), 0)
        said = host.process.stderr.read().decode()
        self.assertEqual(said.count("\n"), 1 if expected else 0)
        self.assertIn(expected, said)
        return snapshot["devices"], told

    def without(self, *names):
        script = self.folder / "names"
        script.write_text("{ global: *; local: " + " ".join(f"{name};" for name in names) + " };")
        folder = tempfile.mkdtemp(dir=self.folder)
        return host_program.relink_dryrun(pathlib.Path(folder) / "lib",
                                          f"-Wl,--version-script={script}")

    def test_the_end_of_a_program_is_seen_in_several_ways(self):
        [device], told = self.run_on(self.without(*ENDS[:2]))
        self.assertEqual(self.shown(device), told)

    def test_figures_that_a_runtime_does_not_report_are_unknown(self):
        [device], told = self.run_on(self.without(*ENDS),
                                     "programs and circular buffers are not seen: ")
        self.assertIsNone(device["programs"])
        self.assertIsNone(device["l1"]["cb"]["physical_bytes"])
        self.assertIsNone(device["l1"]["cb"]["resident_bytes"])
        self.assertIn(f"dram {device['dram']['used_bytes']} ", told)

    def test_a_runtime_that_does_not_call_by_name_is_noticed(self):
        library = host_program.relink_dryrun(self.folder / "bsymbolic", "-Wl,-Bsymbolic")
        [device], _ = self.run_on(library, "(-Bsymbolic)")
        self.assertIsNone(device["dram"]["used_bytes"])
        self.assertIsNone(device["l1"]["cb"]["physical_bytes"])
        self.assertIsNone(device["l1"]["kernels_bytes"])

    def test_a_runtime_that_places_programs_without_a_call_is_noticed(self):
        """Imitates a runtime in which the functions that place programs were inlined. The runtime
        calls only the functions in the list by name, so the adapter sees only their calls."""
        names = self.folder / "list"
        names.write_text("{ *Buffer13allocate*; *Buffer15deallocate*; *Device10initialize*; "
                         "*Device5close*; *ProgramImplD*; };")
        library = host_program.relink_dryrun(self.folder / "inlined", "-Wl,-Bsymbolic",
                                             f"-Wl,--dynamic-list={names}")
        [device], told = self.run_on(library, "programs are not seen: ")
        self.assertIsNone(device["programs"])
        self.assertIsNone(device["l1"]["cb"]["physical_bytes"])
        self.assertIsNone(device["l1"]["kernels_bytes"])
        self.assertIn(f"dram {device['dram']['used_bytes']} ", told)

    def test_other_programs_run_unchanged(self):
        result = subprocess.run(["ls", "/"], env=self.preloaded(), text=True, capture_output=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.files(), [])


class APlainProgramWithPublicHeaders(WithPublicHeaders, APlainProgram):
    """The adapter reports the same figures whether it was built with the public or with the
    internal headers of the runtime."""

    def assert_no_programs(self, library, expected):
        [device], told = self.run_on(library, expected)
        self.assertIsNone(device["programs"])
        self.assertIsNone(device["l1"]["cb"]["physical_bytes"])
        self.assertIsNone(device["l1"]["cb"]["resident_bytes"])
        self.assertIn(f"dram {device['dram']['used_bytes']} ", told)

    def test_a_runtime_without_the_hook(self):
        self.assert_no_programs(self.without(HOOK), "programs and circular buffers are not seen: ")

    def test_a_runtime_that_does_not_call_the_hook_by_name(self):
        """Imitates a runtime in which the hook was inlined. The runtime calls only the functions in
        the list by name, so the adapter does not see the hook."""
        names = self.folder / "without_the_hook"
        names.write_text("{ *Buffer13allocate*; *Buffer15deallocate*; *Device10initialize*; "
                         "*Device5close*; *6detail11ProgramImpl*; };")
        library = host_program.relink_dryrun(self.folder / "inlined_hook", "-Wl,-Bsymbolic",
                                             f"-Wl,--dynamic-list={names}")
        self.assert_no_programs(library, "programs are not seen: ")


class Metal2(Adapter):
    def start_host(self):
        binary = self.folder / "metal2"
        host_program.build_plain("g++", binary, HERE / "host" / "metal2.cpp")
        return self.start([binary], self.preloaded(TTMEM_DRYRUN_SYSTEM="t3000"))


class AProgramOfMetal2(Metal2):
    def test_has_its_dataflow_buffers_and_scratchpads_counted_with_circular_buffers(self):
        host = self.start_host()
        taken = 4 * 8 * KIB + 4 * KIB + 16 * KIB
        for step, placed, programs in (("declared", 0, 0), ("run", taken, 1), ("again", taken, 1),
                                       ("gone", 0, 0)):
            self.assertEqual(host.line(), step)
            snapshot = self.json()
            self.assertEqual(snapshot["warnings"], [])
            self.assertEqual(len(snapshot["devices"]), 8)
            for device in snapshot["devices"]:
                cb = device["l1"]["cb"]
                self.assertEqual((cb["physical_bytes"], cb["logical_bytes"]), (placed, placed), step)
                self.assertEqual(cb["resident_bytes"], placed, step)
                self.assertEqual(device["programs"], programs)
                self.assertEqual(set(device["anomalies"].values()), {0})
            host.go_on()
        self.assertEqual(host.wait(), 0)


class AProgramOfMetal2WithPublicHeaders(WithPublicHeaders, Metal2):
    def test_is_unknown_and_a_warning_says_so(self):
        host = self.start_host()
        for step in ("declared", "run", "again", "gone"):
            self.assertEqual(host.line(), step)
            snapshot = self.json()
            [warning] = snapshot["warnings"]
            self.assertIn("programs are not seen: Metal 2.0 needs", warning)
            self.assertEqual(len(snapshot["devices"]), 8)
            for device in snapshot["devices"]:
                self.assertIsNone(device["programs"])
                self.assertIsNone(device["l1"]["cb"]["physical_bytes"])
                self.assertIsNone(device["l1"]["kernels_bytes"])
            host.go_on()
        self.assertEqual(host.wait(), 0)


class GlobalObjects(Adapter, test_dryrun.GlobalObjects):
    """The adapter's figures are the same as those of a program with the processor."""

    @classmethod
    def setUpClass(cls):
        Adapter.setUpClass.__func__(cls)
        cls.binary = cls.folder / cls.NAME
        host_program.build_plain("g++", cls.binary, HERE / "host" / f"{cls.NAME}.cpp")

    def environment(self, system):
        return self.preloaded(TTMEM_DRYRUN_SYSTEM=system)


class AProgramWithTheProcessor(Adapter):
    def test_is_counted_once(self):
        binary = self.folder / "steps"
        host_program.build("g++", binary, HERE / "host" / "steps.cpp",
                           host_program.processor())
        host = self.start([binary], self.preloaded(TTMEM_DRYRUN_SYSTEM="galaxy:8x8"))
        self.assertEqual(host.line(), "one page")
        host.go_on()
        self.assertEqual(host.line(), "program")
        for device in self.devices():
            self.assertEqual(device["l1"]["buffers"]["logical_bytes"], 2 * KIB)
            self.assertEqual(device["l1"]["cb"]["logical_bytes"], 64 * 4 * KIB)
            self.assertEqual(device["programs"], 1)
            self.assertEqual(set(device["anomalies"].values()), {0})


class Python(Adapter):
    """Python loads extension modules with RTLD_LOCAL. dlsym(RTLD_NEXT) does not find functions of
    such a module."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = cls.folder / "library.so"
        host_program.build_plain("g++", cls.library, HERE / "host" / "library.cpp", "-shared",
                                 "-fPIC")

    def script(self, source):
        return PYTHON.format(library=str(self.library)) + source

    def hold(self, source):
        held = self.start([sys.executable, "-c", self.script(source)], self.preloaded())
        self.assertEqual(held.line(), "ready")
        return held

    def test_is_seen(self):
        held = self.hold("library.take(3)\nlibrary.take(5)\nlibrary.give()\nlibrary.run()\nhold()\n"
                         "library.give()\nhold()\nsys.exit(7)")
        [device] = self.devices()
        self.assertEqual(device["dram"]["logical_bytes"], 3 * 2 * KIB)
        self.assertEqual(device["l1"]["cb"]["resident_bytes"], 16 * 4 * KIB)
        held.go_on()
        self.assertEqual(held.line(), "ready")
        self.assertEqual(self.devices()[0]["dram"]["used_bytes"], 0)
        held.go_on()
        self.assertEqual(held.wait(), 7)

    def scopes(self, source, **variables):
        """Returns the scopes of DRAM buffers, the scopes of programs, and the printed lines."""
        held = self.start([sys.executable, "-c", self.script(source + "\nhold()")],
                          self.preloaded(**variables))
        said = []
        while not said or said[-1] != "ready":
            said.append(held.line())
        self.assertEqual(self.json()["warnings"], [])
        allocations = self.json("allocs")["allocations"]
        programs = self.json("programs")["programs"]
        held.go_on()
        self.assertEqual(held.wait(), 0)
        return ([a["scope"] for a in allocations if a["kind"] == "dram"],
                [p["scope"] for p in programs], said[:-1])

    def test_operations_are_the_scopes_of_their_allocations(self):
        source = ("library.operation(b'ttnn::add', False)\nlibrary.take(1)\n"
                  "library.operation(b'ttnn::fails', True)\n"
                  "library.operation(b'ttnn::matmul', False)\n"
                  "print(library.capture(b'ttnn::captured'), flush=True)")
        buffers, programs, said = self.scopes(source, TTMEM_OPS="1")
        self.assertEqual(sorted(filter(None, buffers)),
                         ["ttnn::add", "ttnn::captured", "ttnn::captured", "ttnn::fails",
                          "ttnn::matmul"])
        self.assertEqual(len(buffers), 6)
        self.assertEqual(sorted(programs),
                         ["ttnn::add", "ttnn::captured", "ttnn::captured", "ttnn::matmul"])
        self.assertEqual(said, ["2"])
        buffers, programs, said = self.scopes(source)
        self.assertEqual(list(filter(None, buffers + programs)), [])
        self.assertEqual(said, ["2"])

    def test_a_forked_child_begins_with_nothing(self):
        held = self.hold("library.take(3)\nlibrary.run()\n"
                         "if os.fork() == 0:\n"
                         "    library.give()\n    library.take(7)\n    library.again()\n"
                         "    hold()\n    os._exit(0)\n"
                         "os.wait()\nhold()")
        [device] = self.devices()
        self.assertEqual(len(device["processes"]), 2)
        self.assertEqual(device["dram"]["logical_bytes"], (3 + 7) * 2 * KIB)
        self.assertEqual(device["programs"], 2)
        self.assertEqual(set(device["anomalies"].values()), {0})
        held.go_on()
        self.assertEqual(held.line(), "ready")
        self.assertEqual(self.devices()[0]["dram"]["logical_bytes"], 3 * 2 * KIB)

    def test_a_program_started_by_exec_is_seen_too(self):
        second = self.script("library.take(5)\nhold()")
        self.hold(f"library.take(3)\nos.execl(sys.executable, 'python', '-c', {second!r})")
        shown = [p["state"] for p in self.devices()[0]["processes"]]
        self.assertIn("alive", shown)
        self.assertEqual(self.devices()[0]["dram"]["logical_bytes"], 5 * 2 * KIB)

    def test_a_second_runtime_is_ignored_with_a_warning(self):
        """Two extension modules each contain a TT-Metal. Their functions have the same names; the
        adapter must not mix up their objects."""
        second = pathlib.Path(host_program.relink_dryrun(self.folder / "second",
                                                         name="libttmem_second.so"))
        module = self.folder / "second.so"
        host_program.build_plain("g++", module, HERE / "host" / "library.cpp", "-shared", "-fPIC",
                                 runtime=second / "libttmem_second.so")
        source = (f"other = ctypes.CDLL({str(module)!r})\nother.open_device()\n"
                  "other.take(100)\nother.run()\nlibrary.take(3)\nlibrary.run()\n"
                  "other.give()\nother.take(50)\nother.again()\nhold()\n"
                  "library.give()\nother.give()\nhold()")
        held = self.hold(source)
        snapshot = self.json()
        [device] = snapshot["devices"]
        self.assertEqual(device["dram"]["logical_bytes"], 3 * 2 * KIB)
        self.assertEqual(device["programs"], 1)
        self.assertEqual(set(device["anomalies"].values()), {0})
        [warning] = snapshot["warnings"]
        self.assertIn("a second TT-Metal is loaded, whose memory is not seen: ", warning)
        self.assertIn("libttmem_second.so", warning)
        self.assertIn("libttmem_second.so", held.line("stderr"))
        held.go_on()
        self.assertEqual(held.line(), "ready")
        self.assertEqual(self.devices()[0]["dram"]["used_bytes"], 0)
        held.go_on()
        self.assertEqual(held.wait(), 0)
        self.assertEqual(held.process.stderr.read(), b"")

    def test_the_holdings_of_an_aborted_process_are_shown(self):
        held = self.hold("library.take(3)\nhold()\nos.abort()")
        held.go_on()
        self.assertEqual(held.wait(), -6)
        [process] = self.devices()[0]["processes"]
        self.assertEqual((process["state"], process["pid"]), ("dead", held.pid))
        self.assertGreater(process["dram_bytes"], 0)


class PythonWithPublicHeaders(WithPublicHeaders, Python):
    """The adapter reports the same figures whether it was built with the public or with the
    internal headers of the runtime."""


if __name__ == "__main__":
    unittest.main()
