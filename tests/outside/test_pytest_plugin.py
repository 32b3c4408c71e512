# SPDX-License-Identifier: Apache-2.0
"""`pytest --ttmem` and `ttmem.record()` with a real pytest."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree

from python_case import DEVICE, SOURCE, PythonCase, code_of
from support import DEADLINE_SECONDS

PRELUDE = code_of("import pytest", DEVICE, """
    @pytest.fixture(scope="module", autouse=True)
    def device():
        open_device()
        ttmem.reports(0, 0x1f | ttmem.Reports.PROGRAMS)
        yield
        ttmem.device_close(0)

    def allocate(kind, mib, id, label):
        ttmem.buffer_alloc(0, kind, mib << 20, address=id << 24, id=id, label=label)
""")


def python_with_pytest():
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run([python, "-c", "import pytest"],
                                                     capture_output=True).returncode == 0:
            return python
    return None


@unittest.skipUnless(python_with_pytest(), "pytest is not installed")
class Plugin(PythonCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttmem-pytest-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def pytest(self, tests, *options, code, plugin=("-p", "ttmem.pytest_plugin"), env=None):
        (self.folder / "test_it.py").write_text(PRELUDE + textwrap.dedent(tests))
        done = subprocess.run([python_with_pytest(), "-m", "pytest", "-p", "no:cacheprovider",
                               *plugin, *options, "test_it.py"], cwd=self.folder,
                              env=env or self.found(), text=True, capture_output=True,
                              timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


class Markers(Plugin):
    LIMITS = """
        @pytest.mark.ttmem_limit(l1="2 MiB", dram="4 GiB")
        def test_low():
            allocate(BufferType.L1, 2, 1, "a")
            ttmem.buffer_free(0, BufferType.L1, 1)

        @pytest.mark.ttmem_limit(l1="2 MiB")
        def test_high():
            with ttmem.scope("decoder.0"):
                allocate(BufferType.L1, 3, 1, "activations")
            ttmem.buffer_free(0, BufferType.L1, 1)

        @pytest.mark.ttmem_limit(l1="2 MiB")
        def test_low_after_high():
            allocate(BufferType.L1, 1, 1, "a")
            ttmem.buffer_free(0, BufferType.L1, 1)

        @pytest.mark.ttmem_limit(dram=1024)
        def test_fails_on_its_own():
            allocate(BufferType.DRAM, 1, 9, "weights")
            ttmem.buffer_free(0, BufferType.DRAM, 9)
            assert False
        """

    def test_a_limit_applies_to_one_test(self):
        shown = self.pytest(self.LIMITS, "--ttmem", code=1)
        self.assertIn("2 failed, 2 passed", shown)
        self.assertRegex(shown, r"ttmem_limit: L1 reached 3\.00 MiB on a device, 1\.00 MiB above the "
                                r"limit of 2\.00 MiB")
        self.assertRegex(shown, r"3\.00 MiB +l1 +decoder\.0 activations")
        self.assertIn("assert False", shown)
        self.assertIn("DRAM reached 1.00 MiB", shown)
        self.assertRegex(shown, r"ttmem: highest peaks")
        self.assertRegex(shown, r"3\.00 MiB +0 B +test_it\.py::test_high")

    def test_without_the_option_markers_do_nothing(self):
        shown = self.pytest(self.LIMITS, "--strict-markers", code=1)
        self.assertIn("1 failed, 3 passed", shown)
        self.assertNotIn("highest peaks", shown)
        self.assertEqual(self.files(), [])

    def test_leftovers_are_named(self):
        shown = self.pytest("""
            @pytest.mark.ttmem_no_leak
            def test_clean():
                allocate(BufferType.L1, 1, 1, "a")
                ttmem.buffer_free(0, BufferType.L1, 1)

            @pytest.mark.ttmem_no_leak
            def test_leaks():
                allocate(BufferType.DRAM, 4, 2, "kv cache")
                allocate(BufferType.L1, 1, 3, "a")

            @pytest.mark.ttmem_no_leak
            def test_does_not_answer_for_others():
                ttmem.program_place(0, 1, [Cb(105664, 4096, [(0, 0, 7, 7)])])
            """, "--ttmem", code=1)
        self.assertIn("1 failed, 2 passed", shown)
        self.assertRegex(shown, r"ttmem_no_leak: 2 buffers were left behind, 5\.00 MiB")
        self.assertRegex(shown, r"4\.00 MiB +dram +kv cache")

    def test_circular_buffers_count_their_physical_bytes(self):
        shown = self.pytest("""
            @pytest.mark.ttmem_limit(cb="256 KiB")
            def test_shared():
                for program in (1, 2):
                    ttmem.program_place(0, program, [Cb(105664, 4096, [(0, 0, 7, 7)])])

            @pytest.mark.ttmem_limit(cb="256 KiB")
            def test_more():
                ttmem.program_place(0, 3, [Cb(109760, 4096, [(0, 0, 7, 7)])])
            """, "--ttmem", code=1)
        self.assertIn("1 failed, 1 passed", shown)
        self.assertIn("circular buffers reached 512.00 KiB", shown)

    def test_an_unreported_kind_is_unknown_and_not_within_a_limit(self):
        shown = self.pytest("""
            @pytest.mark.ttmem_limit(kernels="1 MiB")
            def test_kernels():
                pass
            """, "--ttmem", code=1)
        self.assertIn("the peak of kernels is unknown", shown)

    def test_without_a_device_nothing_was_checked(self):
        (self.folder / "test_none.py").write_text(textwrap.dedent("""
            import pytest

            @pytest.mark.ttmem_limit(l1="2 MiB")
            def test_limit(): pass

            @pytest.mark.ttmem_no_leak
            def test_leak(): pass

            def test_unmarked(): pass
        """))
        shown = self.pytest("", "--ttmem", "--junit-xml=out.xml", "test_none.py", code=1)
        self.assertIn("2 failed, 1 passed", shown)
        self.assertEqual(shown.count("\nttmem could not check this test: no device"), 2, shown)
        self.assertNotIn("highest peaks", shown)
        self.assertNotIn("peak_bytes", (self.folder / "out.xml").read_text())

    def test_mistakes_are_found_before_any_test_runs(self):
        for marker, said in (('ttmem_limit(l2="1 MiB")', "'l2' cannot be limited"),
                             ('ttmem_limit(l1="much")', "'much' is no size"),
                             ('ttmem_limit("1 MiB")', "write what is limited")):
            with self.subTest(marker):
                shown = self.pytest(f"""
                    @pytest.mark.{marker}
                    def test_it():
                        print("it began")
                    """, "--ttmem", "-s", code=4)
                self.assertIn(said, shown)
                self.assertNotIn("it began", shown)

    def test_without_tracking_the_plugin_says_so(self):
        shown = self.pytest("def test_it(): pass", "--ttmem", code=4,
                            env={**self.found(), "TT_ALLOC_TRACKING_ENABLED": "0"})
        self.assertIn("--ttmem: tracking is off", shown)


class Files(Plugin):
    TEST = """
        def test_it():
            allocate(BufferType.L1, 2, 1, "a")
            ttmem.buffer_free(0, BufferType.L1, 1)
        """

    def test_recordings_and_figures_are_kept(self):
        self.pytest(self.TEST, "--ttmem", "--ttmem-recordings", "kept", "--junit-xml", "out.xml",
                    code=0)
        (kept,) = (self.folder / "kept").iterdir()
        self.assertEqual(kept.name, "test_it.py-test_it.ttmem")
        report = self.json("report", kept)
        self.assertEqual(report["devices"][0]["l1"]["peak_bytes"], 2 << 20)
        properties = {node.get("name"): node.get("value") for node in
                      xml.etree.ElementTree.parse(self.folder / "out.xml").iter("property")}
        self.assertEqual(properties["ttmem_l1_peak_bytes"], str(2 << 20))

    def test_an_installed_package_registers_itself(self):
        target = self.folder / "target"
        done = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]);"
                               "import build_backend; print(build_backend.build_wheel(sys.argv[2]))",
                               SOURCE, self.folder], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.unpack_archive(self.folder / done.stdout.strip(), target, "zip")
        shown = self.pytest(self.TEST, "--ttmem", code=0, plugin=(),
                            env={**self.found(), "PYTHONPATH": str(target)})
        self.assertIn("ttmem: highest peaks", shown)


class Record(PythonCase):
    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.dir, "block.ttmem")

    def test_a_block_is_recorded_from_its_beginning_to_its_end(self):
        self.output(DEVICE, f"""
            open_device()
            ttmem.buffer_alloc(0, BufferType.DRAM, 4096, address=1 << 20, id=1, label="before")
            with ttmem.record({self.path!r}):
                ttmem.mark("inside")
                for i in range(100):
                    ttmem.buffer_alloc(0, BufferType.L1, 2048, address=1 << 20, id=100 + i)
                    ttmem.buffer_free(0, BufferType.L1, 100 + i)
                ttmem.buffer_alloc(0, BufferType.L1, 2048, address=1 << 20, id=7, label="left")
            ttmem.buffer_alloc(0, BufferType.L1, 2048, address=1 << 21, id=8, label="after")
        """)
        with sqlite3.connect(self.path) as database:
            labels = {row[0] for row in database.execute("SELECT label FROM allocation_list")}
            counts = database.execute("SELECT count(*) FROM allocations").fetchall()
            marks = database.execute("SELECT name FROM marks").fetchall()
        database.close()
        self.assertEqual(labels, {"before", "left", None})
        self.assertEqual(counts, [(102,)])
        self.assertEqual(marks, [("inside",)])

    def test_a_device_opened_in_the_block_is_recorded_from_its_first_buffer(self):
        self.output(DEVICE, f"""
            with ttmem.record({self.path!r}):
                open_device()
                ttmem.buffer_alloc(0, BufferType.L1, 64 << 20, address=1 << 20, id=1)
                ttmem.buffer_free(0, BufferType.L1, 1)
                ttmem.buffer_alloc(0, BufferType.L1, 2048, address=1 << 20, id=2)
        """)
        (device,) = self.json("report", self.path)["devices"]
        self.assertEqual(device["l1_buffers"]["peak_bytes"], 64 << 20)

    def test_an_obstacle_to_recording_is_one_sentence(self):
        block = f"with ttmem.record({self.path!r}): pass"
        said = self.error("import ttmem", block, env=self.found())
        self.assertIn("tracking is off", said)
        pathlib.Path(self.path).touch()
        said = self.error("import ttmem", block, env=self.found_and_tracked())
        self.assertIn("is there already", said)
        self.output("import ttmem", f"with ttmem.record({self.path!r}, overwrite=True): pass")

    def test_the_error_of_the_block_is_not_hidden(self):
        result = self.run_code("import ttmem", f"""
            with ttmem.record({self.path!r}):
                raise KeyError("mine")
        """)
        self.assertEqual(re.findall(r"^\w*Error.*", result.stderr, re.M), ["KeyError: 'mine'"])
        self.ttmem("report", self.path)

    def test_no_process_is_left_behind(self):
        self.output(DEVICE, f"""
            with ttmem.record({self.path!r}):
                pass
            with open(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children") as children:
                assert children.read() == ""
        """)


if __name__ == "__main__":
    unittest.main()
