# SPDX-License-Identifier: Apache-2.0
"""The installed files, as another project uses them."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from support import (HERE, LIBRARY, PREFIX, TTMEM, Case, build_consumer, library_path,
                     pkg_config, skip_if_sanitized)

INTERFACE = {"ttmem_enabled", "ttmem_device_open", "ttmem_device_close", "ttmem_reports",
             "ttmem_not_seen", "ttmem_buffer_alloc",
             "ttmem_buffer_free", "ttmem_program_place", "ttmem_program_place_with",
             "ttmem_program_dispatch",
             "ttmem_trace_replay", "ttmem_cb_alloc", "ttmem_cb_free", "ttmem_cb_estimate", "ttmem_program_destroy",
             "ttmem_kernel_load", "ttmem_kernel_load_estimate",
             "ttmem_kernel_unload", "ttmem_mesh_buffer_alloc", "ttmem_mesh_buffer_free",
             "ttmem_mesh_program_place", "ttmem_mesh_program_place_with",
             "ttmem_mesh_program_dispatch", "ttmem_scope_push", "ttmem_scope_pop",
             "ttmem_mark", "ttmem_failure",
             "ttmem_report_failure", "ttmem_set_reported", "ttmem_set_unseen"}

# The libraries of the C and C++ runtimes.
RUNTIME = ("libc.so.", "libstdc++.so.", "libm.so.", "libgcc_s.so.", "ld-linux")


def lines_of(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout.splitlines()


class AnUpgrade(unittest.TestCase):
    def test_sources_of_an_earlier_adapter_are_removed(self):
        """`ttmem adapter build` compiles all files in share/ttmem/adapter, so an upgrade must
        remove old files."""
        with tempfile.TemporaryDirectory(prefix="ttmem-test-") as prefix:
            sources = pathlib.Path(prefix, "share/ttmem/adapter")
            sources.mkdir(parents=True)
            (sources / "of_an_earlier_version.cpp").write_text("#error\n")
            subprocess.run(["cmake", "--install", os.environ["TTMEM_BUILD"], "--prefix", prefix],
                           check=True, capture_output=True)
            self.assertEqual(sorted(path.name for path in sources.iterdir()),
                             sorted(path.name
                                    for path in (PREFIX / "share/ttmem/adapter").iterdir()))


class TheLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        skip_if_sanitized()

    def test_the_library_exports_only_the_interface(self):
        for library in (LIBRARY, os.path.join(library_path(), "libttmem.so")):
            fields = [line.split() for line in
                      lines_of("nm", "--dynamic", "--defined-only", library)]
            names = {name.split("@")[0] for _, kind, name in fields if kind != "A"}
            self.assertEqual(names, INTERFACE)

    def test_the_library_needs_only_libc_and_libstdcxx(self):
        for library in (LIBRARY, os.path.join(library_path(), "libttmem.so")):
            needed = [line.split("[")[1].rstrip("]") for line in
                      lines_of("readelf", "--dynamic", library) if "(NEEDED)" in line]
            self.assertTrue(needed)
            self.assertEqual([name for name in needed if not name.startswith(RUNTIME)], [])

    def test_the_header_compiles_as_c_and_as_cxx(self):
        header = PREFIX / "include" / "ttmem" / "ttmem.h"
        for compiler, language, standard in (("cc", "c", "c99"), ("c++", "c++", "c++17")):
            subprocess.run([compiler, f"-std={standard}", "-x", language, "-fsyntax-only", "-Wall",
                            "-Wextra", "-Wpedantic", "-Werror", str(header)], check=True)

    def test_its_header_has_the_version_of_the_command(self):
        header = (PREFIX / "include" / "ttmem" / "ttmem.h").read_text()
        parts = re.findall(r"^#define TTMEM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header, re.M)
        self.assertEqual(lines_of(TTMEM, "--version"), ["ttmem " + ".".join(parts)])

    def test_the_client_of_the_seeds_is_cxx17_for_both_compilers(self):
        header = '#include <ttmem/allocation_client.hpp>\n'
        for compiler in ("g++", "clang++"):
            subprocess.run([compiler, "-std=c++17", "-x", "c++", "-fsyntax-only", "-Wall",
                            "-Wextra", "-Wpedantic", "-Werror", "-I", str(PREFIX / "include"),
                            "-"], input=header, text=True, check=True)


@unittest.skipIf(os.geteuid() != 0, "only root can make a program run as somebody else")
class WithMoreRights(Case):
    """A program that runs with more rights than the user who starts it ignores the user's
    environment."""

    NOBODY = 65534
    AT_SECURE = 23

    def setUp(self):
        super().setUp()
        skip_if_sanitized()  # sanitizers are preloaded, which such a program refuses
        os.chmod(self.dir, 0o1777)
        folder = tempfile.mkdtemp(prefix="ttmem-setuid-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        # The other user loads the library from this folder, because the loader ignores $ORIGIN in a
        # program that runs with more rights.
        os.chmod(folder, 0o755)
        library = shutil.copy(os.path.realpath(LIBRARY), os.path.join(folder, "libttmem.so.0"))
        self.program = os.path.join(folder, "program")
        subprocess.run(["cc", "-std=c11", str(HERE / "consumer" / "consumer.c"), "-o", self.program,
                        "-I", str(PREFIX / "include"), library, "-pthread",
                        f"-Wl,-rpath,{folder}"], check=True)
        self.log = os.path.join(self.dir, "log")
        # The invalid value makes the library log a warning, if it logs at all.
        self.env = self.tracked(TTMEM_LOG=self.log, TTMEM_EVENTS="nonsense")

    def is_secure(self, pid):
        words = struct.iter_unpack("@LL", pathlib.Path(f"/proc/{pid}/auxv").read_bytes())
        return dict(words)[self.AT_SECURE] == 1

    def run_with_mode(self, mode):
        os.chown(self.program, self.NOBODY, self.NOBODY)
        os.chmod(self.program, mode)
        held = self.start([self.program, "hold"], env=self.env)
        self.assertEqual(held.line(), f"ready {held.pid}")
        return held

    def test_the_library_writes_nothing(self):
        plain = self.run_with_mode(0o755)
        self.assertEqual((len(self.files()), os.path.exists(self.log)), (2, True))
        plain.kill()
        self.ttmem("clean")
        os.remove(self.log)
        setuid = self.run_with_mode(0o4755)
        if not self.is_secure(setuid.pid):
            self.skipTest("this file system has no setuid programs (nosuid)")
        self.assertEqual((self.files(), os.path.exists(self.log)), ([], False))
        in_memory = [path.name for path in pathlib.Path("/dev/shm").glob(f"ttmem.*.{setuid.pid}.*")]
        self.assertEqual(in_memory, [])


class TheExample(Case):
    """The complete program at the top of ttmem.h."""

    def test_it_compiles_and_shows_what_it_holds(self):
        header = (PREFIX / "include" / "ttmem" / "ttmem.h").read_text()
        example = re.search(r"^ \*   #include <stdio\.h>\n.*?^ \*   \}\n", header, re.M | re.S)[0]
        program = os.path.join(self.dir, "program")
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o", program,
                        *pkg_config("--cflags", "--libs"), f"-Wl,-rpath,{library_path()}"],
                       input=re.sub(r"^ \*   ", "", example, flags=re.M).replace(" *\n", "\n"),
                       text=True, check=True)
        held = self.start([program], env=self.tracked())

        def has_dispatched():
            return any(device["l1"]["cb"]["resident_bytes"] for device in self.devices())
        self.wait_for(has_dispatched, "the dispatch of the example")
        (device,) = self.devices()
        self.assertEqual(device["dram"]["used_bytes"], 110592 * 12)
        self.assertEqual((device["l1"]["cb"]["physical_bytes"], device["l1"]["cb"]["resident_bytes"]),
                         (4096 * 64, 4096 * 64))
        held.close_stdin()
        self.assertEqual(held.wait(), 0)


class TheInstalledTree(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ttmem-consumer-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_tracked(self, consumer):
        held = self.start([consumer, "hold"], env=self.tracked())
        self.assertEqual(held.line(), f"ready {held.pid}")
        (device,) = self.devices()
        self.assertEqual(device["dram"]["used_bytes"], 12 << 20)
        self.assertEqual(device["l1"]["buffers"]["physical_bytes"], 4 << 20)
        self.assertEqual(device["l1"]["small_bytes"], 64 << 10)
        self.assertEqual(device["trace"]["used_bytes"], 48 << 10)
        self.assertEqual(device["l1"]["cb"],
                         {"physical_bytes": 8 << 20, "resident_bytes": 8 << 20,
                          "logical_bytes": 8 << 20, "peak_bytes": 8 << 20, "estimate": False})
        self.assertEqual(device["l1"]["kernels_bytes"], 100000)
        (program,) = self.json("programs")["programs"]
        self.assertEqual((program["name"], program["label"]), ("decoder.0.matmul",) * 2)
        (process,) = device["processes"]
        self.assertEqual((process["pid"], process["name"], process["state"], process["source"]),
                         (held.pid, "consumer", "alive", "ttmem"))
        held.close_stdin()
        self.assertEqual(held.wait(), 0)
        self.assertEqual(self.files(), [])

    def test_a_c_project_finds_the_library_with_cmake(self):
        build = self.folder / "build"
        subprocess.run(["cmake", "-S", str(HERE / "consumer"), "-B", str(build),
                        f"-DCMAKE_PREFIX_PATH={PREFIX}"], check=True, capture_output=True)
        subprocess.run(["cmake", "--build", str(build)], check=True, capture_output=True)
        self.assert_tracked(build / "consumer")

    def test_a_c_project_finds_the_library_with_pkg_config(self):
        self.assert_tracked(build_consumer(self.folder))

    def test_the_tree_works_after_a_move(self):
        moved = self.folder / "moved"
        shutil.copytree(PREFIX, moved, symlinks=True)
        command = str(moved / "bin" / "ttmem")
        demo = self.start([command, "demo", "device-init", "--hold"])
        demo.line("stderr")
        shown = subprocess.run([command], env=self.env, text=True, capture_output=True, check=True)
        self.assertIn("Device 0:", shown.stdout)


class TheExampleOfTheReadme(Case):
    def test_the_example_works_as_written(self):
        section = (HERE.parents[1] / "docs" / "guides" / "own-program.md").read_text()
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "model.c").write_text(re.search(r"```c\n(.*?)```", section, re.S).group(1))
        after = section.split("```")[2]
        lines = re.findall(r"^    (.*)$", after.split("\n\n`ttmem run`")[0], re.M)
        # The tree is already installed, with another prefix.
        self.assertEqual(lines[:2], ["export PREFIX=$HOME/.local", "make install PREFIX=$PREFIX"])
        script = "\n".join(["set -e", *lines[2:-1], "exec " + lines[-1]])
        env = {**self.env, "PREFIX": str(PREFIX)}
        model = self.start(["sh", "-c", script], env=env, cwd=folder)
        entry, = self.wait_for(lambda: self.json("allocs")["allocations"], "its buffer")
        (child,) = pathlib.Path(f"/proc/{model.pid}/task/{model.pid}/children"
                                ).read_text().split()
        self.assertEqual((entry["label"], entry["bytes"], entry["physical_bytes"], entry["pid"]),
                         ("layers.0.weight", 1310720, 12 * 110592, int(child)))
        model.process.stdin.write(b"\n")
        model.close_stdin()
        self.assertEqual(model.wait(), 0)
        self.assertEqual(self.devices(), [])


if __name__ == "__main__":
    unittest.main()
