# SPDX-License-Identifier: Apache-2.0
"""The Python package: counting by hand, finding the library and the command, errors,
installation."""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from python_case import ALONE, ROOT, SOURCE, PythonCase
from support import LIBRARY, MIB, TTMEM

MANUAL = ROOT / "docs" / "guides" / "python.md"

# The classes that users copied into their models, and how they use them.
CLASS_OF_SUMMARY = '''
    class L1Tracker:
        def __init__(self):
            self.cb_total = 0
            self.kernel_est = 0
            self.num_kernels = 0

        def track_cb(self, num_tiles, tile_size):
            """Call this when creating circular buffers"""
            size = num_tiles * tile_size
            self.cb_total += size
            return size

        def track_kernel(self, num_cores=1):
            """Call this when adding kernels"""
            # Typical kernel: 20-50KB (compute) + 20-50KB (datamovement)
            size_per_core = 50 * 1024  # Conservative estimate
            total = size_per_core * num_cores
            self.kernel_est += total
            self.num_kernels += 1
            return total

        def summary(self):
            print(f"\\n{'='*60}")
            print(f"L1 Memory Usage Breakdown")
            print(f"{'='*60}")
            print(f"Circular Buffers:  {self.cb_total / 1024 / 1024:8.1f} MB")
            print(f"Kernel Code (est): {self.kernel_est / 1024 / 1024:8.1f} MB")
            print(f"  ({self.num_kernels} kernels)")
            print(f"Total L1 Overhead: {(self.cb_total + self.kernel_est) / 1024 / 1024:8.1f} MB")
            print(f"{'='*60}\\n")
'''

USE_OF_SUMMARY = """
    # Usage in your model:
    tracker = L1Tracker()

    # When creating CBs:
    cb_config = ttl.tensor.CircularBufferConfig(
        num_tiles=1024,
        tile_size=2048
    )
    tracker.track_cb(1024, 2048)

    # When adding kernels:
    program.add_kernel(compute_kernel, core_range)
    tracker.track_kernel(num_cores=len(core_range))

    # At the end:
    tracker.summary()
"""

# The application's own objects, which the snippets use.
APPLICATION = """
    from unittest.mock import MagicMock
    ttl, program, compute_kernel, core_range = MagicMock(), MagicMock(), "compute", range(64)
"""

CLASS_OF_SHOW = '''
    class L1Tracker:
        def __init__(self):
            self.cb = 0
            self.kern = 0

        def cb_alloc(self, tiles, tile_size):
            s = tiles * tile_size
            self.cb += s
            print(f"CB: +{s/1024/1024:.1f}MB")

        def kernel_add(self, cores=1):
            s = 50*1024 * cores
            self.kern += s

        def show(self):
            print(f"\\nL1: CBs={self.cb/1024/1024:.1f}MB, Kernels={self.kern/1024/1024:.1f}MB")
'''

USE_OF_SHOW = """
    tracker = L1Tracker()
    tracker.cb_alloc(1024, 2048)
    tracker.cb_alloc(tiles=7, tile_size=1088)
    tracker.kernel_add(64)
    tracker.kernel_add(cores=3)
    tracker.kernel_add()
    tracker.show()
    print(tracker.cb, tracker.kern)
"""

IMPORT = "from ttmem import L1Tracker"


class SnippetsOfTheGuide(PythonCase):
    def environments(self):
        return {"without anything": {**self.env, "PATH": ""}, "tracking off": self.found(),
                "tracked": self.found_and_tracked()}

    def test_the_summary_is_that_of_the_printed_class(self):
        promised = self.output(APPLICATION, CLASS_OF_SUMMARY, USE_OF_SUMMARY)
        self.assertEqual(promised.splitlines()[4], "Circular Buffers:       2.0 MB")
        for name, env in self.environments().items():
            with self.subTest(name):
                self.assertEqual(self.output(APPLICATION, IMPORT, USE_OF_SUMMARY, env=env),
                                 promised)

    def test_the_short_form_is_that_of_the_printed_class(self):
        promised = self.output(CLASS_OF_SHOW, USE_OF_SHOW)
        self.assertIn("CB: +2.0MB\n", promised)
        self.assertIn("\n\nL1: CBs=2.0MB, Kernels=3.3MB\n", promised)
        for name, env in self.environments().items():
            with self.subTest(name):
                self.assertEqual(self.output(IMPORT, USE_OF_SHOW, env=env), promised)

    def test_the_figures_of_the_guide_come_out_in_its_block(self):
        printed = self.output(IMPORT, """
            tracker = L1Tracker()
            for _ in range(128):
                tracker.track_cb(int(95.2 * 1024 * 1024 / 128), 1)
            tracker.track_kernel(num_cores=314 - 127)
            for _ in range(127):
                tracker.track_kernel()
            tracker.summary()
        """)
        self.assertEqual(printed, textwrap.dedent("""
            ============================================================
            L1 Memory Usage Breakdown
            ============================================================
            Circular Buffers:      95.2 MB
            Kernel Code (est):     15.3 MB
              (128 kernels)
            Total L1 Overhead:    110.5 MB
            ============================================================

        """))

    def test_both_spellings_use_one_count(self):
        self.assertEqual(self.value(IMPORT, """
            tracker = L1Tracker()
            returned = [tracker.track_cb(2, 2048), tracker.track_kernel(2), tracker.track_kernel()]
            tracker.kernel_add(3)
            print(json.dumps([returned, tracker.cb_total, tracker.cb, tracker.kernel_est,
                              tracker.kern, tracker.num_kernels]))
        """), [[4096, 102400, 51200], 4096, 4096, 307200, 307200, 3])


class L1TrackerInTtmem(PythonCase):
    def row(self, devices):
        (device,) = devices
        (process,) = device["processes"]
        self.assertEqual(process["pid"], self.pid)
        self.assertEqual(set(device["anomalies"].values()), {0})
        return process["cb_bytes"], process["kernels_bytes"]

    def test_its_figures_are_reported_for_this_process(self):
        devices = self.after(IMPORT, """
            tracker, other = L1Tracker(), L1Tracker()
            tracker.track_cb(1024, 2048)
            tracker.track_cb(1024, 2048)
            other.track_cb(1, 64)
            tracker.track_kernel(num_cores=64)
            assert tracker.tracked
        """)
        self.assertEqual(self.row(devices), (4 * MIB + 64, 64 * 51200))
        self.assertEqual(devices[0]["l1"]["kernels_estimated_bytes"], 64 * 51200)

    def test_the_device_can_be_chosen(self):
        (device,) = self.after(IMPORT, "L1Tracker(device=3).track_cb(1, 4096)")
        self.assertEqual((device["id"], device["l1"]["cb"]["physical_bytes"]), (3, 4096))

    def test_freed_memory_is_gone(self):
        devices = self.after(IMPORT, """
            tracker = L1Tracker()
            tracker.track_cb(2, 2048)
            tracker.track_cb(1, 64)
            tracker.track_kernel(5)
            tracker.track_kernel(2)
            assert (tracker.free_cb(2, 2048), tracker.free_kernel(5)) == (4096, 5 * 51200)
            assert (tracker.cb, tracker.kern, tracker.num_kernels) == (64, 2 * 51200, 1)
        """)
        self.assertEqual(self.row(devices), (64, 2 * 51200))

    def test_a_with_block_frees_everything_and_the_tracker_stays_usable(self):
        devices = self.after(IMPORT, """
            with L1Tracker() as tracker:
                tracker.track_cb(2, 2048)
                tracker.track_kernel(5)
            assert (tracker.cb, tracker.kern, tracker.num_kernels) == (0, 0, 0)
            tracker.track_cb(1, 32)
        """)
        self.assertEqual(self.row(devices), (32, 0))

    def test_a_child_does_not_free_the_reports_of_its_parent(self):
        devices = self.after(IMPORT, """
            tracker = L1Tracker()
            tracker.track_cb(1, 64)
            if os.fork() == 0:
                tracker.track_cb(1, 32)
                tracker.free()
                import ttmem
                anomalies = [device["anomalies"] for device in ttmem.devices()]
                os._exit(any(any(found.values()) for found in anomalies))
            assert os.wait()[1] == 0
        """)
        self.assertEqual(devices[0]["processes"][0]["cb_bytes"], 64)

    def test_calls_of_several_threads_are_complete(self):
        devices = self.after(IMPORT, """
            import threading
            tracker = L1Tracker()
            def work():
                for _ in range(500):
                    tracker.track_cb(1, 64)
                    tracker.track_kernel()
                    tracker.free_kernel()
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            assert tracker.cb == 4 * 500 * 64, tracker.cb
        """)
        self.assertEqual(self.row(devices), (4 * 500 * 64, 0))

    def test_invalid_values_are_refused_and_not_counted(self):
        self.assertEqual(self.value(IMPORT, """
            tracker, refused = L1Tracker(), []
            for call in (lambda: tracker.track_cb(-1, 2048), lambda: tracker.track_kernel(-1),
                         lambda: tracker.track_cb(1.5, 10), lambda: tracker.free_cb(1, 1),
                         lambda: tracker.track_cb(1 << 40, 1 << 40)):
                try:
                    call()
                except (ValueError, TypeError) as error:
                    refused.append(type(error).__name__)
            print(json.dumps([refused, tracker.cb, tracker.kern]))
        """), [["ValueError", "ValueError", "TypeError", "ValueError", "ValueError"], 0, 0])

    def test_without_a_library_it_counts_and_warns_once_if_tracking_is_on(self):
        env = {**self.env, "TT_ALLOC_TRACKING_ENABLED": "1"}
        result = self.run_code(ALONE, "t = ttmem.L1Tracker()", "t.track_cb(1, 64)",
                               "print(t.cb, t.tracked)", env=env)
        self.assertEqual(result.stdout, "64 False\n")
        self.assertIn("L1Tracker only counts: libttmem.so is nowhere", result.stderr)


class Lookup(PythonCase):
    FOUND = "print(ttmem._abi.library()._name, ttmem._find.command_path())"

    def test_the_prefix_of_the_command_on_path_has_the_library(self):
        prefix = pathlib.Path(TTMEM).resolve().parent.parent
        env = {**self.env, "PATH": str(pathlib.Path(TTMEM).parent)}
        self.assertEqual(self.output("import ttmem", self.FOUND, env=env).split(),
                         [str(prefix / "lib" / "libttmem.so"), TTMEM])

    def test_a_library_next_to_the_package_has_priority(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(SOURCE / "ttmem", folder / "ttmem")
        shutil.copy(LIBRARY, folder / "ttmem" / "libttmem.so")
        env = {**self.env, "PYTHONPATH": str(folder), "PATH": str(pathlib.Path(TTMEM).parent)}
        found = self.output("import ttmem", self.FOUND, env=env).split()[0]
        self.assertEqual(pathlib.Path(found), (folder / "ttmem" / "libttmem.so").resolve())

    def test_the_command_is_found_next_to_the_library(self):
        env = {**self.env, "TTMEM_LIB": LIBRARY}
        found = self.output(ALONE, self.FOUND, env=env).split()[1]
        self.assertTrue(os.path.samefile(found, TTMEM))

    def test_importing_loads_nothing(self):
        self.output("import ttmem", "assert ttmem._abi._library is None")
        self.assertEqual(self.files(), [])


class Errors(PythonCase):
    def test_no_library(self):
        message = self.error(ALONE, "ttmem.device_open(0)", env=self.env)
        self.assertIn("set TTMEM_LIB", message)
        self.assertEqual(self.output(ALONE, "print(ttmem.enabled())", env=self.env), "False\n")

    def test_an_invalid_named_library_is_an_error(self):
        path = str(pathlib.Path(TTMEM).parent)
        for named in ("/nowhere/libttmem.so", __file__):
            message = self.error("import ttmem", "ttmem.device_open(0)",
                                 env=self.found(TTMEM_LIB=named, PATH=path))
            self.assertIn(f"{named} cannot be loaded", message)

    def test_a_library_that_lacks_a_call(self):
        message = self.error("import ttmem", "ttmem.device_open(0)",
                             env=self.found(TTMEM_LIB="libc.so.6"))
        self.assertIn("libc.so.6 has no ttmem_enabled", message)

    def test_tracking_off(self):
        message = self.error("import ttmem", "ttmem.require_tracking()", env=self.found())
        self.assertIn("tracking is off", message)
        self.assertIn("TT_ALLOC_TRACKING_ENABLED=1", message)
        self.assertEqual(self.output("import ttmem", "ttmem.device_open(0)",
                                     "print(ttmem.enabled())", env=self.found()), "False\n")

    def test_tracking_that_could_not_start(self):
        env = {**self.found_and_tracked(), "TTMEM_DIR": "/nowhere"}
        message = self.error("import ttmem", "ttmem.require_tracking()", env=env)
        self.assertIn("not tracked although", message)

    def test_no_command(self):
        message = self.error(ALONE, "ttmem.snapshot()", env=self.env)
        self.assertIn("set TTMEM_BIN", message)

    def test_an_invalid_command(self):
        for named in ("/nowhere/ttmem", LIBRARY + "/.."):
            message = self.error("import ttmem", "ttmem.devices()",
                                 env=self.found(TTMEM_BIN=named))
            self.assertIn(f"TTMEM_BIN names {named}", message)

    def test_a_command_with_other_output_or_a_failure(self):
        for name, says in (("echo", "no ttmem.snapshot.v1 document"), ("false", "failed")):
            message = self.error("import ttmem", "ttmem.snapshot()",
                                 env=self.found(TTMEM_BIN=shutil.which(name)))
            self.assertIn(says, message)


class ThePackage(PythonCase):
    def test_its_syntax_is_valid_python_3_8(self):
        files = sorted(SOURCE.rglob("*.py"))
        self.assertGreater(len(files), 5)
        for file in files:
            text = file.read_text()
            ast.parse(text, str(file), feature_version=(3, 8))
            self.assertTrue(text.startswith("# SPDX-License-Identifier: Apache-2.0\n"), file)

    def test_everything_public_is_documented_and_typed(self):
        self.output("""
            import inspect, typing, ttmem
            for name in ttmem.__all__:
                thing = getattr(ttmem, name)
                if not callable(thing):
                    continue
                assert thing.__doc__, name
                if inspect.isfunction(thing):
                    hints = typing.get_type_hints(thing)
                    assert set(hints) == set(inspect.signature(thing).parameters) | {"return"}, name
        """)

    def test_its_version_equals_the_version_of_the_command(self):
        version = self.output("import ttmem", "print('ttmem', ttmem.__version__)")
        self.assertEqual(version, self.ttmem("--version").stdout)

    def test_the_code_of_the_manual_runs(self):
        blocks = re.findall(r"```python\n(.*?)```", MANUAL.read_text(), re.S)
        self.assertGreater(len(blocks), 3)
        for block in blocks:
            with self.subTest(block):
                result = self.run_code(block)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_pip_installs_it_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip"], capture_output=True).returncode != 0:
            self.skipTest("this Python has no pip")
        for options in ((), ("--no-build-isolation", "--no-deps")):
            with self.subTest(options):
                self.install_and_use(*options)

    def install_and_use(self, *options):
        folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, folder)
        target = folder / "target"
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *options,
                               "--disable-pip-version-check", "--target", target, SOURCE],
                              env={**self.env, "PIP_NO_INDEX": "1", "HOME": str(folder)},
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list(target.glob("ttmem-*.dist-info"))), 1)
        installed = {file.name for file in (target / "ttmem").iterdir() if file.is_file()}
        self.assertEqual(installed, {file.name for file in (SOURCE / "ttmem").iterdir()
                                     if file.is_file()})
        printed = self.output("import ttmem", "print(ttmem.__file__, ttmem.enabled())",
                              env={**self.found_and_tracked(), "PYTHONPATH": str(target)})
        self.assertEqual(printed, f"{target / 'ttmem' / '__init__.py'} True\n")


if __name__ == "__main__":
    unittest.main()
