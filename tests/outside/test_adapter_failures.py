# SPDX-License-Identifier: Apache-2.0
"""Host code without any use of ttmem that runs out of memory, with the stub preloaded: the state at
the failure is saved."""

import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import host_program
import test_adapter
from support import HERE, KIB, TTMEM, skip_if_sanitized

CORES = 3 * 3
CB_BYTES = 400 * KIB


class FailingHost(test_adapter.Adapter):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = cls.folder / "failing"
        host_program.build_plain("g++", cls.binary, HERE / "host" / "failing.cpp")

    def run_host(self, *steps, code, system="n150", **variables):
        """Returns the standard error of the program."""
        result = subprocess.run([self.binary, *steps], text=True, capture_output=True, timeout=60,
                                env=self.preloaded(TTMEM_DRYRUN_SYSTEM=system, **variables))
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr

    def copies(self):
        return [name for name in self.files() if name.endswith(".failed")]

    def text(self):
        (copy,) = self.copies()
        with open(os.path.join(self.dir, copy), "rb") as file:
            file.seek(8704 + 4)
            size = int.from_bytes(file.read(4), "little")
            file.seek(8704 + 96)
            return file.read(size).decode()

    def state(self):
        """Returns the devices in the saved state. The state is read like the segment of a live
        process."""
        (copy,) = self.copies()
        folder = tempfile.mkdtemp(prefix="ttmem-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path = shutil.copy(os.path.join(self.dir, copy),
                           os.path.join(folder, copy[:-len(".failed")]))
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return self.json(env={**self.env, "TTMEM_DIR": folder})["devices"]


class AFailure(FailingHost):
    def test_of_a_buffer(self):
        said = self.run_host("weights", "oom", code=1)
        self.assertEqual(self.files(), self.copies(), "the process ended and freed everything")
        self.assertTrue(said.startswith("Out of Memory: Not enough space to allocate "), said)
        self.assertEqual(self.text(), said[:-1][:1024])
        (device,) = self.state()
        self.assertEqual(device["dram"]["logical_bytes"], 12 * 100 * 2 * KIB)
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 0)

    def check_clash(self, system, devices):
        said = self.run_host("weights", "clash", code=1, system=system)
        lowest, end = re.search(r"L1 buffer allocated at (\d+) and static circular buffer region "
                                r"ends at (\d+)", said).groups()
        self.assertIn("Statically allocated circular buffers in program", self.text())
        state = self.state()
        self.assertEqual(len(state), devices)
        for device in state:
            self.assertEqual(device["programs"], 1, "the program that clashes is placed")
            self.assertEqual(device["l1"]["cb"]["physical_bytes"], CORES * CB_BYTES)
            self.assertEqual(device["l1"]["headroom_bytes_per_core"], int(lowest) - int(end))

    def test_of_circular_buffers(self):
        self.check_clash("n150", 1)

    def test_on_blackhole(self):
        self.check_clash("p150", 1)

    def test_on_a_mesh(self):
        self.check_clash("t3000", 8)

    def test_of_the_trace_region(self):
        said = self.run_host("trace", code=1)
        self.assertIn("B is allocated for trace region", self.text())
        self.assertEqual(self.text(), said[:-1])

    def test_in_another_thread(self):
        self.run_host("weights", "thread", "clash", code=1)
        self.assertEqual(self.state()[0]["programs"], 1)

    def test_that_is_rethrown_with_another_text_has_the_state_of_the_first(self):
        said = self.run_host("weights", "wrapped", code=1)
        self.assertTrue(said.startswith("cannot load the model: Out of Memory"), said)
        self.assertTrue(self.text().startswith("Out of Memory"), self.text())
        self.assertEqual(self.state()[0]["dram"]["logical_bytes"], 12 * 100 * 2 * KIB)

    def test_that_was_caught_leaves_nothing(self):
        self.run_host("caught", "oom", "weights", "clash", code=0)
        self.assertEqual(self.files(), [])

    def test_the_last_failure_is_saved(self):
        self.run_host("caught", "oom", "weights", "clash", "abort", code=-6)
        self.assertIn("clash", self.text())
        self.assertEqual(len(self.files()), 2, "the segment of the dead process too")

    def test_that_nobody_catches(self):
        """std::terminate ends the process without running a destructor."""
        for step, words, programs in (("oom", "Out of Memory: ", 0), ("clash", "clash with L1", 1)):
            with self.subTest(step):
                self.run_host("weights", "uncaught", step, code=-6)
                self.assertIn(words, self.text())
                self.assertEqual(self.state()[0]["programs"], programs)
                self.ttmem("clean")

    def test_other_exceptions_are_not_failures(self):
        for step, said in (("other", "something else\n"), ("number", "7\n")):
            self.assertEqual(self.run_host("weights", step, code=1), said)
            self.assertEqual(self.files(), [])

    def test_is_explained_at_the_end_of_ttmem_run(self):
        """The explanation uses the state at the failure, although the process then freed all its
        memory."""
        result = subprocess.run([TTMEM, "run", "--no-adapter", "--", self.binary, "weights",
                                 "clash"], text=True, capture_output=True, timeout=60,
                                env=self.preloaded(TTMEM_DRYRUN_SYSTEM="n150"))
        self.assertEqual(result.returncode, 1, result.stderr)
        own, said = result.stderr.split("ttmem: ", 1)
        self.assertTrue(own.startswith("Statically allocated circular buffers"), own)
        self.assertRegex(said, r"^\d+ failed: Statically allocated circular buffers in program")
        self.assertIn("In the way:", said)
        self.assertIn("[tried]", said)
        self.assertNotIn("another moment", said)

    def test_without_tracking_nothing_is_saved(self):
        self.run_host("oom", code=1, TT_ALLOC_TRACKING_ENABLED="0")
        self.assertEqual(self.files(), [])


class AFailureWithPublicHeaders(test_adapter.WithPublicHeaders, AFailure):
    pass


class AProgramWithTheProcessor(FailingHost):
    """The program contains the dry run as a static library. The stub therefore sees no call of the
    runtime, and only the processor reports."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.binary = cls.folder / "itself"
        host_program.build("g++", cls.binary, "-DTTMEM_PROCESSOR", HERE / "host" / "failing.cpp",
                           host_program.processor(),
                           f"{test_adapter.library_path()}/libttmem_dryrun.a")

    def preloaded(self, **variables):
        return self.tracked(**variables)

    def test_that_fails(self):
        for step, words, programs in (("oom", "Out of Memory: ", 0), ("clash", "clash with L1", 1),
                                      ("trace", "allocated for trace region", None)):
            with self.subTest(step):
                self.run_host("weights", step, code=1)
                self.assertIn(words, self.text())
                (device,) = self.state()
                self.assertEqual(device["dram"]["logical_bytes"], 12 * 100 * 2 * KIB)
                if programs == 1:
                    self.assertEqual(device["l1"]["cb"]["physical_bytes"], CORES * CB_BYTES)
                    self.assertLess(device["l1"]["headroom_bytes_per_core"], 0)
                self.ttmem("clean")

    def test_that_was_caught_leaves_nothing(self):
        self.run_host("caught", "oom", "clash", code=0)
        self.assertEqual(self.files(), [])


class APythonProgram(test_adapter.Adapter):
    """Python loads the C++ runtime with RTLD_LOCAL. dlsym(RTLD_NEXT) may then not find functions of
    the C++ runtime."""

    def test_that_fails(self):
        library = self.folder / "library.so"
        host_program.build_plain("g++", library, HERE / "host" / "library.cpp", "-shared", "-fPIC")
        script = test_adapter.PYTHON.format(library=str(library)) + (
            "library.take(3)\n"
            "assert not library.try_take(0xffffffff) & 1\n"
            "library.give()\n"
            "sys.exit(1)")
        result = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True,
                                env=self.preloaded(TTMEM_DRYRUN_SYSTEM="n150"), timeout=60)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        (copy,) = self.files()
        self.assertTrue(copy.endswith(".failed"))


class AnyProgram(test_adapter.Case):
    """The stub does not change exceptions of other programs."""

    def test_throws_as_before(self):
        skip_if_sanitized()
        with tempfile.TemporaryDirectory(prefix="ttmem-test-") as folder:
            for compiler, *options in (["g++"], ["clang++"], ["g++", "-static-libstdc++"],
                                       ["g++", "-static"]):
                if shutil.which(compiler) is None:
                    continue
                binary = pathlib.Path(folder) / "throws"
                subprocess.run([compiler, "-std=c++20", "-O1", HERE / "host" / "throws.cpp", "-o",
                                binary, "-pthread", *options], check=True)
                before = subprocess.run([binary], capture_output=True, timeout=60, check=True,
                                        env=self.env)
                self.assertEqual(before.stdout.count(b"\n"), 10)
                after = subprocess.run([binary], capture_output=True, timeout=60, check=True,
                                       env=self.tracked(LD_PRELOAD=test_adapter.PRELOAD))
                self.assertEqual((after.stdout, after.stderr), (before.stdout, before.stderr))
                self.assertEqual(self.files(), [])
